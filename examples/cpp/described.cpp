// SPDX-License-Identifier: Apache-2.0
#include "described.hpp"

#include <cstddef>
#include <cstdint>

#include "files.hpp"

namespace shallow_water {

using namespace afterbay;  // NOLINT

namespace {

OutputOptions times_of_run() {
  OutputOptions options;
  options.start = {.year = 2000, .month = 1, .day = 1};
  options.step = {.seconds = static_cast<std::int64_t>(shallow_water::time_step)};
  return options;
}

/// The distance of `n` points, `cell` from each other.
std::vector<double> distances(int n, double first) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = (i + first) * cell;
  return values;
}

}  // namespace

DescribedOutput::DescribedOutput(Session& session, const Model& model)
    : model_(model), output_(session, times_of_run()) {
  session.decomposition("cells", Block{{model.ny, model.nx}, {model.j0, model.i0}, {model.nj, model.ni}});
  define_grids();
  define_field("h", "centres", "m", "depth of the layer");
  define_field("u", "west_edges", "m s-1", "velocity to the east");
  define_field("v", "south_edges", "m s-1", "velocity to the north");
  define_field("vorticity", "corners", "s-1", "relative vorticity");
  define_field("elevation", "centres", "m", "depth of the layer less its depth at rest");
  define_field("speed", "centres", "m s-1", "speed");
  output_.start();
}

/// The points of the cells at which the model has values.
void DescribedOutput::define_grids() {
  const auto dimension = [this](const char* name, int n, double first, const char* long_name) {
    output_.dimension(name, distances(n, first), {.units = "m", .long_name = long_name});
  };
  dimension("x", model_.nx, 0.5, "eastward distance of cell centres");
  dimension("y", model_.ny, 0.5, "northward distance of cell centres");
  dimension("x_edge", model_.nx, 0.0, "eastward distance of west edges");
  dimension("y_edge", model_.ny, 0.0, "northward distance of south edges");
  output_.grid("centres", {"y", "x"}, "cells");
  output_.grid("west_edges", {"y", "x_edge"}, "cells");
  output_.grid("south_edges", {"y_edge", "x"}, "cells");
  output_.grid("corners", {"y_edge", "x_edge"}, "cells");
}

void DescribedOutput::define_field(const std::string& name, const std::string& grid, const std::string& units,
                                   const std::string& long_name) {
  output_.field(name, {.grid = grid, .type = Type::float64, .units = units, .long_name = long_name});
}

template <class Value>
void DescribedOutput::put_computed(const std::string& field, Value value) {
  if (!output_.wants(field)) return;
  work_.clear();
  for (int j = 1; j <= model_.nj; ++j)
    for (int i = 1; i <= model_.ni; ++i) work_.push_back(value(i, j));
  output_.put(field, work_.data());
}

void DescribedOutput::write_step() {
  // The model's arrays have a halo of one point: described by the layout, not removed by a copy.
  const MemoryLayout inside = inside_halo(model_);
  output_.step(model_.steps);
  output_.put("h", model_.h(), inside);
  output_.put("u", model_.u(), inside);
  output_.put("v", model_.v(), inside);
  put_computed("vorticity", [this](int i, int j) { return model_.vorticity(i, j); });
  put_computed("elevation", [this](int i, int j) { return model_.elevation(i, j); });
  put_computed("speed", [this](int i, int j) { return model_.speed(i, j); });
}

}  // namespace shallow_water
