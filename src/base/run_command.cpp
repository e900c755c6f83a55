// SPDX-License-Identifier: Apache-2.0
#include "base/run_command.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace afterbay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_message_bytes = 4096;
/// The shell writes the command's status to this descriptor, in case the system does not report it.
constexpr int status_descriptor = 9;
constexpr const char* reporting = "\"$@\" 9>&-; status=$?; echo $status >&9; exit $status";
/// Interval between looks at the command's status if its stderr does not show its end (it was
/// closed early).
constexpr std::chrono::milliseconds look_interval{5};

/// One end of a pipe.
class PipeEnd {
 public:
  explicit PipeEnd(int descriptor) noexcept : descriptor_(descriptor) {}
  PipeEnd(const PipeEnd&) = delete;
  PipeEnd& operator=(const PipeEnd&) = delete;
  ~PipeEnd() { close(); }
  void close() noexcept {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// The attributes and file actions of posix_spawn.
class Spawn {
 public:
  Spawn() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  ~Spawn() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  /// Returns 0 or errno. The command gets its own process group, so that all of it can be killed,
  /// and all signals are unblocked in it.
  int start(const Command& command, int error_output, int status_output, pid_t& process) {
    std::vector<std::string> words = command.words;
    if (status_output >= 0) {
      words.insert(words.begin(), {"/bin/sh", "-c", reporting, "sh"});
      ::posix_spawn_file_actions_adddup2(&actions_, status_output, status_descriptor);
    }
    const std::vector<char*> arguments = pointers_to(words);
    std::vector<char*> environment;
    if (command.environment) environment = pointers_to(*command.environment);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (command.keeps_output)
      ::posix_spawn_file_actions_adddup2(&actions_, error_output, STDOUT_FILENO);
    else
      ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, error_output, STDERR_FILENO);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    return ::posix_spawnp(&process, arguments[0], &actions_, &attributes_, arguments.data(),
                          command.environment ? environment.data() : environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// The beginning of the command's output.
struct Output {
  std::string text;
  std::size_t most_bytes = most_message_bytes;
};

/// Reads available data; false at the end of the stream.
bool read_available(int descriptor, Output& output) {
  char buffer[512];
  ssize_t count = 0;
  while ((count = ::read(descriptor, buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR))
    if (count > 0 && output.text.size() < output.most_bytes)
      output.text.append(buffer, static_cast<std::size_t>(count));
  return count < 0;
}

/// A pipe with a non-blocking reading end. The command's end blocks: its writes must wait, not
/// fail.
class Pipe {
 public:
  /// Returns 0 or errno.
  int open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
    reading_.emplace(ends[0]);
    writing_.emplace(ends[1]);
    return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
  }
  [[nodiscard]] int reading() const noexcept { return reading_ ? reading_->get() : -1; }
  [[nodiscard]] int writing() const noexcept { return writing_ ? writing_->get() : -1; }
  void close_writing() noexcept { writing_.reset(); }

 private:
  std::optional<PipeEnd> reading_;
  std::optional<PipeEnd> writing_;
};

/// Whether the program has told the system not to report the end of its children.
bool children_end_unseen() {
  struct sigaction action {};
  return ::sigaction(SIGCHLD, nullptr, &action) == 0 &&
         (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0);
}

/// The shell's report as a wait status; nothing if it was killed before it could report.
std::optional<int> reported_status(int descriptor) {
  Output output;
  read_available(descriptor, output);
  const std::string& text = output.text;
  int status = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), status);
  if (wrong != std::errc()) return std::nullopt;
  return W_EXITCODE(status, 0);
}

/// Waits while reading stderr. Returns the wait status; -1 if another part of the program, or the
/// system, has taken it; nothing if the deadline has passed or a stop was requested.
std::optional<int> wait_for(pid_t process, int errors, Clock::time_point until, const std::atomic<bool>* stop,
                            Output& output) {
  bool reading = true;
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR)) {
      read_available(errors, output);
      return ended == process ? status : -1;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0 || (stop != nullptr && stop->load())) return std::nullopt;
    if (!reading) {
      std::this_thread::sleep_for(std::min(left, look_interval));
      continue;
    }
    pollfd ready{errors, POLLIN, 0};
    constexpr std::chrono::milliseconds longest{50};
    if (::poll(&ready, 1, static_cast<int>(std::min(left, longest).count())) > 0)
      reading = read_available(errors, output);
  }
}

std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Error command_error(ErrorCode code, const Command& command, const std::string& what,
                    const std::string& text) {
  return make_error(code, "`{}` {}{}{}", fmt::join(command.words, " "), what, text.empty() ? "" : ": ",
                    one_line(text.substr(0, most_message_bytes + 512)));
}

/// Kills the command's process group. A process that hangs in the file system cannot be killed and
/// is left to the system.
void kill_group(pid_t process, int errors, std::chrono::milliseconds grace, Output& output) {
  if (grace.count() > 0) {
    ::kill(-process, SIGTERM);
    if (wait_for(process, errors, Clock::now() + grace, nullptr, output)) {
      ::kill(-process, SIGKILL);  // remaining processes of the group
      return;
    }
  }
  ::kill(-process, SIGKILL);
  for (int look = 0; look < 20 && ::waitpid(process, nullptr, WNOHANG) == 0; ++look)
    std::this_thread::sleep_for(look_interval);
}

/// Like run_command; `output` receives the command's output.
Result<> run(const Command& command, std::chrono::milliseconds deadline, Output& output) {
  Pipe errors;
  Pipe report;
  const bool unseen = children_end_unseen();
  int without = errors.open();
  if (without == 0 && unseen) without = report.open();
  if (without != 0)
    return fail(
        command_error(ErrorCode::io, command, "has no pipe", std::generic_category().message(without)));
  pid_t process = -1;
  const int failed = Spawn().start(command, errors.writing(), report.writing(), process);
  errors.close_writing();
  report.close_writing();
  if (failed != 0)
    return fail(
        command_error(ErrorCode::io, command, "cannot be started", std::generic_category().message(failed))
            .with_native(failed));
  const std::string& text = output.text;
  std::optional<int> status =
      wait_for(process, errors.reading(), Clock::now() + deadline, command.stop, output);
  if (!status) {
    kill_group(process, errors.reading(), command.grace, output);
    read_available(errors.reading(), output);
    const bool stopped = command.stop != nullptr && command.stop->load();
    return fail(command_error(ErrorCode::timed_out, command,
                              stopped
                                  ? "was killed early because the run ends"
                                  : fmt::format("did not end within {} ms and was killed", deadline.count()),
                              text));
  }
  if (*status == -1) status = reported_status(report.reading());
  if (!status)
    return fail(
        command_error(ErrorCode::io, command,
                      "ended, but its exit status is unknown: another part of the program waits for all "
                      "children, or it was killed",
                      text));
  if (*status == 0) return {};
  const std::string how = WIFEXITED(*status) ? fmt::format("ended with status {}", WEXITSTATUS(*status))
                                             : fmt::format("was killed by signal {}", WTERMSIG(*status));
  return fail(command_error(ErrorCode::io, command, how, text));
}

}  // namespace

Result<> run_command(const Command& command, std::chrono::milliseconds deadline) {
  Output output;
  return run(command, deadline, output);
}

Result<std::string> output_of(std::vector<std::string> words, std::chrono::milliseconds deadline,
                              std::size_t most_bytes) {
  Output output{{}, most_bytes};
  Command command{std::move(words)};
  command.keeps_output = true;
  AFTERBAY_TRY(run(command, deadline, output));
  return std::move(output.text);
}

}  // namespace afterbay
