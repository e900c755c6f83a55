// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "storage/messages/cf.hpp"
#include "storage/um/definition.hpp"

namespace afterbay::storage::um {
namespace {

using packing::PpInterval;
using packing::PpLevel;
using packing::PpLevelKind;

std::string_view standard_name_of(const Variable& variable) {
  return cf::text_of(variable.attributes, "standard_name");
}

bool is_member(const Variable& coordinate) { return standard_name_of(coordinate) == "realization"; }

/// Coordinates of a field that have no other dimensions than this one; empty: scalar ones.
std::vector<const Variable*> coordinates_along(const Schema& schema, const Variable& field,
                                               const std::string& dimension) {
  std::vector<const Variable*> found;
  const std::vector<std::string> wanted =
      dimension.empty() ? std::vector<std::string>() : std::vector<std::string>{dimension};
  if (const Variable* const own = dimension.empty() ? nullptr : cf::coordinate_of(schema, dimension))
    found.push_back(own);
  for (const Variable* const auxiliary : cf::auxiliary_coordinates(schema, field))
    if (auxiliary->dimensions == wanted && !auxiliary->constant.empty()) found.push_back(auxiliary);
  return found;
}

using cf::Terms;

std::vector<PpInterval> intervals_of(const std::vector<double>& bounds) {
  std::vector<PpInterval> intervals;
  for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) intervals.push_back({bounds[i], bounds[i + 1]});
  return intervals;
}

/// Source: CF, appendix D.
Result<std::vector<PpLevel>> hybrid_levels(const Schema& schema, const Variable& field,
                                           const Variable& coordinate, PpLevelKind kind, const Terms& terms) {
  const bool height = kind == PpLevelKind::hybrid_height;
  const auto term = [&](std::string_view name) -> const Variable* {
    const auto found = terms.find(name);
    return found == terms.end() ? nullptr : found->second;
  };
  const char* const leading = height || !term("ap") ? "a" : "ap";
  const Variable* const a = term(leading);
  const Variable* const b = term("b");
  if (a == nullptr || b == nullptr || a->constant.empty() ||
      cf::numbers_of(a->constant).size() != cf::numbers_of(b->constant).size())
    return refuse(
        field,
        "has the vertical coordinate '{}' without constant coefficients: PP headers contain them, so "
        "name them in its attribute formula_terms ({})",
        coordinate.name, height ? "a: and b:" : "ap: and b:, or a:, b: and p0:");
  const auto read = [&](std::string_view name, const Variable& of, cf::Measure measure) {
    return cf::hybrid_term(schema, field, coordinate, name, of, measure);
  };
  double scale = 1;
  cf::Measure measure = height ? cf::Measure::length : cf::Measure::pressure;
  if (!height && a != term("ap")) {
    const Variable* const p0 = term("p0");
    if (p0 == nullptr || !cf::number_of(*p0))
      return refuse(field, "has the vertical coordinate '{}' without a constant p0: in its formula_terms",
                    coordinate.name);
    AFTERBAY_TRY_ASSIGN(const cf::HybridTerm factor, read("p0", *p0, measure));
    scale = factor.values.front();
    measure = cf::Measure::ratio;
  }
  AFTERBAY_TRY_ASSIGN(const cf::HybridTerm first, read(leading, *a, measure));
  AFTERBAY_TRY_ASSIGN(const cf::HybridTerm second, read("b", *b, cf::Measure::ratio));
  const std::vector<PpInterval> first_bounds = intervals_of(first.bounds);
  const std::vector<PpInterval> second_bounds = intervals_of(second.bounds);
  std::vector<PpLevel> levels(first.values.size());
  for (std::size_t k = 0; k < levels.size(); ++k) {
    levels[k].kind = kind;
    levels[k].value = first.values[k] * scale;
    levels[k].coefficient = second.values[k];
    if (!first_bounds.empty())
      levels[k].bounds = PpInterval{first_bounds[k].lower * scale, first_bounds[k].upper * scale};
    if (!second_bounds.empty()) levels[k].coefficient_bounds = second_bounds[k];
  }
  return levels;
}

std::optional<PpLevelKind> hybrid_kind(const Variable& coordinate) {
  const std::string_view name = standard_name_of(coordinate);
  if (name == "atmosphere_hybrid_height_coordinate") return PpLevelKind::hybrid_height;
  if (name == "atmosphere_hybrid_sigma_pressure_coordinate") return PpLevelKind::hybrid_pressure;
  return std::nullopt;
}

/// The coefficients of levels without formula_terms, by the names that iris gives them if it has no
/// orography or surface pressure.
Terms named_terms(const std::vector<const Variable*>& coordinates) {
  Terms terms;
  for (const Variable* const coordinate : coordinates) {
    const std::string_view name = cf::text_of(coordinate->attributes, "long_name");
    if (name == "level_height") terms["a"] = coordinate;
    if (name == "level_pressure") terms["ap"] = coordinate;
    if (name == "sigma") terms["b"] = coordinate;
  }
  return terms;
}

/// Levels of a coordinate whose values are those of the levels; empty if it is none.
std::vector<PpLevel> plain_levels(const Schema& schema, const Variable& field, const Variable& coordinate) {
  const std::string units(cf::text_of(coordinate.attributes, "units"));
  std::string name(standard_name_of(coordinate));
  // CF, section 4.3.1: units of pressure say that a coordinate is vertical.
  if (name.empty() && (units == "Pa" || units == "hPa" || units == "mbar" || units == "millibar"))
    name = "air_pressure";
  const std::string_view quantity = standard_name_of(field);
  const bool soil = packing::find_pp_code(quantity, PpLevelKind::depth) == nullptr &&
                    packing::find_pp_code(quantity, PpLevelKind::soil) != nullptr;
  const std::vector<PpInterval> bounds = bounds_of(schema, coordinate);
  std::vector<PpLevel> levels;
  for (const double value : cf::numbers_of(coordinate.constant)) {
    const auto interval = bounds.empty() ? std::nullopt : std::optional<PpInterval>(bounds[levels.size()]);
    auto level = packing::level_of_cf(name, units, value, interval);
    if (!level) return {};
    if (level->kind == PpLevelKind::depth && soil) level->kind = PpLevelKind::soil;
    levels.push_back(*level);
  }
  return levels;
}

/// Pressures and heights have no numbers.
Result<> number_levels(const Variable& field, const std::vector<const Variable*>& coordinates,
                       std::vector<PpLevel>& levels) {
  constexpr int most = 8887;  // larger ones mean other levels
  const Variable* named = nullptr;
  std::vector<double> numbers;
  for (const Variable* const coordinate : coordinates) {
    if (standard_name_of(*coordinate) != "model_level_number") continue;
    named = coordinate;
    numbers = cf::numbers_of(coordinate->constant);
  }
  for (std::size_t k = 0; k < levels.size(); ++k) {
    if (levels[k].kind == PpLevelKind::pressure || levels[k].kind == PpLevelKind::height) continue;
    levels[k].number = static_cast<int>(k) + 1;
    if (numbers.size() != levels.size()) continue;
    if (!(numbers[k] >= 1 && numbers[k] <= most) || numbers[k] != std::trunc(numbers[k]))
      return refuse(field,
                    "has the coordinate '{}' of standard name model_level_number with the value {}: numbers "
                    "of levels are whole numbers from 1 to {} in PP headers (LBLEV, word 33)",
                    named->name, numbers[k], most);
    levels[k].number = static_cast<int>(numbers[k]);
  }
  return {};
}

/// The levels of a dimension, or of a scalar coordinate; empty if none of its coordinates is
/// vertical.
Result<std::vector<PpLevel>> levels_along(const Schema& schema, const Variable& field,
                                          const std::string& dimension) {
  const std::vector<const Variable*> coordinates = coordinates_along(schema, field, dimension);
  std::vector<PpLevel> levels;
  for (const Variable* const coordinate : coordinates) {
    const auto kind = hybrid_kind(*coordinate);
    if (!kind) continue;
    AFTERBAY_TRY_ASSIGN(
        levels, hybrid_levels(schema, field, *coordinate, *kind, cf::formula_terms_of(schema, *coordinate)));
  }
  if (const Terms terms = named_terms(coordinates);
      levels.empty() && terms.size() == 2 && terms.contains("b")) {
    const bool height = terms.contains("a");
    AFTERBAY_TRY_ASSIGN(
        levels, hybrid_levels(schema, field, *terms.at(height ? "a" : "ap"),
                              height ? PpLevelKind::hybrid_height : PpLevelKind::hybrid_pressure, terms));
  }
  for (const Variable* const coordinate : coordinates)
    if (levels.empty()) levels = plain_levels(schema, field, *coordinate);
  AFTERBAY_TRY(number_levels(field, coordinates, levels));
  return levels;
}

/// The level of a field without a vertical coordinate: that on which its quantity has a code.
PpLevel level_without_coordinate(const Variable& field) {
  const bool at_sea_level =
      packing::find_pp_code(standard_name_of(field), PpLevelKind::mean_sea_level) != nullptr;
  PpLevel level;
  level.kind = at_sea_level ? PpLevelKind::mean_sea_level : PpLevelKind::surface;
  return level;
}

/// One or more.
Result<std::vector<int>> members_of(const Variable& field, const Variable& coordinate) {
  constexpr int most = std::numeric_limits<int>::max();
  std::vector<int> members;
  for (const double number : cf::numbers_of(coordinate.constant)) {
    if (!(number >= 0 && number <= most) || number != std::trunc(number))
      return refuse(field,
                    "has the coordinate '{}' of standard name realization with the value {}: members of an "
                    "ensemble are whole numbers from 0 to {} in PP headers (LBRSVD4, word 37)",
                    coordinate.name, number, most);
    members.push_back(static_cast<int>(number));
  }
  if (!members.empty()) return members;
  return refuse(field,
                "has the coordinate '{}' of standard name realization, which has no numbers when the file is "
                "defined: PP headers contain the member (LBRSVD4, word 37), so give it constant numbers",
                coordinate.name);
}

/// A scalar coordinate that says where the values are, in a way that headers have no words for.
tl::unexpected<Error> refuse_level(const Variable& field, const Variable& coordinate) {
  return refuse(field,
                "has the scalar coordinate '{}' ({}{}in '{}'), which is not a vertical coordinate that PP "
                "headers know: let it be an air_pressure in Pa or hPa, a height or depth in m or km, an "
                "air_potential_temperature in K, or a hybrid coordinate with formula_terms",
                coordinate.name, standard_name_of(coordinate),
                standard_name_of(coordinate).empty() ? "" : " ", cf::text_of(coordinate.attributes, "units"));
}

/// A header has one level.
tl::unexpected<Error> refuse_second(const Variable& field, std::string_view first, const Variable& second) {
  return refuse(field,
                "has the vertical coordinates '{}' and '{}', but a PP header has one level (BLEV, word 52): "
                "remove one of them from the attribute 'coordinates'",
                first, second.name);
}

/// Adds the levels or the members of a dimension to places; those of later dimensions vary fastest.
Result<> add_dimension(const Schema& schema, const Variable& field, const std::string& dimension,
                       std::vector<Place>& places, bool& has_level, const Variable* scalar) {
  const std::uint64_t length = schema.find_dimension(dimension)->length;
  const Variable* const own = cf::coordinate_of(schema, dimension);
  std::vector<int> members;
  if (own != nullptr && is_member(*own)) {
    AFTERBAY_TRY_ASSIGN(members, members_of(field, *own));
  }
  std::vector<PpLevel> levels;
  if (members.empty()) {
    AFTERBAY_TRY_ASSIGN(levels, levels_along(schema, field, dimension));
    if (levels.size() != length || has_level)
      return refuse(
          field,
          "has the dimension '{}', which is not a {}vertical coordinate that PP headers know: let it "
          "have constant values and the standard name air_pressure, height, depth, "
          "air_potential_temperature or realization, or formula_terms of a hybrid coordinate; or "
          "use a variable for each of its elements",
          dimension, has_level ? "second " : "");
    if (scalar != nullptr) return refuse_second(field, dimension, *scalar);
    has_level = true;
  }
  std::vector<Place> all;
  for (const Place& place : places)
    for (std::uint64_t k = 0; k < length; ++k) {
      Place& added = all.emplace_back(place);
      if (members.empty())
        added.level = levels[k];
      else
        added.member = members[k];
    }
  places = std::move(all);
  return {};
}

}  // namespace

