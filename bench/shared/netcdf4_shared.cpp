// SPDX-License-Identifier: Apache-2.0
// Baseline: all processes write one netCDF-4 file with the parallel build of netCDF, without fill
// values. --mode collective or independent; contiguous, or --chunked.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include <stdexcept>

#include "shared/shared_run.hpp"

namespace bench::shared {
namespace {

void check(int status, const char* operation) {
  if (status != NC_NOERR) throw std::runtime_error(std::string(operation) + ": " + nc_strerror(status));
}

class ParallelFile final : public Writer {
 public:
  explicit ParallelFile(const Options& options) : options_(options), hints_(options) {}

  void open(const Block& block) override {
    check(nc_create_par(options_.path().c_str(), NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, hints_.get(), &id_),
          "create");
    const Grid& grid = block.grid();
    int dimensions[4] = {};
    check(nc_set_fill(id_, NC_NOFILL, nullptr), "set fill mode");
    check(nc_def_dim(id_, "time", static_cast<std::size_t>(options_.records), &dimensions[0]), "define time");
    check(nc_def_dim(id_, "lev", grid.levels, &dimensions[1]), "define lev");
    check(nc_def_dim(id_, "lat", grid.lat, &dimensions[2]), "define lat");
    check(nc_def_dim(id_, "lon", grid.lon, &dimensions[3]), "define lon");
    check(nc_def_var(id_, "field", NC_FLOAT, 4, dimensions, &variable_), "define field");
    const std::size_t chunk[] = {1, grid.levels, block.tile().lat_count, block.tile().lon_count};
    check(nc_def_var_chunking(id_, variable_, options_.chunked ? NC_CHUNKED : NC_CONTIGUOUS, chunk),
          "choose chunks");
    check(nc_enddef(id_), "end definitions");
    check(nc_var_par_access(id_, variable_, options_.mode == "collective" ? NC_COLLECTIVE : NC_INDEPENDENT),
          "choose the mode");
  }

  void write(const Block& block, int record) override {
    const Tile& tile = block.tile();
    const std::size_t start[] = {static_cast<std::size_t>(record), 0, tile.lat_start, tile.lon_start};
    const std::size_t count[] = {1, block.grid().levels, tile.lat_count, tile.lon_count};
    check(nc_put_vara_float(id_, variable_, start, count, block.data()), "write");
  }

  void finish() override {
    check(nc_close(id_), "close");
    make_shared_file_durable(options_);
  }

 private:
  const Options& options_;
  Hints hints_;
  int id_ = -1;
  int variable_ = -1;
};

void body(const Options& options) {
  check_mode(options, {"collective", "independent"});
  ParallelFile writer(options);
  run(options, MPI_COMM_WORLD, writer,
      {{"program", "netcdf4_shared"},
       {"mode", options.mode},
       {"chunked", options.chunked},
       {"library", nc_inq_libvers()}});
}

}  // namespace
}  // namespace bench::shared

int main(int argc, char** argv) {
  return bench::shared::run_program(argc, argv, "one shared netCDF-4 file", bench::shared::body);
}
