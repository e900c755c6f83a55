// SPDX-License-Identifier: Apache-2.0
// When a series has values: in each step, or at the ends of periods over which something in it is
// reduced.
#pragma once

#include <string>

#include "describe/description.hpp"
#include "output/model_time.hpp"
#include "output/series.hpp"

namespace afterbay::output {

/// Whether each period of one is also one of the other.
bool are_equal_periods(const Schedule& one, const Schedule& other, const ModelTime& time);
/// Whether some periods of `inner` are longer than some of `outer`, in which none of them may end:
/// 30 days and February.
bool may_lack_ends_of(const Schedule& outer, const Schedule& inner, const ModelTime& time);

/// Whether it combines fields with statistics over time of them, such as tas - mean(tas, 1d): then
/// it has the values of the steps in which the periods end.
bool has_values_of_steps(const Series& of);

/// Values of statistics that a file writes as they are must be those of its periods. Throws
/// conflict at the place of the variable: of shorter periods it would have the last ones only, of
/// shifted ones none. `schedule`: of the file.
void check_periods(const Series& of, const Schedule& schedule, const describe::File& file,
                   const describe::Variable& variable, const ModelTime& time);

/// A statistic of values of different times would have some of them only, or none in some periods:
/// throws, at the place in the description. `what`: it reduces, for messages.
void check_times(const Series& of, const Schedule& schedule, const describe::Position& at,
                 const std::string& what, const ModelTime& time);

}  // namespace afterbay::output
