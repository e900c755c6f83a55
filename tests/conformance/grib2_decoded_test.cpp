// SPDX-License-Identifier: Apache-2.0
// Messages whose header is right and whose values are not.
#ifdef AFTERBAY_HAS_ECCODES
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "storage/grib2/packed_field.hpp"

namespace afterbay::storage::grib2 {
namespace {

constexpr double gone = 1e300;

/// A message of a few points with these values.
Handle message_of(const std::vector<double>& values, const Packing& packing) {
  Handle handle = Handle::sample().value();
  EXPECT_TRUE(handle.set("gridType", std::string("unstructured_grid")));
  EXPECT_TRUE(handle.set("numberOfDataPoints", static_cast<long>(values.size())));
  EXPECT_TRUE(handle.set("packingType", std::string(packing.ccsds ? "grid_ccsds" : "grid_simple")));
  EXPECT_TRUE(handle.set("missingValue", gone));
  EXPECT_TRUE(handle.set("bitmapPresent", 1));
  EXPECT_TRUE(handle.set("bitsPerValue", 20L));
  EXPECT_TRUE(handle.set("values", std::span<const double>(values)));
  return handle;
}

std::string found(const Handle& handle, const std::vector<double>& given, const Packing& packing) {
  const Unpacked field{given, gone, 250, 310};
  const auto error = largest_error(handle, field, packing);
  return error ? "accepted" : error.error().text();
}

TEST(Grib2Decoded, values_that_are_decoded_as_others_are_refused) {
  std::vector<double> values(500);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 250 + 60.0 * static_cast<double>(i) / 499;
  values[7] = gone;
  std::vector<double> turned = values;
  std::swap(turned[100], turned[200]);
  std::vector<double> missing = values;
  std::swap(missing[7], missing[8]);
  Packing simple;
  simple.decimals = 3;
  Packing ccsds;
  ccsds.ccsds = true;
  ccsds.bits = 20;
  for (const Packing& packing : {simple, ccsds}) {
    const Handle handle = message_of(values, packing);
    EXPECT_EQ(found(handle, values, packing), "accepted");
    EXPECT_NE(found(handle, turned, packing).find("the error would be 12"), std::string::npos)
        << found(handle, turned, packing);
    EXPECT_NE(found(handle, missing, packing).find("point 7 of a slab is not missing"), std::string::npos)
        << found(handle, missing, packing);
  }
}

}  // namespace
}  // namespace afterbay::storage::grib2
#endif
