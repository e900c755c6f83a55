// SPDX-License-Identifier: Apache-2.0
#include "output/fitting_selection.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "output/coordinates.hpp"
#include "output/dimension_choice.hpp"

namespace afterbay::output {

namespace {

/// What a name of a dimension or coordinate means for a field.
enum class Meant { nothing, axis, horizontal };

Meant meant_by(const FieldDefinitions& definitions, const Field& field, const std::string& name) {
  const Grid* const grid = field.options.grid.empty() ? nullptr : &definitions.grid(field.options.grid);
  const auto is_of = [&](const FoundCoordinate& found) {
    return grid != nullptr && is_of_grid(found, *grid) ? Meant::horizontal : Meant::axis;
  };
  const std::vector<std::string> dimensions = definitions.dimensions_of(field);
  if (std::ranges::find(dimensions, name) != dimensions.end())
    return is_of({name, nullptr, Quantity::other, {}});
  try {
    const auto found = find_coordinate(definitions, field, name);
    return found ? is_of(*found) : Meant::nothing;
  } catch (const Failure&) {
    return Meant::horizontal;  // several coordinates: refused where it is applied
  }
}

/// Whether a selection by this name leaves the field as it is.
bool leaves(const FieldDefinitions& definitions, const Field& field, const std::string& name) {
  if (meant_by(definitions, field, name) != Meant::nothing) return false;
  bool is_known = false;
  for (const Field& other : definitions.fields()) {
    const Meant meant = meant_by(definitions, other, name);
    if (meant == Meant::horizontal && !field.options.grid.empty()) return false;
    is_known = is_known || meant != Meant::nothing;
  }
  return is_known;
}

/// Calls `visit` with each list of selections of the grid, and the name that a selection has.
template <class AnyGrid, class Visit>
void for_each_list(AnyGrid& grid, Visit visit) {
  using describe::GridSubset;
  visit(grid.box, [](const GridSubset::Range& it) -> const std::string& { return it.coordinate; });
  visit(grid.index, [](const GridSubset::IndexRange& it) -> const std::string& { return it.dimension; });
  visit(grid.stride, [](const GridSubset::Stride& it) -> const std::string& { return it.dimension; });
  visit(grid.levels, [](const GridSubset::Levels& it) -> const std::string& { return it.coordinate; });
  visit(grid.reverse, [](const std::string& it) -> const std::string& { return it; });
}

/// For each selection of the subset that leaves all of the fields as they are, a subset with this
/// selection only.
std::vector<describe::GridSubset> without_effect(const FieldDefinitions& definitions,
                                                 const std::vector<Field>& fields,
                                                 const describe::GridSubset& grid) {
  std::vector<describe::GridSubset> unused;
  std::size_t list = 0;
  for_each_list(grid, [&](const auto& selections, auto name_of) {
    for (const auto& selection : selections) {
      const auto concerns = [&](const Field& it) { return !leaves(definitions, it, name_of(selection)); };
      if (std::ranges::any_of(fields, concerns)) continue;
      describe::GridSubset only;
      only.name = grid.name;
      only.at = grid.at;
      std::size_t other = 0;
      for_each_list(only, [&](auto& selected, auto /*name_of*/) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(selected)>,
                                     std::remove_cvref_t<decltype(selections)>>)
          if (other == list) selected.push_back(selection);
        ++other;
      });
      unused.push_back(std::move(only));
    }
    ++list;
  });
  return unused;
}

/// Adds the fields of the model from which a field is computed; coordinates of grids as fields.
void add_fields(std::vector<Field>& fields, const PlanInput& input, const std::string& name) {
  std::vector<std::string> names{name};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& coordinates = input.definitions.coordinates();
    const auto coordinate = std::ranges::find(coordinates, names[i], &Coordinate::name);
    if (const Field* const field = input.definitions.find_field(names[i])) {
      fields.push_back(*field);
    } else if (const describe::Field* const described = input.find_described(names[i])) {
      for (const std::string& operand : described->operands)
        if (std::ranges::find(names, operand) == names.end()) names.push_back(operand);
    } else if (coordinate != coordinates.end() && !coordinate->grid.empty()) {
      Field& made = fields.emplace_back();
      made.name = coordinate->name;
      made.options.grid = coordinate->grid;
    }
  }
}

}  // namespace

describe::GridSubset fitting_selection(const FieldDefinitions& definitions, const Field& field,
                                       const describe::GridSubset& grid) {
  describe::GridSubset fitting = grid;
  for_each_list(fitting, [&](auto& selections, auto name_of) {
    std::erase_if(selections, [&](const auto& it) { return leaves(definitions, field, name_of(it)); });
  });
  return fitting;
}

bool selects_all(const describe::GridSubset& grid) {
  bool all = grid.stations.empty();
  for_each_list(grid, [&](const auto& selections, auto /*name_of*/) { all = all && selections.empty(); });
  return all;
}

void check_selections(const PlanInput& input, const describe::File& file) {
  std::map<std::string, std::vector<Field>> fields_of;  // by name of the subset
  for (const describe::Variable& variable : file.variables)
    if (file.active(variable))
      add_fields(fields_of[variable.options.grid.value_or(file.grid)], input, variable.field);
  for (const describe::GridSubset& grid : input.description.grids) {
    const std::vector<Field>& fields = fields_of[grid.name];
    if (fields.empty()) continue;
    for (const describe::GridSubset& only : without_effect(input.definitions, fields, grid)) {
      const std::vector<std::string> names = input.definitions.dimensions_of(fields.front());
      DimensionChoice choice(input.definitions, fields.front(), names, only);
      choice.finish(names.size());
    }
  }
}

}  // namespace afterbay::output
