// SPDX-License-Identifier: Apache-2.0
// Description: which output files there are, and what is in them. A plain value, read from YAML
// (read.hpp) or made by a program. References, groups, inheritance and variables are resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "afterbay/calendar.hpp"
#include "afterbay/types.hpp"
#include "config/config.hpp"
#include "describe/node.hpp"

namespace afterbay::describe {

/// What is done with the values of a field over the period of a file, in the order of messages.
#define AFTERBAY_OPERATIONS(ROW) \
  ROW(mean)                      \
  ROW(instant)                   \
  ROW(sum)                       \
  ROW(min)                       \
  ROW(max)                       \
  ROW(range)                     \
  ROW(stddev)                    \
  ROW(rate)                      \
  ROW(difference)                \
  ROW(once)                      \
  ROW(write)

#define AFTERBAY_ROW(NAME) NAME,
enum class Operation : std::uint8_t { AFTERBAY_OPERATIONS(AFTERBAY_ROW) };
#undef AFTERBAY_ROW

/// "mean", ...
std::string_view name_of(Operation operation) noexcept;

/// How missing values enter statistics over time.
struct Missing {
  enum class Rule : std::uint8_t {
    ignore,    ///< statistics of the valid values; missing if there are none
    poison,    ///< missing if one value is missing
    threshold  ///< missing if less than `valid_share` of the values are valid
  };
  Rule rule = Rule::ignore;
  double valid_share = 0;
  friend bool operator==(const Missing&, const Missing&) = default;
};

/// When a file ends and the next one begins.
struct Split {
  std::optional<Period> period;
  std::int64_t records = 0;  ///< 0: not by records
  [[nodiscard]] bool any() const noexcept { return period.has_value() || records > 0; }
  friend bool operator==(const Split&, const Split&) = default;
};

/// Where the periods of a file begin.
struct Align {
  enum class To : std::uint8_t { calendar, seasons, start, date };
  To to = To::calendar;
  std::string date;  ///< as it is written; a calendar reads it
  friend bool operator==(const Align&, const Align&) = default;
};

enum class Partial : std::uint8_t { write, skip };                   ///< periods that a run covers in part
enum class ComputedBy : std::uint8_t { automatic, model, servers };  ///< where values are computed
enum class Stamp : std::uint8_t { start, centre, end };              ///< the time of a record
enum class EndDate : std::uint8_t { inclusive, exclusive };          ///< {end} in names of files

using AttributeValue =
    std::variant<std::string, std::int64_t, double, std::vector<std::int64_t>, std::vector<double>>;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// The type of values in a file. By default that of the results: of the field, or wider for
/// statistics of integers.
struct OutputType {
  OutputType() = default;
  OutputType(Type type) : given(type) {}  // NOLINT(google-explicit-constructor)
  std::optional<Type> given;
  bool own = false;  ///< that of the field, whatever is written of it
  friend bool operator==(const OutputType&, const OutputType&) = default;
};

/// Properties of a variable. Unset: as in the file.
struct VariableOptions {
  bool enabled = true;
  std::int64_t detail = 0;
  std::optional<std::string> units;  ///< values are converted to these
  std::optional<OutputType> type;
  std::optional<Missing> missing;
  std::optional<std::string> grid;  ///< "own": the field's own grid
  Attributes attributes;
  config::VariableSettings settings;  ///< filters, chunks, access, stages
};

/// A field that the description mentions under `fields`: derived, or with properties for its
/// outputs.
struct Field {
  std::string name;
  Position at;
  std::string expression;  ///< empty: a field of the model
  Position expression_at;
  std::vector<std::string> operands;  ///< fields in the expression, in order, each once
  VariableOptions options;
};

/// What points of an index box have that lie outside of the coordinates of the box.
enum class Outside : std::uint8_t { keep, missing };

/// A subset of a field's points. Empty members select everything.
struct GridSubset {
  struct Range {  ///< range of a coordinate, both ends included; for longitudes `low` may exceed `high`
    std::string coordinate;
    double low = 0;
    double high = 0;
    Position at = {};
  };
  struct IndexRange {  ///< from 0, both ends included
    std::string dimension;
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  struct Stride {
    std::string dimension;
    std::int64_t step = 1;
  };
  struct Levels {
    std::string coordinate;
    std::vector<double> values;
  };
  struct Station {  ///< a place, in degrees
    std::string name;
    double lon = 0;
    double lat = 0;
    Position at = {};
  };

  std::string name;
  Position at;
  std::vector<Range> box;
  std::vector<IndexRange> index;
  std::vector<Stride> stride;
  std::vector<Levels> levels;
  std::optional<Outside> outside;        ///< unset: keep
  std::vector<Station> stations;         ///< the nearest point of each
  std::optional<double> max_distance_m;  ///< maximum distance of a station from its point; unset: any
  std::string mask;  ///< a coordinate that is 0 where there is no point for stations; empty: none
  std::vector<std::string> reverse;  ///< dimensions that are written in the opposite order
};

/// A variable of a file.
struct Variable {
  std::string field;
  std::string name;  ///< in the file; unique there
  Operation operation = Operation::instant;
  Position at;
  VariableOptions options;  ///< options of its entry, else of its field
};

/// When a file has records.
struct Timing {
  std::optional<Period> every;   ///< unset: only for files without records over time
  std::optional<Period> sample;  ///< unset: every step
  std::optional<Period> sample_offset;
  std::optional<Period> cycle;  ///< folded: 1d for diurnal, 1y for climatological statistics
  std::optional<Period> cycle_step;
  Align align;
  Partial partial = Partial::write;
  bool at_start = false;
  std::optional<Period> epochs;
};

/// Names of files and when they end.
struct Naming {
  std::string name;  ///< a template, see name_template.hpp; never empty in a Description
  Split split;
  EndDate end_date = EndDate::inclusive;
};

/// The time coordinate.
struct TimeAxis {
  std::string units;  ///< "days since 2000-01-01"; empty: days since the reference date of the model
  Stamp stamp = Stamp::centre;
  bool bounds = true;
  bool cell_methods = true;
  bool all_intervals = false;  ///< cell_methods name the interval of all values, not only of `sample`
};

/// Files of one kind, of which a run writes one or, with `split`, many.
struct File {
  std::string name;
  Position at;
  bool enabled = true;
  std::int64_t detail = 0;
  std::optional<std::int64_t> max_detail;  ///< unset: no limit
  Timing timing;
  Naming naming;
  TimeAxis time;
  OutputType type;
  Missing missing;
  ComputedBy statistics = ComputedBy::automatic;  ///< over time
  ComputedBy expressions = ComputedBy::automatic;
  std::string grid = "own";
  bool cmip = false;                    ///< chunks as archives of CMIP7 ask for them
  Attributes attributes;                ///< global
  config::CollectionSettings settings;  ///< without `file`
  std::vector<Variable> variables;

  /// Whether the file is written.
  [[nodiscard]] bool active() const noexcept { return enabled && within(detail); }
  /// Whether the variable is written, if the file is.
  [[nodiscard]] bool active(const Variable& variable) const noexcept {
    return variable.options.enabled && within(variable.options.detail);
  }
  [[nodiscard]] bool within(std::int64_t level) const noexcept { return !max_detail || level <= *max_detail; }
};

struct Description {
  std::string case_name;  ///< {case} in names of files; empty: not given
  std::string state;      ///< template of the names of states that are saved at epochs; empty: none is
  Position state_at;
  std::vector<Field> fields;
  std::vector<GridSubset> grids;
  std::vector<File> files;
};

}  // namespace afterbay::describe
