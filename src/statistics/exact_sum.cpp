// SPDX-License-Identifier: Apache-2.0
#include "statistics/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/strict_floating_point.hpp"

namespace afterbay::statistics {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t digit_mask = 0xFFFFFFFFU;
constexpr int fraction_bits = 52;
constexpr unsigned exponent_mask = 0x7FF;
constexpr int least_exponent = -1074;  ///< exponent of the unit
/// Each addition changes a digit by less than 2^32, so that this many fit into 63 bits.
constexpr std::uint32_t most_pending = std::uint32_t{1} << 30U;

int bit_length(Wide value) {
  const auto high = static_cast<std::uint64_t>(value >> 64U);
  return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                   : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

}  // namespace

/// Sign and size: digits of 32 bits from `low` to `high`, of which the last is not 0; none if the
/// sum is 0.
struct ExactSum::Magnitude {
  std::array<std::uint32_t, digits> digit{};
  int low = 0;
  int high = -1;
  bool negative = false;
  [[nodiscard]] std::uint64_t at(int place) const {
    return place < low || place > high ? 0 : digit[static_cast<std::size_t>(place)];
  }
};

void ExactSum::touch(int first, int last) noexcept {
  low_ = std::min(low_, first);
  high_ = std::max(high_, last);
}

void ExactSum::add(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<unsigned>(bits >> fraction_bits) & exponent_mask;
  std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  if (exponent == exponent_mask) {
    positive_infinity_ = positive_infinity_ || value > 0;
    negative_infinity_ = negative_infinity_ || value < 0;
    return;
  }
  if (exponent != 0) fraction |= std::uint64_t{1} << fraction_bits;
  const unsigned place = exponent == 0 ? 0 : exponent - 1;
  const auto first = static_cast<int>(place / digit_bits);
  const Wide shifted = static_cast<Wide>(fraction) << (place % digit_bits);
  // All ones for negative values: (x ^ sign) - sign is then -x.
  const std::int64_t sign = -static_cast<std::int64_t>(bits >> 63U);
  std::int64_t* const to = digits_.data() + first;
  for (int i = 0; i < 3; ++i) {
    const auto part =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted >> (digit_bits * i)) & digit_mask);
    to[i] += (part ^ sign) - sign;
  }
  touch(first, first + 2);
  if (++pending_ == most_pending) carry();
}

void ExactSum::add_product(double a, double b) noexcept {
  const double product = a * b;
  add(product);
  if (std::isfinite(product)) add(std::fma(a, b, -product));
}

void ExactSum::clear() noexcept {
  if (low_ <= high_) std::fill(digits_.begin() + low_, digits_.begin() + high_ + 1, 0);
  low_ = digits;
  high_ = -1;
  pending_ = 0;
  positive_infinity_ = negative_infinity_ = false;
}

/// Leaves 32 bits in all digits but the highest, which has the sign.
void ExactSum::carry() noexcept {
  pending_ = 1;
  if (low_ > high_) return;
  for (int i = low_; i < high_; ++i) {
    const auto place = static_cast<std::size_t>(i);
    digits_[place + 1] += digits_[place] >> digit_bits;
    digits_[place] &= static_cast<std::int64_t>(digit_mask);
  }
  constexpr std::int64_t half = std::int64_t{1} << (digit_bits - 1);
  while (high_ + 1 < digits) {
    const auto top = static_cast<std::size_t>(high_);
    if (digits_[top] < half && digits_[top] >= -half) return;
    digits_[top + 1] += digits_[top] >> digit_bits;
    digits_[top] &= static_cast<std::int64_t>(digit_mask);
    ++high_;
  }
}

