// SPDX-License-Identifier: Apache-2.0
// AlignedBuffer: owned memory that begins on a page, as direct I/O needs it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace afterbay::codec {

/// Uninitialised bytes, page aligned; movable, not copyable. Throws std::bad_alloc when memory is
/// out.
class AlignedBuffer {
 public:
  static constexpr std::size_t alignment = 4096;

  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size_bytes) : size_(size_bytes) {
    const std::size_t rounded = (size_bytes + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)));
    if (!data_) throw std::bad_alloc();
  }

  [[nodiscard]] std::byte* data() noexcept { return data_.get(); }
  [[nodiscard]] const std::byte* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }
  /// Gives up the end of the buffer; the memory is kept.
  void shrink(std::size_t size_bytes) noexcept {
    if (size_bytes < size_) size_ = size_bytes;
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }  // NOLINT: from aligned_alloc
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace afterbay::codec
