// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/printable.hpp"
#include "describe/kinds.hpp"

namespace afterbay::describe {

namespace {

constexpr double most_latitude = 90;
constexpr double most_longitude = 360;

/// `read(name, value, report)` for each line of a mapping, which appends to `result`.
template <class T, class Read>
std::optional<std::vector<T>> each_line(const Node& node, const ProblemReporter& report,
                                        const std::string& accepted, Read read) {
  if (!node.is_mapping() || node.pairs().empty()) {
    report.expected(node, accepted);
    return std::nullopt;
  }
  std::vector<T> result;
  for (const auto& [key, value] : node.pairs())
    if (auto one = read(key.name, value, report.inside(printable(key.name))))
      result.push_back(*std::move(one));
  return result;
}

/// A kind of mappings from names to values.
template <class T, class Read, class Write>
ValueKind<std::vector<T>> lines(std::string accepted, const std::string& value_schema, Read read,
                                Write write) {
  ValueKind<std::vector<T>> kind{
      .accepted = std::move(accepted),
      .schema = fmt::format(R"({{"type": ["object", "null"], "additionalProperties": {}}})", value_schema),
      .read = {},
      .write = {}};
  kind.read = [read, accepted = kind.accepted](const Node& node, const ProblemReporter& report) {
    return each_line<T>(node, report, accepted, read);
  };
  kind.write = [write](const std::vector<T>& all) {
    Node node = Node::mapping({});
    for (const T& one : all) write(node, one);
    return node;
  };
  return kind;
}

bool is_longitude(std::string_view name) {
  return name.starts_with("lon") || name.starts_with("Lon") || name.ends_with("lon") ||
         name.ends_with("LON") || name.ends_with("LONG");
}

std::optional<GridSubset::Range> read_range(const std::string& name, const Node& node,
                                            const ProblemReporter& report) {
  constexpr std::string_view accepted = "two numbers, [low, high]";
  if (!node.is_sequence() || node.items().size() != 2) {
    report.expected(node, accepted);
    return std::nullopt;
  }
  const auto low = number_of(node.items()[0], report, accepted);
  const auto high = number_of(node.items()[1], report, accepted);
  if (!low || !high) return std::nullopt;
  if (!std::isfinite(*low) || !std::isfinite(*high) || (*low > *high && !is_longitude(name))) {
    report(
        node, ErrorCode::invalid_argument,
        fmt::format("the range from {} to {} is empty; write the lower bound first (only longitudes, whose "
                    "names begin or end with lon, may wrap around)",
                    *low, *high));
    return std::nullopt;
  }
  return GridSubset::Range{name, *low, *high, node.at};
}

std::optional<GridSubset::IndexRange> read_index(const std::string& name, const Node& node,
                                                 const ProblemReporter& report) {
  constexpr std::string_view accepted = "the first and the last index from 0, [first, last]";
  const auto one = [&](const Node& item, std::int64_t& value) {
    return item.kind() == ScalarKind::integer && integer_of(item.characters(), value) && value >= 0;
  };
  GridSubset::IndexRange range{name, 0, 0};
  const bool good = node.is_sequence() && node.items().size() == 2 && one(node.items()[0], range.first) &&
                    one(node.items()[1], range.last) && range.first <= range.last;
  if (good) return range;
  report.expected(node, accepted);
  return std::nullopt;
}

std::optional<GridSubset::Stride> read_stride(const std::string& name, const Node& node,
                                              const ProblemReporter& report) {
  const auto step = whole_number(1, std::int64_t{1} << 40).read(node, report);
  if (!step) return std::nullopt;
  return GridSubset::Stride{name, *step};
}

std::optional<GridSubset::Levels> read_levels(const std::string& name, const Node& node,
                                              const ProblemReporter& report) {
  constexpr std::string_view accepted = "a list of numbers, [0, 10, 100]";
  GridSubset::Levels levels{name, {}};
  for (const Node& item : node.items()) {
    const auto value = number_of(item, report, accepted);
    if (!value) return std::nullopt;
    if (!std::isfinite(*value)) {
      report.expected(item, "a finite number");
      return std::nullopt;
    }
    levels.values.push_back(*value);
  }
  std::vector<double> sorted = levels.values;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    report(node, ErrorCode::conflict, fmt::format("the level {} is given twice; remove one", *twice));
    return std::nullopt;
  }
  if (!levels.values.empty()) return levels;
  report.expected(node, accepted);
  return std::nullopt;
}

std::optional<GridSubset::Station> read_station(const std::string& name, const Node& node,
                                                const ProblemReporter& report) {
  constexpr std::string_view accepted = "a longitude and a latitude in degrees, [lon, lat]";
  if (!node.is_sequence() || node.items().size() != 2) {
    report.expected(node, accepted);
    return std::nullopt;
  }
  const auto lon = number_of(node.items()[0], report, accepted);
  const auto lat = number_of(node.items()[1], report, accepted);
  if (!lon || !lat) return std::nullopt;
  if (std::abs(*lon) <= most_longitude && std::abs(*lat) <= most_latitude)
    return GridSubset::Station{name, *lon, *lat, node.at};
  report(node, ErrorCode::invalid_argument,
         fmt::format("longitudes are from -360 to 360 and latitudes from -90 to 90, found [{}, {}]", *lon,
                     *lat));
  return std::nullopt;
}

constexpr double metres_per_km = 1000;

/// Metres; nullopt for other texts.
std::optional<double> metres_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit == "km") return number * metres_per_km;
  if (unit == "m") return number;
  return std::nullopt;
}

