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

/// The time of a file without records.
Result<MessageTime> scalar_time(const Schema& schema, const Variable& scalar) {
  AFTERBAY_TRY_ASSIGN(cf::TimeAxis axis, cf::time_axis_of(scalar));
  MessageTime time;
  AFTERBAY_TRY_ASSIGN(time.date, axis.date(*cf::number_of(scalar)));
  time.begin = time.end = time.date;
  const Variable* const bounds = cf::scalar_bounds_of(schema, scalar);
  if (bounds == nullptr) return time;
  const std::vector<double> numbers = cf::numbers_of(bounds->constant);
  axis.is_float32 = bounds->type == Type::float32;
  AFTERBAY_TRY_ASSIGN(time.begin, axis.date(numbers[0]));
  AFTERBAY_TRY_ASSIGN(time.end, axis.date(numbers[1]));
  time.interval = true;
  return time;
}

}  // namespace

Result<RecordTimes> RecordTimes::make(const Schema& schema) {
  RecordTimes times;
  times.schema_ = &schema;
  if (const Variable* const time = cf::time_of(schema)) {
    AFTERBAY_TRY_ASSIGN(times.axis_, cf::time_axis_of(*time));
    times.time_ = index_of(schema, *time);
    if (const Variable* const bounds = cf::time_bounds_of(schema)) times.bounds_ = index_of(schema, *bounds);
    if (const Variable* const reference = cf::record_reference_of(schema)) {
      AFTERBAY_TRY_ASSIGN(times.reference_axis_, cf::time_axis_of(*reference));
      times.reference_ = index_of(schema, *reference);
    }
  } else if (const Variable* const scalar = cf::scalar_time_of(schema)) {
    AFTERBAY_TRY_ASSIGN(times.scalar_, scalar_time(schema, *scalar));
  }
  return times;
}

bool RecordTimes::takes(std::uint32_t variable) const noexcept {
  return variable == time_ || variable == bounds_ || variable == reference_;
}

Result<> RecordTimes::add(std::uint32_t variable, std::uint64_t record, std::span<const std::byte> values) {
  const Variable& of = schema_->variables[variable];
  const std::vector<double> numbers =
      cf::numbers_of(Values::raw(of.type, values.data(), values.size() / size_of(of.type)));
  cf::TimeAxis axis = variable == reference_ ? *reference_axis_ : *axis_;
  axis.is_float32 = of.type == Type::float32;  // bounds can have another type than the time
  std::vector<Date> dates;
  for (const double number : numbers) {
    auto date = axis.date(number);
    if (!date)
      return fail(std::move(date).error().in_variable(of.name).add(
          fmt::format("{} is the time in variable '{}' of record {}", number, of.name, said_index(record))));
    dates.push_back(*date);
  }
  Record& entry = records_[record];
  if (variable == time_ && !dates.empty()) {
    entry.time.date = dates.front();
    entry.dated = true;
  } else if (variable == reference_ && !dates.empty()) {
    entry.time.reference = dates.front();
  } else if (dates.size() == 2) {
    entry.time.begin = dates[0];
    entry.time.end = dates[1];
    entry.time.interval = true;
  }
  return {};
}

std::optional<MessageTime> RecordTimes::of(std::uint64_t record) const {
  const auto found = records_.find(record);
  if (found == records_.end() || !found->second.dated || (bounds_ && !found->second.time.interval) ||
      (reference_ && !found->second.time.reference))
    return std::nullopt;
  return found->second.time;
}

std::optional<MessageTime> RecordTimes::of_fixed() const {
  if (scalar_) return scalar_;
  for (const auto& [record, entry] : records_)
    if (entry.dated)
      return MessageTime{entry.time.date, entry.time.date, entry.time.date, false, entry.time.reference};
  return std::nullopt;
}

std::string RecordTimes::names() const {
  if (!time_) return "a time";
  std::string text;
  for (const std::optional<std::uint32_t>& variable : {time_, bounds_, reference_})
    if (variable) text += (text.empty() ? "'" : " and '") + schema_->variables[*variable].name + "'";
  return text;
}

}  // namespace afterbay::storage
