// SPDX-License-Identifier: Apache-2.0
// A history file written by netCDF-4, for the serial and for the parallel build of the library.
// Header-only, because the two builds of netCDF have the same symbols and must not be linked into
// one program.
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <stdexcept>
#include <string>

#include "common/workload.hpp"

namespace bench {

class NetcdfFile {
 public:
  /// Creates and defines the file through the serial interface.
  void create(const std::string& path, const Grid& grid, const Tile& chunk) {
    path_ = path;
    check(nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &id_), "create");
    define(grid, chunk);
  }

  /// Takes a file that `nc_create_par` opened, and defines it.
  void adopt(int id, const std::string& path, const Grid& grid, const Tile& chunk) {
    id_ = id;
    path_ = path;
    define(grid, chunk);
  }

  /// Writes a rank's tile of one record.
  void write(std::size_t record, const Grid& grid, const Tile& tile, const float* volume,
             const float* surface) {
    const std::size_t start[] = {record, 0, tile.lat_start, tile.lon_start};
    const std::size_t count[] = {1, grid.levels, tile.lat_count, tile.lon_count};
    check(nc_put_vara_float(id_, volume_id_, start, count, volume), "write temperature");
    const std::size_t surface_start[] = {record, tile.lat_start, tile.lon_start};
    const std::size_t surface_count[] = {1, tile.lat_count, tile.lon_count};
    check(nc_put_vara_float(id_, surface_id_, surface_start, surface_count, surface), "write pressure");
  }

  void close() { check(nc_close(id_), "close"); }

  [[nodiscard]] int volume_id() const { return volume_id_; }
  [[nodiscard]] int surface_id() const { return surface_id_; }

  void check(int status, const char* operation) const {
    if (status != NC_NOERR) throw std::runtime_error(path_ + ": " + operation + ": " + nc_strerror(status));
  }

 private:
  /// No fill, and chunks of all levels of a box, one record deep: among the shapes tried (a level,
  /// 4 MiB of levels, a record, a rank's tile) the whole box was the fastest for both builds of the
  /// library.
  void define(const Grid& grid, const Tile& chunk) {
    int time = 0;
    int level = 0;
    int lat = 0;
    int lon = 0;
    check(nc_set_fill(id_, NC_NOFILL, nullptr), "set fill mode");
    check(nc_def_dim(id_, "time", NC_UNLIMITED, &time), "define time");
    check(nc_def_dim(id_, "lev", grid.levels, &level), "define lev");
    check(nc_def_dim(id_, "lat", grid.lat, &lat), "define lat");
    check(nc_def_dim(id_, "lon", grid.lon, &lon), "define lon");
    const int volume_dims[] = {time, level, lat, lon};
    const int surface_dims[] = {time, lat, lon};
    check(nc_def_var(id_, "temperature", NC_FLOAT, 4, volume_dims, &volume_id_), "define temperature");
    check(nc_def_var(id_, "pressure", NC_FLOAT, 3, surface_dims, &surface_id_), "define pressure");
    const std::size_t volume_chunk[] = {1, grid.levels, chunk.lat_count, chunk.lon_count};
    const std::size_t surface_chunk[] = {1, chunk.lat_count, chunk.lon_count};
    check(nc_def_var_chunking(id_, volume_id_, NC_CHUNKED, volume_chunk), "chunk temperature");
    check(nc_def_var_chunking(id_, surface_id_, NC_CHUNKED, surface_chunk), "chunk pressure");
    check(nc_put_att_text(id_, volume_id_, "units", 1, "K"), "describe temperature");
    check(nc_put_att_text(id_, surface_id_, "units", 2, "Pa"), "describe pressure");
    check(nc_enddef(id_), "end definitions");
  }

  int id_ = -1;
  int volume_id_ = -1;
  int surface_id_ = -1;
  std::string path_;
};

}  // namespace bench
