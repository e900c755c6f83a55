// SPDX-License-Identifier: Apache-2.0
// ReceiveMemory: a server's buffers for segments that arrive over MPI. The number of large ones is
// bounded: a segment for which there is none stays with its sender.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {

/// Used by one thread.
class ReceiveMemory {
 public:
  struct Buffer {
    std::unique_ptr<std::byte[]> data;
    std::uint64_t capacity = 0;
  };

  explicit ReceiveMemory(const LinkSizes& sizes)
      : large_bytes_(segment_capacity(sizes)), free_(count(sizes)), total_(count(sizes)) {}

  [[nodiscard]] static bool is_large(std::uint64_t bytes) noexcept { return bytes > small_segment_bytes; }
  /// Number of large buffers: at least one for the slowest rank and one for the others.
  [[nodiscard]] static std::size_t count(const LinkSizes& sizes) noexcept {
    const std::uint64_t fit = sizes.receive_bytes / segment_capacity(sizes);
    return fit < 2 ? 2 : static_cast<std::size_t>(fit);
  }

  /// Large buffers that are not in use.
  [[nodiscard]] std::size_t free_large() const noexcept { return free_; }
  /// A buffer for `bytes`; if that is large, there must be a free one.
  Buffer take(std::uint64_t bytes);
  void give_back(Buffer buffer);
  /// Bytes of the large buffers that exist.
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept {
    return (spare_large_.size() + total_ - free_) * large_bytes_;
  }

 private:
  std::uint64_t large_bytes_;
  std::size_t free_;
  std::size_t total_;
  std::vector<Buffer> spare_large_;
  std::vector<Buffer> spare_small_;
};

}  // namespace afterbay::transport::network
