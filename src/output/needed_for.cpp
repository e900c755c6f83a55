// SPDX-License-Identifier: Apache-2.0
#include "output/needed_for.hpp"

#include <algorithm>

#include "output/file_series.hpp"

namespace afterbay::output {

namespace {

/// `at_once`: whether it must take the values now; results of statistics may follow in later steps.
const VariableWriter* writer_of(const Series& series, bool at_once) {
  for (const Series::Use& use : series.uses()) {
    if (at_once && !use.consumer->needs()) continue;
    const VariableWriter* found = dynamic_cast<const VariableWriter*>(use.consumer);
    if (const auto* const made = dynamic_cast<const Series*>(use.consumer))
      found = writer_of(*made, at_once);
    else if (const auto* const statistics = dynamic_cast<const SeriesStatistics*>(use.consumer))
      for (const auto& result : statistics->results())
        if (found == nullptr) found = writer_of(*result, false);
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace

std::string needed_for(const Series& series) {
  const VariableWriter* const writer = writer_of(series, true);
  if (writer == nullptr) return {};
  const describe::File& file = writer->files().file();
  const std::string& name = writer->variable().name;
  const auto variable = std::ranges::find(file.variables, name, &describe::Variable::name);
  return fmt::format("{} of the file \"{}\", at {}", name, file.name,
                     (variable == file.variables.end() ? file.at : variable->at).text());
}

}  // namespace afterbay::output
