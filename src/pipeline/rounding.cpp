// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rounding.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <numbers>

#include "base/strict_floating_point.hpp"

namespace afterbay::pipeline {
namespace {

constexpr double bits_per_digit = std::numbers::ln10 / std::numbers::ln2;
constexpr double digits_per_bit = std::numbers::ln2 / std::numbers::ln10;

/// The number of decimal digits before the point; negative for zeros after it.
int digits_before_point(double mantissa, int exponent) {
  return static_cast<int>(std::floor(exponent * digits_per_bit + std::log10(mantissa))) + 1;
}

/// The step of Granular BitRound at the value with these bits.
struct DigitStep {
  int zeroed = 0;
  int digits_before_point = 0;
  bool operator==(const DigitStep&) const = default;
};

template <class T>
DigitStep digit_step(typename FloatFormat<T>::Word bits, int digits) {
  int exponent = 0;
  const double mantissa = std::frexp(static_cast<double>(std::bit_cast<T>(bits)), &exponent);
  const int before = digits_before_point(mantissa, exponent);
  const int quantum = static_cast<int>(std::floor(bits_per_digit * (before - digits)));
  const int top = static_cast<int>(std::floor(exponent - bits_per_digit * std::log10(mantissa)));
  const int kept = std::abs(top - quantum) - 1;
  return {FloatFormat<T>::mantissa_bits - kept, before};
}

/// The first bits in (low, high] whose step is not that of `low`; `high` must have another one.
template <class T>
typename FloatFormat<T>::Word end_of_step(typename FloatFormat<T>::Word low,
                                          typename FloatFormat<T>::Word high, int digits) {
  const DigitStep first = digit_step<T>(low, digits);
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    (digit_step<T>(middle, digits) == first ? low : high) = middle;
  }
  return high;
}

/// Half a unit of the last digit, not rounded up.
template <class T>
T half_unit(int exponent_of_ten) {
  constexpr int last_exact = 10;  // 5^10 has less than 24 bits
  const double half = 0.5 * std::pow(10.0, exponent_of_ten);
  if (exponent_of_ten >= 0 && exponent_of_ten <= last_exact) return static_cast<T>(half);
  return std::nextafter(static_cast<T>(half), T{0});
}

template <class T>
Binade<T> digits_binade(std::size_t binade, int digits) {
  using Word = typename FloatFormat<T>::Word;
  const Word first = static_cast<Word>(binade) << FloatFormat<T>::mantissa_bits;
  const Word last = first + FloatFormat<T>::least_normal - 1;
  Binade<T> result;
  const auto set = [&](int part, Word at) {
    const DigitStep step = digit_step<T>(at, digits);
    result.kept[part] = kept_bits<T>(step.zeroed);
    result.bound[part] = half_unit<T>(step.digits_before_point - digits);
  };
  // The numbers of a binade that are powers of ten or two, but for rounding of the logarithms,
  // begin its parts.
  const DigitStep end = digit_step<T>(last, digits);
  result.first_step = first;
  result.second_step = first;
  if (digit_step<T>(first, digits) != end) {
    result.first_step = end_of_step<T>(first, last, digits);
    result.second_step = result.first_step;
    if (digit_step<T>(result.first_step, digits) != end)
      result.second_step = end_of_step<T>(result.first_step, last, digits);
  }
  set(0, first);
  set(1, result.first_step);
  set(2, result.second_step);
  return result;
}

/// Magnitudes whose quantum, and 2^mantissa_bits times that, are normal numbers.
template <class T>
constexpr int most_step_exponent = sizeof(T) == 4 ? 100 : 960;

/// Whether all values of a binade's first part are rounded alike with its second part's bits: the
/// logarithm has rounded a few values to the power of two at the beginning of the binade.
template <class T>
bool first_part_does_not_matter(const Binade<T>& binade, typename FloatFormat<T>::Word first) {
  const int zeroed = std::countr_zero(binade.kept[0]);
  return zeroed > 0 && std::countr_zero(binade.kept[1]) >= zeroed &&
         binade.first_step - first <= typename FloatFormat<T>::Word{1} << (zeroed - 1);
}

template <class T>
std::vector<RoundingStep<T>> steps_of(const RoundingTable<T>& table) {
  using Word = typename FloatFormat<T>::Word;
  constexpr int bias = std::numeric_limits<T>::max_exponent - 1;
  std::vector<RoundingStep<T>> steps;
  for (int exponent = -most_step_exponent<T>; exponent <= most_step_exponent<T>; ++exponent) {
    const Binade<T>& binade = table[static_cast<std::size_t>(exponent + bias)];
    const Word first = static_cast<Word>(exponent + bias) << FloatFormat<T>::mantissa_bits;
    const auto add = [&](Word from, std::size_t part) {
      const int zeroed = std::countr_zero(binade.kept[part]);
      const RoundingStep<T> step{std::bit_cast<T>(from),
                                 std::ldexp(T{1}, exponent - FloatFormat<T>::mantissa_bits + zeroed),
                                 binade.bound[part]};
      if (steps.empty() || steps.back().quantum != step.quantum || steps.back().bound != step.bound)
        steps.push_back(step);
    };
    const bool skips = binade.first_step > first && first_part_does_not_matter(binade, first);
    if (binade.first_step > first && !skips) add(first, 0);
    if (binade.second_step > binade.first_step) add(skips ? first : binade.first_step, 1);
    add(skips && binade.second_step == binade.first_step ? first : binade.second_step, 2);
  }
  return steps;
}

template <class T>
MagnitudeRounding<T> make_digits_rounding(int digits) {
  MagnitudeRounding<T> made;
  made.table.resize(FloatFormat<T>::binades);
  for (std::size_t binade = 1; binade + 1 < made.table.size(); ++binade)
    made.table[binade] = digits_binade<T>(binade, digits);
  made.steps = steps_of(made.table);
  made.least = std::ldexp(T{1}, -most_step_exponent<T>);
  made.largest = std::ldexp(T{1}, most_step_exponent<T>);
  return made;
}

}  // namespace

