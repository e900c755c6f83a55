// SPDX-License-Identifier: Apache-2.0
// The shallow-water model in C++ with threads of OpenMP: the steps are inside one parallel region,
// and so is the output. Each thread computes and writes a band of the rank's rows:
//   OMP_NUM_THREADS=4 mpirun -np 3 shallow_water_threads_cpp --afterbay.servers=1
#include <mpi.h>
#include <omp.h>

#include <afterbay/afterbay.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "files.hpp"
#include "model.hpp"

namespace {

using namespace afterbay;       // NOLINT
using namespace shallow_water;  // NOLINT

/// The files of the rank, which the session opens and closes.
struct Files {
  OutputFile fields, surface;
};

/// What one thread writes: a band of the rank's rows, through an endpoint of its own. No thread
/// waits for another one, and nothing is gathered.
class Band {
 public:
  Band(Session& session, const Files& files, const Model& model, int thread, int threads)
      : model_(model),
        files_(files),
        first_(model.nj * thread / threads),
        rows_(model.nj * (thread + 1) / threads - first_),
        inside_(inside_halo(model)),
        endpoint_(session.endpoint("rows from " + std::to_string(model.j0 + first_))) {
    inside_.offset[0] += static_cast<std::uint64_t>(first_);
    endpoint_.part("cells", Block{{model.ny, model.nx}, {model.j0 + first_, model.i0}, {rows_, model.ni}});
  }

  void write_fields() {
    endpoint_.put(files_.fields, "h", fields_record_, model_.h(), inside_);
    endpoint_.put(files_.fields, "u", fields_record_, model_.u(), inside_);
    endpoint_.put(files_.fields, "v", fields_record_, model_.v(), inside_);
    compute_vorticity();
    ++fields_record_;
  }

  void write_surface() {
    std::vector<double> elevation, speed;
    for (int j = first_ + 1; j <= first_ + rows_; ++j) {
      for (int i = 1; i <= model_.ni; ++i) {
        elevation.push_back(model_.elevation(i, j));
        speed.push_back(model_.speed(i, j));
      }
    }
    endpoint_.put(files_.surface, "elevation", surface_record_, elevation.data());
    endpoint_.put(files_.surface, "speed", surface_record_, speed.data());
    ++surface_record_;
  }

  void end_step() { endpoint_.end_step(); }

 private:
  /// Computed directly in the server's buffer.
  void compute_vorticity() {
    Slot slot = endpoint_.acquire(files_.fields, "vorticity", fields_record_, Type::float32);
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
  const Files& files_;
  int first_, rows_;     ///< from 0, of the rank's part
  MemoryLayout inside_;  ///< where the band begins in the model's arrays
  Endpoint endpoint_;    ///< closed by its destructor
  std::uint64_t fields_record_ = 0, surface_record_ = 0;
};

Files open_files(Session& session, const Model& model, const std::string& directory) {
  session.decomposition("cells", Block{{model.ny, model.nx}, {model.j0, model.i0}, {model.nj, model.ni}});
  CollectionOptions options;
  options.directory = directory;
  options.existing = "replace";
  return {session.collection("fields", fields_schema(model), options).open(),
          session.collection("surface", surface_schema(model), options).open()};
}

/// Variables without a decomposition are put by the session.
void put_time(OutputFile& file, const Model& model, int every) {
  if (model.steps % every != 0) return;
  const auto record = static_cast<std::uint64_t>(model.steps / every);
  const double time = model.steps * time_step;
  const std::int32_t step = model.steps;
  file.put("time", record, &time);
  file.put("step", record, &step);
}

/// What each thread does. The thread that initialised MPI also uses the session.
void run_thread(Session& session, Files& files, Model& model, const Settings& s) {
  Band band(session, files, model, omp_get_thread_num(), omp_get_num_threads());
#pragma omp barrier
  // All endpoints are open before the first step ends.
  for (int n = 0; n <= s.steps; ++n) {
    if (n > 0) model.step();
#pragma omp master
    {
      put_time(files.fields, model, s.fields_every);
      put_time(files.surface, model, s.surface_every);
    }
    if (model.steps % s.fields_every == 0) band.write_fields();
    if (model.steps % s.surface_every == 0) band.write_surface();
    band.end_step();
#pragma omp master
    session.end_step();
  }
}

[[noreturn]] void give_up(const std::exception& problem) {
  std::fprintf(stderr, "shallow_water_threads_cpp: %s\n", problem.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void run_model(Session& session, const Settings& s) {
  Model model(model_comm(session), s.nx, s.ny);
  Files files = open_files(session, model, s.directory);
#pragma omp parallel
  try {
    run_thread(session, files, model, s);
  } catch (const std::exception& problem) {
    give_up(problem);  // an exception must not leave a parallel region
  }
  files.fields.close();
  files.surface.close();
  session.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    const Settings settings = read_settings({argv + 1, argv + argc});
    if (settings.described) throw std::invalid_argument("--output described: see shallow_water_cpp");
    SessionOptions options;
    options.with_arguments(argc, argv);
    Session session = open_session(MPI_COMM_WORLD, options);
    if (session.is_server()) {
      session.serve();
    } else {
      run_model(session, settings);
    }
  } catch (const std::exception& problem) {
    give_up(problem);
  }
  MPI_Finalize();
  return 0;
}
