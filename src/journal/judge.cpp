// SPDX-License-Identifier: Apache-2.0
#include "journal/judge.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/crc64.hpp"
#include "base/regular_file.hpp"

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
  explicit Reading(const std::string& path) : file_(path) {}
  [[nodiscard]] bool open() const noexcept { return file_.open(); }
  [[nodiscard]] bool missing() const noexcept {
    return file_.number() == ENOENT || file_.number() == ENOTDIR;
  }
  [[nodiscard]] std::string problem() const { return file_.problem(); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return file_.size_bytes(); }
  [[nodiscard]] std::optional<std::uint64_t> checksum() const {
    ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
    std::vector<std::byte> buffer(read_bytes);
    std::uint64_t sum = crc64({});
    for (;;) {
      const ssize_t got = ::read(file_.descriptor(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return std::nullopt;
      if (got == 0) return sum;
      sum = crc64(std::span(buffer).first(static_cast<std::size_t>(got)), sum);
    }
  }

 private:
  RegularFile file_;
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
  if (running) return RunState::running;
  // Killed before its first line, or it is still to come: a server that ends in order has written one.
  if (run.servers_without_lines() > 0)
    worst = std::max(worst, asker.over ? RunState::killed : RunState::unclear);
  return worst;
}

namespace {

/// Whether `earlier` was over when `later`, which comes after it in the journal, began.
bool was_over(const Run& earlier, const Run& later) {
  if (earlier.sequence == 0 || later.sequence == 0) return earlier.last_at <= later.started_at;
  return std::ranges::all_of(earlier.servers, [&](const auto& entry) {
    const ServerOfRun& server = entry.second;
    return (server.ended || server.abandoned) && server.over <= later.sequence;
  });
}

bool share_a_path(const Run& a, const Run& b) {
  const auto in_b = [&b](const auto& path) { return b.has_path(path); };
  return std::ranges::any_of(a.published, in_b, [](const auto& it) { return it.file.file.path; }) ||
         std::ranges::any_of(a.unpublished, in_b, [](const auto& it) { return it.file.path; });
}

/// It died before it had any output to lose.
bool has_no_path(const Run& run) { return run.published.empty() && run.unpublished.empty(); }

/// For each run, whether another one of its session ran, or may have run, at the same time.
std::vector<bool> accompanied(const Journal& journal) {
  std::vector<bool> found(journal.runs.size(), false);
  for (std::size_t a = 0; a < journal.runs.size(); ++a)
    for (std::size_t b = a + 1; b < journal.runs.size(); ++b)
      if (journal.runs[a].session() == journal.runs[b].session() &&
          !was_over(journal.runs[a], journal.runs[b]))
        found[a] = found[b] = true;
  return found;
}

}  // namespace

std::vector<const Run*> last_runs(const Journal& journal) {
  const std::vector<bool> in_company = accompanied(journal);
  std::vector<const Run*> runs;
  for (std::size_t a = 0; a < journal.runs.size(); ++a) {
    const Run& run = journal.runs[a];
    const bool has_successor = std::any_of(
        journal.runs.begin() + static_cast<std::ptrdiff_t>(a) + 1, journal.runs.end(), [&](const Run& later) {
          return later.session() == run.session() && was_over(run, later) &&
                 (!in_company[a] || has_no_path(run) || share_a_path(run, later));
        });
    if (!has_successor) runs.push_back(&run);
  }
  return runs;
}

RunState state_of(const Journal& journal, const Asker& asker) {
  RunState worst = RunState::complete;
  for (const Run* run : last_runs(journal)) worst = std::max(worst, state_of(*run, asker));
  return worst;
}

std::map<SeriesName, PublishedFile> last_files(const Journal& journal) {
  const std::vector<bool> in_company = accompanied(journal);
  std::map<SeriesName, PublishedFile> last;
  for (std::size_t r = 0; r < journal.runs.size(); ++r) {
    const Run& run = journal.runs[r];
    std::map<SeriesName, PublishedFile> of_run;
    const auto add = [&](const PublishedFile& it) {
      const FileFacts& file = it.file.file;
      auto [at, is_new] = of_run.try_emplace(
          {run.session(), in_company[r] ? run.id : std::string(), file.member, file.collection}, it);
      if (!is_new && at->second.file.file.number < file.number) at->second = it;
    };
    for (const PublishedFile& it : run.published) add(it);
    for (const OpenedFile& it : run.unpublished)
      if (const auto entry = published_after_all(it)) add(*entry);
    of_run.merge(last);
    last = std::move(of_run);
  }
  return last;
}

CheckedFile check_file(const PublishedFile& entry, bool quick) {
  const Reading file(entry.file.file.path);
  if (!file.open() && file.missing()) return found(entry, Finding::missing);
  if (!file.open()) return found(entry, Finding::unreadable, file.problem());
  const std::uint64_t size = file.size_bytes();
  if (size != entry.file.bytes)
    return found(entry, size < entry.file.bytes ? Finding::shorter : Finding::longer,
                 fmt::format("{} bytes, published with {}", size, entry.file.bytes));
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
      if (const PublishedFile& later = now.at(path); later.sequence != entry.sequence || later.at != entry.at)
        checked = check_file(later, quick);
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
