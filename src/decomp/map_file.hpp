// SPDX-License-Identifier: Apache-2.0
// Afterbay's decomposition files, as defined in docs/reference/decomposition-files.md.
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
  /// Map `index` from 0. Refuses contents that the definition does not allow.
  Result<Decomposition> read(std::size_t index) const;
  /// Only its name.
  Result<std::string> name(std::size_t index) const;

 private:
  MapFileReader(NetcdfFile file, std::size_t maps) : file_(std::move(file)), maps_(maps) {}
  NetcdfFile file_;
  std::size_t maps_;
};

/// Whether the file declares this format.
bool is_map_file(const NetcdfFile& file);

/// Writes a compressed netCDF-4 file, map by map. Only one map needs to be in memory, in addition
/// to the file, which is written when it is complete.
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
