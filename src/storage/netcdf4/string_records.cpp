// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/string_records.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "storage/fill.hpp"

namespace afterbay::storage {

void StringRecords::note(std::uint32_t variable, std::uint64_t record) {
  std::vector<bool>& written = written_[variable];
  const std::uint64_t index = layout_.variables[variable].record ? record : 0;
  if (written.size() <= index) written.resize(index + 1);
  written[index] = true;
}

Result<> StringRecords::fill(std::uint64_t records, std::vector<Dataset>& datasets) {
  for (std::uint32_t v = 0; v < datasets.size(); ++v) {
    if (schema_.variables[v].type != Type::string || !schema_.variables[v].constant.empty()) continue;
    const bool record = layout_.variables[v].record;
    const std::uint64_t end = record ? records : 1;
    std::vector<bool>& written = written_[v];
    if (written.size() < end) written.resize(end);
    for (std::uint64_t r = record ? present_ : (appended_ ? 1 : 0); r < end; ++r) {
      if (written[r]) continue;
      const std::uint64_t first = r;
      for (; r < end && !written[r]; ++r) written[r] = true;
      AFTERBAY_TRY(fill_run(v, first, r, datasets[v]));
    }
  }
  return {};
}

/// Many records per call: a call of HDF5 costs as much as a thousand strings.
Result<> StringRecords::fill_run(std::uint32_t variable, std::uint64_t first, std::uint64_t end,
                                 Dataset& dataset) const {
  constexpr std::uint64_t most_strings = 4096;
  const std::uint64_t record_strings = layout_.variables[variable].shape.product();
  const std::uint64_t step =
      std::max<std::uint64_t>(1, most_strings / std::max<std::uint64_t>(1, record_strings));
  const Values fill = fill_of(schema_.variables[variable]);
  const std::vector<std::string> values(std::min(step, end - first) * record_strings,
                                        fill.strings.empty() ? std::string() : fill.strings[0]);
  for (std::uint64_t record = first; record < end; record += step) {
    const std::uint64_t count = std::min(step, end - record) * record_strings;
    AFTERBAY_TRY(dataset.write_strings(record, std::span(values).first(count)));
  }
  return {};
}

}  // namespace afterbay::storage
