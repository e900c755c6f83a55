// SPDX-License-Identifier: Apache-2.0
#include "output/appending.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "base/result.hpp"

namespace afterbay::output {

namespace {

std::string date_of(const TimeUnits& units, const ModelTime& time, double number) {
  try {
    return time.calendar.text(units.date(number));
  } catch (const Failure&) {
    return fmt::format("{} {}", number, units.text());
  }
}

const describe::Position& place_of_difference(const describe::File& file,
                                              const std::vector<std::string>& differences) {
  for (const std::string& difference : differences)
    for (const describe::Variable& variable : file.variables)
      for (const char* const end : {"'", ":"})
        if (difference.find("'" + variable.name + end) != std::string::npos) return variable.at;
  return file.at;
}

}  // namespace

Error refusal_of_differences(const describe::File& file, const std::string& path,
                             const std::vector<std::string>& differences, const char* what_to_do) {
  constexpr std::size_t most = 20;
  std::string text =
      fmt::format("{}: the file '{}' goes on with {}, which differs from what this run would write:",
                  place_of_difference(file, differences).text(), file.name, path);
  for (std::size_t i = 0; i < differences.size() && i < most; ++i) text += "\n  - " + differences[i];
  if (differences.size() > most) text += fmt::format("\n  - and {} more", differences.size() - most);
  text += fmt::format(
      "\n  Give the file what it had when it was begun, in the description or in the model, {}", what_to_do);
  return {ErrorCode::conflict, std::move(text)};
}

SchemaChanges texts_kept(const describe::File& file, const std::string& path, Target::Compared compared,
                         const char* what_to_do) {
  if (!compared.differences.empty())
    throw Failure(refusal_of_differences(file, path, compared.differences, what_to_do));
  return std::move(compared.kept);
}

SchemaChanges texts_of_found(const describe::File& file, Target& target,
                             const std::vector<DistributedCoordinate>& distributed, const std::string& path,
                             const char* what_to_do) {
  Target::Compared compared;
  try {
    compared = target.compared(path, distributed);
  } catch (const Failure&) {
    return {};
  }
  return texts_kept(file, path, std::move(compared), what_to_do);
}

double rounding_of_times(const ModelTime& time, const TimeUnits& units) {
  constexpr double share = 1e-6;  // share of a step
  return share * std::abs(units.number(time.at(1)) - units.number(time.start));
}

std::optional<Error> refusal_to_append(const Continuation& of, const std::string& path,
                                       const FoundRecords& found, const PartNames::Part& part,
                                       const Date& begin) {
  const auto refused = [&](const std::string& why) {
    return Error(ErrorCode::conflict, fmt::format("{}: the file '{}' appends to {}, which {}",
                                                  of.file.at.text(), of.file.name, path, why));
  };
  const std::int64_t most = of.file.naming.split.records;
  if (most > 0 && found.records >= static_cast<std::uint64_t>(most))
    return refused(
        fmt::format("has {} records already, as many as its parts have: add {{part}} to the key name, or "
                    "{{start}} with a finer format",
                    found.records));
  if (found.units.empty()) return std::nullopt;  // the servers say what differs
  if (found.units != of.units.text() || found.calendar != of.time.calendar.name())
    return refused(
        fmt::format("counts \"{}\" in the calendar {}; this run would count \"{}\" in the calendar {}: write "
                    "\"time_units: {}\" with the calendar of the earlier run, or choose another name",
                    found.units, found.calendar, of.units.text(), of.time.calendar.name(), found.units));
  const double rounding = rounding_of_times(of.time, of.units);
  const double until = of.has_periods ? found.end.value_or(found.times.back()) : found.times.back();
  const double at = of.units.number(begin);
  const bool has_end = of.has_periods && (found.end || of.file.time.stamp == describe::Stamp::end);
  if (has_end ? until > at + rounding : until >= at - rounding)
    return refused(
        fmt::format("has records up to {}, but the first one of this run {} {}: records would be doubled or "
                    "out of order. Begin where the earlier run ended, resume from its saved state, choose "
                    "another name, or write \"existing: replace\"",
                    date_of(of.units, of.time, until), of.has_periods ? "begins at" : "is that of",
                    of.time.calendar.text(begin)));
  // A record at the begin of the part may be the first one of the part.
  const bool from_begin = of.has_periods ? !has_end : of.file.timing.at_start;
  const double part_begin = of.names.has_clock() ? of.units.number(part.begin) : 0;
  if (of.names.has_clock() && (from_begin ? until < part_begin - rounding : until <= part_begin + rounding))
    return refused(
        fmt::format("has records up to {}, all before this part of the run, which begins at {}: "
                    "give {{start}} a finer format in the key name, or add it",
                    date_of(of.units, of.time, until), of.time.calendar.text(part.begin)));
  return std::nullopt;
}

}  // namespace afterbay::output
