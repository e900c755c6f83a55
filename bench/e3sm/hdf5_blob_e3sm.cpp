// SPDX-License-Identifier: Apache-2.0
// Baseline: parallel HDF5 in the "blob" layout. The data of all variables of a rank lie in one
// contiguous block of one dataset, in the rank's own order. This is the minimum for a library; the
// file must be converted before it can be read (it contains neither schema nor maps, unlike a real
// blob file). post copies the arrays into the block, because the model may change them; close
// writes all blocks at once. --mode collective or independent: how the blocks are written.
#include <hdf5.h>
#include <mpi.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "e3sm/run.hpp"

namespace bench::e3sm {
namespace {

class BlobWriter final : public Writer {
 public:
  BlobWriter(const Options& options, const Case& source, const Fields& fields)
      : options_(options), fields_(fields), path_(options.directory + "/e3sm.h5") {
    describe(source);
    unsigned long own = described_.size() + fields.bytes(0);
    if (options.records > 1) own += static_cast<unsigned long>(options.records - 1) * fields.bytes(1);
    unsigned long before = 0;
    unsigned long total = 0;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Exscan(&own, &before, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    start_ = rank == 0 ? 0 : before;
    total_ = total;
    own_ = own;
  }

  void open() override {
    const hid_t access = check(H5Pcreate(H5P_FILE_ACCESS), "make access list");
    check(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "choose MPI-IO");
    check(H5Pset_coll_metadata_write(access, 1), "collective metadata");
    file_ = check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "create");
    check(H5Pclose(access), "close access list");
    const hid_t space = check(H5Screate_simple(1, &total_, nullptr), "make space");
    const hid_t creation = check(H5Pcreate(H5P_DATASET_CREATE), "make creation list");
    check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "set fill time");
    dataset_ = check(H5Dcreate2(file_, "blob", H5T_NATIVE_UCHAR, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                     "create dataset");
    check(H5Pclose(creation), "close creation list");
    check(H5Sclose(space), "close space");
  }

  void post(int record) override {
    if (record == 0) {
      block_.clear();
      block_.reserve(own_);
      block_.insert(block_.end(), described_.begin(), described_.end());
    }
    for (const auto& part : fields_.parts(record)) block_.insert(block_.end(), part.begin(), part.end());
  }

  void flush(int /*record*/) override {}

  void close() override {
    write();
    check(H5Dclose(dataset_), "close dataset");
    check(H5Fclose(file_), "close");
  }

  void finish() override { finish_on_rank_0(options_, path_, MPI_COMM_WORLD); }

 private:
  /// This rank's maps; on rank 0 also the schema.
  void describe(const Case& source) {
    const auto append = [&](const void* data, std::size_t bytes) {
      const auto* first = static_cast<const std::byte*>(data);
      described_.insert(described_.end(), first, first + bytes);
    };
    if (fields_.rank() == 0) {
      std::ifstream file(options_.case_file);
      const std::string schema{std::istreambuf_iterator<char>(file), {}};
      append(schema.data(), schema.size());
    }
    for (const Map& map : source.maps) {
      const std::vector<std::int32_t> points(map.points.begin(), map.points.end());
      append(points.data(), points.size() * sizeof(std::int32_t));
    }
  }

  void write() {
    const hsize_t count = block_.size();
    const hid_t target = check(H5Screate_simple(1, &total_, nullptr), "make space");
    const hid_t source = check(H5Screate_simple(1, &count, nullptr), "make space");
    if (count > 0) {
      check(H5Sselect_hyperslab(target, H5S_SELECT_SET, &start_, nullptr, &count, nullptr), "select");
    } else {
      check(H5Sselect_none(target), "select nothing");
      check(H5Sselect_none(source), "select nothing");
    }
    const hid_t transfer = check(H5Pcreate(H5P_DATASET_XFER), "make transfer list");
    const bool together = options_.mode == "collective";
    check(H5Pset_dxpl_mpio(transfer, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT),
          "set transfer");
    check(H5Dwrite(dataset_, H5T_NATIVE_UCHAR, source, target, transfer, block_.data()), "write");
    check(H5Pclose(transfer), "close transfer list");
    check(H5Sclose(source), "close space");
    check(H5Sclose(target), "close space");
  }

  template <class Result>
  Result check(Result result, const char* what) const {
    if (result < 0) throw std::runtime_error(path_ + ": " + what + " failed");
    return result;
  }

  const Options& options_;
  const Fields& fields_;
  std::string path_;
  hsize_t start_ = 0;
  hsize_t total_ = 0;
  std::vector<std::byte> block_;
  std::vector<std::byte> described_;
  std::size_t own_ = 0;
  hid_t file_ = -1;
  hid_t dataset_ = -1;
};

void run(const Options& options) {
  if (options.mode != "collective" && options.mode != "independent") {
    throw std::invalid_argument("--mode is '" + options.mode + "'; give collective or independent");
  }
  run_baseline(options, ArrayOrder::captured, {{"program", "hdf5_blob_e3sm"}, {"mode", options.mode}},
               [&](const Case& source, const Fields& fields) {
                 return std::make_unique<BlobWriter>(options, source, fields);
               });
}

}  // namespace
}  // namespace bench::e3sm

int main(int argc, char** argv) {
  return bench::e3sm::run_program(argc, argv, "E3SM's bytes by parallel HDF5, one block a rank",
                                  bench::e3sm::run);
}
