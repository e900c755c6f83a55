// SPDX-License-Identifier: Apache-2.0
// afterbay recover: gives part files of a killed run their final names, restored to an epoch.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "command.hpp"
#include "journal/journal_file.hpp"
#include "journal/line.hpp"
#include "journal/recovered.hpp"
#include "journal_search.hpp"
#include "storage/epoch/recover.hpp"

namespace afterbay::app {

namespace {

using Json = nlohmann::ordered_json;

struct RecoverCommandOptions {
  std::vector<std::string> files;
  std::optional<std::string> epoch;
  std::optional<std::uint64_t> number;
  std::string journal;
  bool list = false;
  bool replace = false;
  bool copied = false;
  bool json = false;
};

/// By number, or the last one with that name.
std::optional<std::uint64_t> number_of(const RecoverCommandOptions& options,
                                       const storage::Recoverable& file) {
  if (!options.epoch && !options.number) return std::nullopt;
  for (auto at = file.epochs.rbegin(); at != file.epochs.rend(); ++at)
    if (options.number ? at->number == *options.number : at->name == *options.epoch) return at->number;
  const std::string wanted = options.number ? std::to_string(*options.number) : *options.epoch;
  std::string known;
  for (const auto& epoch : file.epochs)
    known += fmt::format("{}{} ('{}')", known.empty() ? "" : ", ", epoch.number, printable(epoch.name));
  throw Failure(make_error(ErrorCode::invalid_argument, "{} has no epoch {}'{}': it has {}", file.part_path,
                           options.number ? "number " : "", wanted, known.empty() ? "none" : known)
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

std::optional<journal::LeftFile> left_in(const journal::Journal& journal, const storage::Recoverable& file) {
  return journal::find_left(journal, file.path, {file.made_for.inode, file.made_for.born_ns});
}

/// The journal that contains the file: the given one; otherwise in the working directory, beside
/// the file, or above.
std::optional<journal::Journal> journal_of(const storage::Recoverable& file, const std::string& given) {
  if (!given.empty()) {
    auto journal = journal::read_journal(given);
    if (!journal) throw Failure(journal.error());
    return std::move(*journal);
  }
  for (const auto& directory : places_of_journal(file.path)) {
    auto journal = journal::read_journal(directory.string());
    if (journal && left_in(*journal, file)) return std::move(*journal);
    // A journal that exists but cannot be read may contain the file, and would lack its recovery.
    const std::string at_fault =
        journal ? "" : std::filesystem::path(journal.error().file).filename().string();
    if (journal::is_journal_name(at_fault)) throw Failure(journal.error().add("nothing was changed"));
  }
  return std::nullopt;
}

journal::FilePublished published_as(const storage::Recovered& it) {
  journal::FilePublished file{{}, it.size_bytes, it.epoch.records, it.checksum};
  if (it.epoch.dropped > 0) file.dropped = it.epoch.dropped;
  return file;
}

void recover(const storage::Recoverable& file, const RecoverCommandOptions& options, Json& json) {
  const auto journal = journal_of(file, options.journal);
  const auto left = journal ? left_in(*journal, file) : std::nullopt;
  if (!left)
    fmt::print(
        stderr,
        "{}: no journal{} contains this file: `afterbay status` and `afterbay verify` will not show its "
        "recovery (--journal DIR)\n",
        printable(file.path), journal ? fmt::format(" in {}", printable(journal->directory)) : "");
  storage::RecoverOptions how{number_of(options, file), options.replace};
  if (left) {
    // If an entry cannot be written, this is reported before anything is changed.
    if (auto writable = journal::check_writable(*journal, *left); !writable)
      throw Failure(writable.error().in_file(file.path).add("nothing was changed"));
    how.before_name = [&](const storage::Recovered& it) {
      return journal::note_ready(*journal, *left, {published_as(it), it.inode, it.born_ns, it.epoch.name});
    };
  }
  const auto recovered = storage::recover_file(file, how);
  if (!recovered) throw Failure(recovered.error());
  if (left) {
    // The file is correct, and the journal already says that it is about to be renamed: only this
    // last line is missing.
    journal::FileRecovered entry{published_as(*recovered), recovered->epoch.number, recovered->epoch.name};
    if (auto noted = journal::note_recovered(*journal, *left, std::move(entry)); !noted)
      fmt::print(stderr, "{}: recovered, but {}\n", printable(file.path),
                 printable_message(noted.error().text()));
  }
  if (options.json) {
    json.push_back({{"path", utf8_name(file.path)},
                    {"epoch", json_of(recovered->epoch)},
                    {"bytes", recovered->size_bytes},
                    {"dropped", recovered->epoch.dropped},
                    {"checksum", journal::print_checksum(recovered->checksum)}});
    return;
  }
  fmt::print("{}: as of epoch {} ('{}'), {} records, {} bytes, {}\n", printable(file.path),
             recovered->epoch.number, printable(recovered->epoch.name), recovered->epoch.records,
             recovered->size_bytes, journal::print_checksum(recovered->checksum));
  if (recovered->epoch.dropped > 0)
    fmt::print("{}: {} of these records were dropped by the run, because the server's memory was full\n",
               printable(file.path), recovered->epoch.dropped);
}

Exit recover_all(const RecoverCommandOptions& options) {
  if (options.epoch && options.epoch->empty())
    throw Failure(Error(ErrorCode::invalid_argument,
                        "--epoch: the name of an epoch is expected, found an empty one; leave the option out "
                        "for the last epoch"));
  std::vector<storage::Recoverable> files;
  for (const std::string& path : options.files) {
    auto file = storage::find_recoverable(path, options.copied);
    if (!file) throw Failure(file.error());
    static_cast<void>(number_of(options, *file));  // before any file is changed
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

Action prepare_recover(CLI::App& app) {
  auto options = std::make_shared<RecoverCommandOptions>();
  app.add_option("FILE", options->files,
                 "a file that was open when its run ended: its name, with or without .part")
      ->required();
  auto* const name =
      app.add_option("--epoch", options->epoch,
                     "name of the epoch to restore, the last one of that name; default: the last epoch");
  app.add_option("--number", options->number, "number of the epoch, instead of its name")->excludes(name);
  app.add_option("--journal", options->journal,
                 "the run's journal, to which the recovery is added; default: searched for in the working "
                 "directory, beside the file and one level above");
  app.add_flag("--list", options->list, "list the epochs, and change nothing");
  app.add_flag("--replace", options->replace, "replace a file that has the final name");
  app.add_flag(
      "--copied", options->copied,
      "do not check that the part file and its logs (.part, .part.epochs*) belong together: they were "
      "copied together, without extended attributes");
  app.add_flag("--json", options->json, "print JSON");
  app.footer(
      "The file gets its final name, with everything that was put before the epoch and nothing else. The\n"
      "next run that creates a file of this name removes what the killed run left: recover the file first.\n"
      "Exit codes: 0 all files are recovered, 1 a file cannot be recovered, 3 there is no such file or no\n"
      "log of its epochs.");
  return [options](const Invocation&) { return recover_all(*options); };
}

const Registration recover_registration(
    {.name = "recover",
     .summary = "recovers the incomplete files of a killed run to an epoch",
     .prepare = prepare_recover});

}  // namespace

}  // namespace afterbay::app
