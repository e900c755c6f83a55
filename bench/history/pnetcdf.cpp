// SPDX-License-Identifier: Apache-2.0
// Baseline: all ranks write one CDF-5 file together with PnetCDF. --mode blocking: put_vara_all for
// each field; --mode nonblocking: iput for both fields and one wait_all per step (the model changes
// its arrays in the next step, so requests cannot stay open for longer).
#include <mpi.h>
#include <pnetcdf.h>

#include <array>
#include <stdexcept>

#include "common/durable.hpp"
#include "common/history_run.hpp"

namespace bench {
namespace {

class PnetcdfWriter final : public HistoryWriter {
 public:
  PnetcdfWriter(const Options& options, MPI_Comm model, bool blocking)
      : options_(options), model_(model), blocking_(blocking) {}

  void open(int file) override {
    path_ = options_.file_path(file);
    check(ncmpi_create(model_, path_.c_str(), NC_64BIT_DATA | NC_CLOBBER, MPI_INFO_NULL, &id_), "create");
    define();
  }

  void put(const Fields& fields, int /*file*/, int record) override {
    const Tile& tile = fields.tile();
    const auto lat = static_cast<MPI_Offset>(tile.lat_start);
    const auto lon = static_cast<MPI_Offset>(tile.lon_start);
    const auto lats = static_cast<MPI_Offset>(tile.lat_count);
    const auto lons = static_cast<MPI_Offset>(tile.lon_count);
    const MPI_Offset start[] = {record, 0, lat, lon};
    const MPI_Offset count[] = {1, static_cast<MPI_Offset>(options_.grid.levels), lats, lons};
    const MPI_Offset surface_start[] = {record, lat, lon};
    const MPI_Offset surface_count[] = {1, lats, lons};
    if (blocking_) {
      check(ncmpi_put_vara_float_all(id_, volume_id_, start, count, fields.volume().data()),
            "write temperature");
      check(ncmpi_put_vara_float_all(id_, surface_id_, surface_start, surface_count, fields.surface().data()),
            "write pressure");
      return;
    }
    std::array<int, 2> requests{};
    std::array<int, 2> statuses{};
    check(ncmpi_iput_vara_float(id_, volume_id_, start, count, fields.volume().data(), &requests[0]),
          "post temperature");
    check(ncmpi_iput_vara_float(id_, surface_id_, surface_start, surface_count, fields.surface().data(),
                                &requests[1]),
          "post pressure");
    check(ncmpi_wait_all(id_, 2, requests.data(), statuses.data()), "wait for writes");
    for (const int status : statuses) check(status, "write");
  }

  void close(int /*file*/) override { check(ncmpi_close(id_), "close"); }

  void finish() override { finish_on_rank_0(options_, model_); }

 private:
  void define() {
    int time = 0;
    int level = 0;
    int lat = 0;
    int lon = 0;
    const auto length = [](std::size_t value) { return static_cast<MPI_Offset>(value); };
    check(ncmpi_def_dim(id_, "time", NC_UNLIMITED, &time), "define time");
    check(ncmpi_def_dim(id_, "lev", length(options_.grid.levels), &level), "define lev");
    check(ncmpi_def_dim(id_, "lat", length(options_.grid.lat), &lat), "define lat");
    check(ncmpi_def_dim(id_, "lon", length(options_.grid.lon), &lon), "define lon");
    const int volume_dims[] = {time, level, lat, lon};
    const int surface_dims[] = {time, lat, lon};
    check(ncmpi_def_var(id_, "temperature", NC_FLOAT, 4, volume_dims, &volume_id_), "define temperature");
    check(ncmpi_def_var(id_, "pressure", NC_FLOAT, 3, surface_dims, &surface_id_), "define pressure");
    check(ncmpi_put_att_text(id_, volume_id_, "units", 1, "K"), "describe temperature");
    check(ncmpi_put_att_text(id_, surface_id_, "units", 2, "Pa"), "describe pressure");
    check(ncmpi_enddef(id_), "end definitions");
  }

  void check(int status, const char* operation) const {
    if (status != NC_NOERR)
      throw std::runtime_error(path_ + ": " + operation + ": " + ncmpi_strerror(status));
  }

  const Options& options_;
  MPI_Comm model_;
  bool blocking_;
  int id_ = -1;
  int volume_id_ = -1;
  int surface_id_ = -1;
  std::string path_;
};

void run(const Options& options) {
  if (options.mode != "blocking" && options.mode != "nonblocking") {
    throw std::invalid_argument("--mode is '" + options.mode + "'; give blocking or nonblocking");
  }
  PnetcdfWriter writer(options, MPI_COMM_WORLD, options.mode == "blocking");
  run_baseline(options, writer,
               {{"program", "pnetcdf"}, {"mode", options.mode}, {"library", ncmpi_inq_libvers()}});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv, "history by PnetCDF, CDF-5", bench::run);
}
