// SPDX-License-Identifier: Apache-2.0
// The fields benchmark: a model with 2-D and 3-D fields of floats, of which files with means and
// other values are written. Options, data and measurements, the same for every way of output.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/workload.hpp"

namespace bench::fields {

/// A field of the model: consecutive planes of its memory.
struct Field {
  std::string name;
  std::size_t first_plane = 0;
  std::size_t planes = 1;
  bool deep = false;  ///< 3-D: has levels
};

struct Case {
  std::string output = "mean";  ///< afterbay: which files there are, see description.hpp; "calls"
  Grid grid{144, 96, 25};
  int flat = 160;                   ///< 2-D fields
  int deep = 40;                    ///< 3-D fields
  int days = 1;                     ///< days that are measured
  int warm_up_days = 0;             ///< before them
  int steps_per_day = 48;           ///< a divisor of 1440
  bool with_reference = false;      ///< after each step: the plain sum and the plain copy of the same fields
  std::string statistics = "auto";  ///< afterbay: who computes them
  int pause_ms = 0;                 ///< the model computes nothing after each step
  int servers = 1;
  std::string store = "netcdf4";
  std::string directory = ".";
  std::vector<std::string> settings;  ///< arguments that begin with --afterbay.

  [[nodiscard]] std::size_t planes() const {
    return static_cast<std::size_t>(flat) + static_cast<std::size_t>(deep) * grid.levels;
  }
  [[nodiscard]] std::size_t step_bytes() const { return grid.plane() * planes() * sizeof(float); }
  [[nodiscard]] int steps() const { return (warm_up_days + days) * steps_per_day; }
  /// The first fields are flat.
  [[nodiscard]] std::vector<Field> fields() const;
};

Case parse_case(int argc, char** argv, const std::string& description);

/// A rank's fields. The planes of all of them lie in one array, as if they were the levels of one
/// volume.
class Model {
 public:
  Model(const Case& of, const Tile& tile);
  /// Sets the values of a step, from 1. Every 32nd point in each direction changes (see
  /// workload.hpp).
  void stamp(int step) { data_.stamp(step - 1); }
  [[nodiscard]] std::span<const float> values(const Field& field) const;
  /// All fields.
  [[nodiscard]] std::span<const float> values() const { return data_.volume(); }
  [[nodiscard]] const Tile& tile() const { return data_.tile(); }
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }

 private:
  std::vector<Field> fields_;
  Fields data_;
};

/// A way of output. All calls are collective over the model ranks.
class Writer {
 public:
  virtual ~Writer() = default;
  /// After step `number`, from 1. The model waits for it.
  virtual void step(int number, const Model& model) = 0;
  /// Returns when all files are durable.
  virtual void finish() = 0;
};

/// Runs the case in this rank of `model` and prints one line `BENCH {json}` on rank 0. `make` is
/// called when the clock has started.
void run_case(const Case& of, MPI_Comm model,
              const std::function<std::unique_ptr<Writer>(const Model&)>& make, nlohmann::json about);

/// main() of a program: MPI_Init_thread (FUNNELED), options, `body`, MPI_Finalize.
int run_program(int argc, char** argv, const std::string& description,
                const std::function<void(const Case&)>& body);

}  // namespace bench::fields