template <class T>
std::shared_ptr<const MagnitudeRounding<T>> digits_rounding(int digits) {
  struct Cached {
    std::once_flag once;
    std::shared_ptr<const MagnitudeRounding<T>> made;
  };
  static std::array<Cached, FloatFormat<T>::most_digits + 1> all;
  Cached& cached = all[static_cast<std::size_t>(digits)];
  std::call_once(cached.once, [&] {
    cached.made = std::make_shared<const MagnitudeRounding<T>>(make_digits_rounding<T>(digits));
  });
  return cached.made;
}

template <class T>
MagnitudeRounding<T> absolute_rounding(double error) {
  constexpr int mantissa_bits = FloatFormat<T>::mantissa_bits;
  MagnitudeRounding<T> made;
  made.table.resize(FloatFormat<T>::binades);
  const int quantum = std::min(std::ilogb(error) + 1, most_step_exponent<T>);  // exponent of two
  if (quantum < -most_step_exponent<T>) return made;                           // nothing is rounded
  for (std::size_t binade = 1; binade + 1 < made.table.size(); ++binade) {
    const int exponent = static_cast<int>(binade) - (std::numeric_limits<T>::max_exponent - 1);
    const int zeroed = quantum - (exponent - mantissa_bits);
    const auto kept = exponent < quantum - 1 ? typename FloatFormat<T>::Word{0}
                                             : kept_bits<T>(std::min(zeroed, mantissa_bits));
    for (auto& it : made.table[binade].kept) it = kept;
  }
  made.steps = {{T{0}, std::ldexp(T{1}, quantum), std::numeric_limits<T>::infinity()}};
  made.largest = std::numeric_limits<T>::infinity();
  return made;
}

int bitgroom_bits(int digits) { return static_cast<int>(std::ceil(digits * bits_per_digit)) + 1; }

template std::shared_ptr<const MagnitudeRounding<float>> digits_rounding<float>(int);
template std::shared_ptr<const MagnitudeRounding<double>> digits_rounding<double>(int);
template MagnitudeRounding<float> absolute_rounding<float>(double);
template MagnitudeRounding<double> absolute_rounding<double>(double);

}  // namespace afterbay::pipeline
