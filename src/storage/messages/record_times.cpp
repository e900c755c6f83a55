// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/record_times.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "base/caller_terms.hpp"

namespace afterbay::storage {
namespace {

std::uint32_t index_of(const Schema& schema, const Variable& variable) {
  return static_cast<std::uint32_t>(&variable - schema.variables.data());
}

/// A scalar variable with a constant time.
const Variable* scalar_time_of(const Schema& schema) {
  for (const Variable& variable : schema.variables)
    if (variable.dimensions.empty() && !variable.constant.empty() &&
        cf::text_of(variable.attributes, "standard_name") == "time")
      return &variable;
  return nullptr;
}

}  // namespace

Result<RecordTimes> RecordTimes::make(const Schema& schema) {
  RecordTimes times;
  times.schema_ = &schema;
  if (const Variable* const time = cf::time_of(schema)) {
    AFTERBAY_TRY_ASSIGN(times.axis_, cf::time_axis_of(*time));
    times.time_ = index_of(schema, *time);
    if (const Variable* const bounds = cf::time_bounds_of(schema)) times.bounds_ = index_of(schema, *bounds);
  } else if (const Variable* const scalar = scalar_time_of(schema)) {
    AFTERBAY_TRY_ASSIGN(const cf::TimeAxis axis, cf::time_axis_of(*scalar));
    AFTERBAY_TRY_ASSIGN(const Date date, axis.date(cf::numbers_of(scalar->constant).front()));
    times.scalar_ = MessageTime{date, date, date, false};
  }
  return times;
}

bool RecordTimes::takes(std::uint32_t variable) const noexcept {
  return variable == time_ || variable == bounds_;
}

Result<> RecordTimes::add(std::uint32_t variable, std::uint64_t record, std::span<const std::byte> values) {
  const Variable& of = schema_->variables[variable];
  const std::vector<double> numbers =
      cf::numbers_of(Values::raw(of.type, values.data(), values.size() / size_of(of.type)));
  std::vector<Date> dates;
  for (const double number : numbers) {
    auto date = axis_->date(number);
    if (!date)
      return fail(std::move(date).error().in_variable(of.name).add(
          fmt::format("{} is the time in variable '{}' of record {}", number, of.name, said_index(record))));
    dates.push_back(*date);
  }
  Record& entry = records_[record];
  if (variable == time_ && !dates.empty()) {
    entry.time.date = dates.front();
    entry.dated = true;
  } else if (dates.size() == 2) {
    entry.time.begin = dates[0];
    entry.time.end = dates[1];
    entry.time.interval = true;
  }
  return {};
}

std::optional<MessageTime> RecordTimes::of(std::uint64_t record) const {
  const auto found = records_.find(record);
  if (found == records_.end() || !found->second.dated || (bounds_ && !found->second.time.interval))
    return std::nullopt;
  return found->second.time;
}

std::optional<MessageTime> RecordTimes::of_fixed() const {
  if (scalar_) return scalar_;
  for (const auto& [record, entry] : records_)
    if (entry.dated) return MessageTime{entry.time.date, entry.time.date, entry.time.date, false};
  return std::nullopt;
}

std::string RecordTimes::names() const {
  if (!time_) return "a time";
  const std::string time = "'" + schema_->variables[*time_].name + "'";
  return bounds_ ? time + " and '" + schema_->variables[*bounds_].name + "'" : time;
}

}  // namespace afterbay::storage
