// SPDX-License-Identifier: Apache-2.0
// LeaderPart: the data about the leader's part file that members of a shared file need, for all
// formats.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace afterbay::storage {

class SealedReader;
class SealedWriter;

struct LeaderPart {
  bool direct = false;  ///< whether the leader writes with O_DIRECT
  // These identify the file itself: another file may have its name by the time a member opens it.
  std::uint64_t inode = 0;    ///< 0: unknown
  std::uint64_t born_ns = 0;  ///< 0: the file system does not provide it

  static LeaderPart of(int descriptor, bool direct) noexcept;
  static Result<LeaderPart> read(SealedReader& reader);
  void write(SealedWriter& writer) const;
  /// Whether an open file is the leader's, as far as both nodes can determine.
  [[nodiscard]] bool is(int descriptor) const noexcept;
};

}  // namespace afterbay::storage
