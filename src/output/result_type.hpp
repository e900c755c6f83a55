// SPDX-License-Identifier: Apache-2.0
// Types of variables whose values are results: a mean of integers is not an integer, and a sum of
// small ones is not a small integer.
#pragma once

#include "afterbay/types.hpp"
#include "describe/description.hpp"
#include "model/format_traits.hpp"
#include "statistics/statistic.hpp"

namespace afterbay::output {

/// The type of a variable of which the description leaves it open. `field`: type of the values that
/// the operation takes; `converted`: results are converted to other units.
Type type_of_results(Type field, describe::Operation operation, bool converted, const FormatTraits& format);

/// Whether a result may equal the fill value of the field, -1 of integers or 0 for example: results
/// of these operations are not values of the field. No result reaches NaN, infinity, or numbers as
/// large as 1e20, which are usual. `fill`: empty: the field has none.
bool may_equal_fill(Type field, const Values& fill, describe::Operation operation, bool converted);

/// Whether servers can take values of type `field` as values of type `variable`, with the same
/// results: each value is exact, and the statistic keeps sums only.
bool may_widen(Type field, Type variable, statistics::StatisticKind kind);

}  // namespace afterbay::output
