// SPDX-License-Identifier: Apache-2.0
#include "common/copy_reference.hpp"

#include <algorithm>
#include <cstring>

namespace bench {

CopyReference::CopyReference(std::size_t bytes, int ranks) {
  constexpr std::size_t total_bytes = 128u << 20;
  const std::size_t share = total_bytes / static_cast<std::size_t>(ranks);
  const std::size_t count = std::max<std::size_t>(4, share / std::max<std::size_t>(1, bytes) + 1);
  buffers_.assign(count, std::vector<std::byte>(bytes));
}

void CopyReference::copy(std::span<const std::span<const std::byte>> arrays) {
  std::byte* target = buffers_[next_].data();
  next_ = (next_ + 1) % buffers_.size();
  for (const std::span<const std::byte> array : arrays) {
    std::memcpy(target, array.data(), array.size());
    target += array.size();
  }
}

}  // namespace bench
