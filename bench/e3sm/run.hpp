// SPDX-License-Identifier: Apache-2.0
// The loop of the E3SM benchmark and what it measures, the same for every way of writing.
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
  bool warm_up = false;        ///< write the first record once before, to a file that does not count
  bool every_point = false;    ///< all points change with the record, for files that are to be verified
  bool copy = true;            ///< measure memcpy of the same bytes, too
  int servers = 1;             ///< afterbay: I/O servers, taken from the end of the ranks
  std::string store = "cdf5";  ///< afterbay
  std::vector<std::string> settings;  ///< afterbay: arguments that begin with --afterbay., as they are
};

/// One way of writing a case into one file. All calls are collective over the model ranks. Errors are
/// exceptions that name file and operation.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void open() = 0;             ///< creates and defines the file
  virtual void post(int record) = 0;   ///< hands over the record; with the first one the fixed variables
  virtual void flush(int record) = 0;  ///< returns when the arrays may change
  virtual void close() = 0;
  virtual void finish() = 0;  ///< returns when the file is durable
  /// The most memory that the library says to have allocated on this rank; 0: it does not say.
  [[nodiscard]] virtual double library_mib() const { return 0; }
};

/// What one rank measured, in seconds.
struct Timings {
  double setup_s = 0;  ///< once a run: decompositions described, buffers, session
  double open_s = 0;
  double post_s = 0;
  double flush_s = 0;
  double close_s = 0;
  double finish_s = 0;
  double end_s = 0;  ///< from open to the end of finish
  /// From the first rank's begin of open, post, flush and close to the last rank's end, without what lies
  /// between records. The ranks are on one machine, with one clock.
  double blocked_together_s = 0;
  double copy_s = 0;       ///< memcpy of the same bytes, the slowest rank's: median of several, times records
  double library_mib = 0;  ///< Writer::library_mib
  double copy_together_s = 0;  ///< the same from the first rank's begin to the last rank's end
  double cpu_s = 0;            ///< of this process from open to the end of finish
  ThreadUse blocked_use;       ///< what the calling thread did in open, post, flush and close
};

struct MemoryUse {
  double own_mib = 0;     ///< peak that is this process's alone
  double shared_mib = 0;  ///< in segments that processes share, as far as this one touched them
};

/// Memory of this process above what it had when the object was made (the model's own arrays).
class MemoryWatch {
 public:
  MemoryWatch();
  /// To be asked while the segments are still attached.
  [[nodiscard]] MemoryUse grown() const;

 private:
  double before_mib_;
  double shared_before_mib_;
};

/// Seconds that memcpy of the arrays of all records takes the slowest rank; all ranks begin together, as they
/// do with their output. Collective.
struct CopyTime {
  double slowest_s = 0;   ///< of the slowest rank
  double together_s = 0;  ///< from the first rank's begin to the last rank's end
};
CopyTime copy_time(MPI_Comm model, const Fields& fields, int records);

/// Writes all records and takes the times. Collective over `model`.
Timings run_case(const Options& options, MPI_Comm model, Fields& fields, Writer& writer);

/// Combines the ranks' figures and prints one line `BENCH {json}` on rank 0 of `model`. `about` is added.
void report(const Options& options, const Case& source, MPI_Comm model, const Fields& fields,
            const Timings& timings, const MemoryUse& memory, const nlohmann::json& about);

/// A baseline: makes a writer, measuring its making as set-up, and runs the case on MPI_COMM_WORLD.
void run_baseline(const Options& options, ArrayOrder order, const nlohmann::json& about,
                  const std::function<std::unique_ptr<Writer>(const Case&, const Fields&)>& make);

/// The end of a baseline that wrote one file: rank 0 makes it and its directory durable, the others wait.
void finish_on_rank_0(const Options& options, const std::string& path, MPI_Comm model);

/// main() of a program; an exception is printed with the rank and aborts the job with status 1.
int run_program(int argc, char** argv, const std::string& description,
                const std::function<void(const Options&)>& body);

}  // namespace bench::e3sm
