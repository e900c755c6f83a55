// SPDX-License-Identifier: Apache-2.0
#include "config/assignment.hpp"

namespace afterbay::config {

std::string Assignment::full_name() const {
  if (!trigger.empty()) return fmt::format("triggers.{}.{}", trigger, name);
  if (!pool.empty()) return fmt::format("pools.{}.{}", pool, name);
  if (collection.empty()) return name;
  if (variable.empty()) return fmt::format("collections.{}.{}", collection, name);
  return fmt::format("collections.{}.variables.{}.{}", collection, variable, name);
}

void Problems::add(ErrorCode code, std::string_view place, std::string_view text) {
  if (lines_.empty()) code_ = code;
  lines_.push_back(place.empty() ? std::string(text) : fmt::format("{}: {}", place, text));
}

void Problems::add(ErrorCode code, std::string_view place, std::string_view setting, std::string_view text) {
  add(code, place, fmt::format("{}: {}", setting, text));
  settings_.emplace(setting);
}

Error Problems::error() const {
  std::string text = lines_.size() == 1 ? std::string("the configuration is wrong:")
                                        : fmt::format("the configuration has {} problems:", lines_.size());
  for (const std::string& line : lines_) text += "\n  " + line;
  return Error(code_, std::move(text));
}

}  // namespace afterbay::config
