// SPDX-License-Identifier: Apache-2.0
// The keys of a file of definitions: the only definition of their names, accepted values and
// documentation. The reader, the writer and the reference page use it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "afterbay/types.hpp"
#include "describe/keys.hpp"
#include "output/model_definitions.hpp"

namespace afterbay::output {

/// Entries as they are written; what they mean is checked when they become definitions.
struct TimeEntry {
  std::string calendar = "standard";
  std::vector<double> month_lengths;
  std::optional<std::int64_t> leap_year;
  std::optional<std::int64_t> leap_month;
  std::optional<std::int64_t> day_seconds;
  std::string start;
  std::string reference;
  std::optional<Period> step;
  std::optional<std::int64_t> member;
};

/// What coordinates and fields say of themselves.
struct Texts {
  std::string units;
  std::string standard_name;
  std::string long_name;
  describe::Attributes attributes;
};

struct DimensionEntry {
  std::optional<std::int64_t> length;
  std::optional<Type> type;
  std::optional<Type> bounds;
  Texts texts;
  std::vector<double> values;
};

struct GridEntry {
  std::vector<std::string> dimensions;
  std::vector<double> lengths;
  std::string kind;
};

struct CoordinateEntry {
  std::string grid;
  std::vector<std::string> dimensions;
  std::optional<Type> type;
  std::optional<Type> bounds;
  std::string vertices;
  Texts texts;
};

struct FieldEntry {
  std::string grid;
  std::vector<std::string> axes;
  Type type = Type::float32;
  std::optional<describe::Node> fill;
  Texts texts;
};

const std::vector<describe::KeyRow<Processes>>& process_keys();
const std::vector<describe::KeyRow<TimeEntry>>& time_keys();
const std::vector<describe::KeyRow<DimensionEntry>>& dimension_keys();
const std::vector<describe::KeyRow<GridEntry>>& grid_keys_on_file();
const std::vector<describe::KeyRow<CoordinateEntry>>& coordinate_keys();
const std::vector<describe::KeyRow<FieldEntry>>& field_keys_on_file();

/// Keys at the top of a file, in its order.
const std::vector<describe::TopKey>& definition_sections();
/// The value of the key `version`: what this program writes and reads.
inline constexpr std::int64_t definitions_version = 1;

}  // namespace afterbay::output
