// SPDX-License-Identifier: Apache-2.0
// afterbay completion: a script for shell completion of commands, options and settings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

#include "command.hpp"
#include "config/reference.hpp"

namespace afterbay::app {

namespace {

constexpr std::string_view script =
    R"(# Completion of `afterbay` for bash:  source <(afterbay completion bash)
_afterbay() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='{commands}'
  else
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
    case $word in --afterbay.*) words='{settings}' ;; esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case ${{COMPREPLY[0]-}} in *= | *.) compopt -o nospace ;; esac
}}
complete -o default -F _afterbay afterbay
)";

/// The options of a command, and its subcommands with theirs.
std::string options_of(const CLI::App& app) {
  std::string words;
  for (const CLI::App* inner : app.get_subcommands([](const CLI::App*) { return true; }))
    words += (words.empty() ? "" : " ") + inner->get_name() + " " + options_of(*inner);
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += (words.empty() ? "--" : " --") + name;
  }
  return words;
}

std::string bash(const CLI::App& root) {
  std::vector<std::string> names;
  std::vector<std::string> cases;
  for (const Command& command : commands()) {
    names.push_back(command.name);
    const std::string settings = command.takes_settings ? " --afterbay." : "";
    cases.push_back(fmt::format("      {}) words='{}{}' ;;", command.name,
                                options_of(*root.get_subcommand(command.name)), settings));
  }
  std::vector<std::string> settings;
  for (const std::string& name : config::all_setting_names()) {
    if (!name.starts_with("collections.")) settings.push_back("--afterbay." + name + "=");
  }
  return fmt::format(script, fmt::arg("commands", fmt::join(names, " ")),
                     fmt::arg("cases", fmt::join(cases, "\n")),
                     fmt::arg("settings", fmt::join(settings, " ")));
}

Action prepare_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash")->required()->check(CLI::IsMember({"bash"}));
  return [shell](const Invocation& invocation) {
    const std::string text = bash(*invocation.root);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return Exit::ok;
  };
}

const Registration completion_registration({.name = "completion",
                                            .summary = "prints a completion script for a shell",
                                            .prepare = prepare_completion});

}  // namespace

}  // namespace afterbay::app
