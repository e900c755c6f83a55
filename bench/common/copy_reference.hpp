// SPDX-License-Identifier: Apache-2.0
// The yardstick for blocked time: a plain memcpy of the fields to a rotating set of buffers that
// were touched beforehand.
#pragma once

#include <cstddef>
#include <vector>

#include "common/workload.hpp"

namespace bench {

class CopyReference {
 public:
  /// Buffers for `ranks` ranks together hold at least 128 MiB and at least four steps, so that a
  /// destination has left the caches before it is used again.
  CopyReference(const Fields& fields, int ranks);
  void copy(const Fields& fields);

 private:
  std::vector<std::vector<std::byte>> buffers_;
  std::size_t next_ = 0;
};

}  // namespace bench
