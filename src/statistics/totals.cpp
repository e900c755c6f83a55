// SPDX-License-Identifier: Apache-2.0
#include "statistics/totals.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/strict_floating_point.hpp"

namespace afterbay::statistics {

namespace {

constexpr unsigned bits_per_byte = 7;
constexpr std::uint64_t byte_mask = 0x7F;

void encode_double(double value, std::vector<std::byte>& to) {
  const auto* const from = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), from, from + sizeof value);
}

bool decode_double(double& value, std::span<const std::byte>& from) noexcept {
  if (from.size() < sizeof value) return false;
  std::memcpy(&value, from.data(), sizeof value);
  from = from.subspan(sizeof value);
  return true;
}

/// Tells -0.0 and 0.0 apart, so that the order of values does not matter.
bool is_lower(double a, double b) noexcept {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

}  // namespace

void encode_count(std::uint64_t count, std::vector<std::byte>& to) {
  for (; count > byte_mask; count >>= bits_per_byte)
    to.push_back(static_cast<std::byte>(count & byte_mask) | std::byte{0x80});
  to.push_back(static_cast<std::byte>(count));
}

bool decode_count(std::uint64_t& count, std::span<const std::byte>& from) noexcept {
  count = 0;
  for (unsigned shift = 0; !from.empty() && shift < 64; shift += bits_per_byte) {
    const auto byte = static_cast<std::uint64_t>(from.front());
    from = from.subspan(1);
    count |= (byte & byte_mask) << shift;
    if (byte <= byte_mask) return true;
  }
  return false;
}

Totals::Totals(StatisticKind kind) noexcept : kind_(kind) {}

bool Totals::sums() const noexcept {
  return kind_ == StatisticKind::mean || kind_ == StatisticKind::sum ||
         kind_ == StatisticKind::standard_deviation;
}

void Totals::add(double value) noexcept {
  ++count_;
  if (value != value) return;
  ++valid_;
  if (sums()) {
    sum_.add(value);
    if (kind_ == StatisticKind::standard_deviation) squares_.add_product(value, value);
    return;
  }
  if (valid_ == 1 || is_lower(value, lowest_)) lowest_ = value;
  if (valid_ == 1 || is_lower(highest_, value)) highest_ = value;
}

void Totals::clear() noexcept {
  count_ = valid_ = 0;
  sum_.clear();
  squares_.clear();
}

void Totals::encode(std::vector<std::byte>& to) const {
  encode_count(count_, to);
  encode_count(valid_, to);
  if (valid_ == 0) return;
  if (sums()) {
    sum_.encode(to);
    if (kind_ == StatisticKind::standard_deviation) squares_.encode(to);
    return;
  }
  if (kind_ != StatisticKind::maximum) encode_double(lowest_, to);
  if (kind_ != StatisticKind::minimum) encode_double(highest_, to);
}

bool Totals::add_encoded(std::span<const std::byte>& from) noexcept {
  std::uint64_t count = 0;
  std::uint64_t valid = 0;
  if (!decode_count(count, from) || !decode_count(valid, from) || valid > count) return false;
  const bool first = valid_ == 0;
  count_ += count;
  valid_ += valid;
  if (valid == 0) return true;
  if (sums())
    return sum_.add_encoded(from) &&
           (kind_ != StatisticKind::standard_deviation || squares_.add_encoded(from));
  double lowest = 0;
  double highest = 0;
  if (kind_ != StatisticKind::maximum && !decode_double(lowest, from)) return false;
  if (kind_ != StatisticKind::minimum && !decode_double(highest, from)) return false;
  if (first || is_lower(lowest, lowest_)) lowest_ = lowest;
  if (first || is_lower(highest_, highest)) highest_ = highest;
  return true;
}

/// The square root of n times the sum of squares - the square of the sum, divided by n. What is
/// under the root is computed exactly, and rounded once: nothing cancels.
double Totals::deviation() const {
  const auto number = static_cast<double>(valid_);
  ExactSum under;
  if (!std::isfinite(sum_.rounded()) || !std::isfinite(squares_.rounded()))
    return std::numeric_limits<double>::quiet_NaN();
  for (const double square : squares_.terms()) under.add_product(number, square);
  const std::vector<double> terms = sum_.terms();
  for (const double a : terms)
    for (const double b : terms) under.add_product(-a, b);
  return std::sqrt(under.rounded()) / number;
}

double Totals::result(const Statistic& statistic) const {
  constexpr double missing = std::numeric_limits<double>::quiet_NaN();
  if (valid_ == 0) return missing;
  if (!leaves_out(statistic.missing) && valid_ < count_) return missing;
  if (statistic.missing == Missing::threshold &&
      static_cast<double>(valid_) / static_cast<double>(count_) < statistic.threshold)
    return missing;
  switch (kind_) {
    case StatisticKind::minimum: return lowest_;
    case StatisticKind::maximum: return highest_;
    case StatisticKind::range: return highest_ - lowest_;
    case StatisticKind::sum: return sum_.rounded();
    case StatisticKind::mean: return sum_.rounded() / static_cast<double>(valid_);
    case StatisticKind::standard_deviation: return deviation();
    default: return missing;
  }
}

}  // namespace afterbay::statistics