ExactSum::Magnitude ExactSum::magnitude() const noexcept {
  Magnitude made;
  ExactSum sum = *this;
  sum.carry();
  const auto top = [&] { return sum.digits_[static_cast<std::size_t>(sum.high_)]; };
  while (sum.high_ >= sum.low_ && top() == 0) --sum.high_;
  if (sum.high_ < sum.low_) return made;
  made.negative = top() < 0;
  if (made.negative) {
    for (int i = sum.low_; i <= sum.high_; ++i) {
      std::int64_t& digit = sum.digits_[static_cast<std::size_t>(i)];
      digit = -digit;
    }
    sum.carry();
    while (top() == 0) --sum.high_;
  }
  while (sum.digits_[static_cast<std::size_t>(sum.low_)] == 0) ++sum.low_;
  made.low = sum.low_;
  made.high = sum.high_;
  for (int i = sum.low_; i <= sum.high_; ++i)
    made.digit[static_cast<std::size_t>(i)] =
        static_cast<std::uint32_t>(sum.digits_[static_cast<std::size_t>(i)]);
  return made;
}

double ExactSum::rounded() const noexcept {
  if (positive_infinity_ && negative_infinity_) return std::numeric_limits<double>::quiet_NaN();
  if (positive_infinity_) return std::numeric_limits<double>::infinity();
  if (negative_infinity_) return -std::numeric_limits<double>::infinity();
  const Magnitude sum = magnitude();
  if (sum.high < sum.low) return 0;
  // The highest digits, at least 65 bits unless there are fewer, and whether others follow.
  const Wide head = (static_cast<Wide>(sum.at(sum.high)) << (2 * digit_bits)) |
                    (static_cast<Wide>(sum.at(sum.high - 1)) << digit_bits) | sum.at(sum.high - 2);
  const int base = digit_bits * (sum.high - 2);  // the place of its lowest bit
  const int length = bit_length(head);
  constexpr int precision = fraction_bits + 1;
  // Doubles are multiples of the unit: below 2^53 units all integers are doubles.
  const int dropped = std::max(length - precision, -base);
  const auto kept = static_cast<std::uint64_t>(head >> dropped);
  const Wide rest = head & ((Wide{1} << dropped) - 1);
  const Wide half = Wide{1} << (dropped - 1);
  const bool more = sum.low < sum.high - 2;
  const bool up = rest > half || (rest == half && (more || (kept & 1U) != 0));
  const double size = std::ldexp(static_cast<double>(kept + (up ? 1 : 0)), base + dropped + least_exponent);
  return sum.negative ? -size : size;
}

std::vector<double> ExactSum::terms() const {
  std::vector<double> all;
  ExactSum rest = *this;
  for (double term = rest.rounded(); term != 0 && std::isfinite(term); term = rest.rounded()) {
    all.push_back(term);
    rest.add(-term);
  }
  return all;
}

void ExactSum::encode(std::vector<std::byte>& to) const {
  const Magnitude sum = magnitude();
  const int count = sum.high - sum.low + 1;
  const unsigned flags =
      (sum.negative ? 1U : 0U) | (positive_infinity_ ? 2U : 0U) | (negative_infinity_ ? 4U : 0U);
  to.push_back(static_cast<std::byte>(flags));
  to.push_back(static_cast<std::byte>(sum.low));
  to.push_back(static_cast<std::byte>(count));
  const auto* const from = reinterpret_cast<const std::byte*>(sum.digit.data() + sum.low);
  to.insert(to.end(), from, from + static_cast<std::size_t>(count) * sizeof(std::uint32_t));
}

bool ExactSum::add_encoded(std::span<const std::byte>& from) noexcept {
  constexpr std::size_t head = 3;
  if (from.size() < head) return false;
  const auto flags = static_cast<unsigned>(from[0]);
  const int first = static_cast<int>(from[1]);
  const int count = static_cast<int>(from[2]);
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(std::uint32_t);
  if (flags > 7 || first + count > digits || from.size() - head < bytes) return false;
  positive_infinity_ = positive_infinity_ || (flags & 2U) != 0;
  negative_infinity_ = negative_infinity_ || (flags & 4U) != 0;
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
    std::uint32_t digit = 0;
    std::memcpy(&digit, from.data() + head + at, sizeof digit);
    digits_[static_cast<std::size_t>(first) + at / sizeof digit] +=
        (flags & 1U) != 0 ? -std::int64_t{digit} : std::int64_t{digit};
  }
  if (count > 0) touch(first, first + count - 1);
  from = from.subspan(head + bytes);
  if (++pending_ == most_pending) carry();
  return true;
}

}  // namespace afterbay::statistics
