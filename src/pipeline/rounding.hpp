// SPDX-License-Identifier: Apache-2.0
// Rounding of floating-point values by setting bits of their mantissa: how many, by method and
// magnitude. Zeros, denormal numbers, infinities and NaN are never changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace afterbay::pipeline {

/// The format of T as IEEE 754 defines it.
template <class T>
struct FloatFormat {
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;
  static constexpr Word magnitude = std::numeric_limits<Word>::max() >> 1;  ///< all bits but the sign
  static constexpr Word least_normal = Word{1} << mantissa_bits;
  static constexpr Word infinity = magnitude >> mantissa_bits << mantissa_bits;
  static constexpr std::size_t binades = static_cast<std::size_t>(infinity >> mantissa_bits) + 1;
  /// The most that settings may ask for; source: netCDF-C 4.9, NC_QUANTIZE_MAX_...
  static constexpr int most_bits = mantissa_bits;
  static constexpr int most_digits = sizeof(T) == 4 ? 7 : 15;
};

/// The bits that are kept if the lowest `zeroed` bits of the mantissa are rounded away; below
/// 1: all.
template <class T>
constexpr typename FloatFormat<T>::Word kept_bits(int zeroed) {
  using Word = typename FloatFormat<T>::Word;
  if (zeroed <= 0) return ~Word{0};
  return zeroed >= std::numeric_limits<Word>::digits ? Word{0} : ~Word{0} << zeroed;
}

/// Which bits of a value are kept, and by how much rounding may change it: the same for all values
/// of a binade (equal exponent), but for up to two steps in it.
template <class T>
struct Binade {
  using Word = typename FloatFormat<T>::Word;
  Word first_step = 0;   ///< as a magnitude's bits: values below have kept[0] and bound[0]
  Word second_step = 0;  ///< values from here on have kept[2] and bound[2]
  Word kept[3] = {~Word{0}, ~Word{0}, ~Word{0}};
  T bound[3] = {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::infinity(),
                std::numeric_limits<T>::infinity()};
};

/// One entry per exponent of T.
template <class T>
using RoundingTable = std::vector<Binade<T>>;

/// The quantum and the bound of magnitudes from `from` on.
template <class T>
struct RoundingStep {
  T from;
  T quantum;  ///< results are multiples of it
  T bound;
};

/// A method that depends on the magnitude. Both members say the same; `steps` may be empty, and is
/// good for magnitudes in [least, largest] only.
template <class T>
struct MagnitudeRounding {
  RoundingTable<T> table;
  std::vector<RoundingStep<T>> steps;  ///< ascending
  T least = 0, largest = 0;
};

/// Keeps `digits` significant decimal digits: Granular BitRound. The bound is half a unit of the
/// last of them. Made once per process and number of digits; any thread may call it.
/// Source: Delaunay, Courtois, Gouillon: "Evaluation of lossless and lossy algorithms for the
/// compression of scientific datasets in netCDF-4 or HDF5 files", Geosci. Model Dev. 12 (2019),
/// section 3, in the form of netCDF-C 4.9.
template <class T>
std::shared_ptr<const MagnitudeRounding<T>> digits_rounding(int digits);

/// Rounds to multiples of the largest power of two that is at most 2 * `error`. In the table,
/// values from half of this power on become a power of two.
template <class T>
MagnitudeRounding<T> absolute_rounding(double error);

/// The bits of the mantissa that BitGroom keeps for `digits` decimal digits. Source: Zender: "Bit
/// Grooming", Geosci. Model Dev. 9 (2016), section 2, in the form of netCDF-C 4.9.
int bitgroom_bits(int digits);

}  // namespace afterbay::pipeline
