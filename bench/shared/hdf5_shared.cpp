// SPDX-License-Identifier: Apache-2.0
// Baseline: all processes write one HDF5 file with parallel HDF5, one dataset (record, level, lat,
// lon) without fill values. --mode collective or independent; contiguous, or --chunked.
#include <hdf5.h>
#include <mpi.h>

#include <stdexcept>

#include "shared/shared_run.hpp"

namespace bench::shared {
namespace {

/// Returns valid identifiers and statuses unchanged.
template <class T>
T checked(T result, const char* operation) {
  if (result < 0) throw std::runtime_error(std::string("HDF5: ") + operation + " failed");
  return result;
}

class Hdf5File final : public Writer {
 public:
  explicit Hdf5File(const Options& options) : options_(options), hints_(options) {}

  void open(const Block& block) override {
    const hid_t access = checked(H5Pcreate(H5P_FILE_ACCESS), "make access properties");
    checked(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, hints_.get()), "choose MPI-IO");
    file_ = checked(H5Fcreate(options_.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "create");
    H5Pclose(access);
    const Grid& grid = block.grid();
    const auto records = static_cast<hsize_t>(options_.records);
    const hsize_t lengths[] = {records, grid.levels, grid.lat, grid.lon};
    space_ = checked(H5Screate_simple(4, lengths, nullptr), "make the space");
    const hid_t creation = checked(H5Pcreate(H5P_DATASET_CREATE), "make creation properties");
    checked(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "leave out fill values");
    const hsize_t chunk[] = {1, grid.levels, block.tile().lat_count, block.tile().lon_count};
    if (options_.chunked) checked(H5Pset_chunk(creation, 4, chunk), "choose chunks");
    dataset_ = checked(H5Dcreate2(file_, "field", H5T_IEEE_F32LE, space_, H5P_DEFAULT, creation, H5P_DEFAULT),
                       "create the dataset");
    H5Pclose(creation);
    transfer_ = checked(H5Pcreate(H5P_DATASET_XFER), "make transfer properties");
    const bool collective = options_.mode == "collective";
    checked(H5Pset_dxpl_mpio(transfer_, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT),
            "choose the mode");
    // With the same shape as the selection in the file: otherwise HDF5 maps chunks point by point
    // (20 times slower).
    const hsize_t counts[] = {1, grid.levels, block.tile().lat_count, block.tile().lon_count};
    memory_ = checked(H5Screate_simple(4, counts, nullptr), "make the memory space");
  }

  void write(const Block& block, int record) override {
    const Tile& tile = block.tile();
    const hsize_t start[] = {static_cast<hsize_t>(record), 0, tile.lat_start, tile.lon_start};
    const hsize_t count[] = {1, block.grid().levels, tile.lat_count, tile.lon_count};
    checked(H5Sselect_hyperslab(space_, H5S_SELECT_SET, start, nullptr, count, nullptr), "select the block");
    checked(H5Dwrite(dataset_, H5T_NATIVE_FLOAT, memory_, space_, transfer_, block.data()), "write");
  }

  void finish() override {
    H5Sclose(memory_);
    H5Pclose(transfer_);
    H5Sclose(space_);
    checked(H5Dclose(dataset_), "close the dataset");
    checked(H5Fclose(file_), "close the file");
    make_shared_file_durable(options_);
  }

 private:
  const Options& options_;
  Hints hints_;
  hid_t file_ = -1;
  hid_t space_ = -1;
  hid_t memory_ = -1;
  hid_t dataset_ = -1;
  hid_t transfer_ = -1;
};

void body(const Options& options) {
  check_mode(options, {"collective", "independent"});
  Hdf5File writer(options);
  run(options, MPI_COMM_WORLD, writer,
      {{"program", "hdf5_shared"}, {"mode", options.mode}, {"chunked", options.chunked}});
}

}  // namespace
}  // namespace bench::shared

int main(int argc, char** argv) {
  return bench::shared::run_program(argc, argv, "one shared HDF5 file", bench::shared::body);
}
