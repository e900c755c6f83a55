// SPDX-License-Identifier: Apache-2.0
// The writer of files of definitions.
#include "output/model_definitions.hpp"

#include <fmt/ranges.h>

#include "describe/yaml.hpp"
#include "output/definition_keys.hpp"
#include "output/model_time.hpp"
#include "output/numbers.hpp"

namespace afterbay::output {

namespace {

using describe::Node;

template <class Entry>
Node node_of_entry(const Entry& entry, const std::vector<describe::KeyRow<Entry>>& table) {
  Node node = Node::mapping({});
  for (const describe::KeyRow<Entry>& row : table) {
    auto value = row.print(entry);
    // Texts that are stored as such are printed also if they are empty.
    if (value && !(value->is_scalar() && value->characters().empty())) node.add(row.name, *std::move(value));
  }
  return node;
}

/// Text, or numbers; a single number without brackets.
std::optional<describe::AttributeValue> attribute_value(const Values& values) {
  if (values.empty()) return std::nullopt;
  switch (values.type) {
    case Type::text: return std::string(values.text());
    case Type::string: return fmt::format("{}", fmt::join(values.strings, " "));
    case Type::float32:
    case Type::float64: {
      const std::vector<double> numbers = numbers_of(values);
      if (numbers.size() == 1) return numbers.front();
      return numbers;
    }
    case Type::int8:
    case Type::int16:
    case Type::int32:
    case Type::uint8:
    case Type::uint16:
    case Type::uint32:
    case Type::int64:
    case Type::uint64: break;
  }
  std::vector<std::int64_t> whole;
  for (const double number : numbers_of(values)) whole.push_back(static_cast<std::int64_t>(number));
  if (whole.size() == 1) return whole.front();
  return whole;
}

template <class Options>
Texts texts_of(const Options& options) {
  Texts texts{options.units, options.standard_name, options.long_name, {}};
  for (const Attribute& attribute : options.attributes)
    if (auto value = attribute_value(attribute.values))
      texts.attributes.emplace_back(attribute.name, *std::move(value));
  return texts;
}

std::optional<Type> type_unless_empty(const Values& values) {
  return values.empty() ? std::nullopt : std::optional(values.type);
}

/// Exact for all types: doubles do not have all integers of 64 bits.
std::optional<Node> node_of_fill(const Values& fill) {
  if (fill.empty()) return std::nullopt;
  switch (fill.type) {
    case Type::int64: return Node::integer(fill.at<std::int64_t>(0));
    case Type::uint64: return Node::scalar(fmt::format("{}", fill.at<std::uint64_t>(0)), false);
    case Type::float32:
    case Type::float64: return Node::real(numbers_of(fill).front());
    case Type::int8:
    case Type::text:
    case Type::int16:
    case Type::int32:
    case Type::uint8:
    case Type::uint16:
    case Type::uint32:
    case Type::string: break;
  }
  return Node::integer(static_cast<std::int64_t>(numbers_of(fill).front()));
}

Node node_of(const OutputOptions& options) {
  const Calendar& calendar = options.calendar;
  TimeEntry time;
  time.calendar = calendar.name();
  if (time.calendar == "user_defined") {
    const CalendarRules rules = calendar_rules_of(calendar);
    time.month_lengths.assign(rules.month_lengths.begin(), rules.month_lengths.end());
    time.leap_year = rules.leap_year;
    if (rules.leap_year) time.leap_month = rules.leap_month;
    time.day_seconds = rules.day_seconds;
  }
  time.start = calendar.text(options.start);
  if (options.reference) time.reference = calendar.text(*options.reference);
  time.step = options.step;
  time.member = options.member;
  return node_of_entry(time, time_keys());
}

Node node_of(const Dimension& dimension) {
  DimensionEntry entry;
  entry.length = static_cast<std::int64_t>(dimension.length);
  entry.type = type_unless_empty(dimension.values);
  entry.bounds = type_unless_empty(dimension.options.bounds);
  entry.texts = texts_of(dimension.options);
  if (dimension.has_known_values && dimension.values.count() <= most_values_on_file)
    entry.values = numbers_of(dimension.values);
  return node_of_entry(entry, dimension_keys());
}

Node node_of(const Grid& grid, const FieldDefinitions& definitions, const GridKinds& kinds) {
  GridEntry entry{grid.dimensions, {}, kinds.at(grid.name)};
  for (const std::string& name : grid.dimensions)
    entry.lengths.push_back(static_cast<double>(definitions.dimension(name).length));
  return node_of_entry(entry, grid_keys_on_file());
}

Node node_of(const Coordinate& coordinate) {
  CoordinateEntry entry;
  entry.grid = coordinate.grid;
  if (coordinate.grid.empty()) entry.dimensions = coordinate.dimensions;
  entry.type = coordinate.values.type;
  entry.bounds = type_unless_empty(coordinate.options.bounds);
  entry.vertices = coordinate.options.vertices;
  entry.texts = texts_of(coordinate.options);
  return node_of_entry(entry, coordinate_keys());
}

Node node_of(const Field& field) {
  FieldEntry entry;
  entry.grid = field.options.grid;
  entry.axes = field.options.axes;
  entry.type = field.options.type;
  entry.fill = node_of_fill(field.options.fill);
  entry.texts = texts_of(field.options);
  return node_of_entry(entry, field_keys_on_file());
}

template <class Item, class MakeNode>
Node section_of(const std::vector<Item>& items, MakeNode make_node) {
  Node section = Node::mapping({});
  for (const Item& item : items) section.add(item.name, make_node(item));
  return section;
}

}  // namespace

std::string write_definitions(const FieldDefinitions& definitions, const OutputOptions& options,
                              const GridKinds& kinds, const Processes& processes) {
  const auto plain = [](const auto& item) { return node_of(item); };
  Node root = Node::mapping({});
  root.add("version", Node::integer(definitions_version));
  root.add("processes", node_of_entry(processes, process_keys()));
  root.add("time", node_of(options));
  root.add("dimensions", section_of(definitions.dimensions(), plain));
  root.add("grids", section_of(definitions.grids(),
                               [&](const Grid& grid) { return node_of(grid, definitions, kinds); }));
  root.add("coordinates", section_of(definitions.coordinates(), plain));
  root.add("fields", section_of(definitions.fields(), plain));
  constexpr int entries_on_a_line = 2;
  return "# What a model has defined, written by Afterbay " AFTERBAY_VERSION
         " when its output began. Show what a\n# description does with it: afterbay describe "
         "DESCRIPTION --definitions FILE\n" +
         describe::write_yaml(root, entries_on_a_line);
}

}  // namespace afterbay::output
