// SPDX-License-Identifier: Apache-2.0
#include "journal/read.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/bounded_lines.hpp"
#include "base/regular_file.hpp"
#include "journal/journal_file.hpp"

namespace afterbay::journal {
namespace {

constexpr const char* usual_directory = "afterbay-journal";
constexpr int most_attempts = 3;
/// Longer lines are unreadable. The line of an epoch lists all open files: room for 60,000 long
/// paths.
constexpr std::size_t most_line_bytes = std::size_t{16} << 20;

Error cannot_read(const std::string& path, int number, const std::string& problem) {
  const bool special = number == EISDIR || number == ENODEV;
  return make_error(ErrorCode::io, "cannot read the journal {}: {}{}", path, problem,
                    special ? "; journals are regular files: remove it, or name another directory" : "")
      .with_native(number)
      .in_file(path);
}

Result<std::vector<std::string>> journal_files(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code wrong;
  for (const auto& entry : std::filesystem::directory_iterator(directory, wrong))
    if (is_journal_name(entry.path().filename().string())) files.push_back(entry.path().string());
  if (wrong)
    return fail(make_error(ErrorCode::io, "cannot read the directory {}: {}", directory, wrong.message())
                    .with_native(wrong.value())
                    .in_file(directory));
  std::ranges::sort(files);
  return files;
}

struct FoundFiles {
  std::string directory;
  std::vector<std::string> paths;
};

Result<FoundFiles> find_files(const std::string& directory) {
  FoundFiles found{.directory = directory, .paths = {}};
  AFTERBAY_TRY_ASSIGN(found.paths, journal_files(found.directory));
  if (const auto inside = std::filesystem::path(directory) / usual_directory;
      found.paths.empty() && std::filesystem::is_directory(inside)) {
    found.directory = inside.string();
    AFTERBAY_TRY_ASSIGN(found.paths, journal_files(found.directory));
  }
  if (found.paths.empty())
    return fail(make_error(ErrorCode::io, "there is no journal in {}, nor in {} inside it", directory,
                           usual_directory)
                    .in_file(directory));
  return found;
}

std::vector<std::uintmax_t> sizes_of(const std::vector<std::string>& files) {
  std::vector<std::uintmax_t> sizes;
  std::error_code gone;
  for (const std::string& path : files) sizes.push_back(std::filesystem::file_size(path, gone));
  return sizes;
}

/// Whether a session began to write to a file after the file was found to have no holder.
bool has_grown(const std::vector<std::string>& files, const std::vector<Holder>& holders,
               const std::vector<std::uintmax_t>& sizes) {
  const std::vector<std::uintmax_t> now = sizes_of(files);
  for (std::size_t i = 0; i < files.size(); ++i)
    if (holders[i] == Holder::nobody && now[i] != sizes[i]) return true;
  return false;
}

/// Joins the lines of all files.
class Collector {
 public:
  /// `holder` was determined before the lines are read: a run that ends meanwhile has written its
  /// end to them.
  Result<> add(const std::string& path, Holder holder) {
    const RegularFile file(path);
    if (!file.open()) return fail(cannot_read(path, file.number(), file.problem()));
    BoundedLines lines(file.descriptor(), most_line_bytes);
    Run* last = nullptr;
    std::int64_t server = 0;
    bool torn = false;                // the line before
    std::vector<std::string> before;  // earlier runs in this file
    while (const auto text = lines.next()) {
      // A line without a newline may still be incomplete.
      const auto line = text->ended && text->readable ? parse_line(text->text) : std::nullopt;
      if (line) {
        last = &add(*line);
        server = line->server;
        // A run that begins in the file has found no other holder.
        const bool starts = std::holds_alternative<RunStarted>(line->event);
        if (torn && (starts || is_of_command(*line))) ++torn_;
        torn = false;
        if (starts)
          for (const std::string& older : before)
            if (older != line->run) abandoned_.emplace_back(older, line->run);
        if (!is_of_command(*line) && (before.empty() || before.back() != line->run)) {
          if (starts) before.clear();
          before.push_back(line->run);
        }
      } else if (text->ended ? !text->text.empty() || !text->readable : holder == Holder::nobody) {
        ++unreadable_;
        torn = text->readable && (is_cut_off(text->text) || (!text->ended && parse_line(text->text)));
      }
    }
    if (torn) ++torn_;
    if (lines.number() != 0)
      return fail(cannot_read(path, lines.number(), std::generic_category().message(lines.number())));
    if (last != nullptr) last->servers[server].holder = holder;
    return {};
  }

