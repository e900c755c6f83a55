// SPDX-License-Identifier: Apache-2.0
#include "storage/epoch/part_identity.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

namespace afterbay::storage {
namespace {

constexpr const char* token_name = "user.afterbay.part";

bool same_inode(const PartIdentity& a, const PartIdentity& b) noexcept {
  return a.inode == b.inode && a.born_ns == b.born_ns;
}

/// The identity without a token. `directory`, `path` and `flags` as for statx.
PartIdentity inode_at(int directory, const char* path, int flags) noexcept {
  PartIdentity found;
  struct statx status {};
  if (::statx(directory, path, flags, STATX_INO | STATX_BTIME, &status) != 0) return found;
  found.inode = status.stx_ino;
  constexpr std::uint64_t second_ns = 1'000'000'000;
  if ((status.stx_mask & STATX_BTIME) != 0)
    found.born_ns =
        static_cast<std::uint64_t>(status.stx_btime.tv_sec) * second_ns + status.stx_btime.tv_nsec;
  return found;
}

}  // namespace

PartIdentity identity_of_part(const std::string& path) noexcept {
  PartIdentity found = inode_at(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW);
  if (::lgetxattr(path.c_str(), token_name, found.token.data(), sizeof found.token) != sizeof found.token)
    found.token = {};
  return found;
}

PartIdentity identity_of_part(int descriptor) noexcept {
  PartIdentity found = inode_at(descriptor, "", AT_EMPTY_PATH);
  if (::fgetxattr(descriptor, token_name, found.token.data(), sizeof found.token) != sizeof found.token)
    found.token = {};
  return found;
}

bool keeps_marks(int descriptor) noexcept {
  return ::fgetxattr(descriptor, token_name, nullptr, 0) >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS);
}

PartIdentity mark_part(int descriptor) noexcept {
  const PartIdentity found = identity_of_part(descriptor);
  if (found.has_token()) return found;
  std::array<std::uint64_t, 2> token{};
  if (::getrandom(token.data(), sizeof token, 0) != sizeof token) return found;
  // If several servers do this, the first one sets the token; the others read it. No fsync here: it
  // would take the error of data that could not be written, which is reported once.
  static_cast<void>(::fsetxattr(descriptor, token_name, token.data(), sizeof token, XATTR_CREATE));
  return identity_of_part(descriptor);
}

bool is_part_of_log(const PartIdentity& logged, const PartIdentity& found) noexcept {
  if (logged.has_token() && found.has_token()) return logged.token == found.token;
  // Inode numbers are reused: an equal number alone proves nothing if the log has more information.
  if (logged.has_token() && logged.born_ns == 0) return false;
  return same_inode(logged, found);
}

bool logs_of_same_part(const PartIdentity& a, const PartIdentity& b) noexcept {
  return a.has_token() && b.has_token() ? a.token == b.token : same_inode(a, b);
}

}  // namespace afterbay::storage
