// SPDX-License-Identifier: Apache-2.0
#include "codec/aligned_buffer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

#include "base/rounding.hpp"

namespace afterbay::codec {
namespace {

constexpr std::size_t most_kept_bytes = 16u << 20;
/// malloc reuses smaller memory itself.
constexpr std::size_t least_kept_bytes = 64u << 10;

std::size_t whole_pages(std::size_t size_bytes) {
  constexpr std::size_t page = AlignedBuffer::alignment;
  return std::max(page, rounded_up(size_bytes, page));
}

std::byte* allocate(std::size_t bytes) {
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(AlignedBuffer::alignment, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// Whether a thread's KeptMemory is gone; buffers may be destroyed after it.
thread_local bool thread_ends = false;

/// Memory that a thread keeps, the oldest first.
class KeptMemory {
 public:
  KeptMemory() = default;
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  ~KeptMemory() {
    while (count_ > 0) std::free(remove(0).memory);  // NOLINT: from aligned_alloc
    thread_ends = true;
  }

  struct Block {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
  };
  /// At least `bytes`, at most twice that; null if there is none.
  Block take(std::size_t bytes) noexcept {
    for (std::size_t i = count_; i-- > 0;)
      if (blocks_[i].bytes >= bytes && blocks_[i].bytes / 2 <= bytes) return remove(i);
    return {};
  }
  void keep(const Block& block) noexcept {
    while (count_ == blocks_.size() || (count_ > 0 && bytes_ + block.bytes > most_kept_bytes))
      std::free(remove(0).memory);  // NOLINT: from aligned_alloc
    blocks_[count_++] = block;
    bytes_ += block.bytes;
  }

 private:
  Block remove(std::size_t i) noexcept {
    const Block block = blocks_[i];
    std::move(blocks_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              blocks_.begin() + static_cast<std::ptrdiff_t>(count_),
              blocks_.begin() + static_cast<std::ptrdiff_t>(i));
    --count_;
    bytes_ -= block.bytes;
    return block;
  }

  std::array<Block, 8> blocks_{};
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

KeptMemory& kept_memory() {
  thread_local KeptMemory memory;
  return memory;
}

}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t size_bytes)
    : data_(allocate(whole_pages(size_bytes)), Free{}), size_(size_bytes) {}

AlignedBuffer AlignedBuffer::reused(std::size_t size_bytes) {
  const std::size_t bytes = whole_pages(size_bytes);
  if (bytes < least_kept_bytes || bytes > most_kept_bytes || thread_ends) return AlignedBuffer(size_bytes);
  KeptMemory::Block block = kept_memory().take(bytes);
  if (block.memory == nullptr) block = {allocate(bytes), bytes};
  AlignedBuffer buffer;
  buffer.data_ = std::unique_ptr<std::byte, Free>(block.memory, Free{block.bytes});
  buffer.size_ = size_bytes;
  return buffer;
}

void AlignedBuffer::Free::operator()(std::byte* memory) const noexcept {
  if (kept_bytes == 0 || thread_ends) return std::free(memory);  // NOLINT: from aligned_alloc
  kept_memory().keep({memory, kept_bytes});
}

}  // namespace afterbay::codec