std::vector<PpInterval> bounds_of(const Schema& schema, const Variable& coordinate) {
  return intervals_of(cf::bounds_of(schema, coordinate));
}

Result<std::vector<Place>> places_of(const Schema& schema, const Variable& field) {
  const std::size_t first = cf::has_records(schema, field) ? 1 : 0;
  const std::size_t end = field.dimensions.size() - cf::slab_dimensions(schema, field);
  std::vector<Place> places(1);
  places[0].level = level_without_coordinate(field);
  AFTERBAY_TRY_ASSIGN(const std::vector<PpLevel> scalar, levels_along(schema, field, ""));
  if (scalar.size() == 1) places[0].level = scalar[0];
  const std::vector<const Variable*> verticals = cf::scalar_verticals(schema, field);
  if (verticals.size() > 1) return refuse_second(field, verticals[0]->name, *verticals[1]);
  for (const Variable* const coordinate : coordinates_along(schema, field, "")) {
    if (scalar.empty() && cf::is_vertical(*coordinate)) return refuse_level(field, *coordinate);
    if (is_member(*coordinate)) {
      AFTERBAY_TRY_ASSIGN(const std::vector<int> members, members_of(field, *coordinate));
      places[0].member = members.front();
    }
  }
  bool has_level = false;
  for (std::size_t d = first; d < end; ++d)
    AFTERBAY_TRY(add_dimension(schema, field, field.dimensions[d], places, has_level,
                               verticals.empty() ? nullptr : verticals.front()));
  return places;
}

}  // namespace afterbay::storage::um
