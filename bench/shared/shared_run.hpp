// SPDX-License-Identifier: Apache-2.0
// The shared-file benchmark's command line, clock and result, the same for every way of writing.
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
  std::size_t mib = 64;  ///< of each process, all records together
  int records = 4;
  std::string mode;                   ///< the program's own variants
  bool chunked = false;               ///< HDF5 and netCDF-4: a chunk for each process and record
  int servers = 1;                    ///< afterbay, dedicated
  int stripe_count = 0;               ///< -1: all; 0: as the directory says
  int stripe_mib = 0;                 ///< stripe size; 0: as the directory says
  std::vector<std::string> settings;  ///< afterbay: arguments that begin with --afterbay.
  [[nodiscard]] std::size_t levels() const { return mib * 4 / static_cast<std::size_t>(records); }
  [[nodiscard]] std::string path() const { return directory + "/shared.nc"; }
};

/// Hints of MPI-IO for the stripes that are asked for.
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

/// One way of writing. Calls are collective over the processes; errors are exceptions.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Before the clock starts.
  virtual void prepare(const Block& /*block*/) {}
  virtual void open(const Block& block) = 0;
  virtual void write(const Block& block, int record) = 0;
  /// Returns when all is durable.
  virtual void finish() = 0;
};

/// For baselines: `Writer::finish` after the file is closed. Rank 0 makes it and its directory durable.
void make_shared_file_durable(const Options& options);

/// Writes all records by the processes of `model` and prints one line `BENCH {json}` on its first.
void run(const Options& options, MPI_Comm model, Writer& writer, nlohmann::json about);

/// main() of a program: MPI_Init, options, `body`, MPI_Finalize; an exception aborts the job.
int run_program(int argc, char** argv, const std::string& description,
                const std::function<void(const Options&)>& body);

/// For programs that take one of `modes`.
void check_mode(const Options& options, const std::vector<std::string>& modes);

}  // namespace bench::shared
