// SPDX-License-Identifier: Apache-2.0
#include "output/part_names.hpp"

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/crc64.hpp"
#include "describe/checks.hpp"
#include "describe/file_place.hpp"
#include "describe/name_template.hpp"
#include "model/template_text.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

/// As coarse as the unit of the period: 2000-03 for months. There are no colons in names of files.
std::string_view date_format(const Period& period) {
  if (period.seconds != 0 || period.nanoseconds != 0) return "%Y-%m-%dT%H%M%S";
  if (period.days != 0) return "%Y-%m-%d";
  return period.months != 0 ? "%Y-%m" : "%Y";
}

/// ".500" for periods of 500ms: as many digits as tell dates apart that differ by such periods.
std::string fraction(const Date& date, const Period& period) {
  constexpr int of_second = 1'000'000'000;
  if (period.nanoseconds == 0) return {};
  int unit = of_second;
  int digits = 0;
  while (period.nanoseconds % unit != 0) {
    unit /= 1000;
    digits += 3;
  }
  return fmt::format(".{:0{}}", date.nanosecond / unit, digits);
}

std::string padded(const describe::NameToken& token, std::int64_t number) {
  const int digits = token.format.empty() ? 0 : must(model::template_digits(token.name, token.format));
  return fmt::format("{:0{}}", number, digits);
}

/// Compares periods without months, whose lengths do not depend on the date; otherwise false.
bool is_shorter(const ModelTime& time, const Period& a, const Period& b) {
  const bool depends = a.months != 0 || a.years != 0 || b.months != 0 || b.years != 0;
  return !depends && time.calendar.add(time.start, a) < time.calendar.add(time.start, b);
}

std::uint64_t digest_of(const std::string& text) { return crc64(std::as_bytes(std::span(text))); }

std::string normal(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

// ---- TakenPaths

std::string TakenPaths::Owner::text() const {
  if (file == nullptr) return "a saved state";
  return file->naming.split.any() ? fmt::format("part {} of the file '{}'", part, file->name)
                                  : fmt::format("the file '{}'", file->name);
}

std::optional<TakenPaths::Owner> TakenPaths::owner(const std::string& path) const {
  const auto found = owners_.find(digest_of(normal(path)));
  if (found == owners_.end()) return std::nullopt;
  return found->second;
}

void TakenPaths::take(const std::string& path, const Owner& owner) {
  owners_.insert_or_assign(digest_of(normal(path)), owner);
}

// ---- PartNames

PartNames::PartNames(const describe::Description& description, const describe::File& file,
                     const ModelTime& time, std::optional<std::int64_t> member)
    : description_(&description), file_(&file), time_(&time), member_(member) {
  const describe::Split& split = file.naming.split;
  if (split.period)
    clock_.emplace(time, *split.period, file.timing.align, "split of the file \"" + file.name + "\"");
  for (const describe::NameToken& token : must(describe::name_tokens(describe::place_of(file).name))) {
    has_number_ = has_number_ || token.name == "part";
    has_start_ = has_start_ || token.name == "start";
    if (token.name == "member" && !member)
      refuse_at(file.at, ErrorCode::invalid_argument,
                "the name of the file '{}' contains {{member}}, but the model has not given the number of "
                "its member",
                file.name);
  }
  if (split.period && file.timing.every && describe::has_records(file) &&
      is_shorter(time, clock_->every(), file.timing.every->resolved(time.step)))
    refuse_at(file.at, ErrorCode::invalid_argument,
              "split of the file '{}' ({}) is shorter than every ({}), so that files would have no record: "
              "write a longer split, or \"1 records\"",
              file.name, split.period->text(), file.timing.every->text());
  if (split.period) check_neighbours();
}

void PartNames::check_neighbours() const {
  constexpr std::int64_t parts = 40;
  std::string last;
  for (const Part& part : first(parts)) {
    std::string name = of(part);
    if (name == last) refuse_same_name(name);
    last = std::move(name);
  }
}

void PartNames::refuse_same_name(const std::string& name) const {
  refuse_at(file_->at, ErrorCode::conflict,
            "two parts of the file '{}', one after the other, would have the name \"{}\": give {{start}} a "
            "finer format in the key name, or add {{part}}",
            file_->name, name);
}

std::vector<PartNames::Part> PartNames::first(std::int64_t most) const {
  std::vector<Part> parts;
  if (!clock_) {
    parts.push_back({1, time_->start, {}});
    // When further ones begin depends on the records.
    if (file_->naming.split.any() && has_number_ && !has_start_)
      for (std::int64_t number = 2; number <= most; ++number) parts.push_back({number, time_->start, {}});
    return parts;
  }
  Date begin = time_->start;
  for (std::int64_t number = 1; number <= most; ++number) {
    try {
      const Interval interval = time_->calendar.interval(begin, clock_->every(), clock_->alignment());
      parts.push_back({number, interval.begin, interval.end});
      begin = interval.end;
    } catch (const Failure&) {
      break;  // the calendar ends
    }
  }
  return parts;
}

PartNames::Part PartNames::until(const Date& end) {
  // What ends at a boundary belongs to the part that ends there, except for the start of the run.
  const auto interval_at = [&](const Date& date) {
    return time_->calendar.interval(date, clock_->every(), clock_->alignment());
  };
  const Interval part = end == time_->start ? interval_at(end) : clock_->until(end);
  return {part.index - interval_at(time_->start).index + 1, part.begin, part.end};
}

std::string PartNames::pattern() const {
  const std::string period =
      file_->timing.every && describe::has_records(*file_) ? file_->timing.every->text() : "fx";
  return describe::partial_name(describe::place_of(*file_).name,
                                {description_->case_name, file_->name, period, file_->grid, store_});
}

std::string PartNames::of(const Part& part) const {
  const describe::Split& split = file_->naming.split;
  const Period coarse = split.period ? split.period->resolved(time_->step)
                                     : file_->timing.every.value_or(Period{.days = 1}).resolved(time_->step);
  const bool is_finer = coarse.seconds != 0 || coarse.nanoseconds != 0;
  const Period unit = split.period || is_finer ? coarse : Period{.days = 1};
  const auto text = [&](const Date& date, const std::string& format) {
    if (!format.empty()) return time_->calendar.format(date, format);
    return time_->calendar.format(date, date_format(unit)) + fraction(date, unit);
  };
  const bool inclusive = file_->naming.end_date == describe::EndDate::inclusive;
  std::string name;
  for (const model::TemplatePiece& piece : must(model::split_template(pattern()))) {
    if (!piece.is_token) {
      name += piece.text;
      continue;
    }
    const describe::NameToken token = must(describe::name_tokens("{" + piece.text + "}")).front();
    if (token.name == "start") name += text(part.begin, token.format);
    if (token.name == "end") name += text(inclusive ? time_->before(part.end) : part.end, token.format);
    if (token.name == "part") name += padded(token, part.number);
    if (token.name == "member") name += padded(token, member_.value());
  }
  return name;
}

void PartNames::begin(const Part& part, const std::string& name) {
  if (are_known()) return;
  const std::uint64_t digest = digest_of(name);
  if (!earlier_.empty() && earlier_.back() == digest) refuse_same_name(name);
  if (std::ranges::find(earlier_, digest) != earlier_.end())
    refuse_at(
        file_->at, ErrorCode::conflict,
        "part {} of the file '{}' would have the name \"{}\", which an earlier part has: give {{start}} a "
        "finer format in the key name, or add {{part}}",
        part.number, file_->name, name);
  earlier_.push_back(digest);
}

}  // namespace afterbay::output
