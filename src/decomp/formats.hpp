// SPDX-License-Identifier: Apache-2.0
// One interface for the three kinds of decomposition files: detection, reading and writing.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decomp/decomposition.hpp"

namespace afterbay::decomp {

enum class MapFormat {
  pio,      ///< text, one map per file
  e3sm,     ///< E3SM-IO's combined file
  afterbay  ///< docs/reference/decomposition-files.md
};

/// "pio", "e3sm", "afterbay".
const char* name_of(MapFormat format) noexcept;
std::optional<MapFormat> format_of_name(const std::string& name);
/// The format that the extension means: .dat and .txt are PIO's, .nc is Afterbay's.
std::optional<MapFormat> format_of_path(const std::string& path);

/// The maps of one file, read one at a time.
class MapsReader {
 public:
  /// Detects the format from the contents, independent of the extension.
  static Result<std::unique_ptr<MapsReader>> open(const std::string& path);
  virtual ~MapsReader() = default;

  [[nodiscard]] virtual MapFormat format() const = 0;
  [[nodiscard]] virtual std::size_t maps() const = 0;
  /// The name that read(index) would return.
  virtual Result<std::string> name(std::size_t index) const = 0;
  virtual Result<Decomposition> read(std::size_t index) const = 0;
};

struct OutputRequest {
  std::string path;
  MapFormat format = MapFormat::afterbay;
  std::size_t maps = 1;
  std::string command_line;  ///< stored in E3SM-IO's file, as its own converter does
};

/// Writes maps under a temporary name (PartFile) and renames the file when it is complete. Several
/// maps in PIO's text format become several files: out.dat -> out.1.dat, out.2.dat, ... Incomplete
/// files are removed. Errors name the final file. A directory that is missing or not writable is
/// reported at once.
class MapsWriter {
 public:
  static Result<std::unique_ptr<MapsWriter>> create(const OutputRequest& request);
  virtual ~MapsWriter() = default;
  virtual Result<> add(const Decomposition& map) = 0;
  /// Call it after the last map. Returns the names of the files written.
  virtual Result<std::vector<std::string>> finish() = 0;
};

/// The names of the files that a sink will create.
std::vector<std::string> output_paths(const OutputRequest& request);

}  // namespace afterbay::decomp
