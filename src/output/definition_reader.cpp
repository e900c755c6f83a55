// SPDX-License-Identifier: Apache-2.0
// The reader of files of definitions.
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "base/text_file.hpp"
#include "describe/inheritance.hpp"
#include "describe/yaml.hpp"
#include "model/converted_values.hpp"
#include "output/definition_keys.hpp"
#include "output/file_schema.hpp"
#include "output/model_definitions.hpp"
#include "output/model_time.hpp"

namespace afterbay::output {

namespace {

using describe::Key;
using describe::KeyRow;
using describe::Node;
using describe::Problems;

/// Values of this type that are not on file. Strings are empty ones.
Values unknown_values(Type type, std::uint64_t count) {
  Values values;
  values.type = type;
  if (type == Type::string)
    values.strings.resize(count);
  else
    values.bytes.resize(count * size_of(type));
  return values;
}

template <class Options>
void set_texts(Options& options, const Texts& texts) {
  options.units = texts.units;
  options.standard_name = texts.standard_name;
  options.long_name = texts.long_name;
  set_attributes(options.attributes, texts.attributes);
}

/// The number as it is written, in the type that holds it.
Values number_as_written(const Node& node) {
  const std::string& text = node.characters();
  if (std::int64_t value = 0;
      node.kind() == describe::ScalarKind::integer && describe::integer_of(text, value))
    return value;
  std::uint64_t large = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), large);
  if (error == std::errc() && end == text.data() + text.size()) return large;
  return describe::real_of(text);
}

class DefinitionReader {
 public:
  explicit DefinitionReader(Problems& problems) : problems_(problems) {}

  ModelDefinitions read(const Node& root) {
    check_sections(root);
    if (const Node* const node = root.find("processes"))
      made_.processes = entry_of<Processes>({"processes", node->at}, *node, process_keys(), "processes");
    read_time(root);
    each<DimensionEntry>(root, "dimensions", dimension_keys(), "a dimension",
                         [this](const Key& key, const DimensionEntry& entry) { add(key, entry); });
    each<GridEntry>(root, "grids", grid_keys_on_file(), "a grid",
                    [this](const Key& key, const GridEntry& entry) { add(key, entry); });
    each<CoordinateEntry>(root, "coordinates", coordinate_keys(), "a coordinate",
                          [this](const Key& key, const CoordinateEntry& entry) { add(key, entry); });
    each<FieldEntry>(root, "fields", field_keys_on_file(), "a field",
                     [this](const Key& key, const FieldEntry& entry) { add(key, entry); });
    return std::move(made_);
  }

 private:
  void check_sections(const Node& root) {
    std::vector<std::string> names;
    for (const describe::TopKey& section : definition_sections()) names.push_back(section.name);
    if (!root.is_mapping())
      return problems_.add(ErrorCode::wrong_type, root.at,
                           fmt::format("expected the definitions of a model, the keys {}, found {}",
                                       one_of(names), root.described()));
    for (const auto& [key, value] : root.pairs())
      if (std::ranges::find(names, key.name) == names.end())
        problems_.add(
            ErrorCode::unknown_name, key.at,
            fmt::format("unknown key \"{}\"{}", printable(key.name), did_you_mean(key.name, names)));
    const Node* const given = root.find("version");
    std::int64_t number = 0;
    const bool known = given != nullptr && given->kind() == describe::ScalarKind::integer &&
                       describe::integer_of(given->characters(), number) && number == definitions_version;
    if (!known)
      problems_.add(
          ErrorCode::invalid_argument, given == nullptr ? root.at : given->at,
          fmt::format("version: expected {}, found {}: this is not a file of definitions, or it is one "
                      "of another version of Afterbay; write it again with the setting "
                      "output.definitions",
                      definitions_version, given == nullptr ? "none" : given->described()));
  }

  /// An entry with its keys; what is wrong is reported.
  template <class Entry>
  Entry entry_of(const Key& key, const Node& node, const std::vector<KeyRow<Entry>>& table,
                 std::string_view what) {
    Entry entry;
    if (node.is_mapping())
      describe::assign_all(entry, describe::known_keys(node.pairs(), table, what, problems_), table,
                           problems_);
    else
      describe::ProblemReporter(problems_, key.name).expected(node, fmt::format("indented keys of {}", what));
    return entry;
  }

