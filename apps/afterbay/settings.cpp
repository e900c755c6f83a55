// SPDX-License-Identifier: Apache-2.0
// afterbay settings: lists and explains the settings.
#include <cstdio>
#include <memory>

#include "command.hpp"
#include "config/reference.hpp"

namespace afterbay::app {

namespace {

struct SettingsOptions {
  std::vector<std::string> names;
  bool markdown = false;
};

Exit settings(const SettingsOptions& options) {
  std::string text;
  if (options.markdown) {
    text = config::reference_page();
  } else if (options.names.empty()) {
    text = config::list_settings();
  } else {
    auto explained = config::explain_settings(options.names);
    if (!explained) {
      complain("settings", explained.error().message);
      return Exit::usage;
    }
    text = *std::move(explained);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Exit::ok;
}

Action prepare_settings(CLI::App& app) {
  auto options = std::make_shared<SettingsOptions>();
  auto* names = app.add_option(
      "NAME", options->names,
      "settings to explain: names, groups (memory) or patterns (report.*); without NAME, list all settings");
  app.add_flag("--markdown", options->markdown, "print the reference page")->excludes(names);
  return [options](const Invocation&) { return settings(*options); };
}

const Registration settings_registration({.name = "settings",
                                          .summary = "lists and explains the settings",
                                          .prepare = prepare_settings});

}  // namespace

}  // namespace afterbay::app
