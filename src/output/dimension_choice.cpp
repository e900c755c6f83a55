// SPDX-License-Identifier: Apache-2.0
#include "output/dimension_choice.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/caller_terms.hpp"
#include "base/suggest.hpp"
#include "output/numbers.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

bool is_inside(double value, const describe::GridSubset::Range& range, Quantity quantity, double tolerance) {
  if (quantity == Quantity::longitude) return is_between_longitudes(value, range.low, range.high, tolerance);
  if (quantity == Quantity::other) return is_between(value, range.low, range.high, tolerance);
  return value >= range.low - tolerance && value <= range.high + tolerance;
}

DimensionChoice::DimensionChoice(const FieldDefinitions& definitions, const Field& field,
                                 const std::vector<std::string>& names, const describe::GridSubset& grid)
    : definitions_(definitions), field_(field), names_(names), grid_(grid), kept_(names.size()) {
  for (const auto& range : grid.box) box(range);
  for (const auto& range : grid.index) index(range);
  for (const auto& levels : grid.levels) keep_levels(levels);
}

void DimensionChoice::finish(std::size_t dimensions) {
  for (const auto& stride : grid_.stride)
    if (const std::size_t d = find(stride.dimension); d < dimensions)
      keep_every(d, static_cast<std::uint64_t>(stride.step));
  for (const std::string& name : grid_.reverse)
    if (const std::size_t d = find(name); d < dimensions) std::ranges::reverse(listed(d));
  for (std::size_t d = 0; d < dimensions; ++d)
    if (kept_[d] && kept_[d]->empty())
      refuse_at(grid_.at, ErrorCode::invalid_argument,
                "grid '{}' keeps no point of the dimension '{}' of field '{}'", grid_.name, names_[d],
                field_.name);
}

std::uint64_t DimensionChoice::length_of(std::size_t d) const {
  return definitions_.dimension(names_[d]).length;
}

std::vector<std::uint64_t>& DimensionChoice::listed(std::size_t d) {
  if (!kept_[d]) {
    kept_[d].emplace(length_of(d));
    std::iota(kept_[d]->begin(), kept_[d]->end(), std::uint64_t{0});
  }
  return *kept_[d];
}

/// Unstructured grids are large: what is not kept is not listed.
template <class Keep>
void DimensionChoice::filter(std::size_t d, Keep keep) {
  if (kept_[d]) {
    std::erase_if(*kept_[d], [&](std::uint64_t place) { return !keep(place); });
    return;
  }
  kept_[d].emplace();
  for (std::uint64_t place = 0; place < length_of(d); ++place)
    if (keep(place)) kept_[d]->push_back(place);
}

void DimensionChoice::keep_only(std::size_t dimension, const std::vector<std::uint64_t>& places) {
  filter(dimension, [&](std::uint64_t place) { return std::ranges::binary_search(places, place); });
}

std::uint64_t DimensionChoice::stride_of(const std::string& dimension) const {
  std::uint64_t step = 1;
  for (const auto& stride : grid_.stride)
    if (stride.dimension == dimension) step *= static_cast<std::uint64_t>(stride.step);
  return step;
}

bool DimensionChoice::is_reversed(const std::string& dimension) const {
  return std::ranges::count(grid_.reverse, dimension) % 2 != 0;
}

std::size_t DimensionChoice::find(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  refuse_at(grid_.at, ErrorCode::unknown_name, "grid '{}': field '{}' has no dimension '{}'{}; it has {}{}",
            grid_.name, field_.name, name, did_you_mean(name, names_),
            names_.empty() ? std::string("none") : said_list(names_),
            grid_.stations.empty() ? "" : " besides those that the stations replace");
}

