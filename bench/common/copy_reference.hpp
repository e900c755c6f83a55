// SPDX-License-Identifier: Apache-2.0
// The yardstick for blocked time: a plain memcpy of the model's arrays to a rotating set of buffers that
// were touched beforehand.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

class CopyReference {
 public:
  /// For steps of `bytes` on this rank. Buffers for `ranks` ranks together hold at least 128 MiB and at least
  /// four steps, so that a destination has left the caches before it is used again.
  CopyReference(std::size_t bytes, int ranks);
  /// Copies the arrays of one step, together at most `bytes`, one behind the other.
  void copy(std::span<const std::span<const std::byte>> arrays);

 private:
  std::vector<std::vector<std::byte>> buffers_;
  std::size_t next_ = 0;
};

}  // namespace bench
