// SPDX-License-Identifier: Apache-2.0
// The schema of the files of one entry: dimensions, coordinates, the time axis, variables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "describe/description.hpp"
#include "output/field_definitions.hpp"
#include "output/model_time.hpp"
#include "output/spaces.hpp"

namespace afterbay::output {

/// What a variable's values mean in time.
enum class TimeKind {
  period,   ///< a statistic over the period of the record
  instant,  ///< the value at the end of the period
  once      ///< no time
};

/// A variable of a file.
struct FileVariable {
  std::string name;
  TimeKind kind = TimeKind::instant;
  const Space* space = nullptr;
  Type type = Type::float32;
  Values fill;  ///< one value of `type`; empty: that of netCDF
  std::vector<Attribute> attributes;
  std::string identity;  ///< what the values are, in full: see Meaning
};

/// A coordinate of a file of which each rank writes its part.
struct DistributedCoordinate {
  std::string name;
  Values values;  ///< values of this rank
};

inline constexpr const char* time_name = "time";
/// The dimension of bounds: two values.
inline constexpr const char* bounds_dimension = "bnds";
inline constexpr const char* time_bounds_name = "time_bnds";
/// The name of bounds in files whose periods are folded.
inline constexpr const char* climatology_bounds_name = "climatology_bounds";
/// Time axis of instants, in files that also have statistics.
inline constexpr const char* time_instant_name = "time_instant";

struct FileSchema {
  Schema schema;
  std::vector<DistributedCoordinate> distributed;
};

/// Source of names and attributes: CF Conventions 1.11, chapters 4, 5 and 7. Throws conflict, at
/// the place in the description, if two things in the file would have one name.
FileSchema file_schema(const describe::File& file, const std::vector<FileVariable>& variables,
                       const FieldDefinitions& definitions, Spaces& spaces, const ModelTime& time,
                       const TimeUnits& units);

/// Adds an attribute, or replaces the one with its name; without values, removes it.
void set_attribute(std::vector<Attribute>& attributes, const std::string& name, Values values);
/// The attributes of a description.
void set_attributes(std::vector<Attribute>& attributes, const describe::Attributes& given);
/// Units, names and further attributes.
void set_attributes(std::vector<Attribute>& attributes, const CoordinateOptions& options);

}  // namespace afterbay::output
