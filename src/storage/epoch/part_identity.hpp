// SPDX-License-Identifier: Apache-2.0
// PartIdentity: which file a log of epochs belongs to. A name is not enough: files of the same name follow
// each other. See design/0018-logs-belong-to-files.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace afterbay::storage {

/// Found where the file system keeps it; 0 where it does not.
struct PartIdentity {
  std::array<std::uint64_t, 2> token{};  ///< random, in the attribute user.afterbay.part
  std::uint64_t inode = 0;
  std::uint64_t born_ns = 0;  ///< time of the inode's creation

  [[nodiscard]] bool has_token() const noexcept { return token[0] != 0 || token[1] != 0; }
  bool operator==(const PartIdentity&) const = default;
};

/// Of an open file. It gets a token if it has none and the file system has extended attributes; all
/// processes that call this for one file get the same token.
PartIdentity mark_part(int descriptor) noexcept;
/// Of an open file, which stays as it is.
PartIdentity identity_of_part(int descriptor) noexcept;
/// Of the file that has the name now, links not followed; all 0 where there is none.
PartIdentity identity_of_part(const std::string& path) noexcept;

/// Whether the file that was found is the one that a log was written for. Its attributes may have come with
/// a copy; without a token, inode and time of creation must be the same.
bool is_part_of_log(const PartIdentity& logged, const PartIdentity& found) noexcept;
/// Whether two logs were written for one file. A server may have seen no attributes.
bool logs_of_same_part(const PartIdentity& a, const PartIdentity& b) noexcept;

}  // namespace afterbay::storage
