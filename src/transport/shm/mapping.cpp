// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/free_memory.hpp"
#include "transport/shm/geometry.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace afterbay::transport::shm {
namespace {

constexpr double mib = 1024.0 * 1024.0;

constexpr std::uint64_t margin_bytes = 16u << 20;  // left to the node's processes, including the
                                                   // model

std::string free_here() {
  const auto free = free_memory();
  return free ? fmt::format("; {:.1f} MiB of memory are free here", static_cast<double>(*free) / mib) : "";
}

Error no_room(std::uint64_t bytes, int code) {
  return make_error(
             ErrorCode::no_space,
             "{:.1f} MiB of memory for an I/O server cannot be allocated: {}{}. Give the servers less memory "
             "(memory.server) or use fewer servers per node",
             static_cast<double>(bytes) / mib, std::strerror(code), free_here())
      .with_native(code);
}

bool is_free(std::uint64_t bytes) {
  const auto free = free_memory();
  return !free || bytes <= *free;
}

std::uint64_t system_page() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Like mmap at any address, but at a multiple of the size of a huge page: only there can a process
/// map huge pages as such.
void* map_aligned(std::uint64_t bytes, int kind, int fd) {
  if (bytes < huge_page_bytes) return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, fd, 0);
  const std::uint64_t room = bytes + huge_page_bytes;
  void* const found = ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return MAP_FAILED;
  auto* const begin = static_cast<std::byte*>(found);
  const std::uint64_t before = -reinterpret_cast<std::uintptr_t>(found) & (huge_page_bytes - 1);
  const std::uint64_t mapped = (bytes + system_page() - 1) / system_page() * system_page();
  void* const at = ::mmap(begin + before, bytes, PROT_READ | PROT_WRITE, kind | MAP_FIXED, fd, 0);
  if (at == MAP_FAILED) {
    const int code = errno;
    ::munmap(found, room);
    errno = code;
    return MAP_FAILED;
  }
  if (before > 0) ::munmap(begin, before);
  if (before + mapped < room) ::munmap(begin + before + mapped, room - before - mapped);
  return at;
}

}  // namespace

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
  if (fd_ >= 0) ::close(fd_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      fd_(std::exchange(other.fd_, -1)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(fd_, other.fd_);
  return *this;
}

/// The mapping keeps its own descriptor.
Result<Mapping> Mapping::map(int fd, std::uint64_t bytes, const std::string& what) {
  const int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  void* at = map_aligned(bytes, kind, fd);
  if (at == MAP_FAILED) {
    const int code = errno;
    return fail(make_error(ErrorCode::resources,
                           "{} of {:.1f} MiB cannot be mapped: {}. Give the servers less memory", what,
                           static_cast<double>(bytes) / mib, std::strerror(code))
                    .with_native(code));
  }
  ::madvise(at, bytes, MADV_HUGEPAGE);  // for shared memory most systems ignore it: see shmem_enabled
                                        // in docs/explanation/data-path.md
  Mapping mapping(static_cast<std::byte*>(at), bytes, fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (fd >= 0 && mapping.fd_ < 0) {
    const int code = errno;
    return fail(make_error(ErrorCode::resources, "{} cannot be kept open: {}", what, std::strerror(code))
                    .with_native(code));
  }
  return mapping;
}

Result<Mapping> Mapping::anonymous(std::uint64_t bytes) { return map(-1, bytes, "memory"); }

Result<SharedMemory> Mapping::create(std::uint64_t bytes) {
  if (!is_free(bytes)) return fail(no_room(bytes, ENOMEM));
  Door door(::memfd_create("afterbay", MFD_CLOEXEC));
  if (door.fd() < 0) {
    const int code = errno;
    return fail(make_error(ErrorCode::resources, "shared memory cannot be created: {}", std::strerror(code))
                    .with_native(code));
  }
  int code = 0;
  do {
    code = ::ftruncate(door.fd(), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
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

Result<void> Mapping::allocate(std::initializer_list<Extent> parts) {
  std::uint64_t bytes = 0;
  for (const Extent& part : parts) bytes += part.bytes;
  if (!is_free(bytes + margin_bytes)) return fail(no_room(bytes, ENOMEM));
  for (const Extent& part : parts)
    if (const int code = allocate(part); code != 0) return fail(no_room(bytes, code));
  return {};
}

// By faults through the mapping, not by `fallocate`, which does not know of MADV_HUGEPAGE, but says
// why there is no memory.
int Mapping::allocate(Extent part) noexcept {
  if (part.bytes == 0) return 0;
  int code = fault_in(part);
  if (code != EINVAL && code != EFAULT) return code;
  if (fd_ >= 0) {
    do {
      code = ::posix_fallocate(fd_, static_cast<off_t>(part.at), static_cast<off_t>(part.bytes));
    } while (code == EINTR);
    if (code != 0) return code;
    code = fault_in(part);
  }
  if (code != EINVAL) return code == EFAULT ? ENOMEM : code;
  touch(part);  // kernels older than 5.14
  return 0;
}

void Mapping::populate(Extent part) noexcept {
  if (fault_in(part) == EINVAL) touch(part);
}

int Mapping::fault_in(Extent part) noexcept {
  const auto [from, to] = pages_of(part);
  if (to <= from) return 0;
  int result = 0;
  do {
    result = ::madvise(data_ + from, to - from, MADV_POPULATE_WRITE);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result == 0 ? 0 : errno;
}

/// Mapping it again at the same place, in one system call: MADV_DONTNEED keeps the tables
/// themselves in most kernels. Needs no memory: the reservation of a shared file is the file's.
void Mapping::forget_pages(Extent part) noexcept {
  const std::uint64_t page = system_page();
  const std::uint64_t from = (part.at + page - 1) / page * page;
  const std::uint64_t to = (part.at + part.bytes) / page * page;
  if (fd_ < 0 || to <= from) return;
  const void* const at = ::mmap(data_ + from, to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_,
                                static_cast<off_t>(from));
  if (at == MAP_FAILED) return;  // too many mappings: the old one stays
  ::madvise(data_ + from, to - from, MADV_HUGEPAGE);
}

void Mapping::touch(Extent part) noexcept {
  const auto [from, to] = pages_of(part);
  for (std::uint64_t at = from; at < to; at += system_page())
    __atomic_fetch_or(reinterpret_cast<std::uint8_t*>(data_ + at), std::uint8_t{0}, __ATOMIC_RELAXED);
}

std::pair<std::uint64_t, std::uint64_t> Mapping::pages_of(Extent part) const noexcept {
  return {part.at / system_page() * system_page(), std::min(part.at + part.bytes, bytes_)};
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
