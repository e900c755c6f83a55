// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <utility>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace afterbay::transport::shm {
namespace {

constexpr double mib = 1024.0 * 1024.0;

/// The number behind `key` in a file of the kernel's; nothing when there is none ("max").
std::optional<std::uint64_t> number_in(const char* path, const std::string& key = {}) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    if (!key.empty() && word != key) continue;
    std::uint64_t number = 0;
    if (key.empty()) file.seekg(0);
    if (file >> number) return number;
    break;
  }
  return std::nullopt;
}

/// Bytes that can still be had on this node, or in this process's control group if that is less.
std::uint64_t available_bytes() {
  const auto kib = number_in("/proc/meminfo", "MemAvailable:");
  std::uint64_t bytes = kib ? *kib * 1024 : std::numeric_limits<std::uint64_t>::max();
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (limit && used) bytes = std::min(bytes, *limit - std::min(*limit, *used));
  return bytes;
}

Error no_room(std::uint64_t bytes, int code) {
  return make_error(
             ErrorCode::no_space,
             "shared memory of {:.1f} MiB cannot be made: {}; {:.1f} MiB of memory are free here. Give "
             "the servers less memory (memory.server) or use fewer servers a node",
             static_cast<double>(bytes) / mib, std::strerror(code),
             static_cast<double>(available_bytes()) / mib)
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

Result<SharedMemory> Mapping::create(std::uint64_t bytes) {
  if (bytes > available_bytes()) return fail(no_room(bytes, ENOMEM));
  Door door(::memfd_create("afterbay", MFD_CLOEXEC));
  if (door.fd() < 0) {
    const int code = errno;
    return fail(make_error(ErrorCode::resources, "shared memory cannot be made: {}", std::strerror(code))
                    .with_native(code));
  }
  int code = 0;
  do {
    code = ::posix_fallocate(door.fd(), 0, static_cast<off_t>(bytes));
  } while (code == EINTR);
  if (code != 0) return fail(no_room(bytes, code));
  AFTERBAY_TRY_ASSIGN(Mapping mapping, map(door.fd(), bytes, "shared memory"));
  return SharedMemory{std::move(mapping), std::move(door)};
}

Result<Mapping> Mapping::open(const std::string& address, std::uint64_t bytes) {
  const Door door(::open(address.c_str(), O_RDWR | O_CLOEXEC));
  struct stat info {};
  if (door.fd() < 0 || ::fstat(door.fd(), &info) != 0) {
    const int code = errno;
    return fail(
        make_error(ErrorCode::resources,
                   "the I/O server's shared memory {} cannot be opened: {}. Do all ranks of this node "
                   "run as the same user, in one container? If not, set transport to mpi",
                   address, std::strerror(code))
            .with_native(code));
  }
  if (static_cast<std::uint64_t>(info.st_size) != bytes)
    return fail(ErrorCode::conflict,
                "shared memory {} has {} bytes, expected {}: do all ranks have the same configuration?",
                address, info.st_size, bytes);
  return map(door.fd(), bytes, "shared memory " + address);
}

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

Door::~Door() {
  if (fd_ >= 0) ::close(fd_);
}

Door::Door(Door&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Door& Door::operator=(Door&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

std::string Door::address() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd_); }

}  // namespace afterbay::transport::shm
