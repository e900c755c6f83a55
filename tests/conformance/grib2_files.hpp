// SPDX-License-Identifier: Apache-2.0
// GRIB2 files for tests: schemas, and a reader that runs the tools of ecCodes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/store_harness.hpp"

namespace afterbay::test {

/// Whether the tools of ecCodes and this build's support for GRIB2 exist.
bool has_grib2();

/// A temperature on pressure levels, the surface pressure and the orography, on a regular grid.
Schema grib2_schema();

/// Values that 16 bits hold exactly enough: smooth, different for each variable, record and level.
/// `time` and `time_bnds` are hours.
Source grib2_data(const Schema& schema, const model::FileLayout& layout);

/// Keys of each message, in the order of the file, as grib_get prints them.
std::vector<std::map<std::string, std::string>> grib_keys(const std::string& path, const std::string& keys);

/// The values of one message (from 0), missing ones as NaN.
std::vector<double> grib_values(const std::string& path, std::size_t message);

}  // namespace afterbay::test
