// SPDX-License-Identifier: Apache-2.0
// Conversions between units, by UDUNITS-2 if the build has it (AFTERBAY_WITH_UDUNITS).
//
// Any thread may call these functions. UDUNITS itself allows one thread at a time: a lock in this
// library covers its own calls, not those of a model that uses UDUNITS as well.
#pragma once

#include <span>
#include <string_view>

#include "base/result.hpp"

namespace afterbay::expression {

/// Whether this build has UDUNITS.
[[nodiscard]] bool has_udunits() noexcept;

/// y = multiply * x + add.
struct Linear {
  double multiply = 1;
  double add = 0;
  friend bool operator==(const Linear&, const Linear&) = default;
};

/// Converts values; NaN stays NaN.
void convert(std::span<double> values, const Linear& conversion);
/// NaN becomes the fill value.
void replace_missing(std::span<double> values, double fill) noexcept;

/// Values in the units `from` become values in the units `to`. {1, 0} exactly if the texts are the
/// same, whatever they are, or mean the same units. Blanks around the texts do not count.
///
/// Fails with invalid_argument for units that UDUNITS does not know, that cannot be converted,
/// whose conversion is not linear (logarithmic units, s to Hz), or that are times since a date,
/// which depend on the calendar, and if the build has no UDUNITS; with io if UDUNITS cannot read
/// its database of units.
Result<Linear> conversion(std::string_view from, std::string_view to);

/// Whether UDUNITS knows the units; as conversion() otherwise. A build without UDUNITS accepts all.
Result<> check_units(std::string_view units);

}  // namespace afterbay::expression
