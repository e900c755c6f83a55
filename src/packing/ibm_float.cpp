// SPDX-License-Identifier: Apache-2.0
#include "packing/ibm_float.hpp"

#include <bit>
#include <cmath>

namespace afterbay::packing {
namespace {

constexpr int fraction_bits = 24;
constexpr int exponent_offset = 64;
constexpr std::uint32_t fraction_mask = 0x00ffffff;
constexpr std::uint32_t sign_bit = 0x80000000;

constexpr int quarter_up(int value) { return value >= 0 ? (value + 3) / 4 : -(-value / 4); }

}  // namespace

IbmMultiple ibm_at_most(std::int64_t multiple, int exponent) noexcept {
  if (multiple == 0) return {};
  const bool negative = multiple < 0;
  std::uint64_t magnitude = static_cast<std::uint64_t>(negative ? -multiple : multiple);
  // The magnitude is below 16^power; the last bit of the fraction is worth 16^power / 2^24.
  int power = quarter_up(std::bit_width(magnitude) + exponent);
  int shift = 4 * power - fraction_bits - exponent;
  if (shift > 0) {
    const std::uint64_t unit = std::uint64_t{1} << shift;
    if (negative) magnitude += unit - 1;
    magnitude -= magnitude % unit;
    if (magnitude >> shift > fraction_mask) {
      ++power;
      shift += 4;
    }
  }
  const std::uint64_t fraction = shift > 0 ? magnitude >> shift : magnitude << -shift;
  const auto field = static_cast<std::uint32_t>(power + exponent_offset) << fraction_bits;
  const auto rounded = static_cast<std::int64_t>(magnitude);
  return {field | static_cast<std::uint32_t>(fraction) | (negative ? sign_bit : 0),
          negative ? -rounded : rounded};
}

std::optional<std::uint32_t> ibm_exactly(double value) noexcept {
  if (value == 0) return 0;
  if (!std::isfinite(value)) return std::nullopt;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);
  const int power = quarter_up(exponent);
  const double scaled = std::ldexp(fraction, fraction_bits + exponent - 4 * power);
  if (scaled != std::trunc(scaled) || power < -exponent_offset || power >= exponent_offset)
    return std::nullopt;
  return static_cast<std::uint32_t>(power + exponent_offset) << fraction_bits |
         static_cast<std::uint32_t>(scaled) | (value < 0 ? sign_bit : 0);
}

double ibm_value(std::uint32_t word) noexcept {
  const int power = static_cast<int>(word >> fraction_bits & 0x7f) - exponent_offset;
  const double value = std::ldexp(static_cast<double>(word & fraction_mask), 4 * power - fraction_bits);
  return (word & sign_bit) != 0 ? -value : value;
}

}  // namespace afterbay::packing
