// SPDX-License-Identifier: Apache-2.0
#ifdef AFTERBAY_HAS_ECCODES
#include "storage/grib2/packed_field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/caller_terms.hpp"
#include "base/strict_floating_point.hpp"

namespace afterbay::storage::grib2 {
namespace {

/// Relative rounding error of the reference value, which has 32 bits.
constexpr double reference_epsilon = std::numeric_limits<float>::epsilon();
/// Factor that allows for rounding in the computation of differences.
constexpr double room = 1 + 1e-9;

double power_of_ten(long exponent) { return std::pow(10.0, static_cast<double>(exponent)); }

double largest_magnitude(const Unpacked& field) {
  return std::max(std::abs(field.least), std::abs(field.largest));
}

/// The range that integers must hold: the reference value is at most the least value.
double range_to_hold(const Unpacked& field) {
  return field.largest - field.least + reference_epsilon * largest_magnitude(field);
}

/// How readers compute values.
struct Scales {
  double reference = 0;
  double binary = 1;
  double decimal = 1;
  double most = 0;  ///< the largest integer

  /// The error of the nearest value that the message can have.
  [[nodiscard]] double error_of(double value) const {
    constexpr double no_fraction = 6755399441055744.0;  // 1.5 * 2^52
    double integer = (value / decimal - reference) / binary;
    integer = integer < 0 ? 0 : integer > most ? most : integer;
    integer = (integer + no_fraction) - no_fraction;
    return std::abs((integer * binary + reference) * decimal - value);
  }
};

Result<Scales> scales_of(const Handle& handle) {
  Scales scales;
  AFTERBAY_TRY_ASSIGN(scales.reference, handle.real("referenceValue"));
  AFTERBAY_TRY_ASSIGN(const long bits, handle.number("bitsPerValue"));
  if (bits == 0) return scales;  // all values are the reference value
  AFTERBAY_TRY_ASSIGN(const long binary, handle.number("binaryScaleFactor"));
  AFTERBAY_TRY_ASSIGN(const long decimal, handle.number("decimalScaleFactor"));
  scales.binary = std::ldexp(1.0, static_cast<int>(binary));
  scales.decimal = power_of_ten(-decimal);
  scales.most = std::ldexp(1.0, static_cast<int>(bits)) - 1;
  return scales;
}

double allowed_error(const Unpacked& field, const Packing& packing) {
  if (packing.decimals) return 0.5 * power_of_ten(-*packing.decimals);
  if (packing.exact) return 0;
  const double of_reference = reference_epsilon * largest_magnitude(field);
  if (!field.varies()) return of_reference;
  const double steps = std::ldexp(1.0, static_cast<int>(packing.bits.value_or(default_bits))) - 1;
  constexpr double least_normal = std::numeric_limits<float>::min();
  return std::max(range_to_hold(field) / steps, least_normal);
}

Result<double> error_of_header(const Handle& handle, const Unpacked& field) {
  AFTERBAY_TRY_ASSIGN(const Scales scales, scales_of(handle));
  double found = 0;
  for (const double number : field.numbers) {
    const double error = number == field.missing ? 0 : scales.error_of(number);
    found = error > found ? error : found;
  }
  return found;
}

Result<double> error_of_decoded(const Handle& handle, const Unpacked& field) {
  std::vector<double> decoded(field.numbers.size());
  AFTERBAY_TRY(handle.read_values(decoded));
  double found = 0;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const double number = field.numbers[i];
    if ((number == field.missing) != (decoded[i] == field.missing))
      return fail(ErrorCode::internal,
                  "point {} of a slab {} missing, but is decoded as {}: this is a defect of ecCodes {} or of "
                  "Afterbay; use another GRIB_packingType",
                  said_index(i), number == field.missing ? "is" : "is not",
                  number == field.missing ? "a value" : "missing", codes_get_api_version());
    // Zero for missing points.
    const double error = std::abs(decoded[i] - number);
    found = std::max(found, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
  }
  return found;
}

}  // namespace

long bits_needed(const Unpacked& field, long decimals) {
  const double step = std::exp2(std::floor(std::log2(power_of_ten(-decimals))));
  const double steps = range_to_hold(field) / step + 1;
  return std::clamp(static_cast<long>(std::ceil(std::log2(steps))), 1L, most_bits);
}

bool needs_integers(const Unpacked& field, const Packing& packing) {
  if (field.varies() || (!packing.decimals && !packing.exact)) return false;
  const double value = field.least;
  auto reference = static_cast<float>(value);
  if (static_cast<double>(reference) > value)
    reference = std::nextafter(reference, -std::numeric_limits<float>::infinity());
  return value - static_cast<double>(reference) > allowed_error(field, packing);
}

Result<double> largest_error(const Handle& handle, const Unpacked& field, const Packing& packing) {
  const bool decodes = packing.decimals || packing.exact || packing.ccsds;
  AFTERBAY_TRY_ASSIGN(const double found,
                      decodes ? error_of_decoded(handle, field) : error_of_header(handle, field));
  // Values themselves are computed in double precision.
  const double exact = 4 * std::numeric_limits<double>::epsilon() * largest_magnitude(field);
  if (found <= allowed_error(field, packing) * room + exact) return found;
  return fail(cannot_pack(field, packing,
                          fmt::format("the error would be {:.3g} instead of at most {:.3g}", found,
                                      allowed_error(field, packing))));
}

Error cannot_pack(const Unpacked& field, const Packing& packing, const std::string& why) {
  const std::string how = packing.decimals ? fmt::format("GRIB_decimalScaleFactor = {}", *packing.decimals)
                          : packing.exact
                              ? std::string("no error")
                              : fmt::format("GRIB_bitsPerValue = {}", packing.bits.value_or(default_bits));
  return make_error(ErrorCode::invalid_argument, "values from {} to {} cannot be packed with {}: {}",
                    field.least, field.largest, how, why);
}

bool fits_float32(const Unpacked& field) {
  return std::ranges::all_of(field.numbers, [&](double number) {
    return number == field.missing || (std::abs(number) <= std::numeric_limits<float>::max() &&
                                       static_cast<double>(static_cast<float>(number)) == number);
  });
}

Result<> check_unpacked(const Handle& handle, const Unpacked& field) {
  AFTERBAY_TRY_ASSIGN(const double found, error_of_decoded(handle, field));
  if (found == 0) return {};
  return fail(ErrorCode::internal,
              "values from {} to {} that are not packed are decoded with an error of {:.3g}", field.least,
              field.largest, found);
}

}  // namespace afterbay::storage::grib2
#endif
