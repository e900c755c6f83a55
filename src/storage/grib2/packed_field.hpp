// SPDX-License-Identifier: Apache-2.0
// What packing has made of the values of a message, found by decoding them or from the numbers in
// its header.
#pragma once

#ifdef AFTERBAY_HAS_ECCODES
#include <span>

#include "base/result.hpp"
#include "storage/grib2/definition.hpp"
#include "storage/grib2/handle.hpp"

namespace afterbay::storage::grib2 {

/// The values of a message before packing, and the number that stands for missing ones.
struct Unpacked {
  std::span<const double> numbers;
  double missing = 0;
  double least = 0, largest = 0;  ///< range of the values that are not missing; 0 if all are missing
  [[nodiscard]] bool varies() const noexcept { return least < largest; }
};

/// The bits with which values are kept to half of 10^-decimals without a decimal scale: their unit
/// is a power of two. Integers are kept exactly with 0 decimals.
long bits_needed(const Unpacked& field, long decimals);

/// Whether a field of one value needs integers besides the reference value, which has 32 bits.
bool needs_integers(const Unpacked& field, const Packing& packing);

/// The largest difference between a value and what readers get: values of a stated accuracy, and
/// those that CCSDS has packed, are decoded and compared; for others the header says what the
/// nearest values are. Fails if it is larger than the packing allows: half of 10^-D; nothing for
/// integers of no stated accuracy; or else the range divided by 2^bits - 1 or, if there is only one
/// value, the precision of a 32-bit real. Beyond that, it may be what double precision loses: a
/// 1e-9th of the error, and four times the spacing of numbers of the largest magnitude.
Result<double> largest_error(const Handle& handle, const Unpacked& field, const Packing& packing);

Error cannot_pack(const Unpacked& field, const Packing& packing, const std::string& why);

/// Whether 32-bit reals hold all values exactly.
bool fits_float32(const Unpacked& field);
/// Fails unless a message of unpacked values (grid_ieee) is decoded as exactly the same.
Result<> check_unpacked(const Handle& handle, const Unpacked& field);

}  // namespace afterbay::storage::grib2
#endif
