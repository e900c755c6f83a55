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
  double least = 0, largest = 0;  ///< of those that are not missing; 0 if all are
  [[nodiscard]] bool varies() const noexcept { return least < largest; }
};

/// The bits with which values are kept to half of 10^-decimals without a decimal scale: their unit
/// is a power of two.
long bits_needed(const Unpacked& field, long decimals);

/// Whether a field of one value needs integers besides the reference value, which has 32 bits.
bool needs_integers(const Unpacked& field, const Packing& packing);

/// The largest difference between a value and what readers get: values of a stated accuracy, and
/// those that CCSDS has packed, are decoded and compared; for others the header says what the
/// nearest values are. Fails with what would do if it is
/// larger than the packing allows: half of 10^-D, or else the range divided by 2^bits - 1 or, if
/// there is only one value, the precision of a 32-bit real.
Result<double> largest_error(const Handle& handle, const Unpacked& field, const Packing& packing);

/// As `error` of ecCodes, with what would do.
Error cannot_pack(const Unpacked& field, const Packing& packing, const std::string& why);

}  // namespace afterbay::storage::grib2
#endif
