// SPDX-License-Identifier: Apache-2.0
// The shared-file benchmark's command line, clock and result, the same for every writer.
#pragma once

#include <mpi.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shared/block.hpp"

namespace bench::shared {

struct Options {
  std::string directory = ".";
  std::size_t mib = 64;  ///< per process, over all records
  int records = 4;
  std::string mode;                   ///< the program's own variants
  bool chunked = false;               ///< HDF5 and netCDF-4: one chunk per process and record
  int servers = 1;                    ///< afterbay, dedicated
  int stripe_count = 0;               ///< -1: all; 0: the directory's setting
  int stripe_mib = 0;                 ///< stripe size; 0: the directory's setting
  std::vector<std::string> settings;  ///< afterbay: arguments that begin with --afterbay.
  [[nodiscard]] std::size_t levels() const { return mib * 4 / static_cast<std::size_t>(records); }
  [[nodiscard]] std::string path() const { return directory + "/shared.nc"; }
};

/// MPI-IO hints for the requested stripes.
class Hints {
 public:
  explicit Hints(const Options& options);
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  ~Hints();
  [[nodiscard]] MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// A way of writing. Calls are collective over the processes; errors are exceptions.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Called before the clock starts.
  virtual void prepare(const Block& /*block*/) {}
  virtual void open(const Block& block) = 0;
  virtual void write(const Block& block, int record) = 0;
  /// Returns when all data are durable.
  virtual void finish() = 0;
};

/// For baselines: `Writer::finish` after the file is closed. Rank 0 makes the file and its
/// directory durable.
void make_shared_file_durable(const Options& options);

/// Writes all records with the processes of `model` and prints one line `BENCH {json}` on the first
/// of them.
void run(const Options& options, MPI_Comm model, Writer& writer, nlohmann::json about);

/// main() of a program: MPI_Init, options, `body`, MPI_Finalize; an exception aborts the job.
int run_program(int argc, char** argv, const std::string& description,
                const std::function<void(const Options&)>& body);

/// For programs that accept one of `modes`.
void check_mode(const Options& options, const std::vector<std::string>& modes);

}  // namespace bench::shared
