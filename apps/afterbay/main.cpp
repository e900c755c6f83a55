// SPDX-License-Identifier: Apache-2.0
// The command `afterbay`: finds the subcommand, parses its options, runs it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "afterbay/version.h"
#include "base/suggest.hpp"
#include "command.hpp"
#include "standard_output.hpp"

namespace afterbay::app {

namespace {

struct CommandLine {
  std::vector<std::string> words;          ///< without the settings
  std::vector<std::string> setting_flags;  ///< --afterbay.NAME=VALUE, or two words
};

CommandLine split(int argc, const char* const* argv) {
  constexpr std::string_view prefix = "--afterbay.";
  CommandLine line;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with(prefix)) {
      line.words.push_back(word);
      continue;
    }
    line.setting_flags.push_back(word);
    const bool has_value = word.find('=') != std::string::npos;
    if (!has_value && i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--")) {
      line.setting_flags.emplace_back(argv[++i]);
    }
  }
  return line;
}

/// The first word that is neither an option nor a command, if it stands in the place of a command.
const std::string* mistyped_command(const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with("-")) return nullptr;
  for (const Command& command : commands()) {
    if (command.name == words.front()) return nullptr;
  }
  return &words.front();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

/// The message for a word that is not a subcommand of `app`, which needs one.
std::string about_subcommand(const std::string& word, const CLI::App& app) {
  const std::vector<std::string> names = subcommand_names(app);
  const std::string hint = did_you_mean(word, names);
  return fmt::format("no subcommand \"{}\"{}", word,
                     hint.empty() ? fmt::format("; subcommands: {}", fmt::join(names, ", ")) : hint);
}

/// The message for words that no option accepted.
std::string about_extra(const CLI::App& app) {
  for (std::string word : app.remaining(true)) {
    if (!word.starts_with("-"))
      return subcommand_names(app).empty() ? fmt::format("unexpected argument \"{}\"", word)
                                           : about_subcommand(word, app);
    word = word.substr(0, word.find('='));
    return fmt::format("no option \"{}\"{}", word, did_you_mean(word, option_names(app)));
  }
  return "unexpected arguments";
}

class Program {
 public:
  Program() : root_("Afterbay: I/O servers for Earth-system models", "afterbay") {
    root_.set_version_flag("--version", "afterbay " AFTERBAY_VERSION);
    root_.footer("`afterbay help COMMAND` explains a command, `afterbay help exit-codes` the exit codes.");
    root_.require_subcommand(0, 1);
    for (const Command& command : commands()) {
      CLI::App* sub = root_.add_subcommand(command.name, command.summary);
      actions_[sub] = command.prepare(*sub);
      takes_settings_[sub] = command.takes_settings;
    }
  }

  Exit run(const CommandLine& line) {
    if (const std::string* word = mistyped_command(line.words)) return refuse_command(*word);
    std::vector<std::string> words(line.words.rbegin(), line.words.rend());
    try {
      root_.parse(words);
    } catch (const CLI::CallForHelp&) {
      return print(chosen().help(before_chosen()));
    } catch (const CLI::CallForVersion&) {
      return print("afterbay " AFTERBAY_VERSION "\n");
    } catch (const CLI::ExtrasError&) {
      return refuse(about_extra(chosen()));
    } catch (const CLI::RequiredError& error) {
      // A mistyped option or subcommand is what is missing.
      const std::vector<std::string> rest = chosen().remaining(true);
      const bool wrong = std::ranges::any_of(rest, [&](const std::string& word) {
        return word.starts_with("-") || !subcommand_names(chosen()).empty();
      });
      return refuse(wrong ? about_extra(chosen()) : error.what());
    } catch (const CLI::ParseError& error) {
      return refuse(error.what());
    }
    return act(line);
  }

 private:
  /// The innermost subcommand that was named, or the whole command.
  [[nodiscard]] CLI::App& chosen() {
    CLI::App* app = &root_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return *app;
  }

  /// "plan storage"; empty for the whole command.
  [[nodiscard]] std::string name_of_chosen() {
    std::string name;
    for (const CLI::App* app = &chosen(); app != &root_; app = app->get_parent())
      name = app->get_name() + (name.empty() ? "" : " ") + name;
    return name;
  }

  /// The words before the innermost subcommand: "afterbay plan".
  [[nodiscard]] std::string before_chosen() {
    if (&chosen() == &root_) return {};
    const std::string words = root_.get_name() + " " + name_of_chosen();
    return words.substr(0, words.rfind(' '));
  }

  Exit act(const CommandLine& line) {
    const auto named = root_.get_subcommands();
    const auto action = actions_.find(named.empty() ? &root_ : named.front());
    if (action == actions_.end()) {
      const std::string help = root_.help();
      std::fwrite(help.data(), 1, help.size(), stderr);
      return Exit::usage;
    }
    if (!line.setting_flags.empty() && !takes_settings_[action->first]) {
      return refuse(fmt::format("settings have no effect here: {}", line.setting_flags.front()));
    }
    try {
      return action->second(Invocation{line.setting_flags, &root_});
    } catch (const Failure& failure) {
      complain(name_of_chosen(), failure.what());
      return exit_of(failure.code());
    }
  }

  static Exit print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return Exit::ok;
  }

  Exit refuse(const std::string& text) {
    const std::string name = name_of_chosen();
    complain(name, text + fmt::format("\nTry: afterbay {}{}--help", name, name.empty() ? "" : " "));
    return Exit::usage;
  }

  Exit refuse_command(const std::string& word) {
    std::vector<std::string> names;
    for (const Command& command : commands()) names.push_back(command.name);
    const std::string hint = did_you_mean(word, names);
    complain("", fmt::format("no command \"{}\"{}", word,
                             hint.empty() ? fmt::format("; commands: {}", fmt::join(names, ", ")) : hint));
    return Exit::usage;
  }

  CLI::App root_;
  std::map<const CLI::App*, Action> actions_;
  std::map<const CLI::App*, bool> takes_settings_;
};

}  // namespace

}  // namespace afterbay::app

int main(int argc, char** argv) {
  using namespace afterbay::app;
  occupy_closed_streams();
  Exit exit = Exit::internal;
  try {
    exit = Program().run(split(argc, argv));
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0)
      exit = Exit::ok;  // fmt has thrown because of the error that is reported below
    else
      complain("", fmt::format("unexpected: {}", error.what()));
  }
  return static_cast<int>(finish_output(exit));
}