  template <class Entry, class Add>
  void each(const Node& root, const std::string& section, const std::vector<KeyRow<Entry>>& table,
            std::string_view what, Add add_entry) {
    const Node* const node = root.find(section);
    if (node == nullptr || node->is_null()) return;
    if (!node->is_mapping())
      return describe::ProblemReporter(problems_, section)
          .expected(*node, fmt::format("lines \"name:\" with keys of {}", what));
    for (const auto& [key, value] : node->pairs()) {
      const std::size_t before = problems_.size();
      const Entry entry = entry_of(key, value, table, what);
      // What an entry lacks because a key is wrong is not another problem.
      if (problems_.size() == before) attempt(key.at, [&, &at = key] { add_entry(at, entry); });
      if (problems_.size() > before) refused_.insert(key.name);
    }
  }

  /// Whether one of these was refused: that it does not exist is not another problem.
  bool needs_refused(const Key& key, const std::vector<std::string>& names) {
    const bool needs = std::ranges::any_of(names, [&](const auto& name) { return refused_.contains(name); });
    if (needs) refused_.insert(key.name);
    return needs;
  }

  template <class Task>
  void attempt(const describe::Position& at, Task task) {
    try {
      task();
    } catch (const Failure& failure) {
      problems_.add(failure.code(), at, failure.error().message);
    }
  }

  void read_time(const Node& root) {
    const Node* const node = root.find("time");
    if (node == nullptr)
      return problems_.add(ErrorCode::invalid_argument, root.at,
                           "time: missing; give the calendar, the start and the step of the model");
    const std::size_t before = problems_.size();
    const TimeEntry entry = entry_of<TimeEntry>({"time", node->at}, *node, time_keys(), "the time");
    if (!entry.step || entry.start.empty()) {
      if (problems_.size() == before)
        problems_.add(ErrorCode::invalid_argument, node->at,
                      fmt::format("time: {} is missing", entry.step ? "start" : "step"));
      return;
    }
    attempt(node->at, [&] {
      OutputOptions& options = made_.options;
      options.calendar = calendar_of(entry);
      options.start = options.calendar.parse(entry.start);
      if (!entry.reference.empty()) options.reference = options.calendar.parse(entry.reference);
      options.step = *entry.step;
      options.member = entry.member;
      static_cast<void>(model_time(options));
    });
  }

  static Calendar calendar_of(const TimeEntry& entry) {
    if (entry.calendar != "user_defined") return Calendar(entry.calendar);
    CalendarRules rules;
    for (const double length : entry.month_lengths) {
      constexpr double longest = 1e9;
      const bool is_number_of_days = length >= 0 && length <= longest && length == std::trunc(length);
      rules.month_lengths.push_back(is_number_of_days ? static_cast<int>(length) : -1);
    }
    rules.leap_year = entry.leap_year;
    if (entry.leap_month)
      rules.leap_month = static_cast<int>(std::min<std::int64_t>(*entry.leap_month, 1 << 30));
    if (entry.day_seconds) rules.day_seconds = *entry.day_seconds;
    return Calendar(rules);
  }

  void add(const Key& key, const DimensionEntry& entry) {
    Dimension dimension;
    dimension.name = key.name;
    const std::size_t values = entry.values.size();
    if (!entry.length && values == 0)
      refuse_entry("dimension '{}': give its length, or the values of its coordinate", key.name);
    dimension.length = entry.length ? static_cast<std::uint64_t>(*entry.length) : values;
    if (values > 0 && values != dimension.length)
      refuse_entry("dimension '{}' has the length {}, but its coordinate has {} values", key.name,
                   dimension.length, values);
    if (values > 0 && !entry.type) refuse_entry("dimension '{}': give the type of its values", key.name);
    if (entry.type) {
      if (dimension.length > most_coordinate_points_on_file)
        refuse_entry("dimension '{}': a coordinate can have at most {} values, not {}", key.name,
                     most_coordinate_points_on_file, dimension.length);
      dimension.has_known_values = values > 0;
      dimension.values = values > 0 ? converted_to(*entry.type, Values(entry.values), key.name)
                                    : unknown_values(*entry.type, dimension.length);
      if (entry.bounds) dimension.options.bounds = unknown_values(*entry.bounds, 2 * dimension.length);
    }
    set_texts(dimension.options, entry.texts);
    made_.definitions.add(std::move(dimension));
  }

