// SPDX-License-Identifier: Apache-2.0
#include "journal/judge.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/crc64.hpp"

namespace afterbay::journal {
namespace {

constexpr std::size_t read_bytes = std::size_t{4} << 20;

RunState state_of_server(const ServerOfRun& server, const Asker& asker) {
  if (server.ended) return server.ended->ok ? RunState::complete : RunState::failed;
  if (server.abandoned || asker.over) return RunState::killed;
  if (server.held) return RunState::running;
  const bool here = server.started.host == asker.host;
  if (!here) return RunState::unclear;
  if (server.started.locked) return RunState::killed;
  return asker.is_alive(server.started.pid) ? RunState::running : RunState::killed;
}

/// A file that is open for reading.
class Reading {
 public:
  explicit Reading(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] std::optional<std::uint64_t> size_bytes() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
  }
  [[nodiscard]] std::optional<std::uint64_t> checksum() const {
    ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
    std::vector<std::byte> buffer(read_bytes);
    std::uint64_t sum = crc64({});
    for (;;) {
      const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return std::nullopt;
      if (got == 0) return sum;
      sum = crc64(std::span(buffer).first(static_cast<std::size_t>(got)), sum);
    }
  }

 private:
  int descriptor_;
};

CheckedFile found(const PublishedFile& entry, Finding finding, std::string detail = {}) {
  return {entry, finding, std::move(detail)};
}

}  // namespace

const char* name_of(RunState state) noexcept {
  switch (state) {
    case RunState::complete: return "complete";
    case RunState::running: return "running";
    case RunState::unclear: return "unclear";
    case RunState::failed: return "failed";
    case RunState::killed: return "killed";
  }
  return "unclear";
}

const char* name_of(Finding finding) noexcept {
  switch (finding) {
    case Finding::right: return "right";
    case Finding::missing: return "missing";
    case Finding::shorter: return "truncated";
    case Finding::longer: return "longer";
    case Finding::changed: return "changed";
    case Finding::unreadable: return "unreadable";
  }
  return "unreadable";
}

Asker this_host() {
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  return {name.data(),
          [](std::int64_t pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM; }, false};
}

RunState state_of(const Run& run, const Asker& asker) {
  RunState worst = RunState::complete;
  bool running = false;
  for (const auto& [number, server] : run.servers) {
    const RunState state = state_of_server(server, asker);
    running = running || state == RunState::running;
    worst = std::max(worst, state);
  }
  return running ? RunState::running : worst;
}

std::vector<const Run*> last_runs(const Journal& journal) {
  std::map<std::string, const Run*> last;
  for (const Run& run : journal.runs) last[run.session()] = &run;
  std::vector<const Run*> runs;
  for (const auto& [session, run] : last) runs.push_back(run);
  std::ranges::sort(runs, {}, &Run::started_at);
  return runs;
}

RunState state_of(const Journal& journal, const Asker& asker) {
  RunState worst = RunState::complete;
  for (const Run* run : last_runs(journal)) worst = std::max(worst, state_of(*run, asker));
  return worst;
}

std::map<std::string, PublishedFile> last_files(const Journal& journal) {
  std::map<std::string, PublishedFile> last;
  for (const Run& run : journal.runs) {
    std::map<std::string, PublishedFile> of_run;
    for (const PublishedFile& it : run.published) {
      auto [at, is_new] = of_run.try_emplace(it.file.file.collection, it);
      if (!is_new && at->second.file.file.number < it.file.file.number) at->second = it;
    }
    of_run.merge(last);
    last = std::move(of_run);
  }
  return last;
}

bool has_its_name(const OpenedFile& file) {
  struct stat status {};
  return file.inode != 0 && ::stat(file.file.path.c_str(), &status) == 0 && status.st_ino == file.inode;
}

CheckedFile check_file(const PublishedFile& entry, bool quick) {
  const Reading file(entry.file.file.path);
  if (!file.open() && (errno == ENOENT || errno == ENOTDIR)) return found(entry, Finding::missing);
  if (!file.open()) return found(entry, Finding::unreadable, std::strerror(errno));
  const auto size = file.size_bytes();
  if (!size) return found(entry, Finding::unreadable, std::strerror(errno));
  if (*size != entry.file.bytes)
    return found(entry, *size < entry.file.bytes ? Finding::shorter : Finding::longer,
                 fmt::format("{} bytes, published with {}", *size, entry.file.bytes));
  if (quick || !entry.file.checksum) return found(entry, Finding::right);
  const auto checksum = file.checksum();
  if (!checksum) return found(entry, Finding::unreadable, std::strerror(errno));
  if (*checksum == *entry.file.checksum) return found(entry, Finding::right);
  return found(
      entry, Finding::changed,
      fmt::format("{}, published with {}", print_checksum(*checksum), print_checksum(*entry.file.checksum)));
}

Result<Verification> verify(const Journal& journal, bool quick) {
  Verification result;
  const auto newest = newest_files(journal);
  for (const Run& run : journal.runs) result.replaced += run.published.size();
  result.replaced -= newest.size();
  for (const auto& [path, entry] : newest) {
    CheckedFile checked = check_file(entry, quick);
    if (checked.finding != Finding::right) {
      AFTERBAY_TRY_ASSIGN(const Journal again, read_journal(journal.directory));
      const auto now = newest_files(again);
      if (const PublishedFile& later = now.at(path); later.at != entry.at) checked = check_file(later, quick);
    }
    if (checked.finding != Finding::right) {
      result.wrong.push_back(std::move(checked));
      continue;
    }
    ++result.right;
    if (!quick && checked.entry.file.checksum) result.bytes_read += checked.entry.file.bytes;
    if (!checked.entry.file.checksum) ++result.without_checksum;
  }
  return result;
}

}  // namespace afterbay::journal
