// SPDX-License-Identifier: Apache-2.0
// The threads benchmark: threads of a rank compute bands of latitude and hand them over. Options,
// data and measurements, the same for every way of output.
#pragma once

#include <mpi.h>

#include <barrier>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bench::threads {

struct Case {
  std::string mode = "endpoints";
  int threads = 1;
  std::size_t lon = 360;
  std::size_t lat = 181;
  std::size_t levels = 36;
  int variables = 4;
  int steps = 8;
  double compute_ms = 40;  ///< by each thread before each output, as one thread would compute it alone
  int warm_ups = 0;  ///< all steps are written so often, to a file that is removed, before those that count
  int servers = 1;
  std::string store = "netcdf4";
  std::string directory = ".";
  std::vector<std::string> settings;  ///< arguments that begin with --afterbay.

  [[nodiscard]] std::size_t plane() const { return lon * lat; }
  [[nodiscard]] std::size_t step_bytes() const {
    return plane() * levels * static_cast<std::size_t>(variables) * sizeof(float);
  }
};

Case parse_case(int argc, char** argv, const std::string& description);

/// Rows of latitude.
struct Band {
  std::size_t first = 0;
  std::size_t count = 0;
};
/// Part `part` of `parts`.
Band band_of(const Band& whole, int part, int parts);

/// A thread's array of one variable: (level, lat, lon), dense.
using Field = std::vector<float>;
/// The value at a global point.
float value_at(int variable, std::size_t level, std::size_t lat, std::size_t lon, int step);
void stamp(Field& field, const Case& of, const Band& band, int variable, int step);

/// What a thread does in each step besides computing.
class Output {
 public:
  virtual ~Output() = default;
  /// In the main thread: the next steps, counted from 0, go into a new file of this name.
  virtual void open(const std::string& name) = 0;
  /// In each thread; `fields` by variable. Times inside `wait` count as lost at barriers.
  virtual void put(int thread, int step, const std::vector<Field>& fields) = 0;
  /// In the main thread, when all threads have put the step.
  virtual void end_step(int step) = 0;
  /// In the main thread: closes the file and returns when everything is durable.
  virtual void finish() = 0;

  /// Threads meet; the time is counted.
  void wait(int thread);
  void prepare(int threads);
  [[nodiscard]] double lost_s() const;
  void forget_lost();

 private:
  struct alignas(64) Lost {
    double seconds = 0;
  };
  std::unique_ptr<std::barrier<>> barrier_;
  std::vector<Lost> lost_;
};

/// Runs the case in this rank, whose band is `mine`, and prints one line `BENCH {json}` on rank 0
/// of `model`.
void run_case(const Case& of, MPI_Comm model, const Band& mine, Output& output, nlohmann::json about);

/// main() of a program: MPI_Init_thread (FUNNELED), options, `body`, MPI_Finalize.
int run_program(int argc, char** argv, const std::string& description,
                const std::function<void(const Case&)>& body);

}  // namespace bench::threads