FoundCoordinate DimensionChoice::find_coordinate_of(const std::string& name,
                                                    const describe::Position& at) const {
  try {
    if (auto found = find_coordinate(definitions_, field_, name)) return *std::move(found);
  } catch (const Failure& failure) {
    refuse_at(at, failure.code(), "grid '{}': {}", grid_.name, failure.error().message);
  }
  const std::vector<std::string> known = coordinate_names(definitions_, field_);
  refuse_at(
      at, ErrorCode::unknown_name,
      "grid '{}': field '{}' has no coordinate '{}'{}; {}. Without coordinates, choose points with index",
      grid_.name, field_.name, name, did_you_mean(name, known),
      known.empty() ? std::string("the model has given it none")
                    : fmt::format("it has {}", fmt::join(known, ", ")));
}

void DimensionChoice::box(const describe::GridSubset::Range& range) {
  const FoundCoordinate found = find_coordinate_of(range.coordinate, range.at);
  const Coordinate* const coordinate = found.coordinate;
  if (has_several_dimensions(found)) {
    joint_.push_back({&range, found});
    return;
  }
  if (!has_known_values(definitions_, found)) {
    is_known_ = false;
    return;
  }
  const std::string& name = coordinate == nullptr ? found.name : coordinate->dimensions.front();
  const Values& given = coordinate == nullptr ? definitions_.dimension(name).values : coordinate->values;
  std::vector<double> values = numbers_of(given);
  if (values.empty())
    refuse_at(range.at, ErrorCode::wrong_type, "grid '{}': the coordinate '{}' holds {}; a box needs numbers",
              grid_.name, found.name, afterbay::name_of(given.type));
  if (found.quantity != Quantity::other)
    for (double& value : values) value *= degrees_per_unit(found.units);
  const double tolerance = tolerance_of(found, given.type);
  filter(find(name),
         [&](std::uint64_t place) { return is_inside(values[place], range, found.quantity, tolerance); });
}

void DimensionChoice::index(const describe::GridSubset::IndexRange& range) {
  const std::size_t d = find(range.dimension);
  const std::uint64_t length = length_of(d);
  if (static_cast<std::uint64_t>(range.last) >= length)
    refuse_at(grid_.at, ErrorCode::invalid_argument,
              "grid '{}': index {} of '{}' does not exist: the dimension has {} points, from 0 to {}",
              grid_.name, range.last, range.dimension, length, length - 1);
  filter(d, [&](std::uint64_t place) {
    return place >= static_cast<std::uint64_t>(range.first) &&
           place <= static_cast<std::uint64_t>(range.last);
  });
}

void DimensionChoice::keep_levels(const describe::GridSubset::Levels& levels) {
  const FoundCoordinate found = find_coordinate_of(levels.coordinate, grid_.at);
  if (found.coordinate != nullptr)
    refuse_at(grid_.at, ErrorCode::invalid_argument,
              "grid '{}': levels are values of a dimension, but '{}' is a coordinate of {}; use box or index",
              grid_.name, found.name,
              found.coordinate->grid.empty() ? "other dimensions" : "the horizontal grid");
  const std::size_t d = find(found.name);
  if (!has_known_values(definitions_, found)) {
    is_known_ = false;
    return;
  }
  const std::vector<double> values = numbers_of(definitions_.dimension(found.name).values);
  std::vector<std::uint64_t> places;
  for (const double level : levels.values) {
    const auto same = std::ranges::find_if(values, [&](double value) {
      return std::abs(value - level) <= 1e-6 * std::max(std::abs(value), std::abs(level));
    });
    if (same == values.end())
      refuse_at(grid_.at, ErrorCode::invalid_argument,
                "grid '{}': '{}' has no level {}; it has {}. Values between levels need an interpolation",
                grid_.name, levels.coordinate, level, fmt::join(values, ", "));
    places.push_back(static_cast<std::uint64_t>(same - values.begin()));
  }
  std::ranges::sort(places);
  keep_only(d, places);
}

void DimensionChoice::keep_every(std::size_t d, std::uint64_t step) {
  std::vector<std::uint64_t>& kept = listed(d);
  std::vector<std::uint64_t> fewer;
  for (std::size_t i = 0; i < kept.size(); i += step) fewer.push_back(kept[i]);
  kept = std::move(fewer);
}

}  // namespace afterbay::output
