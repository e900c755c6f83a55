// SPDX-License-Identifier: Apache-2.0
// Baseline: the model computes daily means, which all ranks write together, collectively, with
// parallel netCDF-4.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include "common/durable.hpp"
#include "fields/means.hpp"

namespace bench::fields {
namespace {

class ParallelWriter final : public MeansWriter {
 public:
  ParallelWriter(const Case& of, const Model& model) : MeansWriter(of, model), tile_(model.tile()) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int id = -1;
    file_.check(nc_create_par(path().c_str(), NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &id),
                "create in parallel");
    file_.define(id, path(), of, tile_of(of.grid, 0, ranks));
    for (const int variable : file_.variables())
      file_.check(nc_var_par_access(id, variable, NC_COLLECTIVE), "make a field collective");
  }

  void finish() override {
    file_.close();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) make_durable({path()}, of().directory);
    MPI_Barrier(MPI_COMM_WORLD);
  }

 protected:
  void write_day(std::size_t day, const std::vector<float>& means) override {
    file_.write(day, tile_, means);
  }

 private:
  Tile tile_;
  MeansFile file_;
};

void run(const Case& of) {
  run_case(of, MPI_COMM_WORLD,
           [&](const Model& model) { return std::make_unique<ParallelWriter>(of, model); },
           {{"program", "parallel_netcdf_fields"}, {"library", nc_inq_libvers()}});
}

}  // namespace
}  // namespace bench::fields

int main(int argc, char** argv) {
  return bench::fields::run_program(argc, argv, "daily means of the model, by parallel netCDF-4",
                                    bench::fields::run);
}
