// SPDX-License-Identifier: Apache-2.0
// Reference: all ranks copy their fields to a rotating set of touched buffers, and do nothing else.
#include <mpi.h>

#include "common/copy_reference.hpp"
#include "common/history_run.hpp"

namespace bench {
namespace {

class CopyWriter final : public HistoryWriter {
 public:
  CopyWriter(const Fields& fields, int ranks) : copies_(fields.bytes(), ranks) {}
  void open(int /*file*/) override {}
  void put(const Fields& fields, int /*file*/, int /*record*/) override { copies_.copy(fields.arrays()); }
  void close(int /*file*/) override {}
  void finish() override { MPI_Barrier(MPI_COMM_WORLD); }

 private:
  CopyReference copies_;
};

void run(const Options& options) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Fields fields(options.grid, tile_of(options.grid, rank, ranks));
  CopyWriter writer(fields, ranks);
  const Timings timings = run_history(options, MPI_COMM_WORLD, fields, writer);
  report(options, MPI_COMM_WORLD, timings, {{"program", "plain_copy"}});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv, "memcpy of the history's bytes", bench::run);
}
