// SPDX-License-Identifier: Apache-2.0
// LeaderPart: what members of a shared file must know of its part file, whatever the format.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace afterbay::storage {

class SealedReader;
class SealedWriter;

struct LeaderPart {
  bool direct = false;  ///< whether the leader writes with O_DIRECT
  // Of the file itself: its name may be another's by the time that a member opens it.
  std::uint64_t inode = 0;    ///< 0: not known
  std::uint64_t born_ns = 0;  ///< 0: the file system does not tell

  static LeaderPart of(int descriptor, bool direct) noexcept;
  static Result<LeaderPart> read(SealedReader& reader);
  void write(SealedWriter& writer) const;
  /// Whether an open file is the leader's, as far as both nodes know.
  [[nodiscard]] bool is(int descriptor) const noexcept;
};

}  // namespace afterbay::storage
