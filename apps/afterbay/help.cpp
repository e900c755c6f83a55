// SPDX-License-Identifier: Apache-2.0
// afterbay help: explains commands and topics.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/suggest.hpp"
#include "command.hpp"
#include "manual.hpp"

namespace afterbay::app {

namespace {

constexpr const char* exit_codes_topic = "exit-codes";

Exit help(const std::string& topic, const Invocation& invocation) {
  std::vector<std::string> topics{exit_codes_topic};
  for (const Command& command : commands()) topics.push_back(command.name);
  std::string text;
  if (topic.empty()) {
    text = invocation.root->help();
  } else if (topic == exit_codes_topic) {
    text = "Exit codes of every command:\n" + exit_codes_text();
  } else if (std::find(topics.begin(), topics.end(), topic) != topics.end()) {
    text = invocation.root->get_subcommand(topic)->help(invocation.root->get_name());
  } else {
    complain("help", fmt::format("no command or topic \"{}\"{}", topic, did_you_mean(topic, topics)));
    return Exit::usage;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Exit::ok;
}

Action prepare_help(CLI::App& app) {
  auto topic = std::make_shared<std::string>();
  auto manual = std::make_shared<bool>(false);
  auto* name = app.add_option("TOPIC", *topic, "a command, or exit-codes");
  app.add_flag("--man", *manual, "print the manual page afterbay(1) for man")->excludes(name);
  return [topic, manual](const Invocation& invocation) {
    if (!*manual) return help(*topic, invocation);
    const std::string page = manual_page(*invocation.root);
    std::fwrite(page.data(), 1, page.size(), stdout);
    return Exit::ok;
  };
}

const Registration help_registration({.name = "help",
                                      .summary = "explains a command or a topic",
                                      .prepare = prepare_help});

}  // namespace

}  // namespace afterbay::app
