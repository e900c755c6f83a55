// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace afterbay::transport::shm {
namespace {

constexpr double mib = 1024.0 * 1024.0;

/// A file descriptor that is closed at the end of the scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

/// Free bytes of the file system that holds shared memory, in words.
std::string free_memory_text(int fd) {
  struct statvfs info {};
  if (::fstatvfs(fd, &info) != 0) return "its size is not known";
  const double block = static_cast<double>(info.f_frsize) / mib;
  return fmt::format("{:.1f} MiB of {:.1f} MiB are free", static_cast<double>(info.f_bavail) * block,
                     static_cast<double>(info.f_blocks) * block);
}

Error no_room(const std::string& name, std::uint64_t bytes, int fd, int code) {
  return make_error(
             ErrorCode::no_space,
             "shared memory {} of {:.1f} MiB cannot be made: {}; in /dev/shm {}. Give the servers less "
             "memory, use fewer servers a node, or enlarge it (mount -o remount,size=... /dev/shm; for "
             "containers --shm-size)",
             name, static_cast<double>(bytes) / mib, std::strerror(code), free_memory_text(fd))
      .with_native(code);
}

}  // namespace

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<Mapping> Mapping::map(int fd, std::uint64_t bytes, const std::string& what) {
  const int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, fd, 0);
  if (at == MAP_FAILED) {
    const int code = errno;
    return fail(make_error(ErrorCode::resources,
                           "{} of {:.1f} MiB cannot be mapped: {}. Give the servers less memory", what,
                           static_cast<double>(bytes) / mib, std::strerror(code))
                    .with_native(code));
  }
  ::madvise(at, bytes, MADV_HUGEPAGE);  // a wish: many systems do not give huge pages to shared memory
  return Mapping(static_cast<std::byte*>(at), bytes);
}

Result<Mapping> Mapping::anonymous(std::uint64_t bytes) { return map(-1, bytes, "memory"); }

Result<Mapping> Mapping::create(const std::string& name, std::uint64_t bytes) {
  const Descriptor fd(::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (fd.get() < 0) {
    const int code = errno;
    return fail(
        make_error(ErrorCode::resources, "shared memory {} cannot be made: {}", name, std::strerror(code))
            .with_native(code));
  }
  int code = 0;
  do {
    code = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
  } while (code == EINTR);
  if (code != 0) {
    unlink(name);
    return fail(no_room(name, bytes, fd.get(), code));
  }
  auto mapping = map(fd.get(), bytes, "shared memory " + name);
  if (!mapping) unlink(name);
  return mapping;
}

Result<Mapping> Mapping::open(const std::string& name, std::uint64_t bytes) {
  const Descriptor fd(::shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0600));
  struct stat info {};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) {
    const int code = errno;
    return fail(
        make_error(ErrorCode::resources,
                   "shared memory {} of the I/O server cannot be opened: {}. Do all ranks of this node see "
                   "the same /dev/shm?",
                   name, std::strerror(code))
            .with_native(code));
  }
  if (static_cast<std::uint64_t>(info.st_size) != bytes)
    return fail(ErrorCode::conflict,
                "shared memory {} has {} bytes, expected {}: do all ranks have the same configuration?", name,
                info.st_size, bytes);
  return map(fd.get(), bytes, "shared memory " + name);
}

void Mapping::unlink(const std::string& name) noexcept { ::shm_unlink(name.c_str()); }

void Mapping::populate() noexcept {
  int result = 0;
  do {
    result = ::madvise(data_, bytes_, MADV_POPULATE_WRITE);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  if (result == 0) return;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (std::uint64_t at = 0; at < bytes_; at += page) {
    __atomic_fetch_or(reinterpret_cast<std::uint8_t*>(data_ + at), std::uint8_t{0}, __ATOMIC_RELAXED);
  }
}

}  // namespace afterbay::transport::shm
