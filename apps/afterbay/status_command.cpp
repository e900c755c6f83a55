// SPDX-License-Identifier: Apache-2.0
// afterbay status: shows runs, published files and incomplete files.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <vector>

#include "base/printable.hpp"
#include "base/shell_line.hpp"
#include "base/units.hpp"
#include "command.hpp"
#include "journal/judge.hpp"
#include "journal/recovered.hpp"
#include "journal_search.hpp"
#include "storage/epoch/recover.hpp"
#include "storage/store.hpp"

namespace afterbay::app {

namespace {

using journal::RunState;
using Json = nlohmann::ordered_json;

struct StatusOptions {
  std::string directory = ".";
  bool json = false;
  bool over = false;
  bool moved = false;
  std::size_t most_runs = 10;
};

std::uint64_t bytes_of(const journal::Run& run) {
  std::uint64_t bytes = 0;
  for (const auto& file : run.published) bytes += file.file.bytes;
  return bytes;
}

std::string count(std::size_t number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

/// "2026-11-22 07:15:03".
std::string readable(std::string at) {
  at = at.substr(0, at.find('.'));
  if (const auto t = at.find('T'); t != std::string::npos) at[t] = ' ';
  return at;
}

/// A message of several lines, indented below its heading.
std::string indented(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines += (lines.empty() ? "" : "\n        ") + printable_message(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string labels(const journal::FileFacts& file) {
  std::string text;
  if (file.date) text += fmt::format(", date {}", printable(*file.date));
  if (file.step) text += fmt::format(", step {}", *file.step);
  if (file.member) text += fmt::format(", member {}", *file.member);
  return text;
}

/// Start and servers of a run that has not ended.
std::string who(const journal::Run& run) {
  std::string text;
  for (const auto& [number, server] : run.servers)
    if (!server.ended)
      text += fmt::format("    I/O server {} has not ended: process {} on {}, since {} UTC\n", number,
                          server.started.pid, server.started.host, readable(server.started_at));
  if (const std::uint64_t silent = run.servers_without_lines(); silent > 0)
    text += fmt::format("    {} wrote no line, not even of {} end\n", count(silent, "I/O server"),
                        silent == 1 ? "its" : "their");
  return text + fmt::format("    last line {} UTC\n", readable(run.last_at));
}

std::string line_of(const journal::Run& run, RunState state) {
  const std::string servers = count(run.servers.size(), "I/O server");
  return fmt::format("{:<8}  {} to {} UTC  session \"{}\", {}: {}, {}  [{}]\n", name_of(state),
                     readable(run.started_at), readable(run.last_at), printable(run.session()), servers,
                     count(run.published.size(), "file"), print_about(bytes_of(run)), run.id);
}

const char* fate_of(const journal::OpenedFile& file, RunState state) {
  if (state == RunState::running) return file.given_up.empty() ? "in progress" : "given up";
  if (journal::published_after_all(file)) return "complete, though killed before the journal said so";
  return file.given_up.empty() ? "not published" : "given up";
}

/// The state of an epoch's output in part files that its run left.
struct LeftOfEpoch {
  std::vector<std::string> to_recover;  ///< can be restored with `afterbay recover`
  std::vector<std::string> gone;        ///< cannot be restored: removed, damaged, or created anew
                                        ///< by a later run
};

/// Whether the log belongs to a file that this run created, not to another file.
bool is_of_run(const storage::Recoverable& found, const journal::Journal& journal, const journal::Run& run) {
  const auto left = journal::find_left(journal, found.path, {found.made_for.inode, found.made_for.born_ns});
  if (left) return left->run == &run;
  const auto opened =
      std::ranges::find(run.unpublished, found.path, [](const auto& it) { return it.file.path; });
  return opened == run.unpublished.end();  // a power failure may have removed the line
}

bool has_final_name(const journal::Run& run, const std::string& path) {
  return std::ranges::any_of(run.published, [&](const auto& it) { return it.file.file.path == path; }) ||
         std::ranges::any_of(run.unpublished, [&](const journal::OpenedFile& it) {
           return it.file.path == path && journal::published_after_all(it);
         });
}

/// Files that got their names after the journal was read, and whose part files are therefore gone.
void forget_published(std::vector<std::string>& paths, const journal::Journal& journal,
                      const journal::Run& run) {
  const auto now = journal::read_journal(journal.directory);
  if (!now) return;
  const auto its = std::ranges::find(now->runs, run.id, &journal::Run::id);
  if (its != now->runs.end())
    std::erase_if(paths, [&](const std::string& path) { return has_final_name(*its, path); });
}

bool is_over(RunState state) { return state == RunState::failed || state == RunState::killed; }

LeftOfEpoch left_of(const journal::Journal& journal, const journal::Run& run, RunState state,
                    const journal::CompletedEpoch& epoch) {
  LeftOfEpoch left;
  std::vector<std::string> paths = epoch.epoch.unpublished;
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  for (const std::string& path : paths) {
    if (has_final_name(run, path)) continue;
    const auto found = storage::find_recoverable(path);
    const bool has_epoch =
        found && is_of_run(*found, journal, run) &&
        std::ranges::find(found->epochs, epoch.epoch.epoch, &storage::Epoch::number) != found->epochs.end() &&
        storage::check_recoverable(*found, epoch.epoch.epoch);
    (has_epoch ? left.to_recover : left.gone).push_back(path);
  }
  if (!is_over(state) && !left.gone.empty()) forget_published(left.gone, journal, run);
  if (state == RunState::running) left.to_recover.clear();  // the run will continue to write them
  return left;
}

/// The command that restores a file, for execution in any directory.
std::string recovery_of(const std::string& path, std::uint64_t epoch, const journal::Journal& journal) {
  std::vector<std::string> words{"afterbay", "recover", "--number", std::to_string(epoch)};
  if (::access(path.c_str(), F_OK) == 0) words.emplace_back("--replace");
  if (!is_found_by_search(journal, path)) {
    std::error_code wrong;
    const auto directory = std::filesystem::canonical(journal.directory, wrong);
    words.insert(words.end(), {"--journal", wrong ? journal.directory : directory.string()});
  }
  words.push_back(path);
  return shell_line(words);
}

std::string epoch_of(const journal::Journal& journal, const journal::Run& run, RunState state) {
  const journal::CompletedEpoch* const last = run.last_epoch();
  if (last == nullptr) return "";
  const LeftOfEpoch left = left_of(journal, run, state, *last);
  std::string text =
      fmt::format("    last complete epoch: {}  (number {}, {} UTC): all output before it {}\n",
                  printable(last->epoch.name), last->epoch.epoch, readable(last->at),
                  left.gone.empty() ? "is durable" : "was durable");
  for (const std::string& path : left.gone)
    text += fmt::format(
        "        no longer there: {}: its part file was removed or truncated, or created anew by a later "
        "run\n",
        printable(path));
  for (const std::string& path : last->epoch.lost)
    text += fmt::format("        but not {}: it was given up before\n", printable(path));
  for (const journal::PublishedFile& it : run.published)
    if (it.epoch)
      text += fmt::format("        restored to epoch {}: {}\n", printable(*it.epoch),
                          printable(it.file.file.path));
  for (const std::string& path : left.to_recover)
    text += fmt::format("        {}to be restored: {}\n", is_over(state) ? "" : "if the run is over, ",
                        recovery_of(path, last->epoch.epoch, journal));
  return text;
}

/// The latest epoch of the session's other runs, if `run` has none yet.
std::string earlier_epoch_of(const journal::Journal& journal, const journal::Run& run,
                             const journal::Asker& asker) {
  if (run.last_epoch() != nullptr) return "";
  const journal::Run* found = nullptr;
  for (const journal::Run& it : journal.runs) {
    if (&it == &run) break;
    if (it.session() == run.session() && it.last_epoch() != nullptr) found = &it;
  }
  if (found == nullptr) return "";
  return fmt::format("    no epoch yet; of the run of {} UTC:\n", readable(found->started_at)) +
         epoch_of(journal, *found, journal::state_of(*found, asker));
}

/// Why a run counts although later runs of its session began after its end.
std::string why_it_counts(const journal::Journal& journal, const journal::Run& run) {
  constexpr std::size_t most_paths = 5;
  const journal::Standing standing = journal::standing_of(journal, run);
  if (!standing.followed) return "";
  if (standing.awaited.empty())
    return "    counts, though later runs followed: it ran at the same time as others of its session, and no "
           "later run can be identified as its repetition. Give each of them a name (setting session). Once "
           "this is resolved, move the journal away\n";
  std::string paths;
  for (std::size_t i = 0; i < standing.awaited.size() && i < most_paths; ++i)
    paths += (i > 0 ? ", " : "") + printable(standing.awaited[i]);
  if (standing.awaited.size() > most_paths)
    paths += fmt::format(" and {} more", standing.awaited.size() - most_paths);
  return fmt::format(
      "    counts, though later runs followed: none of them wrote {}. It counts until one does, `afterbay "
      "recover` restores the file, or the journal is moved away\n",
      paths);
}

std::string details_of(const journal::Journal& journal, const journal::Run& run, RunState state) {
  constexpr std::size_t most_lines = 20;
  std::string text;
  if (state == RunState::running || state == RunState::unclear || state == RunState::killed) text += who(run);
  if (is_over(state)) text += why_it_counts(journal, run);
  text += epoch_of(journal, run, state);
  const auto list = [&text](const auto& items, const auto& print) {
    for (std::size_t i = 0; i < items.size() && i < most_lines; ++i) text += "    " + print(items[i]) + "\n";
    if (items.size() > most_lines) text += fmt::format("    and {} more\n", items.size() - most_lines);
  };
  list(run.unpublished, [&](const journal::OpenedFile& it) {
    return fmt::format("{}: {}  (collection {}, opened {} UTC){}", fate_of(it, state),
                       printable(it.file.path), printable(it.file.collection), readable(it.at),
                       it.given_up.empty() ? "" : "\n        " + indented(it.given_up));
  });
  list(run.warnings,
       [](const journal::Message& it) { return fmt::format("warning: {}", indented(it.text)); });
  list(run.errors, [](const journal::Message& it) { return fmt::format("error: {}", indented(it.text)); });
  if (state != RunState::running && state != RunState::unclear)
    list(run.untriggered, [](const journal::DueTrigger& it) {
      return fmt::format("trigger \"{}\" has not run for {}, or was killed with the run",
                         printable(it.trigger), printable(it.for_what));
    });
  return text;
}

/// Records missing in the files because the servers' memory was full.
std::string gaps_of(const journal::Journal& journal) {
  std::string text;
  for (const auto& [path, it] : journal::newest_files(journal))
    if (const std::uint64_t dropped = it.file.dropped.value_or(0))
      text += fmt::format("{} of {} were dropped: the server's memory was full\n", count(dropped, "record"),
                          printable(path));
  return text;
}

/// The shortest unambiguous names: with the session if there are several, with the run if several
/// ran at the same time.
std::vector<std::string> names_of(const std::map<journal::SeriesName, journal::PublishedFile>& files) {
  std::set<std::string> sessions;
  for (const auto& [series, it] : files) sessions.insert(series.session);
  std::vector<std::string> names;
  for (const auto& [series, it] : files) {
    std::string name = series.collection;
    if (series.member) name += fmt::format(", member {}", *series.member);
    if (sessions.size() > 1) name += fmt::format(", session {}", series.session);
    if (!series.run.empty()) name += fmt::format(", run {}", series.run);
    names.push_back(std::move(name));
  }
  return names;
}

std::string presence_of(const std::optional<journal::Verification>& files) {
  if (!files) return "";
  std::string text;
  for (const auto& it : files->wrong)
    text += fmt::format("{}: {}{}{}\n", name_of(it.finding), printable(it.entry.file.file.path),
                        it.detail.empty() ? "" : ": ", it.detail);
  return text + fmt::format("{} of {} published files are there, by their sizes\n", files->right,
                            files->right + files->wrong.size());
}

/// The part names beside published files that exist and that no run is known to write: what a
/// killed run had replaced, or left without a line.
std::vector<std::string> left_beside(const journal::Journal& journal) {
  std::set<std::string> unpublished;
  for (const journal::Run* run : journal::last_runs(journal))
    for (const journal::OpenedFile& it : run->unpublished)
      if (!journal::published_after_all(it)) unpublished.insert(it.file.path);
  std::vector<std::string> left;
  for (const auto& [path, it] : journal::newest_files(journal)) {
    std::error_code none;
    const std::string part = storage::part_path(path);
    if (!unpublished.contains(path) && std::filesystem::exists(std::filesystem::symlink_status(part, none)))
      left.push_back(part);
  }
  return left;
}

std::string text_of(const journal::Journal& journal, const journal::Asker& asker,
                    const std::optional<journal::Verification>& files, const StatusOptions& options) {
  std::string text = fmt::format("journal {}\n", printable(journal.directory));
  const auto last = journal::last_runs(journal);
  const std::size_t hidden = journal.runs.size() - std::min(journal.runs.size(), options.most_runs);
  if (hidden > 0) text += fmt::format("({} older)\n", count(hidden, "run"));
  for (std::size_t r = hidden; r < journal.runs.size(); ++r) {
    const journal::Run& run = journal.runs[r];
    const RunState state = journal::state_of(run, asker);
    text += line_of(run, state);
    if (std::ranges::find(last, &run) != last.end())
      text += earlier_epoch_of(journal, run, asker) + details_of(journal, run, state);
  }
  text += "last complete file of each collection:\n";
  const auto last_files = journal::last_files(journal);
  const auto names = names_of(last_files);
  std::size_t file = 0;
  for (const auto& [series, it] : last_files)
    text += fmt::format("    {}: {}  ({}, {}{}; {} UTC)\n", printable(names[file++]),
                        printable(it.file.file.path), count(it.file.records, "record"),
                        print_about(it.file.bytes), labels(it.file.file), readable(it.at));
  text += gaps_of(journal);
  text += presence_of(files);
  for (const std::string& part : left_beside(journal))
    text += fmt::format(
        "left over: {}: of a run that was killed; the next run that writes this file removes it, and you "
        "may, "
        "if no run writes it\n",
        printable(part));
  if (journal.unreadable_lines > 0)
    text += fmt::format("{} cannot be read: torn when a run was killed, or not Afterbay's\n",
                        count(journal.unreadable_lines, "line"));
  return text;
}

std::vector<std::string> utf8_names(std::vector<std::string> names) {
  for (std::string& name : names) name = utf8_name(name);
  return names;
}

Json json_of(const journal::FileFacts& file) {
  Json json{{"path", utf8_name(file.path)},
            {"number", file.number},
            {"collection", file.collection},
            {"format", file.format}};
  if (file.step) json["step"] = *file.step;
  if (file.member) json["member"] = *file.member;
  if (file.date) json["date"] = *file.date;
  return json;
}

Json json_of(const journal::PublishedFile& it) {
  Json json = json_of(it.file.file);
  json["bytes"] = it.file.bytes;
  json["records"] = it.file.records;
  if (it.file.checksum) json["checksum"] = journal::print_checksum(*it.file.checksum);
  if (it.file.dropped) json["dropped"] = *it.file.dropped;
  if (it.epoch) json["brought_back_to"] = *it.epoch;
  json["at"] = it.at;
  return json;
}

Json json_of(const journal::Journal& journal, const journal::Run& run, const journal::Asker& asker) {
  const RunState state = journal::state_of(run, asker);
  const journal::Standing standing = journal::standing_of(journal, run);
  Json json{{"run", run.id},
            {"session", run.session()},
            {"state", name_of(state)},
            {"started", run.started_at},
            {"last", run.last_at},
            {"counts", !standing.replaced},
            {"awaited", utf8_names(standing.awaited)}};
  for (const auto& [number, server] : run.servers)
    json["servers"].push_back({{"server", number},
                               {"host", server.started.host},
                               {"pid", server.started.pid},
                               {"ended", server.ended.has_value()}});
  json["last_epoch"] = nullptr;
  if (const auto* const last = run.last_epoch()) {
    const LeftOfEpoch left = left_of(journal, run, state, *last);
    json["last_epoch"] = {{"epoch", last->epoch.epoch},
                          {"name", last->epoch.name},
                          {"at", last->at},
                          {"to_recover", utf8_names(left.to_recover)},
                          {"gone", utf8_names(left.gone)},
                          {"lost", utf8_names(last->epoch.lost)}};
  }
  json["published"] = Json::array();
  json["unpublished"] = Json::array();
  json["warnings"] = Json::array();
  json["errors"] = Json::array();
  for (const auto& it : run.published) json["published"].push_back(json_of(it));
  for (const auto& it : run.unpublished) {
    json["unpublished"].push_back(json_of(it.file));
    json["unpublished"].back()["complete"] = journal::published_after_all(it).has_value();
    if (!it.given_up.empty()) json["unpublished"].back()["given_up"] = it.given_up;
  }
  for (const auto& it : run.warnings) json["warnings"].push_back(it.text);
  for (const auto& it : run.errors) json["errors"].push_back(it.text);
  json["untriggered"] = Json::array();
  for (const auto& it : run.untriggered)
    json["untriggered"].push_back(
        {{"trigger", it.trigger}, {"for", utf8_name(it.for_what)}, {"since", it.at}});
  return json;
}

std::string json_text(const journal::Journal& journal, const journal::Asker& asker,
                      const std::optional<journal::Verification>& files) {
  Json json{{"journal", utf8_name(journal.directory)},
            {"state", name_of(journal::state_of(journal, asker))},
            {"unreadable_lines", journal.unreadable_lines},
            {"left_over", utf8_names(left_beside(journal))},
            {"runs", Json::array()},
            {"last_files", Json::object()}};
  for (const auto& run : journal.runs) json["runs"].push_back(json_of(journal, run, asker));
  const auto last_files = journal::last_files(journal);
  const auto names = names_of(last_files);
  std::size_t file = 0;
  for (const auto& [series, it] : last_files) {
    Json& entry = json["last_files"][names[file++]] = json_of(it);
    entry["session"] = series.session;
    if (!series.run.empty()) entry["run"] = series.run;
  }
  if (files) {
    json["files"] = {{"there", files->right}, {"wrong", Json::array()}};
    for (const auto& it : files->wrong)
      json["files"]["wrong"].push_back({{"path", utf8_name(it.entry.file.file.path)},
                                        {"finding", name_of(it.finding)},
                                        {"detail", it.detail}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Exit exit_of(RunState state) {
  switch (state) {
    case RunState::complete: return Exit::ok;
    case RunState::running:
    case RunState::unclear: return Exit::running;
    case RunState::failed: return Exit::wrong;
    case RunState::killed: return Exit::lost;
  }
  return Exit::internal;
}

Exit status(const StatusOptions& options) {
  const auto journal = journal::read_journal(options.directory);
  if (!journal) throw Failure(journal.error());
  journal::Asker asker = journal::this_host();
  asker.over = options.over;
  std::optional<journal::Verification> files;
  if (!options.moved) {
    auto found = journal::verify(*journal, true);
    if (!found) throw Failure(found.error());
    files = std::move(*found);
  }
  const std::string text =
      options.json ? json_text(*journal, asker, files) : text_of(*journal, asker, files, options);
  std::fwrite(text.data(), 1, text.size(), stdout);
  const Exit exit = exit_of(journal::state_of(*journal, asker));
  return exit == Exit::ok && files && !files->wrong.empty() ? Exit::wrong : exit;
}

Action prepare_status(CLI::App& app) {
  auto options = std::make_shared<StatusOptions>();
  app.add_option(
      "DIR", options->directory,
      "directory of the journal, or the directory that contains afterbay-journal; default: the working "
      "directory");
  app.add_flag("--json", options->json, "print everything as JSON");
  app.add_flag("--over", options->over,
               "treat runs without a recorded end as killed: no run is in progress any more");
  app.add_flag("--moved", options->moved, "do not look for published files: they may have been moved");
  app.add_option("--runs", options->most_runs, "number of most recent runs to list (10)");
  app.footer(
      "The last run of each session counts, and each failed run until later runs have written all files\n"
      "that it left incomplete. Sizes of published files are compared with the journal (`afterbay verify`\n"
      "also reads the files).\n"
      "Exit codes: 0 all runs are complete, 1 a run failed or a published file is missing, 3 there is no\n"
      "journal, 4 a run was killed, 6 a run has not ended, or this host cannot tell whether it has.");
  return [options](const Invocation&) { return status(*options); };
}

const Registration status_registration({.name = "status",
                                        .summary = "lists runs, and which of their files are published",
                                        .prepare = prepare_status});

}  // namespace

}  // namespace afterbay::app
