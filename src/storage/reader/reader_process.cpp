// SPDX-License-Identifier: Apache-2.0
#include "storage/reader/reader_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include "storage/reader/channel.hpp"

namespace afterbay::storage {
namespace {

constexpr std::chrono::milliseconds patience_for_end{2000};

/// The initial state of the reader process: the socket as its standard input, no output, default
/// signals.
class ReaderSpawn {
 public:
  explicit ReaderSpawn(int socket) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    // Ctrl-C must only reach the parent, which ends the process.
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ReaderSpawn(const ReaderSpawn&) = delete;
  ReaderSpawn& operator=(const ReaderSpawn&) = delete;
  ~ReaderSpawn() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  /// Returns 0 or errno.
  int start(const std::string& program, pid_t& process) {
    char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};  // NOLINT: not written to
    return ::posix_spawn(&process, program.c_str(), &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::string how_it_ended(std::optional<int> status) {
  if (!status) return "ended";
  if (WIFEXITED(*status)) return fmt::format("ended with status {}", WEXITSTATUS(*status));
  const int number = WTERMSIG(*status);
  if (number == SIGPROF) return "used too much processor time and was ended";
  return fmt::format("ended by signal {} ({})", number, ::strsignal(number));
}

}  // namespace

Result<std::unique_ptr<ReaderProcess>> ReaderProcess::start(std::string path,
                                                            std::chrono::milliseconds deadline) {
  AFTERBAY_TRY_ASSIGN(const std::string program, find_reader_program());
  std::unique_ptr<ReaderProcess> reader(new ReaderProcess(std::move(path), deadline));
  AFTERBAY_TRY(reader->spawn(program));
  std::vector<std::byte> greeting;
  const auto until = std::chrono::steady_clock::now() + deadline;
  const Transfer received = receive_message(reader->socket_.get(), greeting, until);
  if (received == Transfer::done && wire::decode<Done>(greeting)) return reader;
  const std::string how = received == Transfer::closed ? how_it_ended(reader->reap(patience_for_end))
                          : received == Transfer::timed_out
                              ? fmt::format("did not begin within {} ms", deadline.count())
                              : "is another program";
  return fail(ErrorCode::io, "the program {} {}: it reads netCDF-4 files and must be of this installation",
              program, how);
}

Result<> ReaderProcess::spawn(const std::string& program) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(make_error(ErrorCode::resources, "no socket for a reader process: {}",
                           std::generic_category().message(errno))
                    .with_native(errno));
  socket_ = Descriptor(ends[0]);
  const Descriptor other_end(ends[1]);
  if (const int failed = ReaderSpawn(other_end.get()).start(program, pid_); failed != 0)
    return fail(make_error(ErrorCode::io, "{} cannot be started: {}", program,
                           std::generic_category().message(failed))
                    .with_native(failed));
  process_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  return {};
}

ReaderProcess::~ReaderProcess() {
  socket_.reset();
  kill();  // it only reads
  reap(patience_for_end);
}

void ReaderProcess::kill() noexcept {
  if (pid_ < 0) return;
  if (process_.open())
    ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
  else
    ::kill(pid_, SIGKILL);
}

/// The wait status; nullopt if it was collected elsewhere or the process cannot end because it
/// waits for a file system.
std::optional<int> ReaderProcess::reap(std::chrono::milliseconds patience) noexcept {
  constexpr std::chrono::milliseconds look_interval{1};
  if (pid_ < 0) return std::nullopt;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended != 0 && !(ended < 0 && errno == EINTR)) {
      const bool known = ended == pid_;
      pid_ = -1;
      return known ? std::optional(status) : std::nullopt;
    }
    if (std::chrono::steady_clock::now() >= until) return std::nullopt;
    std::this_thread::sleep_for(look_interval);
  }
}

Error ReaderProcess::damaged(const std::string& reason) const {
  return make_error(ErrorCode::format, "the file {} is damaged: {}", path_, reason).in_file(path_);
}

Error ReaderProcess::give_up(Error error) {
  const MutexLock lock(mutex_);
  kill();
  reap(patience_for_end);
  if (!failure_) failure_ = std::move(error);
  return *failure_;
}

Error ReaderProcess::ended_early(bool timed_out) {
  if (timed_out) {
    kill();
    reap(patience_for_end);
    return make_error(ErrorCode::timed_out,
                      "the reader of the structure of {} did not answer within {} ms: the file system does "
                      "not answer, or the file is damaged",
                      path_, deadline_.count())
        .in_file(path_);
  }
  return damaged("the reader of its structure " + how_it_ended(reap(patience_for_end)));
}

Result<> ReaderProcess::exchange(std::vector<std::byte>& bytes, std::span<std::byte> values) {
  const MutexLock lock(mutex_);
  if (failure_) return fail(*failure_);
  return converse(bytes, values);
}

Result<> ReaderProcess::converse(std::vector<std::byte>& bytes, std::span<std::byte> values) {
  const Deadline until = Deadline::clock::now() + deadline_;
  Transfer state = send_message(socket_.get(), bytes, until);
  if (state == Transfer::done) state = receive_message(socket_.get(), bytes, until);
  if (state == Transfer::done && !values.empty()) {
    auto done = wire::decode<Done>(bytes);
    if (done && done->error) return fail(std::move(*done->error));
    if (done) state = receive_bytes(socket_.get(), values, until);
    if (!done) state = Transfer::too_long;
  }
  if (state == Transfer::done) return {};
  Error error = state == Transfer::too_long ? damaged("its description is too long or invalid")
                                            : ended_early(state == Transfer::timed_out);
  kill();
  failure_ = std::move(error);
  return fail(*failure_);
}

}  // namespace afterbay::storage