  [[nodiscard]] Journal finish(std::string directory) && {
    places_.clear();  // the lists are sorted
    Journal journal{std::move(directory), {}, unreadable_, torn_};
    const auto by_time = [](const auto& a, const auto& b) { return a.at < b.at; };
    for (auto& [id, run] : runs_) {
      std::ranges::stable_sort(run.published, by_time);
      std::ranges::stable_sort(run.unpublished, by_time);
      std::ranges::stable_sort(run.warnings, by_time);
      std::ranges::stable_sort(run.errors, by_time);
      drop_published(run);
      list_untriggered(run, ran_[id]);
    }
    settle_ends();
    for (auto& [id, run] : runs_) journal.runs.push_back(std::move(run));
    std::ranges::stable_sort(journal.runs, [](const Run& a, const Run& b) {
      return std::tie(a.sequence, a.started_at) < std::tie(b.sequence, b.started_at);
    });
    forget_reused(journal.runs);
    return journal;
  }

 private:
  Run& add(const Line& line) {
    Run& run = runs_[line.run];
    run.id = line.run;
    if (run.started_at.empty() || line.at < run.started_at) run.started_at = line.at;
    run.last_at = std::max(run.last_at, line.at);
    if (!is_of_command(line) && (run.sequence == 0 || line.sequence < run.sequence))
      run.sequence = line.sequence;
    ServerOfRun& server = run.servers[line.server];
    if (const auto* started = std::get_if<RunStarted>(&line.event)) {
      server.started = *started;
      server.started_at = line.at;
    } else if (const auto* opened = std::get_if<FileOpened>(&line.event)) {
      open(run, {opened->file, opened->inode, opened->born_ns, {}, line.at, line.server});
    } else if (const auto* ready = std::get_if<FileReady>(&line.event)) {
      make_ready(run, *ready, line);
    } else if (const auto* published = std::get_if<FilePublished>(&line.event)) {
      run.published.push_back({*published, line.at, line.server});
    } else if (const auto* recovered = std::get_if<FileRecovered>(&line.event)) {
      run.published.push_back({recovered->file, line.at, line.server, recovered->name, line.sequence});
    } else if (const auto* given_up = std::get_if<FileGivenUp>(&line.event)) {
      give_up(run, *given_up, line);
    } else if (const auto* completed = std::get_if<EpochCompleted>(&line.event)) {
      add(run.epochs[completed->epoch], *completed, line);
    } else if (const auto* warned = std::get_if<Warned>(&line.event)) {
      run.warnings.push_back({line.at, line.server, warned->text});
    } else if (const auto* failed = std::get_if<Failed>(&line.event)) {
      run.errors.push_back({line.at, line.server, failed->text});
    } else if (const auto* ran = std::get_if<TriggerRan>(&line.event)) {
      const std::string for_what = ran->path ? *ran->path : epoch_label(ran->epoch.value_or(""));
      ++ran_[line.run][{ran->trigger, for_what}];
      if (!ran->ok)
        run.warnings.push_back({line.at, line.server,
                                fmt::format("trigger \"{}\" failed for {}: {}", ran->trigger, for_what,
                                            ran->text.value_or(""))});
    } else if (const auto* ended = std::get_if<RunEnded>(&line.event)) {
      server.ended = *ended;
      server.over = line.sequence;
    } else if (const auto* abandoned = std::get_if<RunAbandoned>(&line.event)) {
      abandoned_.emplace_back(abandoned->abandoned, line.run);
    }
    return run;
  }

  /// A run that found another one dead began after that run's end.
  void settle_ends() {
    for (const auto& [dead, finder] : abandoned_) {
      const auto at = runs_.find(dead);
      if (at == runs_.end()) continue;
      for (auto& [number, server] : at->second.servers) {
        if (server.ended) continue;
        const std::uint64_t over = runs_[finder].sequence;
        if (!server.abandoned || over < server.over) {
          server.over = over;
          server.found_by = finder;
        }
        server.abandoned = true;
      }
    }
    for (auto& [id, run] : runs_)
      for (PublishedFile& it : run.published)
        if (it.sequence == 0) it.sequence = run.sequence;
  }

