// SPDX-License-Identifier: Apache-2.0
// afterbay recover: gives files that a run left in the making their names, as they were at an epoch.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "command.hpp"
#include "journal/line.hpp"
#include "storage/epoch/recover.hpp"

namespace afterbay::app {

namespace {

using Json = nlohmann::ordered_json;

struct RecoverCommandOptions {
  std::vector<std::string> files;
  std::string epoch;
  bool list = false;
  bool replace = false;
  bool json = false;
};

/// By number, or by the last one of that name.
std::optional<std::uint64_t> number_of(const std::string& wanted, const storage::Recoverable& file) {
  if (wanted.empty()) return std::nullopt;
  for (auto at = file.epochs.rbegin(); at != file.epochs.rend(); ++at)
    if (at->name == wanted) return at->number;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (error == std::errc() && end == wanted.data() + wanted.size())
    for (const auto& epoch : file.epochs)
      if (epoch.number == number) return number;
  std::string known;
  for (const auto& epoch : file.epochs)
    known += fmt::format("{}{} ('{}')", known.empty() ? "" : ", ", epoch.number, printable(epoch.name));
  throw Failure(make_error(ErrorCode::invalid_argument, "{} has no epoch '{}': it has {}", file.part_path,
                           wanted, known.empty() ? "none" : known)
                    .in_file(file.path));
}

Json json_of(const storage::Epoch& epoch) {
  return {{"epoch", epoch.number}, {"name", epoch.name}, {"at", epoch.at}, {"records", epoch.records}};
}

void list(const storage::Recoverable& file, Json& json, bool as_json) {
  if (as_json) {
    Json epochs = Json::array();
    for (const auto& epoch : file.epochs) epochs.push_back(json_of(epoch));
    json.push_back({{"path", file.path}, {"epochs", std::move(epochs)}});
    return;
  }
  fmt::print("{}\n", printable(file.part_path));
  for (const auto& epoch : file.epochs)
    fmt::print("    epoch {:>4}  {} UTC  {} records  {}\n", epoch.number, epoch.at, epoch.records,
               printable(epoch.name));
}

void recover(const storage::Recoverable& file, const RecoverCommandOptions& options, Json& json) {
  const auto recovered = storage::recover_file(file, {number_of(options.epoch, file), options.replace});
  if (!recovered) throw Failure(recovered.error());
  if (options.json) {
    json.push_back({{"path", file.path},
                    {"epoch", json_of(recovered->epoch)},
                    {"bytes", recovered->size_bytes},
                    {"checksum", journal::print_checksum(recovered->checksum)}});
    return;
  }
  fmt::print("{}: as of epoch {} ('{}'), {} records, {} bytes, {}\n", printable(file.path),
             recovered->epoch.number, printable(recovered->epoch.name), recovered->epoch.records,
             recovered->size_bytes, journal::print_checksum(recovered->checksum));
}

Exit recover_all(const RecoverCommandOptions& options) {
  std::vector<storage::Recoverable> files;
  for (const std::string& path : options.files) {
    auto file = storage::find_recoverable(path);
    if (!file) throw Failure(file.error());
    static_cast<void>(number_of(options.epoch, *file));  // before any file is touched
    files.push_back(std::move(*file));
  }
  Json json = Json::array();
  for (const auto& file : files) {
    if (options.list)
      list(file, json, options.json);
    else
      recover(file, options, json);
  }
  if (options.json) fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  return Exit::ok;
}

Action prepare(CLI::App& app) {
  auto options = std::make_shared<RecoverCommandOptions>();
  app.add_option("FILE", options->files,
                 "a file that was open when its run ended: its name, with or without .part")
      ->required();
  app.add_option("--epoch", options->epoch,
                 "name or number of the epoch to go back to; the last one if nothing is said");
  app.add_flag("--list", options->list, "say which epochs there are, and change nothing");
  app.add_flag("--replace", options->replace, "a file that has the final name is replaced");
  app.add_flag("--json", options->json, "print JSON");
  app.footer(
      "The file gets its final name, with all that was put before the epoch and nothing else. A run that\n"
      "makes the file anew takes the older one away: recover it before.\n"
      "Exit codes: 0 all are recovered, 1 one cannot be, 3 there is no such file or no log of its epochs.");
  return [options](const Invocation&) { return recover_all(*options); };
}

const Registration registration({.name = "recover",
                                 .summary = "brings files that a killed run left open back to an epoch",
                                 .prepare = prepare});

}  // namespace

}  // namespace afterbay::app
