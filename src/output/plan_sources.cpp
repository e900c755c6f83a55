// SPDX-License-Identifier: Apache-2.0
#include "output/plan_sources.hpp"

#include <limits>

#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

/// Points outside are marked by the fill value.
void check_fill(const Series& of, const describe::GridSubset& grid) {
  if (grid.outside != describe::Outside::missing || !of.form().missing.empty()) return;
  if (dynamic_cast<const ConstantSeries*>(&of) != nullptr)
    refuse_at(grid.at, ErrorCode::conflict,
              "grid '{}': with outside: missing, coordinates in expressions must hold floating-point "
              "numbers, but '{}' holds {}",
              grid.name, of.name(), afterbay::name_of(of.form().type));
  refuse_at(grid.at, ErrorCode::conflict,
            "grid '{}': with outside: missing, fields need a fill value, which field '{}' does not have",
            grid.name, of.name());
}

}  // namespace

PlanSources::PlanSources(const PlanInput& input, Spaces& spaces, Plan& plan)
    : input_(input), spaces_(spaces), plan_(plan) {
  plan_.sources.resize(input.definitions.fields().size());
}

Series& PlanSources::field(const Field& field, const describe::GridSubset* grid) {
  const auto number = static_cast<std::size_t>(&field - input_.definitions.fields().data());
  auto& source = plan_.sources[number];
  if (source == nullptr)
    source = std::make_unique<FieldSeries>(field.name, spaces_.own(field),
                                           Form{field.options.type, field.options.fill});
  if (grid == nullptr) return *source;
  const Space& space = spaces_.subset(field, *grid);
  if (space.is_subset()) check_fill(*source, *grid);
  return subset_of(*source, space);
}

Series& PlanSources::constant(const Coordinate& of, const std::vector<Series*>& others,
                              const describe::GridSubset* grid) {
  Field like;
  like.name = of.name;
  like.options.grid = of.grid;
  like.options.type = of.values.type;
  if (like.options.type == Type::float32) like.options.fill = Values(std::numeric_limits<float>::quiet_NaN());
  if (like.options.type == Type::float64)
    like.options.fill = Values(std::numeric_limits<double>::quiet_NaN());
  auto& known = constants_[of.name];
  if (known == nullptr) {
    plan_.constants.push_back(
        std::make_unique<ConstantSeries>(of, spaces_.own(like), Form{like.options.type, like.options.fill}));
    known = plan_.constants.back().get();
  }
  if (grid == nullptr) return *known;
  // It names no longitudes and latitudes, as fields do: it has the points of the other operands.
  check_fill(*known, *grid);
  for (const Series* const other : others)
    if (other != nullptr && other->space().is_subset() && other->space().axes == 0 &&
        other->space().grid == of.grid)
      return subset_of(*known, other->space());
  return subset_of(*known, spaces_.subset(like, *grid));
}

Series& PlanSources::subset_of(Series& of, const Space& space) {
  if (&space == &of.space()) return of;
  auto& subset = subsets_[{&of, &space}];
  if (subset == nullptr) {
    plan_.subsets.push_back(std::make_unique<SubsetSeries>(of, space));
    subset = plan_.subsets.back().get();
  }
  return *subset;
}

}  // namespace afterbay::output