  /// If a later run uses the inode for a file of that name, it no longer identifies the older file.
  static void forget_reused(std::vector<Run>& runs) {
    std::map<std::string, std::set<std::uint64_t>> later;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      for (OpenedFile& it : run->unpublished)
        if (const auto at = later.find(it.file.path);
            it.ready && at != later.end() && at->second.contains(it.ready->inode))
          it.ready.reset();
      for (const OpenedFile& it : run->unpublished) later[it.file.path].insert(it.inode);
    }
  }

  /// Numbers of files, with where their entries lie in a list.
  using Places = std::set<std::pair<std::uint64_t, std::size_t>>;

  /// The first entry of the number; null: there is none.
  OpenedFile* find(Run& run, std::uint64_t number) {
    const Places& places = places_[run.id];
    const auto at = places.lower_bound({number, 0});
    return at == places.end() || at->first != number ? nullptr : &run.unpublished[at->second];
  }

  OpenedFile& add(Run& run, OpenedFile opened) {
    places_[run.id].emplace(opened.file.number, run.unpublished.size());
    return run.unpublished.emplace_back(std::move(opened));
  }

  void make_ready(Run& run, const FileReady& ready, const Line& line) {
    OpenedFile* same = find(run, ready.file.file.number);
    if (same == nullptr)
      same = &add(run, {ready.file.file, ready.inode, ready.born_ns, {}, line.at, line.server});
    same->ready = ready;
    same->ready_at = line.at;
    same->ready_sequence = ready.name ? line.sequence : 0;
  }

  /// Another thread of the server may have reported before that the file was given up.
  void open(Run& run, OpenedFile opened) {
    const Places& places = places_[run.id];
    const std::uint64_t number = opened.file.number;
    for (auto at = places.lower_bound({number, 0}); at != places.end() && at->first == number; ++at) {
      OpenedFile& same = run.unpublished[at->second];
      if (same.inode != 0 || same.given_up.empty()) continue;
      opened.given_up = same.given_up;
      opened.ready = same.ready;
      opened.ready_at = same.ready_at;
      opened.ready_sequence = same.ready_sequence;
      same = std::move(opened);
      return;
    }
    add(run, std::move(opened));
  }

  /// A file may be given up before it was created.
  void give_up(Run& run, const FileGivenUp& given_up, const Line& line) {
    if (OpenedFile* const same = find(run, given_up.file.number))
      same->given_up = given_up.why;
    else
      add(run, {given_up.file, 0, 0, given_up.why, line.at, line.server});
  }

  /// Each server reports the files that it creates.
  static void add(CompletedEpoch& epoch, const EpochCompleted& completed, const Line& line) {
    epoch.epoch.epoch = completed.epoch;
    epoch.epoch.name = completed.name;
    auto& files = epoch.epoch.unpublished;
    files.insert(files.end(), completed.unpublished.begin(), completed.unpublished.end());
    auto& lost = epoch.epoch.lost;
    lost.insert(lost.end(), completed.lost.begin(), completed.lost.end());
    if (!completed.triggers.empty()) epoch.epoch.triggers = completed.triggers;
    epoch.servers.insert(line.server);
    epoch.at = std::max(epoch.at, line.at);
  }

  /// A path may be opened and published several times in a run. Publication lines do not identify
  /// the file, and do not list the files of a directory; the lines before them do.
  static void drop_published(Run& run) {
    Places places;
    for (std::size_t i = 0; i < run.unpublished.size(); ++i)
      places.emplace(run.unpublished[i].file.number, i);
    std::vector<bool> is_published(run.unpublished.size(), false);
    for (PublishedFile& it : run.published) {
      const auto at = places.lower_bound({it.file.file.number, 0});
      if (at == places.end() || at->first != it.file.file.number) continue;
      OpenedFile* const same = &run.unpublished[at->second];
      is_published[at->second] = true;
      places.erase(at);
      const bool was_ready = same->ready && same->ready->inode != 0;
      it.identity = was_ready ? FileIdentity{same->ready->inode, same->ready->born_ns} : same->identity();
      if (same->ready && it.file.file_count && it.file.files.empty())
        it.file.files = std::move(same->ready->file.files);
    }
    std::vector<OpenedFile> others;
    for (std::size_t i = 0; i < run.unpublished.size(); ++i)
      if (!is_published[i]) others.push_back(std::move(run.unpublished[i]));
    run.unpublished = std::move(others);
  }

