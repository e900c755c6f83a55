// SPDX-License-Identifier: Apache-2.0
// 32-bit floating-point numbers of IBM's System/360: a sign, 7 bits of an exponent of 16 with an
// offset of 64, and a fraction of 24 bits. Source: IBM System/360 Principles of Operation
// (A22-6821), section "Floating-Point Arithmetic".
#pragma once

#include <cstdint>
#include <optional>

namespace afterbay::packing {

/// A multiple of 2^exponent and its word.
struct IbmMultiple {
  std::uint32_t word = 0;
  std::int64_t multiple = 0;  ///< in units of 2^exponent
};

/// The largest IBM number that is a multiple of 2^exponent and at most multiple * 2^exponent. Most
/// of the time it is that number itself: 21 bits of the fraction always count.
/// |multiple| <= 2^62, -126 <= exponent <= 126.
IbmMultiple ibm_at_most(std::int64_t multiple, int exponent) noexcept;

/// The normalised word of a number; nullopt if no word has exactly this value. Zero of either sign
/// is the word 0.
std::optional<std::uint32_t> ibm_exactly(double value) noexcept;

/// The value of a word, also of one that is not normalised. Exact.
double ibm_value(std::uint32_t word) noexcept;

}  // namespace afterbay::packing
