// SPDX-License-Identifier: Apache-2.0
// The reference for blocked time: a plain memcpy of the model's arrays to a rotating set of buffers
// that were touched before.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

class CopyReference {
 public:
  /// For steps of `bytes` on this rank. The buffers of all `ranks` together hold at least 128 MiB
  /// and at least four steps, so that a destination has left the caches before it is reused.
  CopyReference(std::size_t bytes, int ranks);
  /// Copies the arrays of one step, in total at most `bytes`, one after the other.
  void copy(std::span<const std::span<const std::byte>> arrays);

 private:
  std::vector<std::vector<std::byte>> buffers_;
  std::size_t next_ = 0;
};

}  // namespace bench
