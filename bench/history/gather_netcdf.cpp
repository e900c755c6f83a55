// SPDX-License-Identifier: Apache-2.0
// Baseline: every field is gathered on rank 0, which writes it with serial netCDF-4.
#include <mpi.h>
#include <netcdf.h>

#include <algorithm>
#include <stdexcept>

#include "common/durable.hpp"
#include "common/history_run.hpp"
#include "history/netcdf_file.hpp"

namespace bench {
namespace {

class GatherWriter final : public HistoryWriter {
 public:
  GatherWriter(const Options& options, MPI_Comm model) : options_(options), model_(model) {
    MPI_Comm_rank(model, &rank_);
    MPI_Comm_size(model, &ranks_);
    if (rank_ != 0 || ranks_ == 1) return;
    global_.resize(options.grid.plane() * (options.grid.levels + 1));
    for (int rank = 1; rank < ranks_; ++rank) {
      const Tile tile = tile_of(options.grid, rank, ranks_);
      incoming_.emplace_back(tile.plane() * (options.grid.levels + 1));
    }
  }

  void open(int file) override {
    if (rank_ == 0) file_.create(options_.file_path(file), options_.grid, whole());
  }

  void put(const Fields& fields, int /*file*/, int record) override {
    const float* volume = fields.volume().data();
    const float* surface = fields.surface().data();
    if (ranks_ > 1) {
      gather(fields);
      volume = global_.data();
      surface = global_.data() + options_.grid.plane() * options_.grid.levels;
    }
    if (rank_ != 0) return;
    file_.write(static_cast<std::size_t>(record), options_.grid, whole(), volume, surface);
  }

  void close(int /*file*/) override {
    if (rank_ == 0) file_.close();
  }

  void finish() override { finish_on_rank_0(options_, model_); }

 private:
  [[nodiscard]] Tile whole() const { return {0, options_.grid.lat, 0, options_.grid.lon}; }

  void gather(const Fields& fields) {
    const int volume_count = static_cast<int>(fields.volume().size());
    const int surface_count = static_cast<int>(fields.surface().size());
    if (rank_ != 0) {
      MPI_Send(fields.volume().data(), volume_count, MPI_FLOAT, 0, 0, model_);
      MPI_Send(fields.surface().data(), surface_count, MPI_FLOAT, 0, 1, model_);
      return;
    }
    std::vector<MPI_Request> requests;
    for (int rank = 1; rank < ranks_; ++rank) {
      std::vector<float>& part = incoming_[static_cast<std::size_t>(rank - 1)];
      const std::size_t plane = part.size() / (options_.grid.levels + 1);
      const std::size_t volume = plane * options_.grid.levels;
      MPI_Irecv(part.data(), static_cast<int>(volume), MPI_FLOAT, rank, 0, model_, &requests.emplace_back());
      MPI_Irecv(part.data() + volume, static_cast<int>(plane), MPI_FLOAT, rank, 1, model_,
                &requests.emplace_back());
    }
    place(fields.tile(), fields.volume().data(), fields.surface().data());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int rank = 1; rank < ranks_; ++rank) {
      const std::vector<float>& part = incoming_[static_cast<std::size_t>(rank - 1)];
      const Tile tile = tile_of(options_.grid, rank, ranks_);
      place(tile, part.data(), part.data() + tile.plane() * options_.grid.levels);
    }
  }

  /// Copies a rank's part to its place in the global arrays.
  void place(const Tile& tile, const float* volume, const float* surface) {
    for (std::size_t level = 0; level <= options_.grid.levels; ++level) {
      const float* source = level < options_.grid.levels ? volume + level * tile.plane() : surface;
      float* plane = global_.data() + level * options_.grid.plane();
      for (std::size_t j = 0; j < tile.lat_count; ++j) {
        std::copy_n(source + j * tile.lon_count, tile.lon_count,
                    plane + (tile.lat_start + j) * options_.grid.lon + tile.lon_start);
      }
    }
  }

  const Options& options_;
  MPI_Comm model_;
  int rank_ = 0;
  int ranks_ = 1;
  NetcdfFile file_;
  std::vector<float> global_;                 ///< volume, then surface
  std::vector<std::vector<float>> incoming_;  ///< one per rank from 1
};

void run(const Options& options) {
  GatherWriter writer(options, MPI_COMM_WORLD);
  run_baseline(options, writer, {{"program", "gather_netcdf"}, {"library", nc_inq_libvers()}});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv, "history by gather to rank 0 and serial netCDF-4", bench::run);
}
