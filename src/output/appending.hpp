// SPDX-License-Identifier: Apache-2.0
// Whether records of a run can follow those of a file that an earlier run has written: `existing:
// append` without a saved state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "describe/description.hpp"
#include "output/model_time.hpp"
#include "output/part_names.hpp"
#include "output/target.hpp"

namespace afterbay::output {

/// The files that go on.
struct Continuation {
  const describe::File& file;
  const ModelTime& time;
  const TimeUnits& units;
  const PartNames& names;
  bool has_periods;  ///< there are periods of statistics; false: only instants
};

/// How far apart times of one moment may be: files of other programs may be rounded.
double rounding_of_times(const ModelTime& time, const TimeUnits& units);

/// Why nothing can be appended to a file that differs from what this run would write, at the place
/// of the first variable that the differences name. `what_to_do`: else than to write it as it was.
Error refusal_of_differences(const describe::File& file, const std::string& path,
                             const std::vector<std::string>& differences, const char* what_to_do);

/// The texts that a file of this path keeps. Throws the refusal if it differs.
SchemaChanges texts_kept(const describe::File& file, const std::string& path, Target::Compared compared,
                         const char* what_to_do);
/// The same for a file that exists, on all model ranks together. None if it cannot be read: opening
/// it for output says what is wrong with it.
SchemaChanges texts_of_found(const describe::File& file, Target& target,
                             const std::vector<DistributedCoordinate>& distributed, const std::string& path,
                             const char* what_to_do);

/// Why records of this run cannot follow those that are found in a file of the part. `begin`: of
/// what the first one covers; if there are only instants, its time. The message begins with the
/// place in the description.
std::optional<Error> refusal_to_append(const Continuation& of, const std::string& path,
                                       const FoundRecords& found, const PartNames::Part& part,
                                       const Date& begin);

}  // namespace afterbay::output
