// SPDX-License-Identifier: Apache-2.0
#include "common/copy_reference.hpp"

#include <algorithm>
#include <cstring>

namespace bench {

CopyReference::CopyReference(const Fields& fields, int ranks) {
  constexpr std::size_t total_bytes = 128u << 20;
  const std::size_t share = total_bytes / static_cast<std::size_t>(ranks);
  const std::size_t count = std::max<std::size_t>(4, share / std::max<std::size_t>(1, fields.bytes()) + 1);
  buffers_.assign(count, std::vector<std::byte>(fields.bytes()));
}

void CopyReference::copy(const Fields& fields) {
  std::byte* target = buffers_[next_].data();
  next_ = (next_ + 1) % buffers_.size();
  const std::size_t volume_bytes = fields.volume().size() * sizeof(float);
  std::memcpy(target, fields.volume().data(), volume_bytes);
  std::memcpy(target + volume_bytes, fields.surface().data(), fields.surface().size() * sizeof(float));
}

}  // namespace bench
