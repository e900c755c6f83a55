// SPDX-License-Identifier: Apache-2.0
// The shallow-water model in C++ with its output through Afterbay:
//   mpirun -np 6 shallow_water_cpp --afterbay.servers=2
#include <mpi.h>

#include <afterbay/afterbay.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model.hpp"

namespace {

using namespace afterbay;  // NOLINT
using shallow_water::Model;

struct Settings {
  int nx = 480, ny = 320, steps = 600, fields_every = 20, surface_every = 10;
  std::string directory = ".";
};

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
    } else {
      throw std::invalid_argument("there is no option " + name);
    }
  }
  return s;
}

void add_coordinate(Schema& schema, const std::string& name, const std::string& long_name, int n,
                    double first) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = (i + first) * shallow_water::cell;
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
      .attribute("grid", {model.nx, model.ny})
      .attribute("coriolis", shallow_water::coriolis)
      .attribute("gravity", shallow_water::gravity)
      .attribute("rest_depth", shallow_water::rest_depth)
      .dimension("time", unlimited);
  add_coordinate(schema, "x", "eastward distance of cell centres", model.nx, 0.5);
  add_coordinate(schema, "y", "northward distance of cell centres", model.ny, 0.5);
  add_coordinate(schema, "x_edge", "eastward distance of west edges", model.nx, 0.0);
  add_coordinate(schema, "y_edge", "northward distance of south edges", model.ny, 0.0);
  schema.variable("time", Type::float64, {"time"})
      .attribute("units", "seconds since 2000-01-01")
      .attribute("calendar", "standard");
  schema.variable("step", Type::int32, {"time"}).attribute("long_name", "steps done by the model");
  return schema;
}

std::uint64_t length(int n) { return static_cast<std::uint64_t>(n); }

/// The model's output: `fields` and `surface`.
class Output {
 public:
  Output(Session& session, const Model& model, const std::string& directory) : model_(model) {
    session.decomposition("cells", Block{{length(model.ny), length(model.nx)},
                                         {length(model.j0), length(model.i0)},
                                         {length(model.nj), length(model.ni)}});
    CollectionOptions options;
    options.directory = directory;
    options.existing = "replace";
    fields_ = session.collection("fields", fields_schema(), options).open();
    surface_ = session.collection("surface", surface_schema(), options).open();
  }

  void write_fields() {
    // The model's arrays have a halo of one point: described by the layout, not removed by a copy.
    const MemoryLayout inside{{length(model_.nj + 2), length(model_.ni + 2)}, {1, 1}, {}};
    put_time(fields_, fields_record_);
    fields_.put("h", fields_record_, model_.h(), inside);
    fields_.put("u", fields_record_, model_.u(), inside);
    fields_.put("v", fields_record_, model_.v(), inside);
    compute_vorticity();
    ++fields_record_;
  }

  void write_surface() {
    std::vector<double> elevation, speed;
    for (int j = 1; j <= model_.nj; ++j) {
      for (int i = 1; i <= model_.ni; ++i) {
        elevation.push_back(model_.elevation(i, j));
        speed.push_back(model_.speed(i, j));
      }
    }
    put_time(surface_, surface_record_);
    surface_.put("elevation", surface_record_, elevation.data());
    surface_.put("speed", surface_record_, speed.data());
    ++surface_record_;
  }

  void close() {
    fields_.close();
    surface_.close();
  }

 private:
  Schema fields_schema() const {
    Schema schema = describe_grid(model_, "the state of a shallow-water model");
    add_field(schema, "h", "y", "x", "m", "depth of the layer");
    add_field(schema, "u", "y", "x_edge", "m s-1", "velocity to the east");
    add_field(schema, "v", "y_edge", "x", "m s-1", "velocity to the north");
    add_field(schema, "vorticity", "y_edge", "x_edge", "s-1", "relative vorticity");
    return schema;
  }

  Schema surface_schema() const {
    Schema schema = describe_grid(model_, "the surface of a shallow-water model");
    add_field(schema, "elevation", "y", "x", "m", "depth of the layer less its depth at rest");
    add_field(schema, "speed", "y", "x", "m s-1", "speed");
    return schema;
  }

  void put_time(OutputFile& file, std::uint64_t record) const {
    const double time = model_.steps * shallow_water::time_step;
    const std::int32_t step = model_.steps;
    file.put("time", record, &time);
    file.put("step", record, &step);
  }

  /// Computed directly in the server's buffer: the model needs no array and no copy.
  void compute_vorticity() {
    Slot slot = fields_.acquire("vorticity", fields_record_, Type::float32);
    for (const Slot::Part& part : slot.parts()) {
      auto* values = static_cast<float*>(part.data);
      for (std::uint64_t j = 0; j < part.count[0]; ++j) {
        for (std::uint64_t i = 0; i < part.count[1]; ++i) {
          const auto place =
              static_cast<std::int64_t>(j) * part.strides[0] + static_cast<std::int64_t>(i) * part.strides[1];
          values[place] =
              static_cast<float>(model_.vorticity(static_cast<int>(part.start[1] + i) - model_.i0 + 1,
                                                  static_cast<int>(part.start[0] + j) - model_.j0 + 1));
        }
      }
    }
    slot.commit();
  }

  const Model& model_;
  OutputFile fields_, surface_;
  std::uint64_t fields_record_ = 0, surface_record_ = 0;
};

void run_model(Session& session, const Settings& s) {
  Model model(model_comm(session), s.nx, s.ny);
  Output output(session, model, s.directory);
  for (int n = 0; n <= s.steps; ++n) {
    if (n > 0) model.step();
    if (model.steps % s.fields_every == 0) output.write_fields();
    if (model.steps % s.surface_every == 0) output.write_surface();
    session.end_step();
  }
  output.close();
  session.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    const Settings settings = read_settings({argv + 1, argv + argc});
    SessionOptions options;
    options.with_arguments(argc, argv);
    Session session = open_session(MPI_COMM_WORLD, options);
    if (session.is_server()) {
      session.serve();
    } else {
      run_model(session, settings);
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "shallow_water_cpp: %s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
