// SPDX-License-Identifier: Apache-2.0
// Daily means that the model computes itself, and a netCDF-4 file for them. Header-only, because
// the serial and the parallel build of netCDF have the same symbols.
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/plain_sum.hpp"
#include "fields/case.hpp"

namespace bench::fields {

/// Adds up the fields, and writes their means at the end of each day.
class MeansWriter : public Writer {
 public:
  MeansWriter(const Case& of, const Model& model)
      : of_(of), sums_(model.values().size(), 0.0), means_(model.values().size()) {}

  void step(int number, const Model& model) final {
    plain_sum(sums_.data(), model.values().data(), sums_.size());
    if (number % of_.steps_per_day != 0) return;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      means_[i] = static_cast<float>(sums_[i] / of_.steps_per_day);
      sums_[i] = 0;
    }
    write_day(static_cast<std::size_t>(number / of_.steps_per_day - 1), means_);
  }

 protected:
  /// `day` from 0; `means` of all fields, as the model holds them.
  virtual void write_day(std::size_t day, const std::vector<float>& means) = 0;
  [[nodiscard]] const Case& of() const { return of_; }
  [[nodiscard]] std::string path() const { return of_.directory + "/means.nc"; }

 private:
  const Case& of_;
  std::vector<double> sums_;
  std::vector<float> means_;
};

/// The file. A chunk has all levels of `chunk`, as in history/netcdf_file.hpp.
class MeansFile {
 public:
  /// Takes a file that was just created, and defines it.
  void define(int id, const std::string& path, const Case& of, const Tile& chunk) {
    id_ = id;
    path_ = path;
    fields_ = of.fields();
    int time = 0;
    int level = 0;
    int lat = 0;
    int lon = 0;
    check(nc_set_fill(id_, NC_NOFILL, nullptr), "set fill mode");
    check(nc_def_dim(id_, "time", NC_UNLIMITED, &time), "define time");
    check(nc_def_dim(id_, "lev", of.grid.levels, &level), "define lev");
    check(nc_def_dim(id_, "lat", of.grid.lat, &lat), "define lat");
    check(nc_def_dim(id_, "lon", of.grid.lon, &lon), "define lon");
    const int deep_dims[] = {time, level, lat, lon};
    const int flat_dims[] = {time, lat, lon};
    const std::size_t deep_chunk[] = {1, of.grid.levels, chunk.lat_count, chunk.lon_count};
    const std::size_t flat_chunk[] = {1, chunk.lat_count, chunk.lon_count};
    for (const Field& field : fields_) {
      int& variable = variables_.emplace_back();
      check(nc_def_var(id_, field.name.c_str(), NC_FLOAT, field.deep ? 4 : 3,
                       field.deep ? deep_dims : flat_dims, &variable),
            "define a field");
      check(nc_def_var_chunking(id_, variable, NC_CHUNKED, field.deep ? deep_chunk : flat_chunk),
            "chunk a field");
      check(nc_put_att_text(id_, variable, "units", 1, "K"), "describe a field");
    }
    check(nc_enddef(id_), "end definitions");
  }

  /// Writes the tile of all fields; `values` as the model holds them.
  void write(std::size_t day, const Tile& tile, const std::vector<float>& values) {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const Field& field = fields_[f];
      const float* const from = values.data() + field.first_plane * tile.plane();
      const std::size_t start[] = {day, 0, tile.lat_start, tile.lon_start};
      const std::size_t count[] = {1, field.planes, tile.lat_count, tile.lon_count};
      const std::size_t flat_start[] = {day, tile.lat_start, tile.lon_start};
      const std::size_t flat_count[] = {1, tile.lat_count, tile.lon_count};
      check(nc_put_vara_float(id_, variables_[f], field.deep ? start : flat_start,
                              field.deep ? count : flat_count, from),
            "write a field");
    }
  }

  void close() { check(nc_close(id_), "close"); }
  [[nodiscard]] const std::vector<int>& variables() const { return variables_; }

  void check(int status, const char* operation) const {
    if (status != NC_NOERR) throw std::runtime_error(path_ + ": " + operation + ": " + nc_strerror(status));
  }

 private:
  int id_ = -1;
  std::string path_;
  std::vector<Field> fields_;
  std::vector<int> variables_;
};

}  // namespace bench::fields
