// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/receive_memory.hpp"

#include <utility>

namespace afterbay::transport::network {
namespace {

constexpr std::size_t most_spare_small = 64;

/// The pages of a new buffer are allocated by the system when they are written.
ReceiveMemory::Buffer make(std::uint64_t bytes) {
  return {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};
}

}  // namespace

ReceiveMemory::Buffer ReceiveMemory::take(std::uint64_t bytes) {
  const bool large = is_large(bytes);
  if (large) --free_;
  auto& spare = large ? spare_large_ : spare_small_;
  if (spare.empty()) return make(large ? large_bytes_ : small_segment_bytes);
  Buffer buffer = std::move(spare.back());
  spare.pop_back();
  return buffer;
}

void ReceiveMemory::give_back(Buffer buffer) {
  if (is_large(buffer.capacity)) {
    ++free_;
    spare_large_.push_back(std::move(buffer));
  } else if (spare_small_.size() < most_spare_small) {
    spare_small_.push_back(std::move(buffer));
  }
}

}  // namespace afterbay::transport::network
