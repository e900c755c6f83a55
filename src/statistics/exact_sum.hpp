// SPDX-License-Identifier: Apache-2.0
// ExactSum: the sum of doubles without any rounding, so that it does not depend on the order in
// which they are added, nor on how they are divided into partial sums. It is rounded once, when it
// is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace afterbay::statistics {

/// A long accumulator: an integer in units of the smallest double, in digits of 32 bits. Compare U.
/// Kulisch, "Computer Arithmetic and Validity" (2013), chapter 8, and R. M. Neal, "Fast exact
/// summation using small and large superaccumulators" (arXiv:1505.05571). One thread at a time.
class ExactSum {
 public:
  /// `value`: no NaN. Infinities are kept: those of both signs together have no sum.
  void add(double value) noexcept;
  /// The exact product, if it is neither larger than the largest double nor smaller than 2^-960;
  /// otherwise the rounded one.
  void add_product(double a, double b) noexcept;
  /// Back to 0.
  void clear() noexcept;

  /// The nearest double, ties to even; infinite if no double is as large; NaN if there is no sum. A
  /// sum of 0 is +0. Needs the default floating-point environment, as all members that compute.
  [[nodiscard]] double rounded() const noexcept;
  /// Doubles whose exact sum this is, from the largest on. Only for finite sums.
  [[nodiscard]] std::vector<double> terms() const;

  /// Appends the sum in a form that depends on its value only: 3 bytes and 4 for each digit between
  /// the first and the last one that is not 0. For machines with the same byte order.
  void encode(std::vector<std::byte>& to) const;
  /// Adds an encoded sum, and removes it from `from`. Returns false if there is none.
  [[nodiscard]] bool add_encoded(std::span<const std::byte>& from) noexcept;

 private:
  static constexpr int digit_bits = 32;
  /// The largest double ends in digit 65. What is left is enough for 2^70 of them, and the sign.
  static constexpr int digits = 68;

  struct Magnitude;
  [[nodiscard]] Magnitude magnitude() const noexcept;
  void carry() noexcept;
  void touch(int first, int last) noexcept;

  /// From the lowest on. Each may hold more than its 32 bits, of either sign.
  std::array<std::int64_t, digits> digits_{};
  int low_ = digits;           ///< digits from here on
  int high_ = -1;              ///< up to this one may not be 0
  std::uint32_t pending_ = 0;  ///< additions since digits had 32 bits
  bool positive_infinity_ = false;
  bool negative_infinity_ = false;
};

}  // namespace afterbay::statistics
