// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace afterbay::pipeline {
namespace {

const StageSetting* find_setting(const StageKind& kind, std::string_view name) {
  const auto found = std::ranges::find(kind.settings, name, &StageSetting::name);
  return found == kind.settings.end() ? nullptr : &*found;
}

const StageSetting* find_setting(std::string_view name) {
  for (const StageKind* const kind : all_stages())
    if (const StageSetting* const found = find_setting(*kind, name)) return found;
  return nullptr;
}

/// "multiply and add".
std::string names_of(const Settings& given) {
  std::string text;
  for (const auto& [name, value] : given) text += (text.empty() ? "" : " and ") + name;
  return text;
}

Result<> check(const Variable& variable, const Settings& given) {
  if (variable.type == Type::text || variable.type == Type::string)
    return fail(make_error(ErrorCode::wrong_type,
                           "{} is set for variable '{}', which holds {}: it can be set for numbers only",
                           names_of(given), variable.name, variable.type == Type::text ? "text" : "strings"));
  if (!variable.constant.empty())
    return fail(make_error(ErrorCode::invalid_argument,
                           "{} is set for variable '{}', which is constant: its values are given with the "
                           "schema and not put; convert them there",
                           names_of(given), variable.name));
  for (const auto& [name, value] : given) {
    const StageSetting* const setting = find_setting(name);
    if (setting == nullptr)
      return fail(make_error(ErrorCode::unknown_name, "'{}' is not a setting of a variable", name));
    if (!setting->canonical(value))
      return fail(make_error(ErrorCode::invalid_argument, "{}: expected {}, found \"{}\"", name,
                             setting->accepted, value));
  }
  return {};
}

}  // namespace

std::span<const StageKind* const> all_stages() {
#define AFTERBAY_ROW(NAME) &stages::NAME(),
  static const std::array all{AFTERBAY_STAGES(AFTERBAY_ROW)};
#undef AFTERBAY_ROW
  return all;
}

bool is_stage_setting(std::string_view name) { return find_setting(name) != nullptr; }

Result<Stages> make_stages(const Variable& variable, const Settings& given) {
  Stages made;
  if (given.empty()) return made;
  if (auto good = check(variable, given); !good)
    return fail(std::move(good).error().in_variable(variable.name));
  for (const StageKind* const kind : all_stages()) {
    if (std::ranges::none_of(kind->settings, [&](const auto& it) { return given.contains(it.name); }))
      continue;
    auto stage = kind->make(variable, given);
    if (!stage) return fail(std::move(stage).error().in_variable(variable.name));
    if (*stage) made.push_back(*std::move(stage));
  }
  return made;
}

}  // namespace afterbay::pipeline
