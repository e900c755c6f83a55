// SPDX-License-Identifier: Apache-2.0
// Sizes and durations as people write them: "4MiB", "1.5GB", "60s", "500ms".
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace afterbay {

inline constexpr std::uint64_t KiB = 1024;
inline constexpr std::uint64_t MiB = 1024 * KiB;
inline constexpr std::uint64_t GiB = 1024 * MiB;
inline constexpr std::uint64_t TiB = 1024 * GiB;

/// Bytes from a number and one of B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of
/// 1024), in upper or lower case; without a unit: bytes. "4M" is refused because it is ambiguous.
/// Fails with wrong_type (not a size) or invalid_argument (not whole bytes, more than 2^64 - 1).
Result<std::uint64_t> parse_bytes(std::string_view text);

/// Exact, in the largest binary unit that divides it: 4194304 -> "4MiB", 1000 -> "1000B".
std::string print_bytes(std::uint64_t bytes);

/// An amount of bytes in the largest unit, from B to EiB, of which there is at least one.
struct BinaryAmount {
  double value = 0;
  std::string_view unit;
};
BinaryAmount in_binary_unit(double bytes) noexcept;

/// Rounded to one digit after the point, for messages: "1.5 TiB", "512.0 MiB", "20 B".
std::string print_about(std::uint64_t bytes);

/// Milliseconds from a number and one of ms, s, min, h. Only 0 may have no unit. Fails with
/// wrong_type (not a duration) or invalid_argument (finer than 1 ms, more than 2^53 ms).
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// Exact, in the largest unit that divides it: 90000 -> "90s", 120000 -> "2min", 0 -> "0s".
std::string print_duration(std::chrono::milliseconds duration);

}  // namespace afterbay
