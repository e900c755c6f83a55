// SPDX-License-Identifier: Apache-2.0
#include "describe/keys.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "describe/key_rows.hpp"

namespace afterbay::describe {

namespace {

constexpr std::int64_t most_detail = 1000;
constexpr const char* entries_schema = R"({"$ref": "#/$defs/entries"})";
constexpr const char* name_schema = R"({"type": ["string", "null"]})";

struct OperationRow {
  Operation operation;
  std::string_view name;
  const char* documentation;
};

constexpr std::array<OperationRow, 11> operation_rows{{
    {Operation::mean, "mean", "Fields of which the mean over each period is written."},
    {Operation::instant, "instant", "Fields whose value at the end of each period is written."},
    {Operation::sum, "sum",
     "Fields of which the sum over each period is written; it restarts from 0 in every period."},
    {Operation::min, "min", "Fields of which the minimum over each period is written."},
    {Operation::max, "max", "Fields of which the maximum over each period is written."},
    {Operation::range, "range", "Fields of which maximum minus minimum over each period is written."},
    {Operation::stddev, "stddev",
     "Fields of which the standard deviation over each period is written (of the population: divided by n)."},
    {Operation::rate, "rate",
     "Fields of which the sum over each period, divided by its length in seconds, is written."},
    {Operation::difference, "difference",
     "Fields of which the value at the end of each period minus that at its beginning is written."},
    {Operation::once, "once",
     "Fields that are written once, when they are put first, without a time dimension."},
    {Operation::write, "write",
     "Derived fields whose expressions contain the reductions over time themselves, such as `mean(a*b) / "
     "mean(b)`: the expression's value at the end of each period is written."},
}};
#define AFTERBAY_ROW(NAME) +1
static_assert(operation_rows.size() == 0 AFTERBAY_OPERATIONS(AFTERBAY_ROW), "each operation needs a row");
#undef AFTERBAY_ROW

using Rows = std::vector<KeyRow<File>>;

void add_inheritance(Rows& rows) {
  auto like = reference<File>("like", "the name of a file under `files`", name_schema,
                              "Inherits all keys of another file except `enabled`. A key that is given here "
                              "replaces the inherited one; `attributes` are joined. A file that only serves "
                              "as a pattern is switched off with `enabled: false`.");
  like.in_defaults = false;
  like.inherited = false;
  rows.push_back(std::move(like));
  auto enabled =
      stored<File>("enabled", boolean(), AFTERBAY_KEY_FIELD(enabled),
                   "Whether the file is written. Switched-off files are read and checked as well.");
  enabled.inherited = false;
  rows.push_back(std::move(enabled));
  rows.push_back(stored<File>("detail", whole_number(0, most_detail), AFTERBAY_KEY_FIELD(detail),
                              "Level of detail of the file. It is not written if this is larger than "
                              "`max_detail`."));
  rows.push_back(stored<File>("max_detail", whole_number(0, most_detail), AFTERBAY_KEY_FIELD(max_detail),
                              "The highest level of detail that is written, of files and of their variables. "
                              "By default there is no limit. Usually under `defaults`."));
}

void add_operations(Rows& rows) {
  rows.push_back(
      stored<File>("every", positive_period(), AFTERBAY_KEY_FIELD(timing.every),
                   "The period of the file: time between records, over which statistics are taken. "
                   "`1ts` is every step of the model. Needed unless all fields are written `once`."));
  for (const OperationRow& it : operation_rows) {
    auto row =
        reference<File>(std::string(it.name), "a list of fields, renames (`field: name`) and `group(NAME)`",
                        entries_schema, it.documentation);
    row.in_defaults = false;
    rows.push_back(std::move(row));
  }
  auto without = reference<File>(
      "without", "a list of fields", R"({"type": ["array", "null"], "items": {"type": "string"}})",
      "Fields that are not written, although a group or an inherited list contains them.");
  without.in_defaults = false;
  rows.push_back(std::move(without));
}

/// Files of a description may have the tokens of names in their directory, too.
void add_tokens_of_directory(KeyRow<File>& row) {
  row.accepted = "a path, which may have the tokens of name";
  row.documentation =
      "Directory of the files; created if it is missing. It precedes `name`, unless that is an absolute "
      "path, and may contain the same tokens, `out/{member:03}`. The setting `directory` of a collection "
      "replaces what stands before the first part with a token.";
  const ValueKind<std::string> kind = file_name_template();
  row.assign = [assign = row.assign, kind](File& file, const Node& node, const ProblemReporter& report) {
    const bool has_tokens = node.is_scalar() && node.characters().find_first_of("{}") != std::string::npos;
    if (has_tokens && !kind.read(node, report)) return;
    assign(file, node, report);
  };
}

void add_timing(Rows& rows) {
  rows.push_back(
      stored<File>("sample", positive_period(), AFTERBAY_KEY_FIELD(timing.sample),
                   "Time between the values that enter statistics; by default, every step. `every` "
                   "must be a multiple of it. `cell_methods` then contain the interval (see `intervals`)."));
  rows.push_back(stored<File>("sample_offset", offset_period(), AFTERBAY_KEY_FIELD(timing.sample_offset),
                              "Shifts the samples; shorter than `sample`. By default 0s. Steps of the model "
                              "may be added or subtracted: `3h+1ts`, `6h-1ts`."));
  rows.push_back(stored<File>(
      "cycle", positive_period(), AFTERBAY_KEY_FIELD(timing.cycle),
      "Folds each period: `1d` for statistics of each time of day (diurnal), `1y` for "
      "those of each time of the year (climatological). `every` must be a multiple of "
      "it, whatever the date. Each period has a record for each part of the cycle, whose bounds are the "
      "variable "
      "`climatology_bounds` and whose time lies in the first whole cycle of the period. `split` by "
      "records must be a multiple of their number. Only for `once` and for "
      "statistics other than `difference`."));
  rows.push_back(
      stored<File>("cycle_step", positive_period(), AFTERBAY_KEY_FIELD(timing.cycle_step),
                   "Length of the parts of a `cycle`, for example `1h` or `1mo`. Needed with "
                   "`cycle`, which must be a multiple of it; a part begins where a cycle does. Each part has "
                   "statistics of its own: `1d` by `1h` needs 24 times their memory."));
  rows.push_back(
      stored<File>("align", alignment(), AFTERBAY_KEY_FIELD(timing.align),
                   "Where periods begin. `calendar`: with the hours, days, months and years of the "
                   "calendar. `seasons`: the same, with years that begin in December. `start`: "
                   "counted from the start of the run. A date: counted from it."));
  rows.push_back(stored<File>(
      "partial", one_of_words<Partial>({{"write", Partial::write}, {"skip", Partial::skip}}),
      AFTERBAY_KEY_FIELD(timing.partial),
      "What happens to the first and last period if the run covers only a part. `write`: a record whose "
      "bounds "
      "are those actually covered. `skip`: no record. A period without any value has no record. A period "
      "that a saved state continues in a later run is not partial."));
  rows.push_back(stored<File>("at_start", boolean(), AFTERBAY_KEY_FIELD(timing.at_start),
                              "Whether `instant` fields are also written at the start of the run, before the "
                              "first step; the model puts these values in step 0, and a run that begins "
                              "with step 1 is refused, unless the file appends (`existing`). Not in files "
                              "with statistics, which have no value at that time."));
  rows.push_back(
      stored<File>("epochs", positive_period(), AFTERBAY_KEY_FIELD(timing.epochs),
                   "Time between [epochs](../how-to/epochs.md), the points to which all files of the "
                   "run can be recovered. By default, the model marks them. See `state` at the top."));
}

void add_naming(Rows& rows) {
  rows.push_back(stored_unless_empty<File>(
      "name", file_name_template(), AFTERBAY_KEY_FIELD(naming.name),
      "Template of the names. The ending of the store is appended, " + appended_endings() +
          ", unless the name ends with one of any store (these, " + other_endings() +
          "). `{case}` is the key `case`, "
          "`{period}` is `every` (`fx` without it), `{file}` the name under `files`, `{grid}` its grid, "
          "`{start}` "
          "and `{end}` are dates, `{part}` is the number of a file that `split` makes, from 1, and "
          "`{member}` "
          "that "
          "of the ensemble's member. Numbers may be padded with zeros, `{part:03}`. Dates have the units "
          "that "
          "the "
          "split needs (`2000-03` for months, fractions of a second for `500ms`), or a format, "
          "`{start:%Y%m%d}`. By default "
          "`{file}_{start}-{end}` "
          "with `split` by a period, `{file}_{start}` with `split` by records, otherwise `{file}`. A part "
          "of so many records begins where the record before it ended; with `at_start`, at the time of its "
          "first record."));
  rows.push_back(
      stored<File>("split", split_rule(), AFTERBAY_KEY_FIELD(naming.split),
                   "When a file ends and the next one begins. A record whose time is the boundary "
                   "belongs to the file that ends there. The parts begin where `align` says. Every part "
                   "gets the fields of kind `once`."));
  rows.push_back(stored<File>(
      "end_date",
      one_of_words<EndDate>({{"inclusive", EndDate::inclusive}, {"exclusive", EndDate::exclusive}}),
      AFTERBAY_KEY_FIELD(naming.end_date),
      "`{end}` in names. `inclusive`: the last unit that the file covers (`2000-12` for a year). "
      "`exclusive`: "
      "the first one after it (`2001-01`). `{end}` needs `split` by a period."));
}

void add_time_axis(Rows& rows) {
  rows.push_back(stored<File>(
      "stamp", one_of_words<Stamp>({{"start", Stamp::start}, {"centre", Stamp::centre}, {"end", Stamp::end}}),
      AFTERBAY_KEY_FIELD(time.stamp),
      "The time of a record of statistics within its period. Instants always have their own time."));
  rows.push_back(
      stored<File>("bounds", boolean(), AFTERBAY_KEY_FIELD(time.bounds),
                   "Whether the time axis has bounds. Those of instants are equal to their time."));
  rows.push_back(stored<File>("cell_methods", boolean(), AFTERBAY_KEY_FIELD(time.cell_methods),
                              "Whether variables get the attribute `cell_methods` with their operations."));
  rows.push_back(stored<File>(
      "intervals", one_of_words<bool>({{"sampled", false}, {"always", true}}),
      AFTERBAY_KEY_FIELD(time.all_intervals),
      "Which statistics name the time between the values that they take, \"time: mean (interval: 6 hours)\" "
      "in `cell_methods` (CF Conventions 1.11, section 7.3.2). `sampled`: those of files with `sample`. "
      "`always`: also those that take every step of the model, or, of a statistic over shorter periods, "
      "every period, if the values are closer to each other than the records."));
  rows.push_back(stored<File>(
      "cmip", one_of_words<bool>({{"on", true}, {"off", false}}), AFTERBAY_KEY_FIELD(cmip),
      "`on`: chunks as CMIP7 asks for them. The time axis and its bounds "
      "are one chunk each; chunks of other variables have at least 4 MiB, of several records if a record is "
      "smaller, or are the whole variable; records larger than `memory.block` are divided into chunks of at "
      "most that size. NetCDF-4 only. A `chunk` of a variable takes precedence. Indices of chunks are not "
      "collected at the front of "
      "the file, which CMIP7 asks for as well."));
  rows.push_back(stored_unless_empty<File>(
      "time_units", words("the units of a time axis, \"days since 2000-01-01\""),
      AFTERBAY_KEY_FIELD(time.units),
      "Units and reference date of the time axis. By default, days since the model's reference date."));
}

void add_values(Rows& rows) {
  rows.push_back(stored<File>("type", output_type(), AFTERBAY_KEY_FIELD(type),
                              "Type of the variables in the file. `auto`: that of each field; for integer "
                              "fields, one that holds the results, for example float64 for a mean "
                              "([table](#semantics)). `own`: that of each field, also for its means. "
                              "Statistics are computed in float64 and converted when they are written; in "
                              "integers they are rounded."));
  rows.push_back(
      stored<File>("missing", missing_rule(), AFTERBAY_KEY_FIELD(missing),
                   "What statistics over time do with missing values, per point. `ignore`: the "
                   "statistics of the valid values, missing if there are none. `poison`: missing if "
                   "one value is missing. A number: missing if less than this share of the values is "
                   "valid, for example 0.5. Fields to which the model gives no fill value have no missing "
                   "values. See [statistics](../explanation/statistics.md#missing-values)."));
  const auto computed_by = one_of_words<ComputedBy>(
      {{"auto", ComputedBy::automatic}, {"model", ComputedBy::model}, {"servers", ComputedBy::servers}});
  rows.push_back(stored<File>(
      "statistics", computed_by, AFTERBAY_KEY_FIELD(statistics),
      "Who computes statistics over time of this file; results are the same, bit for bit. `model`: each "
      "model rank, for its points, in `put`. `servers`: the model hands over every sample, as it does "
      "instants, and servers compute (limit: `memory.statistics`). `auto`: servers, if all model ranks share "
      "memory with "
      "the servers of the file, these are processes of their own, and the node has a processor for each "
      "model rank and each server, so that a sample costs the model a copy in memory; otherwise, samples "
      "would cross the network, or servers delay the model, and model ranks compute. Servers "
      "compute statistics of fields of the model and subsets of them, in the type and units of the field, "
      "and of expressions that they compute. "
      "All others, and those of files whose servers change from file to file "
      "(`placement: file`), are computed by model ranks with `auto`, and refused with `servers`. See "
      "[servers that compute](../explanation/described-output.md#servers-that-compute)."));
  rows.push_back(stored<File>(
      "expressions", computed_by, AFTERBAY_KEY_FIELD(expressions),
      "Who computes the expressions that this file writes or of which it writes statistics; results are the "
      "same, bit for bit. `model`: each model rank, for its points. `servers`: the model hands over the "
      "fields with which an expression computes, and servers compute it (limit: `memory.statistics`). "
      "`auto`: as with `statistics`; over a network, the result of an expression never takes more bytes than "
      "its fields, so that model ranks compute. Servers compute expressions of fields of the model, subsets "
      "of them, coordinates and such expressions, if all fields, coordinates and the variable in the file "
      "have the same type, float32 or float64. Others, such as those of statistics over time, are computed "
      "by model ranks with `auto`, and "
      "refused with `servers`. See "
      "[servers that compute](../explanation/described-output.md#servers-that-compute)."));
  rows.push_back(
      stored<File>("grid", words("the name of a grid under `grids`, or own"), AFTERBAY_KEY_FIELD(grid),
                   "The points that are written. `own`: all points of each field. The grid of a variable "
                   "replaces that of its file. Selections along axes that a field does not have leave it as "
                   "it is; at least one field of the file must have them."));
  rows.push_back(
      stored_unless_empty<File>("attributes", attribute_values(false), AFTERBAY_KEY_FIELD(attributes),
                                "Global attributes. Files also have `Conventions` and `history`, "
                                "unless these replace them. Inherited ones are joined with these; an "
                                "attribute without a value (`name: ~`) is removed."));
}

std::vector<KeyRow<VariableOptions>> option_rows() {
  std::vector<KeyRow<VariableOptions>> rows;
  auto enabled = stored<VariableOptions>("enabled", boolean(), AFTERBAY_KEY_FIELD(enabled),
                                         "Whether the variable is written. Under `fields`: in all files.");
  enabled.inherited = false;
  rows.push_back(std::move(enabled));
  rows.push_back(stored<VariableOptions>("detail", whole_number(0, most_detail), AFTERBAY_KEY_FIELD(detail),
                                         "Level of detail. The variable is not written into files whose "
                                         "`max_detail` is smaller."));
  rows.push_back(stored<VariableOptions>(
      "units", unit_text(), AFTERBAY_KEY_FIELD(units),
      "Values are converted to these units when they are written. By default, they keep "
      "those of the field. Derived fields that are another one or its means, extremes and differences, such "
      "as `mean(max(tas, 1d))`, are converted from its units. For "
      "other expressions, `units` under `fields` states the units of the result, and other units in an entry "
      "convert from these. Cannot be combined with `multiply` or `add`, which would convert once more. See "
      "[units](expressions.md#units)."));
  rows.push_back(stored<VariableOptions>("type", output_type(), AFTERBAY_KEY_FIELD(type),
                                         "As the file's, for this variable."));
  rows.push_back(stored<VariableOptions>("missing", missing_rule(), AFTERBAY_KEY_FIELD(missing),
                                         "As the file's, for this variable."));
  rows.push_back(stored<VariableOptions>("grid", words("the name of a grid under `grids`, or own"),
                                         AFTERBAY_KEY_FIELD(grid), "As the file's, for this variable."));
  rows.push_back(stored_unless_empty<VariableOptions>(
      "attributes", attribute_values(true), AFTERBAY_KEY_FIELD(attributes),
      "Attributes of the variable, in addition to those that the model gives, which they replace. Those of "
      "the "
      "field and of the variable's entry are joined; an attribute without a value (`name: ~`) is removed. "
      "`_FillValue` is the field's fill value, which the model gives. The attribute `units` converts "
      "nothing, and must say the units that the values have; if `multiply` or `add` change them, those of "
      "the results."));
  append_settings(rows, config::variable_settings(), "", AFTERBAY_KEY_FIELD(settings));
  return rows;
}

std::vector<std::string> names_of_top_keys() {
  std::vector<std::string> names;
  for (const TopKey& key : top_keys()) names.push_back(key.name);
  return names;
}

}  // namespace

std::string schema_of_setting(const std::vector<std::string>& choices, bool list) {
  using Object = nlohmann::ordered_json;
  if (!choices.empty()) {
    Object words = choices;
    const auto has = [&](const char* word) { return std::ranges::find(choices, word) != choices.end(); };
    if (has("on")) words.push_back(true);
    if (has("off")) words.push_back(false);
    return schema_or_variable(Object{{"enum", words}}.dump());
  }
  Object types{"string", "number", "boolean", "null"};
  if (list) types.push_back("array");
  return Object{{"type", types}}.dump();
}

std::optional<std::string> setting_text(const Node& node, const ProblemReporter& report,
                                        std::string_view accepted) {
  std::string text;
  if (node.is_scalar()) return node.characters();
  for (const Node& item : node.items()) {
    if (!item.is_scalar()) {
      report.expected(item, accepted);
      return std::nullopt;
    }
    text += (text.empty() ? "" : ",") + item.characters();
  }
  if (node.is_sequence()) return text;
  report.expected(node, accepted);
  return std::nullopt;
}

const std::vector<KeyRow<File>>& file_keys() {
  static const std::vector<KeyRow<File>> table = [] {
    Rows rows;
    add_operations(rows);
    add_inheritance(rows);
    add_naming(rows);
    add_values(rows);
    add_timing(rows);
    add_time_axis(rows);
    append_settings(rows, config::collection_settings(), "file", AFTERBAY_KEY_FIELD(settings));
    add_tokens_of_directory(*std::ranges::find(rows, "directory", &KeyRow<File>::name));
    return rows;
  }();
  return table;
}

const std::vector<KeyRow<VariableOptions>>& field_keys() {
  static const std::vector<KeyRow<VariableOptions>> table = [] {
    std::vector<KeyRow<VariableOptions>> rows;
    auto expression = reference<VariableOptions>(
        "expression", "an expression of other fields", R"({"type": ["string", "number", "null"]})",
        "Makes this a derived field. Operators + - * / ^, comparisons, `condition ? a : b`, functions, and "
        "reductions over time, `mean(x)` over the period of the file, or `mean(x, 1d)` over a period of its "
        "own: see [expressions](expressions.md). Without it, the field is one of the model's. Not "
        "inherited.");
    expression.inherited = false;
    rows.push_back(std::move(expression));
    auto like =
        reference<VariableOptions>("like", "the name of a field under `fields`", name_schema,
                                   "Inherits all keys of another field except `expression` "
                                   "and `enabled`. Keys that are given here replace the inherited ones; "
                                   "`attributes` are joined.");
    like.inherited = false;
    rows.push_back(std::move(like));
    for (KeyRow<VariableOptions>& row : option_rows()) rows.push_back(std::move(row));
    return rows;
  }();
  return table;
}

const std::vector<KeyRow<VariableOptions>>& variable_keys() {
  static const std::vector<KeyRow<VariableOptions>> table = [] {
    std::vector<KeyRow<VariableOptions>> rows;
    rows.push_back(
        reference<VariableOptions>("name", "a name", name_schema,
                                   "The variable's name in the file. By default that of the field; if "
                                   "a field occurs with several operations in one file, the first of "
                                   "them in the order of this page has the field's name, and the "
                                   "others, for example, `tas_max`."));
    for (KeyRow<VariableOptions>& row : option_rows()) rows.push_back(std::move(row));
    return rows;
  }();
  return table;
}

const std::vector<KeyRow<GridSubset>>& grid_keys() {
  static const std::vector<KeyRow<GridSubset>> table{
      stored_unless_empty<GridSubset>(
          "box", coordinate_ranges(), AFTERBAY_KEY_FIELD(box),
          "Points whose coordinates lie in these ranges, bounds included. A coordinate is a "
          "dimension with values, or a coordinate of the field's grid, by its name or its "
          "`standard_name`; `lon` and `lat` stand for longitude and latitude. Ranges of longitudes and "
          "latitudes are in degrees, whatever the units of the coordinate. Longitudes may wrap around, "
          "`lon: [350, 10]`; points keep the order that they have in the field. With coordinates of several "
          "dimensions (curvilinear grids), the smallest index box is kept that contains all points inside "
          "the ranges; of unstructured grids exactly the points inside."),
      stored<GridSubset>(
          "outside", one_of_words<Outside>({{"keep", Outside::keep}, {"missing", Outside::missing}}),
          AFTERBAY_KEY_FIELD(outside),
          "Points of the index box of a curvilinear grid that lie outside of the ranges of `box`. `keep` "
          "(the "
          "default): they have their values. `missing`: their values are missing, which needs fields with a "
          "fill value."),
      stored_unless_empty<GridSubset>(
          "index", index_ranges(), AFTERBAY_KEY_FIELD(index),
          "Points whose indices lie in these ranges, from 0, both ends included."),
      stored_unless_empty<GridSubset>(
          "stride", strides(), AFTERBAY_KEY_FIELD(stride),
          "Every n-th point of a dimension, counted from the first that is selected."),
      stored_unless_empty<GridSubset>("levels", level_lists(), AFTERBAY_KEY_FIELD(levels),
                                      "These values of a coordinate, all of which must exist; there is no "
                                      "interpolation. They are written in the order of the field."),
      stored_unless_empty<GridSubset>(
          "stations", station_list(), AFTERBAY_KEY_FIELD(stations),
          "The points nearest to these places, given in degrees, as the dimension `station`. The nearest "
          "point has the smallest great-circle distance on a sphere with a radius of 6371229 m, rounded to "
          "millimetres; of points with the same distance, the first in the order of the grid. Files that "
          "contain stations only are CF time series. Not together with `box`, `index` or `stride`."),
      stored<GridSubset>(
          "max_distance", distance(), AFTERBAY_KEY_FIELD(max_distance_m),
          "The largest distance of a station from its point. Output does not begin if a station is "
          "farther away, for example outside of a regional grid. By default any distance is accepted; "
          "the variable `station_distance` contains it."),
      stored_unless_empty<GridSubset>(
          "mask", words("the name of a coordinate of the grid"), AFTERBAY_KEY_FIELD(mask),
          "Stations get the nearest point at which this coordinate is not 0, for example "
          "the nearest sea point. By default the nearest point, whether or not its "
          "values are missing."),
      stored_unless_empty<GridSubset>("reverse", dimension_names(), AFTERBAY_KEY_FIELD(reverse),
                                      "Dimensions that are written in the opposite order."),
  };
  return table;
}

const std::vector<TopKey>& top_keys() {
  static const std::vector<TopKey> table{
      {"include", "a path, or a list of paths",
       "Further files of the description, relative to the including file."},
      {"case", "text", "The name of the run, for `{case}` in names of files."},
      {"state", "a template of names of files",
       "Saves the [state of the run](../how-to/describe-output.md#restarts) just before each epoch that "
       "files "
       "have by `epochs`, under the name that this template makes; `.nc` is appended unless the name ends "
       "with "
       "it. `{date}` and `{step}` are those of the epoch, also with a format, `{date:%Y%m%d}`, `{step:06}`, "
       "`{member}` is the number of the ensemble's member, and `{case}` is the key `case`. The epoch has the "
       "name "
       "of its state. When a state and its epoch are durable, all states that this run saved before are "
       "removed, except the last one."},
      {"defaults", "keys of files", "Values for all files that do not give or inherit them."},
      {"fields", "`name: expression`, or `name:` and keys of fields",
       "Derived fields, and fields of the model that need properties. Other fields of the model need no "
       "entry."},
      {"grids", "`name:` and keys of grids", "Subsets of points, for the key `grid`."},
      {"groups", "`name: [field, ...]`", "Lists of fields, for `group(NAME)` in lists."},
      {"files", "`name:` and keys of files", "The files."},
  };
  return table;
}

const std::vector<std::string>& top_key_names() {
  static const std::vector<std::string> names = names_of_top_keys();
  return names;
}

std::string_view name_of(Operation operation) noexcept {
  for (const OperationRow& row : operation_rows)
    if (row.operation == operation) return row.name;
  return "unknown";
}

std::optional<Operation> operation_of(std::string_view key) noexcept {
  for (const OperationRow& row : operation_rows)
    if (row.name == key) return row.operation;
  return std::nullopt;
}

const std::vector<Operation>& all_operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> operations;
    for (const OperationRow& row : operation_rows) operations.push_back(row.operation);
    return operations;
  }();
  return all;
}

}  // namespace afterbay::describe
