// SPDX-License-Identifier: Apache-2.0
// Baseline: the model computes daily means, which are gathered on rank 0 and written with serial
// netCDF-4.
#include <mpi.h>
#include <netcdf.h>

#include <algorithm>

#include "common/durable.hpp"
#include "fields/means.hpp"

namespace bench::fields {
namespace {

class GatherWriter final : public MeansWriter {
 public:
  GatherWriter(const Case& of, const Model& model) : MeansWriter(of, model) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    if (rank_ != 0) return;
    int id = -1;
    file_.check(nc_create(path().c_str(), NC_NETCDF4 | NC_CLOBBER, &id), "create");
    file_.define(id, path(), of, whole());
    if (ranks_ == 1) return;
    global_.resize(of.grid.plane() * of.planes());
    for (int rank = 1; rank < ranks_; ++rank)
      incoming_.emplace_back(tile_of(of.grid, rank, ranks_).plane() * of.planes());
  }

  void finish() override {
    if (rank_ == 0) {
      file_.close();
      make_durable({path()}, of().directory);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

 protected:
  void write_day(std::size_t day, const std::vector<float>& means) override {
    if (ranks_ > 1) gather(means);
    if (rank_ == 0) file_.write(day, whole(), ranks_ > 1 ? global_ : means);
  }

 private:
  [[nodiscard]] Tile whole() const { return {0, of().grid.lat, 0, of().grid.lon}; }

  void gather(const std::vector<float>& means) {
    if (rank_ != 0) {
      MPI_Send(means.data(), static_cast<int>(means.size()), MPI_FLOAT, 0, 0, MPI_COMM_WORLD);
      return;
    }
    std::vector<MPI_Request> requests;
    for (int rank = 1; rank < ranks_; ++rank) {
      std::vector<float>& part = incoming_[static_cast<std::size_t>(rank - 1)];
      MPI_Irecv(part.data(), static_cast<int>(part.size()), MPI_FLOAT, rank, 0, MPI_COMM_WORLD,
                &requests.emplace_back());
    }
    place(0, means);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int rank = 1; rank < ranks_; ++rank) place(rank, incoming_[static_cast<std::size_t>(rank - 1)]);
  }

  /// Copies a rank's part to its place in the global array.
  void place(int rank, const std::vector<float>& part) {
    const Tile tile = tile_of(of().grid, rank, ranks_);
    const std::size_t lon = of().grid.lon;
    for (std::size_t plane = 0; plane < of().planes(); ++plane)
      for (std::size_t j = 0; j < tile.lat_count; ++j)
        std::copy_n(part.data() + (plane * tile.lat_count + j) * tile.lon_count, tile.lon_count,
                    global_.data() + plane * of().grid.plane() + (tile.lat_start + j) * lon + tile.lon_start);
  }

  int rank_ = 0;
  int ranks_ = 1;
  MeansFile file_;
  std::vector<float> global_;
  std::vector<std::vector<float>> incoming_;  ///< one per rank from 1
};

void run(const Case& of) {
  run_case(of, MPI_COMM_WORLD, [&](const Model& model) { return std::make_unique<GatherWriter>(of, model); },
           {{"program", "gather_fields"}, {"library", nc_inq_libvers()}});
}

}  // namespace
}  // namespace bench::fields

int main(int argc, char** argv) {
  return bench::fields::run_program(
      argc, argv, "daily means of the model, by gather to rank 0 and serial netCDF-4", bench::fields::run);
}