constexpr const char* two_numbers =
    R"({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2})";

Node pair_of(double first, double second) { return Node::sequence({Node::real(first), Node::real(second)}); }

}  // namespace

ValueKind<std::vector<GridSubset::Range>> coordinate_ranges() {
  return lines<GridSubset::Range>(
      "indented lines \"coordinate: [low, high]\"", two_numbers, read_range,
      [](Node& node, const GridSubset::Range& it) { node.add(it.coordinate, pair_of(it.low, it.high)); });
}

ValueKind<std::vector<GridSubset::IndexRange>> index_ranges() {
  return lines<GridSubset::IndexRange>(
      "indented lines \"dimension: [first, last]\"",
      R"({"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2})",
      read_index, [](Node& node, const GridSubset::IndexRange& it) {
        node.add(it.dimension, Node::sequence({Node::integer(it.first), Node::integer(it.last)}));
      });
}

ValueKind<std::vector<GridSubset::Stride>> strides() {
  return lines<GridSubset::Stride>(
      "indented lines \"dimension: n\"", R"({"type": "integer", "minimum": 1})", read_stride,
      [](Node& node, const GridSubset::Stride& it) { node.add(it.dimension, Node::integer(it.step)); });
}

ValueKind<std::vector<GridSubset::Levels>> level_lists() {
  return lines<GridSubset::Levels>("indented lines \"coordinate: [value, ...]\"",
                                   R"({"type": "array", "items": {"type": "number"}, "minItems": 1})",
                                   read_levels, [](Node& node, const GridSubset::Levels& it) {
                                     Items values;
                                     for (const double value : it.values) values.push_back(Node::real(value));
                                     node.add(it.coordinate, Node::sequence(std::move(values)));
                                   });
}

ValueKind<std::vector<GridSubset::Station>> station_list() {
  return lines<GridSubset::Station>(
      "indented lines \"station: [lon, lat]\"", two_numbers, read_station,
      [](Node& node, const GridSubset::Station& it) { node.add(it.name, pair_of(it.lon, it.lat)); });
}

ValueKind<double> distance() {
  ValueKind<double> kind{.accepted = "a distance with its unit, for example 50km or 500m",
                         .schema = R"({"type": ["string", "null"]})",
                         .read = {},
                         .write = [](double metres) { return Node::text(fmt::format("{}m", metres)); }};
  kind.read = [accepted = kind.accepted](const Node& node,
                                         const ProblemReporter& report) -> std::optional<double> {
    const auto text = word_of(node, report, accepted);
    if (!text) return std::nullopt;
    if (const auto metres = metres_of(*text)) return metres;
    report.expected(node, accepted);
    return std::nullopt;
  };
  return kind;
}

ValueKind<std::vector<std::string>> dimension_names() {
  ValueKind<std::vector<std::string>> kind{
      .accepted = "a list of dimensions, [lev]",
      .schema = R"({"type": ["array", "null"], "items": {"type": "string"}})",
      .read = {},
      .write = [](const std::vector<std::string>& names) {
        Items items;
        for (const std::string& name : names) items.push_back(Node::text(name));
        return Node::sequence(std::move(items));
      }};
  kind.read = [accepted = kind.accepted](
                  const Node& node,
                  const ProblemReporter& report) -> std::optional<std::vector<std::string>> {
    std::vector<std::string> names;
    for (const Node& item : node.items())
      if (const auto name = words("the name of a dimension").read(item, report)) names.push_back(*name);
    if (!names.empty()) return names;
    report.expected(node, accepted);
    return std::nullopt;
  };
  return kind;
}

}  // namespace afterbay::describe
