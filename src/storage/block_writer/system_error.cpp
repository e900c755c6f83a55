// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/system_error.hpp"

#include <cerrno>
#include <system_error>

namespace afterbay::storage {
namespace {

std::string_view advice(int number) {
  switch (number) {
    case ENOSPC: return "free space on this file system or write to another one";
    case EDQUOT: return "the quota is used up: remove files or ask for more";
    case EACCES:
    case EPERM: return "check owner and permissions of the file and of its directory";
    case EROFS: return "the file system is mounted read-only: write to another one";
    case EIO: return "the device failed: look at the kernel's log and at the file system's health";
    case ENOENT: return "check the path; if its directory was removed, create it again";
    case ENOTDIR: return "a part of the path is not a directory: correct the path";
    case EISDIR: return "the path is a directory: give a file name";
    case ENAMETOOLONG: return "give a shorter path";
    case EMFILE:
    case ENFILE: return "too many open files: raise the limit (ulimit -n) or keep fewer files open at once";
    case EEXIST: return "remove it, choose another name, or declare it as replaced or appended to";
    case EINVAL: return "the file system refuses this kind of access: turn direct I/O off";
    case EFBIG: return "the file is larger than the file system or the limit (ulimit -f) allows";
    case ENOMEM: return "memory is short: lower the number or size of buffers";
    case ESTALE: return "the file server lost the file: look at the state of the mount";
    default: return "look at the file system's state";
  }
}

}  // namespace

ErrorCode code_of_errno(int number) noexcept {
  switch (number) {
    case ENOSPC:
    case EDQUOT: return ErrorCode::no_space;
    case EMFILE:
    case ENFILE:
    case ENOMEM: return ErrorCode::resources;
    case EEXIST: return ErrorCode::exists;
    default: return ErrorCode::io;
  }
}

Error system_error(int number, std::string_view operation, const std::string& path) {
  return make_error(code_of_errno(number), "cannot {} {}: {}; {}", operation, path,
                    std::generic_category().message(number), advice(number))
      .with_native(number)
      .in_file(path);
}

}  // namespace afterbay::storage
