// SPDX-License-Identifier: Apache-2.0
// Cell methods of CF as the processing code of PP headers. Private to packing/.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace afterbay::packing {

inline constexpr int pp_zonal_mean = 64;
inline constexpr int pp_time_mean = 128;
inline constexpr int pp_minimum = 4096;
inline constexpr int pp_maximum = 8192;

struct PpMethods {
  int lbproc = 0;  ///< sum of the codes above
  /// Hours of the interval that the method of time names; 0: none, or not 1 to 99 hours.
  int sampling_hours = 0;
  bool within_years = false;  ///< a mean over the same part of several years

  [[nodiscard]] bool over_time() const noexcept { return (lbproc & ~pp_zonal_mean) != 0; }
  [[nodiscard]] std::string_view time_name() const noexcept;  ///< "mean", ...
};

/// Reads the attribute `cell_methods` (CF Conventions 1.11, section 7.3 and appendix E): time with
/// mean, minimum, maximum or point, or with mean within years and mean over years (section 7.4);
/// longitude with mean; other dimensions with point. Fails with invalid_argument for others.
Result<PpMethods> pp_methods(std::string_view cell_methods);

}  // namespace afterbay::packing
