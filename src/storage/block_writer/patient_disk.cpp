// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/patient_disk.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

namespace afterbay::storage {
namespace {

/// The name of an open file in the system, for messages.
std::string path_of(int descriptor) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

/// `call` returns -1 and sets errno on failure; `path()` is the path that it concerns.
template <class Call, class Path>
auto PatientDisk::patiently(Call call, Path path) {
  if (patience_.is_cut_off()) {
    errno = ECANCELED;
    return decltype(call())(-1);
  }
  std::optional<SpaceWait> wait;
  for (;;) {
    const auto result = call();
    const int number = errno;
    const bool no_space = result < 0 && (number == ENOSPC || number == EDQUOT);
    if (no_space && !wait) wait = SpaceWait{path(), number, patience_.now_ns()};
    if (no_space && patience_.wait_for_space(*wait)) continue;
    if (wait) patience_.waited_for_space(*wait, result >= 0);
    errno = number;
    return result;
  }
}

int PatientDisk::open(const char* path, int flags, mode_t mode) {
  return patiently([&] { return disk_->open(path, flags, mode); }, [&] { return std::string(path); });
}

ssize_t PatientDisk::write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) {
  return patiently([&] { return disk_->write(descriptor, bytes, count, offset); },
                   [&] { return path_of(descriptor); });
}

int PatientDisk::truncate(int descriptor, off_t length) {
  return patiently([&] { return disk_->truncate(descriptor, length); }, [&] { return path_of(descriptor); });
}

int PatientDisk::rename(const char* from, const char* to, bool replace) {
  return patiently([&] { return disk_->rename(from, to, replace); }, [&] { return std::string(from); });
}

int PatientDisk::exchange(const char* a, const char* b) {
  return patiently([&] { return disk_->exchange(a, b); }, [&] { return std::string(a); });
}

int PatientDisk::make_directory(const char* path) {
  return patiently([&] { return disk_->make_directory(path); }, [&] { return std::string(path); });
}

int PatientDisk::open_at(int directory, const char* name, int flags, mode_t mode) {
  return patiently([&] { return disk_->open_at(directory, name, flags, mode); },
                   [&] { return path_of(directory) + "/" + name; });
}

int PatientDisk::make_directory_at(int directory, const char* name) {
  return patiently([&] { return disk_->make_directory_at(directory, name); },
                   [&] { return path_of(directory) + "/" + name; });
}

int PatientDisk::link(int descriptor, const char* to) {
  return patiently([&] { return disk_->link(descriptor, to); }, [&] { return path_of(descriptor); });
}

int PatientDisk::make_directories(const char* path) {
  return patiently([&] { return disk_->make_directories(path); }, [&] { return std::string(path); });
}

int PatientDisk::copy(int from, int to) {
  return patiently([&] { return disk_->copy(from, to); }, [&] { return path_of(to); });
}

ssize_t PatientDisk::read(int descriptor, std::byte* bytes, std::size_t count, off_t offset) {
  return disk_->read(descriptor, bytes, count, offset);
}
int PatientDisk::sync(int descriptor) { return disk_->sync(descriptor); }
int PatientDisk::start_write_back(int descriptor, off_t offset, off_t count) {
  return disk_->start_write_back(descriptor, offset, count);
}
int PatientDisk::allocate(int descriptor, off_t offset, off_t length) {
  return disk_->allocate(descriptor, offset, length);
}
bool PatientDisk::writes_side_by_side(const char* path) { return disk_->writes_side_by_side(path); }
bool PatientDisk::shares_pages(const char* path) { return disk_->shares_pages(path); }
std::int64_t PatientDisk::free_bytes(int descriptor) { return disk_->free_bytes(descriptor); }

}  // namespace afterbay::storage