  void add(const Key& key, const GridEntry& entry) {
    if (entry.kind.empty()) refuse_entry("grid '{}': say how it is distributed, with the key kind", key.name);
    if (needs_refused(key, entry.dimensions)) return;
    // The name only says that it is distributed.
    made_.definitions.add(Grid{key.name, entry.dimensions, entry.kind == "whole" ? "" : key.name});
    if (entry.lengths.empty()) return;
    std::vector<double> lengths;
    for (const std::string& name : entry.dimensions)
      lengths.push_back(static_cast<double>(made_.definitions.dimension(name).length));
    if (entry.lengths != lengths)
      refuse_entry("grid '{}': its lengths are {}, but its dimensions have {}", key.name,
                   fmt::join(entry.lengths, " x "), fmt::join(lengths, " x "));
  }

  void add(const Key& key, const CoordinateEntry& entry) {
    if (!entry.type) refuse_entry("coordinate '{}': its type is missing", key.name);
    if (!entry.grid.empty() && !entry.dimensions.empty())
      refuse_entry("coordinate '{}': with a grid it has the dimensions of that; remove the key dimensions",
                   key.name);
    std::vector<std::string> needed = entry.dimensions;
    needed.insert(needed.end(), {entry.grid, entry.vertices});
    if (needs_refused(key, needed)) return;
    const std::uint64_t points = points_of(entry.dimensions, most_coordinate_points_on_file, key.name);
    if (!entry.grid.empty()) {
      std::vector<std::string> all = made_.definitions.grid(entry.grid).dimensions;
      if (!entry.vertices.empty()) all.push_back(entry.vertices);
      static_cast<void>(points_of(all, most_field_points_on_file, key.name));
    }
    Coordinate coordinate{key.name, entry.dimensions, entry.grid, {}, {}};
    coordinate.values = unknown_values(*entry.type, entry.grid.empty() ? points : 0);
    if (entry.bounds) coordinate.options.bounds = unknown_values(*entry.bounds, 2 * points);
    coordinate.options.vertices = entry.vertices;
    coordinate.has_known_values = false;
    set_texts(coordinate.options, entry.texts);
    made_.definitions.add(std::move(coordinate));
  }

  void add(const Key& key, const FieldEntry& entry) {
    std::vector<std::string> needed = entry.axes;
    needed.push_back(entry.grid);
    if (needs_refused(key, needed)) return;
    Field field;
    field.name = key.name;
    field.options.grid = entry.grid;
    field.options.axes = entry.axes;
    field.options.type = entry.type;
    if (entry.fill) field.options.fill = converted_to(entry.type, number_as_written(*entry.fill), key.name);
    set_texts(field.options, entry.texts);
    static_cast<void>(points_of(made_.definitions.dimensions_of(field), most_field_points_on_file, key.name));
    made_.definitions.add(std::move(field));
  }

  [[nodiscard]] std::uint64_t points_of(const std::vector<std::string>& dimensions, std::uint64_t limit,
                                        const std::string& name) const {
    std::uint64_t points = 1;
    for (const std::string& dimension : dimensions) {
      const std::uint64_t length = made_.definitions.dimension(dimension).length;
      if (length > limit / points) refuse_entry("'{}' has more than {} values", name, limit);
      points *= length;
    }
    return points;
  }

  static Values converted_to(Type type, const Values& values, const std::string& name) {
    if (auto converted = model::converted(values, type)) return *std::move(converted);
    refuse_entry("'{}' has a value that {} cannot hold", name, afterbay::name_of(type));
  }

  template <class... Args>
  [[noreturn]] static void refuse_entry(fmt::format_string<Args...> format, Args&&... args) {
    throw Failure(make_error(ErrorCode::invalid_argument, format, std::forward<Args>(args)...));
  }

  Problems& problems_;
  std::set<std::string> refused_;  ///< entries
  ModelDefinitions made_;
};

}  // namespace

Result<ModelDefinitions> read_definitions_text(const std::string& text, const std::string& name) {
  Problems problems;
  ModelDefinitions made;
  if (auto root = describe::parse_yaml(text, name, problems)) {
    if (root->at.line == 0) root->at = {name, 1, 1};  // an empty text
    made = DefinitionReader(problems).read(*root);
  }
  if (!problems.empty()) return fail(problems.error("the file of definitions"));
  return made;
}

Result<ModelDefinitions> read_definitions(const std::string& path) {
  const auto text = read_text_file(path, describe::most_yaml_bytes, "a file of definitions");
  if (!text) return fail(text.error().code, "{}: {}", printable(path), text.error().message);
  return read_definitions_text(*text, path);
}

}  // namespace afterbay::output
