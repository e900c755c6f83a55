// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/populated_parts.hpp"

#include <algorithm>

namespace afterbay::transport::shm {

PopulatedParts::PopulatedParts(Mapping& mapping)
    : mapping_(&mapping),
      shift_(reinterpret_cast<std::uintptr_t>(mapping.data()) % granule_bytes),
      done_((shift_ + mapping.size() + granule_bytes - 1) / granule_bytes) {}

void PopulatedParts::populate(Extent part) noexcept {
  if (part.bytes == 0) return;
  const std::uint64_t last = (shift_ + part.at + part.bytes - 1) / granule_bytes;
  for (std::uint64_t granule = (shift_ + part.at) / granule_bytes; granule <= last; ++granule) {
    if (done_[granule]) continue;
    done_[granule] = true;
    const std::uint64_t at = std::max(part.at + shift_, granule * granule_bytes) - shift_;
    (void)__atomic_load_n(reinterpret_cast<const volatile std::uint8_t*>(mapping_->data() + at),
                          __ATOMIC_RELAXED);
  }
}

}  // namespace afterbay::transport::shm
