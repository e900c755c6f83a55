// SPDX-License-Identifier: Apache-2.0
// Further grids of the model for tests: curvilinear and unstructured ones, whose coordinates
// spaces_test.py computes independently.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "afterbay/output.hpp"

namespace afterbay::test {

/// A curvilinear grid of lat x lon points, "sea", and an unstructured one with as many cells,
/// "mesh".
class FurtherGrids {
 public:
  struct Options {
    std::uint64_t rows, columns, levels;
    std::string decomposition;  ///< block, map or whole
    /// global, regional (of "sea"), radians (of all), constant (the same on all ranks), pairs
    /// (global, and more: define_pairs).
    std::string kind;
    float missing;
    std::function<bool(const std::string& field)> is_without;  ///< asked for sst and ice
  };
  /// The value of a point of a field in a step.
  using Value = std::function<double(std::uint64_t field, std::int64_t step, std::uint64_t point)>;

  FurtherGrids(Session& session, Options options, Value value)
      : session_(session), options_(std::move(options)), value_(std::move(value)) {}

  /// The curvilinear grid has the decomposition of the model's grid, of which this rank holds
  /// `points`.
  void define(Output& output, const std::string& decomposition, const std::vector<std::uint64_t>& points) {
    sea_ = points;
    output.dimension("y", options_.rows);
    output.dimension("x", options_.columns);
    output.dimension("cell", options_.rows * options_.columns);
    output.dimension("corner", corners);
    output.grid("sea", {"y", "x"}, decomposition);
    output.grid("mesh", {"cell"}, divide_cells());
    std::vector<std::uint64_t> all(options_.rows * options_.columns);
    for (std::uint64_t p = 0; p < all.size(); ++p) all[p] = p;
    const bool constant = options_.kind == "constant";
    const auto coordinate = [&](const std::string& name, const std::string& grid, const auto& of,
                                const std::vector<std::string>& dimensions, const CoordinateOptions& how) {
      std::vector<double> values;
      for (const std::uint64_t p : constant ? all : grid == "sea" ? sea_ : cells_) values.push_back(of(p));
      if (constant)
        output.coordinate(name, dimensions, values, how);
      else
        output.grid_coordinate(name, grid, values.data(), how);
    };
    const std::string east = unit("degrees_east");
    const std::string north = unit("degrees_north");
    coordinate("nav_lon", "sea", [&](std::uint64_t p) { return in_units(sea_lon(p)); }, {"y", "x"},
               {.units = east, .standard_name = "longitude", .attributes = {{"bounds", "nav_corners"}}});
    coordinate("nav_lat", "sea", [&](std::uint64_t p) { return in_units(sea_lat(p)); }, {"y", "x"},
               {.units = north, .standard_name = "latitude"});
    coordinate("tmask", "sea", [&](std::uint64_t p) { return p % 3 == 0 ? 0.0 : 1.0; }, {"y", "x"}, {});
    std::vector<double> vertices;
    for (const std::uint64_t p : sea_)
      for (std::uint64_t v = 0; v < corners; ++v) vertices.push_back(static_cast<double>(corners * p + v));
    CoordinateOptions of_corners;
    of_corners.vertices = "corner";
    output.grid_coordinate("nav_corners", "sea", vertices.data(), of_corners);
    vertices.clear();
    for (const std::uint64_t c : cells_)
      for (std::uint64_t v = 0; v < corners; ++v) vertices.push_back(static_cast<double>(corners * c + v));
    output.grid_coordinate("cell_corners", "mesh", vertices.data(), of_corners);
    coordinate("clon", "mesh", [&](std::uint64_t c) { return in_units(cell_lon(c)); }, {"cell"},
               {.units = east, .standard_name = "longitude", .attributes = {{"bounds", "cell_corners"}}});
    coordinate("clat", "mesh", [&](std::uint64_t c) { return in_units(cell_lat(c)); }, {"cell"},
               {.units = north, .standard_name = "latitude"});
    // A grid of another part of the cells, with the same dimensions.
    output.grid("sea_u", {"y", "x"}, decomposition);
    std::vector<double> east_of_u;
    std::vector<double> north_of_u;
    for (const std::uint64_t p : sea_) {
      east_of_u.push_back(sea_lon(p) + 30);
      north_of_u.push_back(sea_lat(p));
    }
    output.grid_coordinate("lon_u", "sea_u", east_of_u.data(), {.units = "degrees_east"});
    output.grid_coordinate("lat_u", "sea_u", north_of_u.data(), {.units = "degrees_north"});
    output.field("uo", {.grid = "sea_u", .units = "m s-1"});
    const Values fill(options_.missing);
    if (!options_.is_without("sst"))
      output.field(
          "sst", {.grid = "sea", .units = "degC", .standard_name = "sea_surface_temperature", .fill = fill});
    output.field("so", {.grid = "sea", .axes = {"lev"}, .units = "1e-3", .fill = fill});
    if (!options_.is_without("ice"))
      output.field("ice", {.grid = "sea", .type = Type::float64, .units = "1"});
    output.field("ts", {.grid = "mesh", .units = "K"});
    output.field(
        "ta", {.grid = "mesh", .axes = {"lev"}, .type = Type::float64, .units = "K", .fill = Values(-999.0)});
    if (options_.kind == "pairs") define_pairs(output, decomposition, all);
  }

  void put(Output& output, std::int64_t n) {
    put_field<float>(output, "sst", 11, n, 1, sea_);
    put_field<float>(output, "so", 12, n, options_.levels, sea_);
    put_field<double>(output, "ice", 13, n, 1, sea_);
    put_field<float>(output, "ts", 14, n, 1, cells_);
    put_field<double>(output, "ta", 15, n, options_.levels, cells_);
    put_field<float>(output, "uo", 16, n, 1, sea_);
    if (options_.kind != "pairs") return;
    put_field<float>(output, "tos", 17, n, 1, sea_);
    put_field<float>(output, "vo", 18, n, 1, sea_);
    put_field<float>(output, "bare", 19, n, 1, sea_);
    put_field<float>(output, "dic", 20, n, 3, sea_);
  }

