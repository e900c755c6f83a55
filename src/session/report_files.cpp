// SPDX-License-Identifier: Apache-2.0
#include "session/report_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/hard_link.hpp"
#include "base/new_file.hpp"
#include "observe/numbered_path.hpp"

namespace afterbay::session {
namespace {

constexpr int most_names = 1000;  ///< concurrent sessions that write the same report

/// Serializes sessions that end at the same time. A file system without locks, or a holder that
/// does not release the lock, delays a report but does not prevent it.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& path) {
    const std::filesystem::path file(path);
    const std::string directory = file.has_parent_path() ? file.parent_path().string() : ".";
    descriptor_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ < 0) return;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR) &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

 private:
  int descriptor_ = -1;
};

constexpr std::chrono::seconds pipe_patience{5};

std::string reason_of(int number) {
  if (number == ELOOP) return "it is a symbolic link of another user, or one of too many";
  if (number == ENXIO) return "it is a pipe that nobody reads, or a socket";
  if (number == ETIMEDOUT) return fmt::format("the pipe was not read for {} s", pipe_patience.count());
  return std::strerror(number);
}

}  // namespace

ReportFiles::Presence ReportFiles::look(const std::string& path, Identity& found) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return Presence::none;
  found = {status.st_dev, status.st_ino,
           std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec, status.st_size};
  return S_ISREG(status.st_mode) ? Presence::regular : Presence::special;
}

void ReportFiles::expect(const std::string& path) {
  for (int turn = 1; turn <= most_names; ++turn) {
    const std::string name = observe::path_of_turn(path, turn);
    Identity found;
    if (look(name, found) == Presence::none) return;
    before_[name] = found;
  }
}

int ReportFiles::try_write(const std::string& path, const std::string& text) const {
  Identity found;
  const Presence presence = look(path, found);
  if (presence == Presence::special) return write_in_place(path, text, pipe_patience);
  if (presence == Presence::regular) {
    const auto expected = before_.find(path);
    if (expected == before_.end() || expected->second != found) return EEXIST;
  }
  const std::string beside = name_beside(path);
  if (write_new_file(beside, text) != 0) return write_in_place(path, text, pipe_patience);
  int number = 0;
  if (presence == Presence::none)
    number = rename_to_free(beside, path);
  else if (std::rename(beside.c_str(), path.c_str()) != 0)
    number = errno;
  if (number != 0) ::unlink(beside.c_str());
  return number;
}

Result<std::string> ReportFiles::write(const std::string& path, const std::string& text,
                                       const char* setting) const {
  const DirectoryLock lock(path);
  int number = EEXIST;
  for (int turn = 1; turn <= most_names && number == EEXIST; ++turn) {
    std::string name = observe::path_of_turn(path, turn);
    number = try_write(name, text);
    if (number == 0) return name;
  }
  return fail(make_error(ErrorCode::io, "the report cannot be written to '{}' ({}): {}", path, setting,
                         reason_of(number))
                  .in_file(path)
                  .with_native(number));
}

}  // namespace afterbay::session
