// SPDX-License-Identifier: Apache-2.0
#include "base/process_watch.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace afterbay {

ProcessId own_process() noexcept {
  struct stat info {};
  ProcessId self{static_cast<std::uint32_t>(::getpid()), 0};
  if (::stat("/proc/self/ns/pid", &info) == 0) self.space = info.st_ino;
  return self;
}

ProcessWatch::ProcessWatch(ProcessId process) noexcept : pid_(process.pid) {
  const ProcessId self = own_process();
  watched_ = process.pid != 0 && process.pid != self.pid && process.space == self.space;
  if (!watched_) return;
  fd_ = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid_), 0));
  gone_ = fd_ < 0 && errno == ESRCH;
}

ProcessWatch::~ProcessWatch() {
  if (fd_ >= 0) ::close(fd_);
}

ProcessWatch::ProcessWatch(ProcessWatch&& other) noexcept
    : pid_(other.pid_), fd_(std::exchange(other.fd_, -1)), watched_(other.watched_), gone_(other.gone_) {}

ProcessWatch& ProcessWatch::operator=(ProcessWatch&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(fd_, other.fd_);
  std::swap(watched_, other.watched_);
  std::swap(gone_, other.gone_);
  return *this;
}

bool ProcessWatch::running() const noexcept {
  if (!watched_) return true;
  if (gone_) return false;
  if (fd_ < 0) return ::kill(static_cast<pid_t>(pid_), 0) == 0 || errno != ESRCH;
  pollfd poll_fd{fd_, POLLIN, 0};
  return ::poll(&poll_fd, 1, 0) <= 0;
}

}  // namespace afterbay
