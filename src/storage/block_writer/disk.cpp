// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/disk.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/directories.hpp"
#include "base/disk_quota.hpp"
#include "storage/striping/file_system.hpp"

namespace afterbay::storage {
namespace {

bool kernel_is_since(int major, int minor) {
  struct utsname system {};
  int its_major = 0, its_minor = 0;
  if (::uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &its_major, &its_minor) != 2)
    return false;
  return std::pair(its_major, its_minor) >= std::pair(major, minor);
}

}  // namespace

int Disk::open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }

ssize_t Disk::write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) {
  return ::pwrite(descriptor, bytes, count, offset);
}

ssize_t Disk::read(int descriptor, std::byte* bytes, std::size_t count, off_t offset) {
  return ::pread(descriptor, bytes, count, offset);
}

int Disk::sync(int descriptor) { return ::fsync(descriptor); }

int Disk::truncate(int descriptor, off_t length) { return ::ftruncate(descriptor, length); }

int Disk::rename(const char* from, const char* to, bool replace) {
  if (replace) return ::rename(from, to);
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  // File systems without RENAME_NOREPLACE: link() also fails if the name exists.
  if (::link(from, to) == 0) return ::unlink(from);
  if (errno == EEXIST) return -1;
  struct stat status {};
  if (::stat(to, &status) == 0) {
    errno = EEXIST;
    return -1;
  }
  return ::rename(from, to);
}

int Disk::exchange(const char* a, const char* b) {
  return ::renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

int Disk::make_directory(const char* path) { return ::mkdir(path, 0777); }

int Disk::open_at(int directory, const char* name, int flags, mode_t mode) {
  return ::openat(directory, name, flags, mode);
}

int Disk::make_directory_at(int directory, const char* name) { return ::mkdirat(directory, name, 0777); }

int Disk::link(int descriptor, const char* to) {
  const std::string opened = "/proc/self/fd/" + std::to_string(descriptor);
  if (::linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0) return 0;
  const int number = errno;
  struct stat status {};
  const bool no_proc = number == ENOENT && ::lstat(opened.c_str(), &status) != 0;
  errno = no_proc ? ENOSYS : number;
  return -1;
}

int Disk::make_directories(const char* path) {
  const int number = afterbay::make_directories(path);
  if (number == 0) return 0;
  errno = number;
  return -1;
}

int Disk::copy(int from, int to) {
  if (::lseek(to, 0, SEEK_CUR) == 0 && ::ioctl(to, FICLONE, from) == 0) return 0;
  ssize_t copied = 0;
  while ((copied = ::copy_file_range(from, nullptr, to, nullptr, std::size_t{64} << 20, 0)) > 0) {
  }
  if (copied == 0) return 0;
  if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return -1;
  // Across file systems, or with a kernel that cannot do this: copies through memory, from the
  // current position of the second file.
  off_t done = ::lseek(to, 0, SEEK_CUR);
  std::vector<char> buffer(std::size_t{1} << 20);
  while ((copied = ::pread(from, buffer.data(), buffer.size(), done)) > 0)
    for (ssize_t part = 0; part < copied;) {
      const ssize_t written = ::write(to, buffer.data() + part, static_cast<std::size_t>(copied - part));
      if (written < 0 && errno != EINTR) return -1;
      if (written > 0) part += written, done += written;
    }
  return copied < 0 ? -1 : 0;
}

int Disk::start_write_back(int descriptor, off_t offset, off_t count) {
  return ::sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}

int Disk::allocate(int descriptor, off_t offset, off_t length) {
  rlimit limit{};  // beyond this limit the kernel sends SIGXFSZ
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || static_cast<rlim_t>(offset + length) > limit.rlim_cur) {
    errno = EFBIG;
    return -1;
  }
  return ::fallocate(descriptor, 0, offset, length);
}

bool Disk::writes_side_by_side(const char* path) {
  return file_system_of(path).name == "ext4" && kernel_is_since(6, 3);
}

bool Disk::shares_pages(const char* path) {
  const std::string name = file_system_of(path).name;
  return name != "NFS" && name != "CIFS" && name != "SMB" && name != "9p";
}

std::int64_t Disk::free_bytes(int descriptor) {
  struct statvfs room {};
  if (::fstatvfs(descriptor, &room) != 0) return -1;
  std::uint64_t bytes = room.f_bavail * room.f_frsize;
  for (const DiskQuota& quota : quotas_of(descriptor))
    bytes = std::min(bytes, quota.free_bytes.value_or(bytes));
  return static_cast<std::int64_t>(bytes);
}

std::shared_ptr<Disk> Disk::real() { return std::make_shared<Disk>(); }

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = other.release();
  }
  return *this;
}

int Descriptor::release() noexcept {
  const int number = number_;
  number_ = -1;
  return number;
}

void Descriptor::reset() noexcept {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

}  // namespace afterbay::storage
