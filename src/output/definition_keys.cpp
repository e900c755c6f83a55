// SPDX-License-Identifier: Apache-2.0
#include "output/definition_keys.hpp"

#include <cmath>
#include <limits>

#include "describe/key_page.hpp"
#include "describe/key_rows.hpp"
#include "model/types.hpp"

namespace afterbay::output {

namespace {

using describe::Items;
using describe::KeyRow;
using describe::Node;
using describe::ProblemReporter;
using describe::stored;
using describe::stored_unless_empty;
using describe::ValueKind;

constexpr std::int64_t most_processes = 100'000'000;
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

ValueKind<Type> type_word() {
  std::vector<std::pair<std::string, Type>> choices;
  for (const Type type : model::every_type) choices.emplace_back(std::string(afterbay::name_of(type)), type);
  return describe::one_of_words<Type>(std::move(choices));
}

Node node_of_number(double value) {
  constexpr double exact = 9007199254740992;  // 2^53
  const bool is_whole = std::abs(value) < exact && value == std::trunc(value);
  return is_whole ? Node::integer(static_cast<std::int64_t>(value)) : Node::real(value);
}

ValueKind<std::vector<double>> number_list() {
  ValueKind<std::vector<double>> kind{.accepted = "a list of numbers, [0, 2.5, 5]",
                                      .schema = R"({"type": "array", "items": {"type": "number"}})",
                                      .read = {},
                                      .write = [](const std::vector<double>& numbers) {
                                        Items items;
                                        for (const double it : numbers) items.push_back(node_of_number(it));
                                        return Node::sequence(std::move(items));
                                      }};
  kind.read = [accepted = kind.accepted](
                  const Node& node, const ProblemReporter& report) -> std::optional<std::vector<double>> {
    if (!node.is_sequence()) {
      report.expected(node, accepted);
      return std::nullopt;
    }
    std::vector<double> numbers;
    for (const Node& item : node.items()) {
      const auto number = describe::number_of(item, report, accepted);
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    }
    return numbers;
  };
  return kind;
}

ValueKind<Node> any_number() {
  ValueKind<Node> kind{.accepted = "a number", .schema = R"({"type": "number"})", .read = {}, .write = {}};
  kind.read = [accepted = kind.accepted](const Node& node,
                                         const ProblemReporter& report) -> std::optional<Node> {
    if (!describe::number_of(node, report, accepted)) return std::nullopt;
    return node;
  };
  kind.write = [](const Node& number) { return number; };
  return kind;
}

template <class Entry>
void add_texts(std::vector<KeyRow<Entry>>& rows) {
  rows.push_back(stored_unless_empty<Entry>("units", describe::words("text"), AFTERBAY_KEY_FIELD(texts.units),
                                            "Its units."));
  rows.push_back(stored_unless_empty<Entry>("standard_name", describe::words("text"),
                                            AFTERBAY_KEY_FIELD(texts.standard_name),
                                            "Its standard name in the CF conventions."));
  rows.push_back(stored_unless_empty<Entry>("long_name", describe::words("text"),
                                            AFTERBAY_KEY_FIELD(texts.long_name), "Its long name."));
  rows.push_back(stored_unless_empty<Entry>(
      "attributes", describe::attribute_values(false), AFTERBAY_KEY_FIELD(texts.attributes),
      "Further attributes. Coordinates that they name (`coordinates`, `cell_measures`, ...) are written with "
      "it."));
}

}  // namespace

const std::vector<describe::TopKey>& definition_sections() {
  static const std::vector<describe::TopKey> sections{
      {"version", fmt::format("{}", definitions_version), "The version of this file format."},
      {"processes", "keys of processes", "The processes of the run that wrote the file."},
      {"time", "keys of the time", "The calendar, the start and the step of the model."},
      {"dimensions", "`name:` and keys of dimensions", "The dimensions, with their coordinates."},
      {"grids", "`name:` and keys of grids", "The grids: how points are distributed over ranks."},
      {"coordinates", "`name:` and keys of coordinates",
       "Auxiliary coordinates: their values are not on file."},
      {"fields", "`name:` and keys of fields", "The fields."},
  };
  return sections;
}

const std::vector<KeyRow<Processes>>& process_keys() {
  static const std::vector<KeyRow<Processes>> rows{
      stored<Processes>("model_ranks", describe::whole_number(1, most_processes),
                        AFTERBAY_KEY_FIELD(model_ranks), "The number of model ranks."),
      stored<Processes>("servers", describe::whole_number(1, most_processes), AFTERBAY_KEY_FIELD(servers),
                        "The number of servers; with the topology `inline`, that of the model ranks."),
  };
  return rows;
}

const std::vector<KeyRow<TimeEntry>>& time_keys() {
  static const std::vector<KeyRow<TimeEntry>> rows{
      stored<TimeEntry>("calendar", describe::words("the name of a calendar"), AFTERBAY_KEY_FIELD(calendar),
                        "A [calendar](calendars.md), or `user_defined`."),
      stored_unless_empty<TimeEntry>("month_lengths", number_list(), AFTERBAY_KEY_FIELD(month_lengths),
                                     "Of a user-defined calendar: days of each month of a year."),
      stored<TimeEntry>("leap_year", describe::whole_number(-largest, largest), AFTERBAY_KEY_FIELD(leap_year),
                        "Of a user-defined calendar: a year with a leap day, as every fourth from it."),
      stored<TimeEntry>("leap_month", describe::whole_number(1, largest), AFTERBAY_KEY_FIELD(leap_month),
                        "Of a user-defined calendar: the month with the leap day, from 1."),
      stored<TimeEntry>("day_seconds", describe::whole_number(1, largest), AFTERBAY_KEY_FIELD(day_seconds),
                        "Of a user-defined calendar: seconds of a day."),
      stored_unless_empty<TimeEntry>("start", describe::words("a date"), AFTERBAY_KEY_FIELD(start),
                                     "When the run begins."),
      stored_unless_empty<TimeEntry>("reference", describe::words("a date"), AFTERBAY_KEY_FIELD(reference),
                                     "The reference date of time axes; by default `start`."),
      stored<TimeEntry>("step", describe::positive_period(), AFTERBAY_KEY_FIELD(step),
                        "The time step of the model."),
      stored<TimeEntry>("member", describe::whole_number(-largest, largest), AFTERBAY_KEY_FIELD(member),
                        "The number of the ensemble's member, for `{member}` in names of files."),
  };
  return rows;
}

const std::vector<KeyRow<DimensionEntry>>& dimension_keys() {
  static const std::vector<KeyRow<DimensionEntry>> table = [] {
    std::vector<KeyRow<DimensionEntry>> rows{
        stored<DimensionEntry>("length", describe::whole_number(1, most_length_on_file),
                               AFTERBAY_KEY_FIELD(length),
                               "The number of points. With `values`, it need not be given."),
        stored<DimensionEntry>("type", type_word(), AFTERBAY_KEY_FIELD(type),
                               "The type of its coordinate. Without it, the dimension has no coordinate."),
        stored<DimensionEntry>("bounds", type_word(), AFTERBAY_KEY_FIELD(bounds),
                               "The type of the bounds of its coordinate, if there are any."),
    };
    add_texts(rows);
    rows.push_back(stored_unless_empty<DimensionEntry>(
        "values", number_list(), AFTERBAY_KEY_FIELD(values),
        fmt::format(
            "The values of its coordinate, by which subsets are selected. A coordinate with more than "
            "{} values is written without them.",
            most_values_on_file)));
    return rows;
  }();
  return table;
}

const std::vector<KeyRow<GridEntry>>& grid_keys_on_file() {
  static const std::vector<KeyRow<GridEntry>> rows{
      stored_unless_empty<GridEntry>("dimensions", describe::dimension_names(),
                                     AFTERBAY_KEY_FIELD(dimensions), "Its dimensions, slowest first."),
      stored_unless_empty<GridEntry>("lengths", number_list(), AFTERBAY_KEY_FIELD(lengths),
                                     "Their lengths over all ranks, for readers."),
      stored<GridEntry>(
          "kind",
          describe::one_of_words<std::string>({{"block", "block"}, {"map", "map"}, {"whole", "whole"}}),
          AFTERBAY_KEY_FIELD(kind),
          "How its points are distributed: each rank has a `block`, or a list of points "
          "(`map`), or the `whole` grid."),
  };
  return rows;
}

const std::vector<KeyRow<CoordinateEntry>>& coordinate_keys() {
  static const std::vector<KeyRow<CoordinateEntry>> table = [] {
    std::vector<KeyRow<CoordinateEntry>> rows{
        stored_unless_empty<CoordinateEntry>("grid", describe::words("the name of a grid"),
                                             AFTERBAY_KEY_FIELD(grid),
                                             "The grid with which it is distributed. Without it, all ranks "
                                             "have the same values."),
        stored_unless_empty<CoordinateEntry>("dimensions", describe::dimension_names(),
                                             AFTERBAY_KEY_FIELD(dimensions),
                                             "Its dimensions, if it has no grid; by default it is a single "
                                             "value."),
        stored<CoordinateEntry>("type", type_word(), AFTERBAY_KEY_FIELD(type), "The type of its values."),
        stored<CoordinateEntry>("bounds", type_word(), AFTERBAY_KEY_FIELD(bounds),
                                "The type of its bounds, if there are any."),
        stored_unless_empty<CoordinateEntry>("vertices", describe::words("the name of a dimension"),
                                             AFTERBAY_KEY_FIELD(vertices),
                                             "The dimension of several values per point, if there are any."),
    };
    add_texts(rows);
    return rows;
  }();
  return table;
}

const std::vector<KeyRow<FieldEntry>>& field_keys_on_file() {
  static const std::vector<KeyRow<FieldEntry>> table = [] {
    std::vector<KeyRow<FieldEntry>> rows{
        stored_unless_empty<FieldEntry>("grid", describe::words("the name of a grid"),
                                        AFTERBAY_KEY_FIELD(grid),
                                        "Its grid. Without it, all ranks have the same values."),
        stored_unless_empty<FieldEntry>("axes", describe::dimension_names(), AFTERBAY_KEY_FIELD(axes),
                                        "Its dimensions before those of the grid, slowest first."),
        stored<FieldEntry>("type", type_word(), AFTERBAY_KEY_FIELD(type), "The type of its values."),
        stored<FieldEntry>("fill", any_number(), AFTERBAY_KEY_FIELD(fill),
                           "The value that marks missing ones. Without it, there are none."),
    };
    add_texts(rows);
    return rows;
  }();
  return table;
}

std::string definitions_page() {
  std::string page = R"(# Definitions on file

<!-- Made by `afterbay describe --definitions-markdown` from the table of keys; a test compares the two. -->

A run with the setting [`output.definitions`](configuration.md#outputdefinitions) writes what its
model has defined to a YAML file: `output.start()` does so, on model rank 0. `afterbay describe
--definitions FILE` reads it, and [shows what a description
does](../how-to/describe-output.md#see-what-a-run-will-do) without the model. The file is made by
the program; it can be edited to try another step, another grid or a new
[field](../glossary.md#field).

Keys that are not listed here are refused, and all problems are reported together with their lines
and columns. YAML is read as in [descriptions](description.md#how-it-is-read), without `include` and
variables.

)";
  page += "## Keys at the top\n\n";
  for (const describe::TopKey& key : definition_sections())
    page += describe::section_of_key(key.name, key.accepted, "", key.documentation);
  page += describe::section_of_table("Processes", "Keys of `processes`.", process_keys(), "processes.");
  page += describe::section_of_table("Time", "Keys of `time`; `start` and `step` must be given.", time_keys(),
                                     "time.");
  page += describe::section_of_table("Dimensions", "Keys of an entry of `dimensions`.", dimension_keys(),
                                     "dimensions.NAME.");
  page +=
      describe::section_of_table("Grids", "Keys of an entry of `grids`.", grid_keys_on_file(), "grids.NAME.");
  page += describe::section_of_table("Coordinates", "Keys of an entry of `coordinates`.", coordinate_keys(),
                                     "coordinates.NAME.");
  page += describe::section_of_table("Fields", "Keys of an entry of `fields`.", field_keys_on_file(),
                                     "fields.NAME.");
  page.pop_back();
  return page;
}

}  // namespace afterbay::output
