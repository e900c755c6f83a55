// SPDX-License-Identifier: Apache-2.0
// The queries of session/obstacles.hpp, implemented for Linux.
#include <fcntl.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/free_memory.hpp"
#include "session/obstacles.hpp"

namespace afterbay::session {
namespace {

std::optional<std::uint64_t> limit_of(__rlimit_resource_t which) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

std::optional<SystemFacts::Room> room_of(const std::string& directory) {
  struct stat status {};
  struct statvfs room {};
  if (::stat(directory.c_str(), &status) != 0 || ::statvfs(directory.c_str(), &room) != 0)
    return std::nullopt;
  SystemFacts::Room found{status.st_dev, static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize};
  if (room.f_files != 0) found.free_files = room.f_favail;
  return found;
}

std::vector<DiskQuota> quotas_there(const std::string& directory) {
  const int opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return {};
  std::vector<DiskQuota> quotas = quotas_of(opened);
  ::close(opened);
  return quotas;
}

/// Tries to create a file: permissions are not meaningful for root, nor in file systems like /proc.
int write_error_of(const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) return ENOTDIR;
  int made = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (made < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL)) {
    // Used if the file system has no unnamed files.
    std::string name = directory + "/afterbay_try_XXXXXX";
    made = ::mkostemp(name.data(), O_CLOEXEC);
    if (made >= 0) ::unlink(name.c_str());
  }
  if (made < 0) return errno;
  ::close(made);
  return 0;
}

std::optional<std::uint64_t> locked_memory() {
  std::error_code none;
  const bool registers = std::filesystem::exists("/dev/infiniband", none);
  return registers ? limit_of(RLIMIT_MEMLOCK) : std::nullopt;
}

/// MPI uses sockets between nodes if it finds no faster network.
bool by_sockets() {
  std::error_code none;
  for (const char* const networks : {"/sys/class/infiniband", "/sys/class/cxi", "/sys/class/hfi1"})
    if (std::filesystem::exists(networks, none) && !std::filesystem::is_empty(networks, none)) return false;
  return true;
}

std::optional<int> most_tag() {
  int running = 0;
  if (MPI_Initialized(&running) != MPI_SUCCESS || running == 0) return std::nullopt;
  int* most = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&most), &known);
  return known != 0 ? std::optional<int>(*most) : std::nullopt;
}

}  // namespace

SystemFacts this_system() {
  return {room_of,
          quotas_there,
          write_error_of,
          [] { return limit_of(RLIMIT_NOFILE); },
          [] { return limit_of(RLIMIT_FSIZE); },
          free_memory,
          locked_memory,
          by_sockets,
          most_tag};
}

}  // namespace afterbay::session
