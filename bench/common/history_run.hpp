// SPDX-License-Identifier: Apache-2.0
// The step loop of the history benchmark and what it measures, the same for every way of writing.
#pragma once

#include <mpi.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "common/timing.hpp"
#include "common/workload.hpp"

namespace bench {

/// One way of writing the history. All calls are collective over the model ranks. Errors are
/// exceptions that name file and operation.
class HistoryWriter {
 public:
  virtual ~HistoryWriter() = default;
  virtual void open(int file) = 0;
  virtual void put(const Fields& fields, int file, int record) = 0;
  virtual void close(int file) = 0;
  /// Returns when all files are durable.
  virtual void finish() = 0;
};

/// What one rank measured.
struct Timings {
  ThreadUse blocked_use;          ///< what the calling thread did in the time of blocked_s
  ThreadUse copy_use;             ///< and of copy_s
  double setup_s = 0;             ///< before the clock of the run starts: session, buffers
  double end_s = 0;               ///< first open to durable files
  double finish_s = 0;            ///< of that: the last part, waiting for durable files
  double cpu_s = 0;               ///< of this process in that time
  long work_rounds = 0;           ///< of fixed work, each step
  std::vector<double> blocked_s;  ///< each step: time inside open, put and close
  std::vector<double> copy_s;     ///< each step: the plain copy (only with compute)
};

/// Runs the workload. With compute, each step is: compute, output, compute, plain copy of the same
/// arrays; output and copy begin together on all ranks and find the machine in the same state.
Timings run_history(const Options& options, MPI_Comm model, Fields& fields, HistoryWriter& writer);

/// Combines the ranks' timings and prints one line `BENCH {json}` on rank 0 of `model`. `extra` is added.
void report(const Options& options, MPI_Comm model, const Timings& timings, const nlohmann::json& extra);

/// The workload on all ranks of MPI_COMM_WORLD, reported with `about`.
void run_baseline(const Options& options, HistoryWriter& writer, const nlohmann::json& about);

/// main() of a program: MPI_Init, options, `body`, MPI_Finalize; an exception is printed with the
/// rank and aborts the job with status 1.
int run_program(int argc, char** argv, const std::string& description,
                const std::function<void(const Options&)>& body);

}  // namespace bench
