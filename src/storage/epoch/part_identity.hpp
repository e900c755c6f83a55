// SPDX-License-Identifier: Apache-2.0
// PartIdentity: identifies the file to which an epoch log belongs. A name does not suffice, because
// different files may have the same name over time. See design/0018-logs-belong-to-files.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace afterbay::storage {

/// As far as the file system stores the values; otherwise 0.
struct PartIdentity {
  std::array<std::uint64_t, 2> token{};  ///< random; stored in the attribute user.afterbay.part
  std::uint64_t inode = 0;
  std::uint64_t born_ns = 0;  ///< time of the inode's creation

  [[nodiscard]] bool has_token() const noexcept { return token[0] != 0 || token[1] != 0; }
  bool operator==(const PartIdentity&) const = default;
};

/// The identity of an open file. Gives it a token if it has none and the file system supports
/// extended attributes; all processes that call this for one file get the same token.
PartIdentity mark_part(int descriptor) noexcept;
/// The identity of an open file, which is not changed.
PartIdentity identity_of_part(int descriptor) noexcept;
/// The identity of the file that has the name now, without following links; all 0 if there is none.
PartIdentity identity_of_part(const std::string& path) noexcept;
/// Whether the file system of an open file stores such attributes.
bool keeps_marks(int descriptor) noexcept;

/// Whether the file that was found is the one to which the log belongs. Its attributes may have
/// been copied; without a token, inode and time of creation must be equal.
bool is_part_of_log(const PartIdentity& logged, const PartIdentity& found) noexcept;
/// Whether two logs belong to the same file. A server may have seen no attributes.
bool logs_of_same_part(const PartIdentity& a, const PartIdentity& b) noexcept;

}  // namespace afterbay::storage
