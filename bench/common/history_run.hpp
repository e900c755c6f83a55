// SPDX-License-Identifier: Apache-2.0
// The step loop of the history benchmark and its measurements, the same for every writer.
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

/// A way of writing the history. All calls are collective over the model ranks. Errors are
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

/// The measurements of one rank.
struct Timings {
  ThreadUse blocked_use;          ///< resource use of the calling thread during blocked_s
  ThreadUse copy_use;             ///< the same during copy_s
  double setup_s = 0;             ///< before the clock of the run starts: session, buffers
  double end_s = 0;               ///< first open to durable files
  double finish_s = 0;            ///< the last part of it: waiting for durable files
  double cpu_s = 0;               ///< CPU time of this process during end_s
  long work_rounds = 0;           ///< rounds of fixed work per step
  std::vector<double> blocked_s;  ///< per step: time inside open, put and close
  std::vector<double> copy_s;     ///< per step: the plain copy (only with compute)
};

/// Runs the workload. With compute, each step is: compute, output, compute, plain copy of the same
/// arrays. Output and copy begin at the same time on all ranks, with the machine in the same state.
Timings run_history(const Options& options, MPI_Comm model, Fields& fields, HistoryWriter& writer);

/// Combines the ranks' timings and prints one line `BENCH {json}`, including `extra`, on rank 0 of
/// `model`.
void report(const Options& options, MPI_Comm model, const Timings& timings, const nlohmann::json& extra);

/// The workload on all ranks of MPI_COMM_WORLD, reported with `about`.
void run_baseline(const Options& options, HistoryWriter& writer, const nlohmann::json& about);

/// main() of a program: MPI_Init, options, `body`, MPI_Finalize; an exception is printed with the
/// rank and aborts the job with status 1.
int run_program(int argc, char** argv, const std::string& description,
                const std::function<void(const Options&)>& body);

}  // namespace bench
