// SPDX-License-Identifier: Apache-2.0
#include "server/files/never_put_warnings.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace afterbay::server {
namespace {

constexpr std::size_t most_names = 5;

/// False for variables that may intentionally be left out: scalars, which often only carry
/// attributes, record variables of a file without records, and variables of a file that is appended
/// to, which may have values already.
bool is_never_put(const OutputFile& file, std::uint32_t variable) AFTERBAY_REQUIRES(ingest_thread) {
  const Variable& it = file.collection->schema.variables[variable];
  if (file.variables_put[variable] || !it.constant.empty() || it.dimensions.empty()) return false;
  if (file.collection->existing == Existing::append) return false;
  return !file.collection->layout->variables[variable].record || file.records_put > 0;
}

}  // namespace

std::string NeverPutWarnings::warning(const OutputFile& file) {
  if (file.holds_states) return {};
  std::set<std::uint32_t>& reported = reported_[file.collection->id];
  std::vector<std::string> names;
  for (std::uint32_t v = 0; v < file.variables_put.size(); ++v)
    if (is_never_put(file, v) && reported.insert(v).second)
      names.push_back(fmt::format("'{}'", file.collection->schema.variables[v].name));
  if (names.empty()) return {};
  const std::size_t more = names.size() - std::min(names.size(), most_names);
  names.resize(names.size() - more);
  const std::string others = more > 0 ? fmt::format(" and {} more", more) : "";
  const std::string which = names.size() == 1
                                ? fmt::format("variable {} was", names.front())
                                : fmt::format("variables {}{} were", fmt::join(names, ", "), others);
  return fmt::format(
      "file {}: {} never put: only fill values are there (further files of collection '{}' are not reported)",
      file.path, which, file.collection->name);
}

}  // namespace afterbay::server
