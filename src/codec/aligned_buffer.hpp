// SPDX-License-Identifier: Apache-2.0
// AlignedBuffer: owned memory that begins on a page, as direct I/O needs it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace afterbay::codec {

/// Uninitialised bytes, page aligned; movable, not copyable. Throws std::bad_alloc when memory is
/// out.
class AlignedBuffer {
 public:
  static constexpr std::size_t alignment = 4096;

  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size_bytes);
  /// Memory of a buffer that was made in this way and destroyed by this thread, if one of about
  /// this size is kept: its pages need not be faulted in again. A thread keeps up to 8 of them and
  /// 16 MiB until it ends.
  static AlignedBuffer reused(std::size_t size_bytes);

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
    std::size_t kept_bytes;  ///< size of the memory if the thread may keep it, else 0
    explicit Free(std::size_t bytes) noexcept : kept_bytes(bytes) {}
    Free() noexcept : Free(0) {}
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace afterbay::codec
