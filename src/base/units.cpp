// SPDX-License-Identifier: Apache-2.0
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <system_error>

namespace afterbay {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::uint64_t kilo = 1000;
constexpr std::uint64_t kibi = 1024;
constexpr std::array<Unit, 9> byte_units{{{"B", 1},
                                          {"kB", kilo},
                                          {"MB", kilo* kilo},
                                          {"GB", kilo* kilo* kilo},
                                          {"TB", kilo* kilo* kilo* kilo},
                                          {"KiB", kibi},
                                          {"MiB", kibi* kibi},
                                          {"GiB", kibi* kibi* kibi},
                                          {"TiB", kibi* kibi* kibi* kibi}}};
constexpr std::array<Unit, 4> time_units{{{"ms", 1}, {"s", 1000}, {"min", 60'000}, {"h", 3'600'000}}};

constexpr double largest_exact = 9007199254740992.0;  // 2^53: doubles above it skip integers

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// A number in decimal notation, split from the unit behind it.
struct Quantity {
  std::string_view number;
  std::string_view unit;
};

Quantity split(std::string_view text) {
  text = trimmed(text);
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  return {text.substr(0, end), trimmed(text.substr(end))};
}

std::optional<std::uint64_t> factor_of(std::string_view unit, std::span<const Unit> units) {
  for (const Unit& candidate : units) {
    if (equal_ignoring_case(unit, candidate.name)) return candidate.factor;
  }
  return std::nullopt;
}

/// number x factor, when it is a whole number that 64 bits hold.
std::optional<std::uint64_t> scaled(std::string_view number, std::uint64_t factor) {
  std::uint64_t whole = 0;
  const char* const end = number.data() + number.size();
  if (auto [stop, error] = std::from_chars(number.data(), end, whole); error == std::errc{} && stop == end) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(whole, factor, &product)) return std::nullopt;
    return product;
  }
  double fraction = 0;
  if (auto [stop, error] = std::from_chars(number.data(), end, fraction);
      error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  const double product = fraction * static_cast<double>(factor);
  if (product > largest_exact || product != std::floor(product)) return std::nullopt;
  return static_cast<std::uint64_t>(product);
}

bool is_number(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && stop == text.data() + text.size() && error != std::errc::invalid_argument;
}

std::string print(std::uint64_t value, std::span<const Unit> units, std::string_view smallest) {
  Unit best{smallest, 1};
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0 && unit.factor > best.factor) best = unit;
  }
  return fmt::format("{}{}", value / best.factor, best.name);
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const Quantity quantity = split(text);
  const auto factor =
      quantity.unit.empty() ? std::optional<std::uint64_t>(1) : factor_of(quantity.unit, byte_units);
  if (!is_number(quantity.number) || !factor) {
    return fail(ErrorCode::wrong_type,
                "\"{}\" is not a size; write a number and a unit (B, kB, MB, GB, TB, KiB, MiB, GiB or TiB), "
                "as in 4MiB",
                text);
  }
  const auto bytes = scaled(quantity.number, *factor);
  if (!bytes) {
    return fail(ErrorCode::invalid_argument, "\"{}\" is not a whole number of bytes below 2^64", text);
  }
  return *bytes;
}

BinaryAmount in_binary_unit(double bytes) noexcept {
  constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return {bytes, units[unit]};
}

std::string print_about(std::uint64_t bytes) {
  const auto [value, unit] = in_binary_unit(static_cast<double>(bytes));
  return fmt::format("{:.{}f} {}", value, unit == "B" ? 0 : 1, unit);
}

std::string print_bytes(std::uint64_t bytes) { return print(bytes, std::span(byte_units).last(4), "B"); }

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const Quantity quantity = split(text);
  auto factor = factor_of(quantity.unit, time_units);
  if (quantity.unit.empty() && quantity.number == "0") factor = 1;
  if (!is_number(quantity.number) || !factor) {
    return fail(ErrorCode::wrong_type,
                "\"{}\" is not a duration; write a number and a unit (ms, s, min or h), as in 500ms or 60s",
                text);
  }
  const auto count = scaled(quantity.number, *factor);
  if (!count || static_cast<double>(*count) > largest_exact) {
    return fail(ErrorCode::invalid_argument, "\"{}\" is not a whole number of milliseconds below 2^53", text);
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(*count));
}

std::string print_duration(std::chrono::milliseconds duration) {
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
  if (count == 0) return "0s";
  return print(count, time_units, "ms");
}

}  // namespace afterbay
