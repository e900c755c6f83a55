// SPDX-License-Identifier: Apache-2.0
// Afterbay's decomposition files: docs/reference/decomposition-files.md is the definition.
#pragma once

#include <set>
#include <string>

#include "decomp/decomposition.hpp"
#include "decomp/netcdf_file.hpp"

namespace afterbay::decomp {

class MapFileReader {
 public:
  static Result<MapFileReader> open(NetcdfFile file);
  [[nodiscard]] std::size_t maps() const noexcept { return maps_; }
  /// Map `index` from 0. Refuses what the definition does not allow.
  Result<Decomposition> read(std::size_t index) const;
  /// Only its name.
  Result<std::string> name(std::size_t index) const;

 private:
  MapFileReader(NetcdfFile file, std::size_t maps) : file_(std::move(file)), maps_(maps) {}
  NetcdfFile file_;
  std::size_t maps_;
};

/// Whether the file says that it is one of these.
bool is_map_file(const NetcdfFile& file);

/// Makes a compressed netCDF-4 file, map by map: only one needs to be in memory, beside the file itself,
/// which is written when it is complete.
class MapFileWriter {
 public:
  /// `path`: for messages.
  static Result<MapFileWriter> create(const std::string& path, std::size_t maps);
  Result<> add(const Decomposition& map);
  Result<> close_into(PartFile& part) { return file_.close_into(part); }

 private:
  explicit MapFileWriter(NetcdfFile file) : file_(std::move(file)) {}
  Result<> define(const std::string& prefix, const Decomposition& map);

  NetcdfFile file_;
  std::set<std::string> names_;
};

}  // namespace afterbay::decomp
