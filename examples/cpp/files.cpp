// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace shallow_water {
namespace {

using namespace afterbay;  // NOLINT

void add_coordinate(Schema& schema, const std::string& name, const std::string& long_name, int n,
                    double first) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = (i + first) * cell;
  schema.dimension(name, static_cast<std::uint64_t>(n));
  schema.variable(name, Type::float64, {name})
      .attribute("units", "m")
      .attribute("long_name", long_name)
      .with_constant(values);
}

void add_field(Schema& schema, const char* name, const char* y, const char* x, const char* units,
               const char* long_name) {
  schema.variable(name, Type::float32, {"time", y, x})
      .on("cells")
      .attribute("units", units)
      .attribute("long_name", long_name);
}

/// Dimensions, coordinates, time and the global attributes.
Schema describe_grid(const Model& model, const char* title) {
  Schema schema;
  schema.attribute("Conventions", "CF-1.10")
      .attribute("title", title)
      .attribute("history", "written by a shallow-water model")
      .attribute("grid", {model.nx, model.ny})
      .attribute("coriolis", coriolis)
      .attribute("gravity", gravity)
      .attribute("rest_depth", rest_depth)
      .dimension("time", unlimited);
  add_coordinate(schema, "x", "eastward distance of cell centres", model.nx, 0.5);
  add_coordinate(schema, "y", "northward distance of cell centres", model.ny, 0.5);
  add_coordinate(schema, "x_edge", "eastward distance of west edges", model.nx, 0.0);
  add_coordinate(schema, "y_edge", "northward distance of south edges", model.ny, 0.0);
  schema.variable("time", Type::float64, {"time"})
      .attribute("units", "seconds since 2000-01-01")
      .attribute("calendar", "standard")
      .attribute("standard_name", "time");
  schema.variable("step", Type::int32, {"time"})
      .attribute("units", "1")
      .attribute("long_name", "steps done by the model");
  return schema;
}

}  // namespace

Settings read_settings(const std::vector<std::string>& arguments) {
  Settings s;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name.starts_with("--afterbay.")) {
      if (name.find('=') == std::string::npos) ++i;
      continue;
    }
    const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    ++i;
    if (name == "--grid") {
      s.nx = std::stoi(value);
      s.ny = std::stoi(value.substr(value.find('x') + 1));
    } else if (name == "--steps") {
      s.steps = std::stoi(value);
    } else if (name == "--fields-every") {
      s.fields_every = std::stoi(value);
    } else if (name == "--surface-every") {
      s.surface_every = std::stoi(value);
    } else if (name == "--directory") {
      s.directory = value;
    } else if (name == "--output" && (value == "afterbay" || value == "described")) {
      s.described = value == "described";
    } else {
      throw std::invalid_argument("there is no option " + name + " " + value);
    }
  }
  return s;
}

Schema fields_schema(const Model& model) {
  Schema schema = describe_grid(model, "the state of a shallow-water model");
  add_field(schema, "h", "y", "x", "m", "depth of the layer");
  add_field(schema, "u", "y", "x_edge", "m s-1", "velocity to the east");
  add_field(schema, "v", "y_edge", "x", "m s-1", "velocity to the north");
  add_field(schema, "vorticity", "y_edge", "x_edge", "s-1", "relative vorticity");
  return schema;
}

Schema surface_schema(const Model& model) {
  Schema schema = describe_grid(model, "the surface of a shallow-water model");
  add_field(schema, "elevation", "y", "x", "m", "depth of the layer less its depth at rest");
  add_field(schema, "speed", "y", "x", "m s-1", "speed");
  return schema;
}

MemoryLayout inside_halo(const Model& model) {
  const auto length = [](int n) { return static_cast<std::uint64_t>(n); };
  return {{length(model.nj + 2), length(model.ni + 2)}, {1, 1}, {}};
}

}  // namespace shallow_water
