// SPDX-License-Identifier: Apache-2.0
// afterbay status: what ran, what is published, what is not.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "command.hpp"
#include "journal/judge.hpp"

namespace afterbay::app {

namespace {

using journal::RunState;
using Json = nlohmann::ordered_json;

struct StatusOptions {
  std::string directory = ".";
  bool json = false;
  bool over = false;
  std::size_t most_runs = 10;
};

/// "1.5 GiB": for people, not exact.
std::string about(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < std::size(units); ++unit) amount /= 1024;
  return fmt::format("{:.{}f} {}", amount, unit == 0 ? 0 : 1, units[unit]);
}

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

/// A message of several lines, each where it can be seen whose it is.
std::string indented(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines += (lines.empty() ? "" : "\n        ") + printable(text.substr(0, end));
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

/// Since when, and who: for a run that has not ended.
std::string who(const journal::Run& run) {
  std::string text;
  for (const auto& [number, server] : run.servers)
    if (!server.ended)
      text += fmt::format("    I/O server {} has not ended: process {} on {}, since {} UTC\n", number,
                          server.started.pid, server.started.host, readable(server.started_at));
  return text + fmt::format("    last line {} UTC\n", readable(run.last_at));
}

std::string line_of(const journal::Run& run, RunState state) {
  const std::string servers = count(run.servers.size(), "I/O server");
  return fmt::format("{:<8}  {} to {} UTC  session \"{}\", {}: {}, {}  [{}]\n", name_of(state),
                     readable(run.started_at), readable(run.last_at), printable(run.session()), servers,
                     count(run.published.size(), "file"), about(bytes_of(run)), run.id);
}

const char* fate_of(const journal::OpenedFile& file, RunState state) {
  if (state == RunState::running) return file.given_up.empty() ? "in the making" : "given up";
  if (journal::has_its_name(file)) return "complete, though killed before the journal said so";
  return file.given_up.empty() ? "not published" : "given up";
}

/// Files of an epoch that a run left in the making: their data come back with `afterbay recover`.
std::vector<std::string> to_recover(const journal::Run& run, const journal::CompletedEpoch& epoch) {
  std::vector<std::string> paths;
  for (const journal::OpenedFile& it : run.unpublished)
    if (std::ranges::find(epoch.epoch.unpublished, it.file.path) != epoch.epoch.unpublished.end())
      paths.push_back(it.file.path);
  return paths;
}

std::string epoch_of(const journal::Run& run, RunState state) {
  const journal::CompletedEpoch* const last = run.last_epoch();
  if (last == nullptr) return "";
  std::string text =
      fmt::format("    last complete epoch: {}  (number {}, {} UTC): all output before it is durable\n",
                  printable(last->epoch.name), last->epoch.epoch, readable(last->at));
  if (state == RunState::complete || state == RunState::running) return text;
  for (const std::string& path : to_recover(run, *last))
    text += fmt::format("        to be brought back: afterbay recover --epoch {} {}\n", last->epoch.epoch,
                        printable(path));
  return text;
}

std::string details_of(const journal::Run& run, RunState state) {
  constexpr std::size_t most_lines = 20;
  std::string text;
  if (state == RunState::running || state == RunState::unclear || state == RunState::killed) text += who(run);
  text += epoch_of(run, state);
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
  return text;
}

std::string text_of(const journal::Journal& journal, const journal::Asker& asker,
                    const StatusOptions& options) {
  std::string text = fmt::format("journal {}\n", journal.directory);
  const auto last = journal::last_runs(journal);
  const std::size_t hidden = journal.runs.size() - std::min(journal.runs.size(), options.most_runs);
  if (hidden > 0) text += fmt::format("({} older)\n", count(hidden, "run"));
  for (std::size_t r = hidden; r < journal.runs.size(); ++r) {
    const journal::Run& run = journal.runs[r];
    const RunState state = journal::state_of(run, asker);
    text += line_of(run, state);
    if (std::ranges::find(last, &run) != last.end()) text += details_of(run, state);
  }
  text += "last complete file of each collection:\n";
  for (const auto& [collection, it] : journal::last_files(journal))
    text += fmt::format("    {}: {}  ({}, {}{}; {} UTC)\n", printable(collection),
                        printable(it.file.file.path), count(it.file.records, "record"), about(it.file.bytes),
                        labels(it.file.file), readable(it.at));
  if (journal.unreadable_lines > 0)
    text += fmt::format("{} cannot be read: torn when a run was killed, or not Afterbay's\n",
                        count(journal.unreadable_lines, "line"));
  return text;
}

Json json_of(const journal::FileFacts& file) {
  Json json{
      {"path", file.path}, {"number", file.number}, {"collection", file.collection}, {"format", file.format}};
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
  json["at"] = it.at;
  return json;
}

Json json_of(const journal::Run& run, const journal::Asker& asker) {
  Json json{{"run", run.id},
            {"session", run.session()},
            {"state", name_of(journal::state_of(run, asker))},
            {"started", run.started_at},
            {"last", run.last_at}};
  for (const auto& [number, server] : run.servers)
    json["servers"].push_back({{"server", number},
                               {"host", server.started.host},
                               {"pid", server.started.pid},
                               {"ended", server.ended.has_value()}});
  json["last_epoch"] = nullptr;
  if (const auto* const last = run.last_epoch())
    json["last_epoch"] = {{"epoch", last->epoch.epoch},
                          {"name", last->epoch.name},
                          {"at", last->at},
                          {"to_recover", to_recover(run, *last)}};
  json["published"] = Json::array();
  json["unpublished"] = Json::array();
  json["warnings"] = Json::array();
  json["errors"] = Json::array();
  for (const auto& it : run.published) json["published"].push_back(json_of(it));
  for (const auto& it : run.unpublished) {
    json["unpublished"].push_back(json_of(it.file));
    json["unpublished"].back()["complete"] = journal::has_its_name(it);
    if (!it.given_up.empty()) json["unpublished"].back()["given_up"] = it.given_up;
  }
  for (const auto& it : run.warnings) json["warnings"].push_back(it.text);
  for (const auto& it : run.errors) json["errors"].push_back(it.text);
  return json;
}

std::string json_text(const journal::Journal& journal, const journal::Asker& asker) {
  Json json{{"journal", journal.directory},
            {"state", name_of(journal::state_of(journal, asker))},
            {"unreadable_lines", journal.unreadable_lines},
            {"runs", Json::array()},
            {"last_files", Json::object()}};
  for (const auto& run : journal.runs) json["runs"].push_back(json_of(run, asker));
  for (const auto& [collection, it] : journal::last_files(journal))
    json["last_files"][collection] = json_of(it);
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
  const std::string text = options.json ? json_text(*journal, asker) : text_of(*journal, asker, options);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return exit_of(journal::state_of(*journal, asker));
}

Action prepare(CLI::App& app) {
  auto options = std::make_shared<StatusOptions>();
  app.add_option("DIR", options->directory,
                 "the journal's directory, or the one in which afterbay-journal is; the working directory if "
                 "nothing is said");
  app.add_flag("--json", options->json, "print everything as JSON");
  app.add_flag("--over", options->over, "nothing runs any more: what has no end was killed");
  app.add_option("--runs", options->most_runs, "how many of the last runs are listed (10)");
  app.footer(
      "Of each session the last run counts.\n"
      "Exit codes: 0 all are complete, 1 one failed, 3 there is no journal, 4 one was killed, 6 one still "
      "runs, or\n"
      "whether it does cannot be seen from this host.");
  return [options](const Invocation&) { return status(*options); };
}

const Registration registration({.name = "status",
                                 .summary = "says what ran, what is published and what is not",
                                 .prepare = prepare});

}  // namespace

}  // namespace afterbay::app
