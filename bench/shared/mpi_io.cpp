// SPDX-License-Identifier: Apache-2.0
// Baseline: all processes write one binary file, (record, level, lat, lon), with MPI-IO. --mode
// collective or independent.
#include <mpi.h>

#include <stdexcept>

#include "shared/shared_run.hpp"

namespace bench::shared {
namespace {

void check(int status, const char* operation) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw std::runtime_error(std::string(operation) + ": " + text);
}

class MpiFile final : public Writer {
 public:
  explicit MpiFile(const Options& options) : options_(options), hints_(options) {}

  void open(const Block& block) override {
    check(MPI_File_open(MPI_COMM_WORLD, options_.path().c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY,
                        hints_.get(), &file_),
          "open");
    const Grid& grid = block.grid();
    const Tile& tile = block.tile();
    const auto whole = [](std::size_t value) { return static_cast<int>(value); };
    const int sizes[] = {whole(grid.levels), whole(grid.lat), whole(grid.lon)};
    const int counts[] = {whole(grid.levels), whole(tile.lat_count), whole(tile.lon_count)};
    const int starts[] = {0, whole(tile.lat_start), whole(tile.lon_start)};
    check(MPI_Type_create_subarray(3, sizes, counts, starts, MPI_ORDER_C, MPI_FLOAT, &part_),
          "describe the block");
    check(MPI_Type_commit(&part_), "commit the type");
    record_bytes_ = static_cast<MPI_Offset>(grid.plane() * grid.levels * sizeof(float));
  }

  void write(const Block& block, int record) override {
    check(MPI_File_set_view(file_, record * record_bytes_, MPI_FLOAT, part_, "native", hints_.get()),
          "set the view");
    const auto points = static_cast<int>(block.points());
    const auto put = options_.mode == "collective" ? MPI_File_write_all : MPI_File_write;
    check(put(file_, block.data(), points, MPI_FLOAT, MPI_STATUS_IGNORE), "write");
  }

  void finish() override {
    check(MPI_File_close(&file_), "close");
    MPI_Type_free(&part_);
    make_shared_file_durable(options_);
  }

 private:
  const Options& options_;
  Hints hints_;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Datatype part_ = MPI_DATATYPE_NULL;
  MPI_Offset record_bytes_ = 0;
};

void body(const Options& options) {
  check_mode(options, {"collective", "independent"});
  MpiFile writer(options);
  run(options, MPI_COMM_WORLD, writer, {{"program", "mpi_io"}, {"mode", options.mode}});
}

}  // namespace
}  // namespace bench::shared

int main(int argc, char** argv) {
  return bench::shared::run_program(argc, argv, "one shared file by MPI-IO", bench::shared::body);
}