  /// How often a trigger has run, by its name and by what it ran for.
  using TriggersRan = std::map<std::pair<std::string, std::string>, std::uint64_t>;

  static std::string epoch_label(const std::string& name) { return "epoch " + name; }

  static void list_untriggered(Run& run, TriggersRan& ran) {
    const auto take = [&](const std::vector<std::string>& names, const std::string& for_what,
                          const std::string& at, std::int64_t server) {
      for (const std::string& name : names) {
        if (std::uint64_t& times = ran[{name, for_what}]; times > 0)
          --times;
        else
          run.untriggered.push_back({name, for_what, at, server});
      }
    };
    for (const PublishedFile& it : run.published) take(it.file.triggers, it.file.file.path, it.at, it.server);
    for (const OpenedFile& opened : run.unpublished)
      if (const auto it = published_after_all(opened))
        take(it->file.triggers, it->file.file.path, it->at, it->server);
    for (const auto& [number, it] : run.epochs)
      if (run.is_complete(it)) take(it.epoch.triggers, epoch_label(it.epoch.name), it.at, 0);
  }

  std::map<std::string, Run> runs_;
  std::map<std::string, Places> places_;                        ///< in Run::unpublished, by run
  std::map<std::string, TriggersRan> ran_;                      ///< by run
  std::vector<std::pair<std::string, std::string>> abandoned_;  ///< run, and the run that found it
  std::uint64_t unreadable_ = 0;
  std::uint64_t torn_ = 0;
};

}  // namespace

const std::string& Run::session() const {
  static const std::string unknown;
  const auto knows = [](const auto& entry) { return !entry.second.started.session.empty(); };
  const auto at = std::ranges::find_if(servers, knows);
  return at == servers.end() ? unknown : at->second.started.session;
}

std::uint64_t Run::servers_without_lines() const {
  const std::uint64_t announced = announced_servers();
  return announced - std::min<std::uint64_t>(announced, servers.size());
}

bool Run::has_path(const std::string& path) const {
  return std::ranges::any_of(published, [&](const auto& it) { return it.file.file.path == path; }) ||
         std::ranges::any_of(unpublished,
                             [&](const auto& it) { return it.file.path == path && it.was_made(); });
}

/// A server whose first line is unreadable does not say how many there are.
std::uint64_t Run::announced_servers() const {
  std::uint64_t announced = 0;
  for (const auto& [number, server] : servers)
    announced =
        std::max(announced, static_cast<std::uint64_t>(std::max<std::int64_t>(server.started.servers, 0)));
  return announced;
}

bool Run::is_complete(const CompletedEpoch& epoch) const {
  const std::uint64_t announced = announced_servers();
  return announced > 0 && epoch.servers.size() >= announced;
}

// Numbers are assigned in order. Equal numbers, which should not occur, give no order unless the
// later run says that it found the other one dead.
bool Run::was_over_before(const Run& later) const {
  if (sequence == 0 || later.sequence == 0) return last_at <= later.started_at;
  return std::ranges::all_of(servers, [&](const auto& entry) {
    const ServerOfRun& server = entry.second;
    if (server.ended) return server.over < later.sequence;
    return server.abandoned && (server.over < later.sequence || server.found_by == later.id);
  });
}

const CompletedEpoch* Run::last_epoch() const {
  for (auto at = epochs.rbegin(); at != epochs.rend(); ++at)
    if (is_complete(at->second)) return &at->second;
  return nullptr;
}

Result<std::string> find_journal(const std::string& directory) {
  AFTERBAY_TRY_ASSIGN(auto found, find_files(directory));
  return std::move(found.directory);
}

Result<Journal> read_journal(const std::string& directory, const OwnerPatience& patience) {
  AFTERBAY_TRY_ASSIGN(const auto found, find_files(directory));
  const auto& [where, files] = found;
  for (int attempt = 1;; ++attempt) {
    const std::vector<std::uintmax_t> sizes = sizes_of(files);
    const std::vector<Holder> holders = holders_of(files, patience);
    Collector collector;
    for (std::size_t i = 0; i < files.size(); ++i) AFTERBAY_TRY(collector.add(files[i], holders[i]));
    if (attempt == most_attempts || !has_grown(files, holders, sizes))
      return std::move(collector).finish(where);
  }
}

}  // namespace afterbay::journal
