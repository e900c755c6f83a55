// SPDX-License-Identifier: Apache-2.0
// afterbay verify: checks whether the files match the journal.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "command.hpp"
#include "journal/judge.hpp"

namespace afterbay::app {

namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
  std::string directory = ".";
  bool quick = false;
  bool json = false;
};

std::string text_of(const journal::Verification& found, bool quick) {
  std::string text;
  for (const journal::CheckedFile& it : found.wrong)
    text += fmt::format("{}: {}{}{}\n", name_of(it.finding), printable(it.entry.file.file.path),
                        it.detail.empty() ? "" : ": ", it.detail);
  text +=
      fmt::format("{} of {} files are what the journal says", found.right, found.right + found.wrong.size());
  text += quick ? ", by their sizes" : "";
  text += found.without_checksum > 0 && !quick
              ? fmt::format(", {} of them by their sizes: they have no checksum", found.without_checksum)
              : "";
  text += found.replaced > 0 ? fmt::format("; {} older ones were replaced", found.replaced) : "";
  text += found.removed > 0 ? fmt::format("; {} states were removed because newer ones follow", found.removed)
                            : "";
  text += "\n";
  const auto lines = [](std::uint64_t number) {
    return fmt::format("{} line{}", number, number == 1 ? "" : "s");
  };
  if (found.unreadable_lines > 0)
    text += fmt::format(
        "{} of the journal cannot be read: damaged, or not Afterbay's; files that they describe are missing "
        "above\n",
        lines(found.unreadable_lines));
  if (found.torn_lines > 0)
    text += fmt::format("{} of the journal ended when the run was killed, and published nothing\n",
                        lines(found.torn_lines));
  return text;
}

std::string json_text(const journal::Verification& found, bool quick) {
  Json json{{"right", found.right},
            {"without_checksum", found.without_checksum},
            {"replaced", found.replaced},
            {"removed_states", found.removed},
            {"bytes_read", found.bytes_read},
            {"quick", quick},
            {"unreadable_lines", found.unreadable_lines},
            {"torn_lines", found.torn_lines},
            {"wrong", Json::array()}};
  for (const journal::CheckedFile& it : found.wrong)
    json["wrong"].push_back({{"path", utf8_name(it.entry.file.file.path)},
                             {"finding", name_of(it.finding)},
                             {"detail", it.detail}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Exit verify(const VerifyOptions& options) {
  const auto journal = journal::read_journal(options.directory);
  if (!journal) throw Failure(journal.error());
  const auto found = journal::verify(*journal, options.quick);
  if (!found) throw Failure(found.error());
  const std::string text = options.json ? json_text(*found, options.quick) : text_of(*found, options.quick);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return found->ok() ? Exit::ok : Exit::wrong;
}

Action prepare_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option(
      "DIR", options->directory,
      "directory of the journal, or the directory that contains afterbay-journal; default: the working "
      "directory");
  app.add_flag("--quick", options->quick, "compare sizes only; no file is read");
  app.add_flag("--json", options->json, "print the result as JSON");
  app.footer(
      "If a name was published more than once, only the entry of the file that has the name now counts.\n"
      "Exit codes: 0 all files are as the journal says, 1 some are not, or lines of the journal cannot be\n"
      "read, 3 there is no journal.");
  return [options](const Invocation&) { return verify(*options); };
}

const Registration verify_registration({.name = "verify",
                                        .summary = "checks files against the journal",
                                        .prepare = prepare_verify});

}  // namespace

}  // namespace afterbay::app
