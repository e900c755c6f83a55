// SPDX-License-Identifier: Apache-2.0
// The settings of triggers.
#include "config/setting_rows.hpp"

namespace afterbay::config {

namespace {

using namespace std::chrono_literals;

/// Checks that {file} and the other placeholders exist.
Kind<std::string> touch_kind() {
  auto kind = text("template", "a path with {file}, {name}, {collection}, {step}, {epoch} and the like");
  kind.parse = [accepted = kind.accepted](std::string_view found) -> Result<std::string> {
    if (found.empty()) return refuse(ErrorCode::invalid_argument, accepted, found);
    if (auto checked = triggers::check_touch(found); !checked)
      return fail(checked.error().code, "expected {}: {}", accepted, checked.error().message);
    return std::string(found);
  };
  return kind;
}

Choices<triggers::Occasion> occasions() {
  Choices<triggers::Occasion> choices;
  for (const triggers::Occasion it : triggers::all_occasions) choices.emplace_back(triggers::name_of(it), it);
  return choices;
}

}  // namespace

const std::vector<Setting<triggers::Trigger>>& trigger_settings() {
  using triggers::Trigger;
  static const std::vector<Setting<Trigger>> table = {
      row<Trigger>("on", choice(occasions()), AFTERBAY_FIELD(on),
                   "When the trigger runs. `published`: a file is complete under its final name. "
                   "`epoch`: an epoch is complete."),
      row<Trigger>("collections", words("names or patterns of collections, separated by commas"),
                   AFTERBAY_FIELD(collections),
                   "Collections for whose files the trigger runs, with the wildcards * and ?; by default "
                   "all."),
      row<Trigger>("command", text("command", "a command for /bin/sh"), AFTERBAY_FIELD(command),
                   "The command, which is run by `/bin/sh -c`. The name of the file is in "
                   "`$AFTERBAY_TRIGGER_FILE`; see the page on triggers."),
      row<Trigger>("touch", touch_kind(), AFTERBAY_FIELD(touch),
                   "A file that is created; if there is a command, after the command and only if it "
                   "succeeded. {file} and the like are replaced: `{file}.done` creates one next to each "
                   "file."),
      row<Trigger>("timeout", duration_in(100ms, 24h), AFTERBAY_FIELD(timeout),
                   "Longest time that the command may take; after that it is terminated, with all "
                   "processes that it started.")};
  return table;
}

}  // namespace afterbay::config
