// SPDX-License-Identifier: Apache-2.0
// Baseline: all ranks write one netCDF-4 file together, collectively, with the parallel builds of
// netCDF and HDF5.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include "common/durable.hpp"
#include "common/history_run.hpp"
#include "history/netcdf_file.hpp"

namespace bench {
namespace {

class ParallelWriter final : public HistoryWriter {
 public:
  ParallelWriter(const Options& options, MPI_Comm model) : options_(options), model_(model) {
    int ranks = 0;
    MPI_Comm_size(model, &ranks);
    chunk_ = tile_of(options.grid, 0, ranks);
  }

  void open(int file) override {
    const std::string path = options_.file_path(file);
    int id = -1;
    file_.check(nc_create_par(path.c_str(), NC_NETCDF4 | NC_CLOBBER, model_, MPI_INFO_NULL, &id),
                "create in parallel");
    file_.adopt(id, path, options_.grid, chunk_);
    file_.check(nc_var_par_access(id, file_.volume_id(), NC_COLLECTIVE), "make temperature collective");
    file_.check(nc_var_par_access(id, file_.surface_id(), NC_COLLECTIVE), "make pressure collective");
  }

  void put(const Fields& fields, int /*file*/, int record) override {
    file_.write(static_cast<std::size_t>(record), options_.grid, fields.tile(), fields.volume().data(),
                fields.surface().data());
  }

  void close(int /*file*/) override { file_.close(); }

  void finish() override { finish_on_rank_0(options_, model_); }

 private:
  const Options& options_;
  MPI_Comm model_;
  Tile chunk_;  ///< rank 0's, the largest; with up to 2 x 2 ranks each tile is one chunk
  NetcdfFile file_;
};

void run(const Options& options) {
  ParallelWriter writer(options, MPI_COMM_WORLD);
  run_baseline(options, writer, {{"program", "parallel_netcdf"}, {"library", nc_inq_libvers()}});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv, "history by parallel netCDF-4, collective", bench::run);
}
