// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "describe/description.hpp"
#include "output/model_time.hpp"
#include "output/schedule.hpp"

namespace afterbay::output {

/// What users may not expect: the run begins within a period, because periods such as 5d are
/// counted on through all years of the calendar. Empty for periods that begin where years do, and
/// if the description says where they begin or what happens to partial ones. `has_statistics`:
/// otherwise, the file has instants only.
std::string note_on_first_period(const describe::File& file, const Schedule& schedule, const ModelTime& time,
                                 bool has_statistics);

}  // namespace afterbay::output
