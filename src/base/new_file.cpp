// SPDX-License-Identifier: Apache-2.0
#include "base/new_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

namespace afterbay {
namespace {

/// Blocks SIGPIPE, which would end the program by default. The signal is directed at the writing
/// thread.
class PipeSignalHeldBack {
 public:
  PipeSignalHeldBack() noexcept {
    sigset_t pending;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  PipeSignalHeldBack(const PipeSignalHeldBack&) = delete;
  PipeSignalHeldBack& operator=(const PipeSignalHeldBack&) = delete;
  ~PipeSignalHeldBack() {
    const timespec at_once{};
    if (!was_pending_)
      while (::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

/// A link of another user, in a directory that others can write to, may point anywhere.
bool may_follow(const std::string& path) noexcept {
  struct stat status {};
  return ::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode) || status.st_uid == ::geteuid() ||
         status.st_uid == 0 || path.starts_with("/dev/");
}

using Clock = std::chrono::steady_clock;

int write_all(int file, std::string_view text, Clock::time_point until) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno == EAGAIN) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      pollfd wait{file, POLLOUT, 0};
      if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) == 0) return ETIMEDOUT;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

int write_new_file(const std::string& path, std::string_view text) noexcept {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return errno;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int number = 0;
  while (number == 0 && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written > 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (written == 0 || errno != EINTR)
      number = written == 0 ? EIO : errno;
  }
  if (::close(file) != 0 && number == 0) number = errno;
  if (number != 0) ::unlink(path.c_str());
  return number;
}

std::string name_beside(const std::string& path) {
  return path + "." + std::to_string(::getpid()) + "." + std::to_string(::gettid()) + ".tmp";
}

int rename_durably(const std::string& from, const std::string& to) noexcept {
  const auto sync = [](const char* path, int flags) {
    const int file = ::open(path, flags | O_CLOEXEC);
    if (file < 0) return errno;
    const int number = ::fsync(file) == 0 ? 0 : errno;
    ::close(file);
    return number;
  };
  if (const int number = sync(from.c_str(), O_RDONLY | O_NOFOLLOW); number != 0) return number;
  if (std::rename(from.c_str(), to.c_str()) != 0) return errno;
  const std::size_t slash = to.rfind('/');
  try {
    const std::string directory = slash == std::string::npos ? "." : to.substr(0, slash + 1);
    const int number = sync(directory.c_str(), O_RDONLY | O_DIRECTORY);
    // Not all file systems can do this, and a directory may be writable and not readable.
    const bool cannot =
        number == EINVAL || number == EOPNOTSUPP || number == EROFS || number == EACCES || number == EPERM;
    return cannot ? 0 : number;
  } catch (...) {
    return ENOMEM;
  }
}

int replace_file(const std::string& path, std::string_view text) {
  const std::string beside = name_beside(path);
  if (const int number = write_new_file(beside, text); number != 0) return number;
  if (std::rename(beside.c_str(), path.c_str()) == 0) return 0;
  const int number = errno;
  ::unlink(beside.c_str());
  return number;
}

int write_in_place(const std::string& path, std::string_view text,
                   std::chrono::milliseconds patience) noexcept {
  if (!may_follow(path)) return ELOOP;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  const PipeSignalHeldBack held_back;
  struct stat status {};
  int number = ::fstat(file, &status) == 0 ? 0 : errno;
  if (number == 0 && S_ISREG(status.st_mode) && ::ftruncate(file, 0) != 0) number = errno;
  if (number == 0) number = write_all(file, text, Clock::now() + patience);
  if (::close(file) != 0 && number == 0) number = errno;
  return number;
}

}  // namespace afterbay
