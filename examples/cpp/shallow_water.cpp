// SPDX-License-Identifier: Apache-2.0
// The shallow-water model in C++ with its output through Afterbay:
//   mpirun -np 6 shallow_water_cpp --afterbay.servers=2
// Described output:
//   mpirun -np 3 shallow_water_cpp --output described --afterbay.output=output.yaml
#include <mpi.h>

#include <afterbay/afterbay.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "described.hpp"
#include "files.hpp"
#include "model.hpp"

namespace {

using namespace afterbay;       // NOLINT
using namespace shallow_water;  // NOLINT

/// The model's output: `fields` and `surface`.
class OwnOutput {
 public:
  OwnOutput(Session& session, const Model& model, const std::string& directory) : model_(model) {
    session.decomposition("cells", Block{{model.ny, model.nx}, {model.j0, model.i0}, {model.nj, model.ni}});
    CollectionOptions options;
    options.directory = directory;
    options.existing = "replace";
    fields_ = session.collection("fields", fields_schema(model), options).open();
    surface_ = session.collection("surface", surface_schema(model), options).open();
  }

  void write_fields() {
    // The model's arrays have a halo of one point: described by the layout, not removed by a copy.
    const MemoryLayout inside = inside_halo(model_);
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

void run_model(Session& session, Model& model, const Settings& s) {
  OwnOutput output(session, model, s.directory);
  for (int n = 0; n <= s.steps; ++n) {
    if (n > 0) model.step();
    if (model.steps % s.fields_every == 0) output.write_fields();
    if (model.steps % s.surface_every == 0) output.write_surface();
    session.end_step();
  }
  output.close();
}

/// The same with described output, which ends the session's steps.
void run_described(Session& session, Model& model, const Settings& s) {
  DescribedOutput output(session, model);
  for (int n = 0; n <= s.steps; ++n) {
    if (n > 0) model.step();
    output.write_step();
  }
  output.finalize();
}

void run(Session& session, const Settings& s) {
  Model model(model_comm(session), s.nx, s.ny);
  if (s.described) {
    run_described(session, model, s);
  } else {
    run_model(session, model, s);
  }
  session.finalize();
}

/// Defaults of the description and of the directory of its files; arguments precede them.
void choose_description(SessionOptions& options, const Settings& s) {
  options.set("output", "output.yaml");
  if (s.directory != ".") options.set("collections.*.directory", s.directory);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    const Settings settings = read_settings({argv + 1, argv + argc});
    SessionOptions options;
    if (settings.described) choose_description(options, settings);
    options.with_arguments(argc, argv);
    Session session = open_session(MPI_COMM_WORLD, options);
    if (session.is_server()) {
      session.serve();
    } else {
      run(session, settings);
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "shallow_water_cpp: %s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
