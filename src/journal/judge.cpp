// SPDX-License-Identifier: Apache-2.0
#include "journal/judge.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/own_collections.hpp"

namespace afterbay::journal {
namespace {

RunState state_of_server(const ServerOfRun& server, const Asker& asker) {
  if (server.ended) return server.ended->ok ? RunState::complete : RunState::failed;
  if (server.abandoned || asker.over) return RunState::killed;
  if (server.holder == Holder::somebody) return RunState::running;
  // Locks of another host may not be visible here.
  const bool is_sure = server.holder == Holder::nobody && server.started.host == asker.host;
  return is_sure ? RunState::killed : RunState::unclear;
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
  return {name.data(), false};
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
  // Killed before its first line, or the line is still to come: a server that ends cleanly has
  // written one.
  if (run.servers_without_lines() > 0)
    worst = std::max(worst, asker.over ? RunState::killed : RunState::unclear);
  return worst;
}

namespace {

/// Whether both ran, or may have run, at the same time. `a` precedes `b` in the journal.
bool overlap(const Run& a, const Run& b) { return a.session() == b.session() && !a.was_over_before(b); }

const std::string& directory_of(const Run& run) {
  static const std::string unknown;
  return run.servers.empty() ? unknown : run.servers.begin()->second.started.directory;
}

bool has_no_path(const Run& run) { return run.published.empty() && run.unpublished.empty(); }

bool ended_well(const Run& run) {
  return run.servers_without_lines() == 0 && std::ranges::all_of(run.servers, [](const auto& entry) {
           return entry.second.ended && entry.second.ended->ok;
         });
}

/// Whether the run's file has its name, or a later file of the same run that was written under that
/// name.
bool became_complete(const Run& run, const OpenedFile& file) {
  const auto is_later = [&](const PublishedFile& it) {
    return it.file.file.path == file.file.path && it.file.file.number > file.file.number;
  };
  return std::ranges::any_of(run.published, is_later) || published_after_all(file);
}

/// A run and the other runs of its session.
class Neighbours {
 public:
  Neighbours(const Journal& journal, const Run& run) : run_(run) {
    bool is_later = false;
    for (const Run& other : journal.runs) {
      if (&other == &run) {
        is_later = true;
      } else if (is_later ? overlap(run, other) : overlap(other, run)) {
        company_.push_back(&other);
      } else if (is_later && other.session() == run.session()) {
        followers_.push_back(&other);
      }
    }
  }

  [[nodiscard]] Standing standing() const {
    Standing it;
    it.followed = !followers_.empty();
    if (!it.followed) return it;
    if (ended_well(run_)) {
      it.replaced = true;
      return it;
    }
    it.awaited = awaited();
    it.replaced = it.awaited.empty() && (company_.empty() || is_repeated());
    return it;
  }

 private:
  [[nodiscard]] bool is_written_again(const std::string& path) const {
    return std::ranges::any_of(followers_, [&](const Run* it) { return it->has_path(path); });
  }

  /// A run without concurrent runs that could not create a file has lost nothing: usually the path
  /// was wrong. Such files also distinguish the members of an ensemble.
  [[nodiscard]] std::vector<std::string> awaited() const {
    std::vector<std::string> paths;
    for (const OpenedFile& it : run_.unpublished)
      if ((it.was_made() || !company_.empty()) && !is_written_again(it.file.path) &&
          !became_complete(run_, it))
        paths.push_back(it.file.path);
    std::ranges::sort(paths);
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
  }

  /// Whether a follower is the same member of an ensemble: by the files that both write or, if
  /// there are none, by its working directory.
  [[nodiscard]] bool is_repeated() const {
    if (!has_no_path(run_)) {
      const auto again = [this](const std::string& path) { return is_written_again(path); };
      return std::ranges::any_of(run_.published, again, [](const auto& it) { return it.file.file.path; }) ||
             std::ranges::any_of(run_.unpublished, again, [](const auto& it) { return it.file.path; });
    }
    const auto is_here = [this](const Run* it) { return directory_of(*it) == directory_of(run_); };
    return std::ranges::none_of(company_, is_here) && !directory_of(run_).empty() &&
           std::ranges::any_of(followers_, is_here);
  }

  const Run& run_;
  std::vector<const Run*> followers_;  ///< runs of its session that began after its end
  std::vector<const Run*> company_;    ///< concurrent runs of its session
};

/// For each run, whether another run of its session ran, or may have run, at the same time.
std::vector<bool> accompanied(const Journal& journal) {
  std::vector<bool> found(journal.runs.size(), false);
  for (std::size_t a = 0; a < journal.runs.size(); ++a)
    for (std::size_t b = a + 1; b < journal.runs.size(); ++b)
      if (overlap(journal.runs[a], journal.runs[b])) found[a] = found[b] = true;
  return found;
}

}  // namespace

Standing standing_of(const Journal& journal, const Run& run) { return Neighbours(journal, run).standing(); }

std::vector<const Run*> last_runs(const Journal& journal) {
  std::vector<const Run*> runs;
  for (const Run& run : journal.runs)
    if (!standing_of(journal, run).replaced) runs.push_back(&run);
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

namespace {

bool is_same_entry(const PublishedFile& a, const PublishedFile& b) {
  const auto key = [](const PublishedFile& it) { return std::tie(it.sequence, it.file.file.number, it.at); };
  return key(a) == key(b);
}

void add_right(Verification& result, const CheckedFile& checked, bool quick) {
  ++result.right;
  if (!quick && checked.entry.file.checksum) result.bytes_read += checked.entry.file.bytes;
  if (!checked.entry.file.checksum) ++result.without_checksum;
}

}  // namespace

Result<Verification> verify(const Journal& journal, bool quick) {
  Verification result;
  result.torn_lines = journal.torn_lines;
  result.unreadable_lines = journal.unreadable_lines - journal.torn_lines;
  for (const auto& [path, entry] : newest_files(journal)) {
    result.replaced += entry.replaced;
    CheckedFile checked = check_file(entry, quick);
    if (checked.finding == Finding::right)
      add_right(result, checked, quick);
    else
      result.wrong.push_back(std::move(checked));
  }
  if (result.wrong.empty()) return result;
  AFTERBAY_TRY_ASSIGN(const Journal again, read_journal(journal.directory));
  const auto now = newest_files(again);
  // A run keeps the last ones only.
  const auto is_removed_state = [](const CheckedFile& it) {
    return it.finding == Finding::missing && it.entry.file.file.collection == epoch_state_collection;
  };
  for (CheckedFile& it : std::exchange(result.wrong, {})) {
    const auto later = now.find(it.entry.file.file.path);
    if (later != now.end() && !is_same_entry(later->second, it.entry)) it = check_file(later->second, quick);
    if (it.finding == Finding::right)
      add_right(result, it, quick);
    else if (is_removed_state(it))
      ++result.removed;
    else
      result.wrong.push_back(std::move(it));
  }
  return result;
}

}  // namespace afterbay::journal
