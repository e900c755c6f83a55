// SPDX-License-Identifier: Apache-2.0
// Baseline: all processes write one CDF-5 file with PnetCDF, collectively.
#include <mpi.h>
#include <pnetcdf.h>

#include <stdexcept>

#include "shared/shared_run.hpp"

namespace bench::shared {
namespace {

void check(int status, const char* operation) {
  if (status != NC_NOERR) throw std::runtime_error(std::string(operation) + ": " + ncmpi_strerror(status));
}

class PnetcdfFile final : public Writer {
 public:
  explicit PnetcdfFile(const Options& options) : options_(options), hints_(options) {}

  void open(const Block& block) override {
    check(
        ncmpi_create(MPI_COMM_WORLD, options_.path().c_str(), NC_64BIT_DATA | NC_CLOBBER, hints_.get(), &id_),
        "create");
    const auto length = [](std::size_t value) { return static_cast<MPI_Offset>(value); };
    int dimensions[4] = {};
    check(ncmpi_def_dim(id_, "time", NC_UNLIMITED, &dimensions[0]), "define time");
    check(ncmpi_def_dim(id_, "lev", length(block.grid().levels), &dimensions[1]), "define lev");
    check(ncmpi_def_dim(id_, "lat", length(block.grid().lat), &dimensions[2]), "define lat");
    check(ncmpi_def_dim(id_, "lon", length(block.grid().lon), &dimensions[3]), "define lon");
    check(ncmpi_def_var(id_, "field", NC_FLOAT, 4, dimensions, &variable_), "define field");
    check(ncmpi_enddef(id_), "end definitions");
  }

  void write(const Block& block, int record) override {
    const Tile& tile = block.tile();
    const auto length = [](std::size_t value) { return static_cast<MPI_Offset>(value); };
    const MPI_Offset start[] = {record, 0, length(tile.lat_start), length(tile.lon_start)};
    const MPI_Offset count[] = {1, length(block.grid().levels), length(tile.lat_count),
                                length(tile.lon_count)};
    check(ncmpi_put_vara_float_all(id_, variable_, start, count, block.data()), "write");
  }

  void finish() override {
    check(ncmpi_close(id_), "close");
    make_shared_file_durable(options_);
  }

 private:
  const Options& options_;
  Hints hints_;
  int id_ = -1;
  int variable_ = -1;
};

void body(const Options& options) {
  PnetcdfFile writer(options);
  run(options, MPI_COMM_WORLD, writer, {{"program", "pnetcdf_shared"}, {"library", ncmpi_inq_libvers()}});
}

}  // namespace
}  // namespace bench::shared

int main(int argc, char** argv) {
  return bench::shared::run_program(argc, argv, "one shared CDF-5 file by PnetCDF", bench::shared::body);
}
