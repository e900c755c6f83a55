// SPDX-License-Identifier: Apache-2.0
// netCDF-4's own filters: records of one chunk are put into a file in memory (NC_DISKLESS), which
// bypass the chunk cache, so that each put packs its chunk. Creating and closing are not counted.
#include <netcdf.h>
#include <netcdf_filter.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <stdexcept>

#include "common/timing.hpp"
#include "packing/case.hpp"

namespace bench::packing {
namespace {

constexpr unsigned zstd_filter = 32015;

struct Filters {
  int deflate = 0;
  int zstd = 0;
  bool shuffle = false;
  std::string quantize;  ///< bitround, granular_bitround, bitgroom; empty: none
  int number = 0;        ///< number of bits or digits
};

void check(int status, const char* what) {
  if (status != NC_NOERR) throw std::runtime_error(std::string(what) + ": " + nc_strerror(status));
}

class NetcdfPacker final : public Packer {
 public:
  NetcdfPacker(Filters filters, std::string path) : filters_(std::move(filters)), path_(std::move(path)) {}
  ~NetcdfPacker() override {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  Packed pack(const Data& data) override {
    create(data);
    const double start = now_s();
    for (std::size_t copy = 0; copy < data.copies; ++copy) {
      const std::size_t first[] = {copy, 0, 0, 0};
      const std::size_t count[] = {1, data.levels, data.rows, data.columns};
      check(nc_put_vara_float(file_, variable_, first, count, data.chunk(copy).data()), "nc_put_vara_float");
    }
    const double seconds = now_s() - start;
    check(nc_close(file_), "nc_close");
    return {seconds, std::filesystem::file_size(path_)};
  }

  double unpack(const Data& data, std::span<float> to) override {
    int file = -1;
    check(nc_open(path_.c_str(), NC_NOWRITE, &file), "nc_open");
    check(nc_set_var_chunk_cache(file, variable_, 0, 1, 0), "nc_set_var_chunk_cache");
    const double start = now_s();
    for (std::size_t copy = 0; copy < data.copies; ++copy) {
      const std::size_t first[] = {copy, 0, 0, 0};
      const std::size_t count[] = {1, data.levels, data.rows, data.columns};
      check(nc_get_vara_float(file, variable_, first, count, to.data() + copy * data.chunk_values()),
            "nc_get_vara_float");
    }
    const double seconds = now_s() - start;
    check(nc_close(file), "nc_close");
    return seconds;
  }

 private:
  void create(const Data& data) {
    check(nc_create(path_.c_str(), NC_NETCDF4 | NC_CLOBBER | NC_DISKLESS | NC_PERSIST, &file_), "nc_create");
    int dimensions[4];
    check(nc_def_dim(file_, "time", NC_UNLIMITED, &dimensions[0]), "nc_def_dim");
    check(nc_def_dim(file_, "level", data.levels, &dimensions[1]), "nc_def_dim");
    check(nc_def_dim(file_, "row", data.rows, &dimensions[2]), "nc_def_dim");
    check(nc_def_dim(file_, "column", data.columns, &dimensions[3]), "nc_def_dim");
    check(nc_def_var(file_, "x", NC_FLOAT, 4, dimensions, &variable_), "nc_def_var");
    const std::size_t chunk[] = {1, data.levels, data.rows, data.columns};
    check(nc_def_var_chunking(file_, variable_, NC_CHUNKED, chunk), "nc_def_var_chunking");
    if (data.missing == data.missing)
      check(nc_def_var_fill(file_, variable_, NC_FILL, &data.missing), "nc_def_var_fill");
    filter();
    check(nc_enddef(file_), "nc_enddef");
    // Not before: netCDF-C would make room for 10 chunks, and pack these when the file is closed.
    check(nc_set_var_chunk_cache(file_, variable_, 0, 1, 0), "nc_set_var_chunk_cache");
  }

  void filter() {
    if (!filters_.quantize.empty()) {
      const int mode = filters_.quantize == "bitround"   ? NC_QUANTIZE_BITROUND
                       : filters_.quantize == "bitgroom" ? NC_QUANTIZE_BITGROOM
                                                         : NC_QUANTIZE_GRANULARBR;
      check(nc_def_var_quantize(file_, variable_, mode, filters_.number), "nc_def_var_quantize");
    }
    if (filters_.shuffle || filters_.deflate > 0)
      check(nc_def_var_deflate(file_, variable_, filters_.shuffle ? 1 : 0, filters_.deflate > 0 ? 1 : 0,
                               filters_.deflate),
            "nc_def_var_deflate");
    if (filters_.zstd > 0) {
      const auto level = static_cast<unsigned>(filters_.zstd);
      check(nc_def_var_filter(file_, variable_, zstd_filter, 1, &level),
            "nc_def_var_filter, zstd (HDF5_PLUGIN_PATH)");
    }
  }

  Filters filters_;
  std::string path_;
  int file_ = -1, variable_ = -1;
};

}  // namespace
}  // namespace bench::packing

int main(int argc, char** argv) {
  using namespace bench::packing;
  Filters filters;
  const std::string path =
      std::filesystem::temp_directory_path() / ("packing-" + std::to_string(::getpid()) + ".nc");
  return run_program(argc, argv,
                     {"netcdf_packing",
                      [&](CLI::App& app) {
                        app.add_option("--deflate", filters.deflate);
                        app.add_option("--zstd", filters.zstd);
                        app.add_flag("--shuffle", filters.shuffle);
                        app.add_option("--quantize", filters.quantize)
                            ->check(CLI::IsMember({"bitround", "granular_bitround", "bitgroom"}));
                        app.add_option("--number", filters.number, "of bits or digits");
                      },
                      [&](const Data&, std::unique_ptr<Packer>&) -> std::unique_ptr<Packer> {
                        return std::make_unique<NetcdfPacker>(filters, path);
                      }});
}
