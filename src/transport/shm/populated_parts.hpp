// SPDX-License-Identifier: Apache-2.0
// PopulatedParts: the parts of a shared mapping that are in this process's page tables. Each part is
// mapped once, many pages at a time, rather than by one page fault per page. It does so by reading:
// when a page is read, Linux maps the 16 pages around it, writable if the mapping is; when a page is
// written, it maps that page only (design/0064-mapping-blocks.md).
#pragma once

#include <cstdint>
#include <vector>

#include "transport/shm/mapping.hpp"

namespace afterbay::transport::shm {

/// Used by one thread. Refers to the mapping.
class PopulatedParts {
 public:
  explicit PopulatedParts(Mapping& mapping);

  /// Maps those granules that begin or end in `part` and were not mapped before. All of `part` must
  /// be allocated.
  void populate(Extent part) noexcept;

  static constexpr std::uint64_t granule_bytes = 64 << 10;

 private:
  Mapping* mapping_;
  std::uint64_t shift_;     ///< granules begin at multiples of granule_bytes in the address space
  std::vector<bool> done_;  ///< by granule
};

}  // namespace afterbay::transport::shm
