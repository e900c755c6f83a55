// SPDX-License-Identifier: Apache-2.0
// Baseline: threads gather into one array of their rank, a barrier, and the master writes it with
// parallel netCDF-4.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include <algorithm>
#include <stdexcept>

#include "common/durable.hpp"
#include "threads/case.hpp"

namespace bench::threads {
namespace {

class NetcdfOutput final : public Output {
 public:
  NetcdfOutput(const Case& of, const Band& mine) : of_(of), mine_(mine) {
    for (int v = 0; v < of.variables; ++v) whole_.emplace_back(of.levels * mine.count * of.lon);
  }
  void open(const std::string& name) override {
    path_ = of_.directory + "/" + name;
    variables_.clear();
    check(nc_create_par(path_.c_str(), NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &id_));
    int dims[4];
    check(nc_set_fill(id_, NC_NOFILL, nullptr));
    check(nc_def_dim(id_, "time", NC_UNLIMITED, &dims[0]));
    check(nc_def_dim(id_, "lev", of_.levels, &dims[1]));
    check(nc_def_dim(id_, "lat", of_.lat, &dims[2]));
    check(nc_def_dim(id_, "lon", of_.lon, &dims[3]));
    // Chunks of all levels of a rank's band: the fastest of the shapes that `history` tried.
    const std::size_t chunk[] = {1, of_.levels, mine_.count, of_.lon};
    for (int v = 0; v < of_.variables; ++v) {
      variables_.emplace_back();
      check(nc_def_var(id_, ("v" + std::to_string(v)).c_str(), NC_FLOAT, 4, dims, &variables_.back()));
      check(nc_def_var_chunking(id_, variables_.back(), NC_CHUNKED, chunk));
    }
    check(nc_enddef(id_));
    for (const int variable : variables_) check(nc_var_par_access(id_, variable, NC_COLLECTIVE));
  }
  void put(int thread, int /*step*/, const std::vector<Field>& fields) override {
    const Band band = band_of(mine_, thread, of_.threads);
    for (std::size_t v = 0; v < fields.size(); ++v)
      for (std::size_t level = 0; level < of_.levels; ++level)
        std::copy_n(fields[v].data() + level * band.count * of_.lon, band.count * of_.lon,
                    whole_[v].data() + (level * mine_.count + band.first - mine_.first) * of_.lon);
    wait(thread);
  }
  /// The main thread writes: with MPI_THREAD_FUNNELED no other may.
  void end_step(int step) override {
    const std::size_t start[] = {static_cast<std::size_t>(step), 0, mine_.first, 0};
    const std::size_t count[] = {1, of_.levels, mine_.count, of_.lon};
    for (std::size_t v = 0; v < variables_.size(); ++v)
      check(nc_put_vara_float(id_, variables_[v], start, count, whole_[v].data()));
  }
  void finish() override {
    check(nc_close(id_));
    make_durable({path_}, of_.directory);
  }

 private:
  void check(int status) const {
    if (status != NC_NOERR) throw std::runtime_error(path_ + ": " + nc_strerror(status));
  }

  const Case& of_;
  Band mine_;
  std::string path_;
  int id_ = -1;
  std::vector<int> variables_;
  std::vector<Field> whole_;
};

void run(const Case& of) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Band mine = band_of({0, of.lat}, rank, ranks);
  NetcdfOutput output(of, mine);
  run_case(of, MPI_COMM_WORLD, mine, output, {{"program", "netcdf_threads"}, {"library", nc_inq_libvers()}});
}

}  // namespace
}  // namespace bench::threads

int main(int argc, char** argv) {
  return bench::threads::run_program(
      argc, argv, "output by threads, gathered and written by parallel netCDF-4", bench::threads::run);
}
