// SPDX-License-Identifier: Apache-2.0
#include "storage/epoch/in_child.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "storage/block_writer/disk.hpp"
#include "storage/block_writer/system_error.hpp"

namespace afterbay::storage {
namespace {

constexpr rlim_t processor_seconds = 600;
constexpr std::size_t most_message_bytes = 32u << 10;  // fits into a pipe without a reader

void lower(int resource, rlim_t to) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 || limit.rlim_cur <= to) return;
  limit.rlim_cur = to;
  static_cast<void>(::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit));
}

[[noreturn]] void run_in_child(int report, const std::function<Result<>()>& work) {
  lower(RLIMIT_CORE, 0);
  lower(RLIMIT_CPU, processor_seconds);
// They reserve terabytes of address space.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  lower(RLIMIT_DATA, rlim_t{16} << 30);
#endif
  const Result<> done = work();
  if (!done) {
    std::string text = std::to_string(static_cast<int>(done.error().code)) + " " + done.error().text();
    text.resize(std::min(text.size(), most_message_bytes));
    static_cast<void>(!::write(report, text.data(), text.size()));
  }
  ::_exit(done ? 0 : 1);
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<> in_child(const std::string& what, const std::function<Result<>()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(system_error(errno, "create a pipe for", what));
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(system_error(errno, "start a process for", what));
  if (child == 0) run_in_child(writing.get(), work);
  writing.reset();
  const std::string text = read_all(reading.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return fail(system_error(errno, "wait for", what));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  int code = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), code);
  if (parsed.ec == std::errc() && code > 0)
    return fail(Error(static_cast<ErrorCode>(code),
                      text.substr(static_cast<std::size_t>(parsed.ptr - text.data()) + 1)));
  return fail(ErrorCode::format,
              "{} {}: the file or its log is damaged; recover another epoch, or restore both", what,
              WIFSIGNALED(status)
                  ? fmt::format("ended with signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)))
                  : "failed without a reason");
}

}  // namespace afterbay::storage