 private:
  static constexpr std::uint64_t corners = 4;

  /// A grid with two pairs of longitudes and latitudes, of which fields name one, and a coordinate
  /// of the dimensions that it has in common with "sea".
  void define_pairs(Output& output, const std::string& decomposition, const std::vector<std::uint64_t>& all) {
    output.grid("ocean", {"y", "x"}, decomposition);
    std::vector<double> lon;
    std::vector<double> east;
    std::vector<double> lat;
    std::vector<double> size;
    std::vector<std::int32_t> wet;
    for (const std::uint64_t p : sea_) {
      lon.push_back(sea_lon(p));
      east.push_back(sea_lon(p) + 30);
      lat.push_back(sea_lat(p));
      size.push_back(static_cast<double>(p) + 0.5);
      wet.push_back(1);
    }
    output.grid_coordinate("lon_t", "ocean", lon.data(), {.units = "degrees_east"});
    output.grid_coordinate("lat_t", "ocean", lat.data(), {.units = "degrees_north"});
    output.grid_coordinate("lon_f", "ocean", east.data(), {.units = "degrees_east"});
    output.grid_coordinate("lat_f", "ocean", lat.data(), {.units = "degrees_north"});
    output.grid_coordinate("size", "ocean", size.data());
    output.grid_coordinate("wet", "ocean", wet.data());
    output.coordinate("wide", {"y", "x"}, std::vector<double>(all.begin(), all.end()));
    output.dimension("deep", std::vector<float>{0.1F, 10.1F, 20.1F});
    const Values fill(options_.missing);
    const std::vector<Attribute> of_t{{"coordinates", "lon_t lat_t"}};
    output.field("tos", {.grid = "ocean", .fill = fill, .attributes = of_t});
    output.field("vo", {.grid = "ocean", .fill = fill, .attributes = {{"coordinates", "lon_f lat_f"}}});
    output.field("bare", {.grid = "ocean", .attributes = of_t});
    output.field("dic", {.grid = "ocean", .axes = {"deep"}, .attributes = of_t});
  }

  /// In degrees; binary fractions, so that other programs get the same numbers.
  [[nodiscard]] double sea_lon(std::uint64_t p) const {
    const auto i = static_cast<double>(p % options_.columns);
    const auto j = static_cast<double>(p / options_.columns);
    if (options_.kind == "regional") return -20 + 2.5 * i - 0.5 * j;
    const double east = 360 / static_cast<double>(options_.columns) * i + 3.25 * j;
    return east >= 180 ? east - 360 : east;
  }
  [[nodiscard]] double sea_lat(std::uint64_t p) const {
    const auto i = static_cast<double>(p % options_.columns);
    const auto j = static_cast<double>(p / options_.columns);
    if (options_.kind == "regional") return 40 + 1.5 * j + 0.25 * i;
    const double middle = (static_cast<double>(options_.columns) - 1) / 2;
    return -72 + 140 / static_cast<double>(options_.rows) * j + std::abs(i - middle) * 0.5;
  }
  [[nodiscard]] static double cell_lon(std::uint64_t c) { return static_cast<double>(c * 37 % 360) + 0.5; }
  [[nodiscard]] static double cell_lat(std::uint64_t c) { return static_cast<double>(c * 53 % 161) - 80; }

  [[nodiscard]] std::string unit(const std::string& degrees) const {
    return options_.kind == "radians" ? "radian" : degrees;
  }
  [[nodiscard]] double in_units(double degrees) const {
    return options_.kind == "radians" ? degrees * (std::numbers::pi / 180) : degrees;
  }

  std::string divide_cells() {
    const auto ranks = static_cast<std::uint64_t>(session_.model_size());
    const auto rank = static_cast<std::uint64_t>(session_.model_rank());
    const std::uint64_t count = options_.rows * options_.columns;
    if (options_.decomposition == "whole") {
      for (std::uint64_t c = 0; c < count; ++c) cells_.push_back(c);
      return "";
    }
    if (options_.decomposition == "block") {
      const std::uint64_t first = count * rank / ranks;
      const std::uint64_t end = count * (rank + 1) / ranks;
      for (std::uint64_t c = first; c < end; ++c) cells_.push_back(c);
      session_.decomposition("cells", Block({count}, {first}, {end - first}));
      return "cells";
    }
    // In turn, in an order of its own; the number of cells is not a multiple of 7.
    Map map;
    map.global = {count};
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::uint64_t c = (k * 7 + 3) % count;
      if (k % ranks != rank) continue;
      map.indices.push_back(static_cast<std::int64_t>(c));
      cells_.push_back(c);
    }
    session_.decomposition("cells", map);
    return "cells";
  }

  template <class T>
  void put_field(Output& output, const std::string& name, std::uint64_t number, std::int64_t step,
                 std::uint64_t levels, const std::vector<std::uint64_t>& points) {
    std::vector<T> values;
    for (std::uint64_t k = 0; k < levels; ++k)
      for (const std::uint64_t p : points)
        values.push_back(static_cast<T>(value_(number, step, k * options_.rows * options_.columns + p)));
    output.put(name, values.data());
  }

  Session& session_;
  Options options_;
  Value value_;
  std::vector<std::uint64_t> sea_;    ///< linear indices of this rank's points, in the order of its array
  std::vector<std::uint64_t> cells_;  ///< likewise
};

}  // namespace afterbay::test
