// SPDX-License-Identifier: Apache-2.0
// The loop of the E3SM benchmark and its measurements, the same for every writer.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/timing.hpp"
#include "e3sm/case.hpp"
#include "e3sm/fields.hpp"

namespace bench::e3sm {

struct Options {
  std::string case_file;
  std::string directory = ".";
  std::string mode;  ///< the program's own variants, see its --help
  int records = 1;
  bool warm_up = false;               ///< write the first record once before, to a file that is not
                                      ///< measured
  bool every_point = false;           ///< all points change with the record, for files that are verified
  bool copy = true;                   ///< also measure memcpy of the same bytes
  int servers = 1;                    ///< afterbay: I/O servers, the last ranks
  std::string store = "cdf5";         ///< afterbay
  std::vector<std::string> settings;  ///< afterbay: arguments that begin with --afterbay.,
                                      ///< unchanged
};

/// A way of writing a case into one file. All calls are collective over the model ranks. Errors are
/// exceptions that name file and operation.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void open() = 0;             ///< creates and defines the file
  virtual void post(int record) = 0;   ///< passes the record on; the first one with the fixed
                                       ///< variables
  virtual void flush(int record) = 0;  ///< returns when the arrays may change
  virtual void close() = 0;
  virtual void finish() = 0;  ///< returns when the file is durable
  /// The maximum memory that the library reports for this rank; 0: not reported.
  [[nodiscard]] virtual double library_mib() const { return 0; }
};

/// The measurements of one rank, in seconds.
struct Timings {
  double setup_s = 0;  ///< once per run: decompositions, buffers, session
  double open_s = 0;
  double post_s = 0;
  double flush_s = 0;
  double close_s = 0;
  double finish_s = 0;
  double end_s = 0;  ///< from open to the end of finish
  /// From the first rank's begin of open, post, flush and close to the last rank's end, without the
  /// time between records. The ranks run on one machine, with one clock.
  double blocked_together_s = 0;
  double copy_s = 0;           ///< memcpy of the same bytes on the slowest rank: median of several,
                               ///< times records
  double library_mib = 0;      ///< Writer::library_mib
  double copy_together_s = 0;  ///< the same from the first rank's begin to the last rank's end
  double cpu_s = 0;            ///< CPU time of this process from open to the end of finish
  ThreadUse blocked_use;       ///< resource use of the calling thread in open, post, flush and
                               ///< close
};

struct MemoryUse {
  double own_mib = 0;     ///< peak of memory private to this process
  double shared_mib = 0;  ///< in shared segments, as far as this process touched them
};

/// Memory of this process beyond that at construction (the model's own arrays).
class MemoryWatch {
 public:
  MemoryWatch();
  /// Call it while the segments are still attached.
  [[nodiscard]] MemoryUse grown() const;

 private:
  double before_mib_;
  double shared_before_mib_;
};

/// Time of memcpy of the arrays of all records; all ranks begin at the same time, as with their
/// output. Collective.
struct CopyTime {
  double slowest_s = 0;   ///< time on the slowest rank
  double together_s = 0;  ///< from the first rank's begin to the last rank's end
};
CopyTime copy_time(MPI_Comm model, const Fields& fields, int records);

/// Writes all records and measures the times. Collective over `model`.
Timings run_case(const Options& options, MPI_Comm model, Fields& fields, Writer& writer);

/// Combines the ranks' figures and prints one line `BENCH {json}`, including `about`, on rank 0 of
/// `model`.
void report(const Options& options, const Case& source, MPI_Comm model, const Fields& fields,
            const Timings& timings, const MemoryUse& memory, const nlohmann::json& about);

/// A baseline: creates a writer, which counts as set-up, and runs the case on MPI_COMM_WORLD.
void run_baseline(const Options& options, ArrayOrder order, const nlohmann::json& about,
                  const std::function<std::unique_ptr<Writer>(const Case&, const Fields&)>& make);

/// The end of a baseline that wrote one file: rank 0 makes it and its directory durable while the
/// others wait.
void finish_on_rank_0(const Options& options, const std::string& path, MPI_Comm model);

/// main() of a program; an exception is printed with the rank and aborts the job with status 1.
int run_program(int argc, char** argv, const std::string& description,
                const std::function<void(const Options&)>& body);

}  // namespace bench::e3sm
