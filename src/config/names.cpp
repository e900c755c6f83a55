// SPDX-License-Identifier: Apache-2.0
#include "config/names.hpp"

#include <algorithm>

#include "base/glob.hpp"
#include "base/suggest.hpp"
#include "config/assignment.hpp"

namespace afterbay::config {

namespace {

bool has(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<void> check_variables(const Config& config, std::string_view collection,
                             std::span<const std::string> variables) {
  Problems problems;
  for (const CollectionOverride& item : config.overrides.collections) {
    if (item.pattern != collection || item.variable.empty() || is_glob(item.variable)) continue;
    if (has(variables, item.variable)) continue;
    problems.add(ErrorCode::unknown_name, item.origin.place, item.full_name(),
                 fmt::format("the collection \"{}\" has no variable \"{}\"{}", collection, item.variable,
                             did_you_mean(item.variable, variables)));
  }
  if (!problems.empty()) return fail(problems.error());
  return {};
}

std::vector<std::string> unknown_collections(const Config& config, std::span<const std::string> defined) {
  std::vector<std::string> lines;
  std::vector<std::string> seen;
  for (const CollectionOverride& item : config.overrides.collections) {
    if (item.origin.source == Source::fallback) continue;  // set by an output description
    if (is_glob(item.pattern) || has(defined, item.pattern) || has(seen, item.pattern)) continue;
    seen.push_back(item.pattern);
    lines.push_back(fmt::format("{}: the model has defined no collection \"{}\"{}", item.origin.place,
                                item.pattern, did_you_mean(item.pattern, defined)));
  }
  return lines;
}

}  // namespace afterbay::config
