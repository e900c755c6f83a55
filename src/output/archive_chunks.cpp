// SPDX-License-Identifier: Apache-2.0
#include "output/archive_chunks.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/rounding.hpp"
#include "output/file_schema.hpp"

namespace afterbay::output {

namespace {

constexpr std::uint64_t least_bytes = std::uint64_t{4} << 20;
/// Assumed for a time axis whose length is not known: 4 KiB.
constexpr std::uint64_t usual_records = 512;

bool is_time_axis(std::string_view name) {
  constexpr std::array<std::string_view, 4> names{time_name, time_bounds_name, climatology_bounds_name,
                                                  time_instant_name};
  return std::ranges::find(names, name) != names.end();
}

/// Whole planes, rows, ... of a record, as many as fit into `most` bytes, in parts of about the
/// same size.
std::vector<std::uint64_t> part_of_record(std::vector<std::uint64_t> lengths, std::uint64_t bytes,
                                          std::uint64_t most) {
  for (std::uint64_t& length : lengths) {
    const std::uint64_t of_each = bytes / std::max<std::uint64_t>(length, 1);
    if (of_each <= most) {
      const std::uint64_t parts =
          divided_up(length, std::max<std::uint64_t>(most / std::max<std::uint64_t>(of_each, 1), 1));
      length = divided_up(length, parts);
      break;
    }
    length = 1;
    bytes = of_each;
  }
  return lengths;
}

std::uint64_t bytes_of(const std::vector<std::uint64_t>& lengths, Type type) {
  std::uint64_t bytes = size_of(type);
  for (const std::uint64_t length : lengths) bytes *= length;
  return bytes;
}

}  // namespace

std::optional<std::uint64_t> most_records(const describe::File& file, const ModelTime& time,
                                          const Schedule& schedule, std::uint64_t per_period) {
  const describe::Split& split = file.naming.split;
  if (split.records > 0) return static_cast<std::uint64_t>(split.records) * per_period;
  if (!split.period) return std::nullopt;
  // Months and years have different lengths.
  constexpr int parts = 60;
  const Alignment alignment = alignment_of(time, file.timing.align);
  const auto number = [&](const Date& date) {
    return time.calendar.interval(date, schedule.every(), schedule.alignment()).index;
  };
  const Period part_length = split.period->resolved(time.step);
  Interval part = time.calendar.interval(time.start, part_length, alignment);
  std::int64_t most = 1;
  for (int i = 0; i < parts; ++i) {
    most = std::max(most, number(time.before(part.end)) - number(part.begin) + 1);
    part = time.calendar.interval(part.end, part_length, alignment);
  }
  return static_cast<std::uint64_t>(most + (file.timing.at_start ? 1 : 0)) * per_period;
}

void set_archive_chunks(Schema& schema, std::optional<std::uint64_t> records, std::uint64_t block_bytes) {
  for (Variable& variable : schema.variables) {
    std::vector<std::uint64_t> lengths;
    for (const std::string& name : variable.dimensions)
      lengths.push_back(schema.find_dimension(name)->length);
    if (lengths.empty() || lengths.front() != unlimited) continue;
    lengths.erase(lengths.begin());
    std::uint64_t together = records.value_or(usual_records);
    if (!is_time_axis(variable.name)) {
      const std::uint64_t bytes = bytes_of(lengths, variable.type);
      const bool is_divided = bytes > block_bytes;
      if (is_divided) lengths = part_of_record(std::move(lengths), bytes, block_bytes);
      const std::uint64_t part = std::max<std::uint64_t>(bytes_of(lengths, variable.type), 1);
      // The check accepts a chunk that with one more record would have the least size.
      together = is_divided && 2 * part >= least_bytes ? 1 : divided_up(least_bytes, part);
      if (records) together = std::min(*records, together);
    }
    lengths.insert(lengths.begin(), together);
    variable.chunk = std::move(lengths);
  }
}

}  // namespace afterbay::output
