// SPDX-License-Identifier: Apache-2.0
// The three kinds of decomposition files behind one interface: which one a file is, reading and writing it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decomp/decomposition.hpp"

namespace afterbay::decomp {

enum class Format {
  pio,      ///< text, one map a file
  e3sm,     ///< E3SM-IO's combined file
  afterbay  ///< docs/reference/decomposition-files.md
};

/// "pio", "e3sm", "afterbay".
const char* name_of(Format format) noexcept;
std::optional<Format> format_of_name(const std::string& name);
/// By the ending: .dat and .txt are PIO's, .nc is ours.
std::optional<Format> format_of_path(const std::string& path);

/// The maps of one file, read one at a time.
class Source {
 public:
  /// Finds out from the contents what the file is; its ending does not matter.
  static Result<std::unique_ptr<Source>> open(const std::string& path);
  virtual ~Source() = default;

  [[nodiscard]] virtual Format format() const = 0;
  [[nodiscard]] virtual std::size_t maps() const = 0;
  /// The name that read(index) would give.
  virtual Result<std::string> name(std::size_t index) const = 0;
  virtual Result<Decomposition> read(std::size_t index) const = 0;
};

struct OutputRequest {
  std::string path;
  Format format = Format::afterbay;
  std::size_t maps = 1;
  std::string command_line;  ///< kept in E3SM-IO's file, as its own converter does
};

/// Writes maps under a temporary name (PartFile) and renames the file when it is complete. Several maps in
/// PIO's text become several files: out.dat -> out.1.dat, out.2.dat, ... What is not finished is removed.
/// Errors name the file as it was to be called. A directory that is missing or not writable is refused at
/// once.
class Sink {
 public:
  static Result<std::unique_ptr<Sink>> create(const OutputRequest& request);
  virtual ~Sink() = default;
  virtual Result<> add(const Decomposition& map) = 0;
  /// To be called after the last map. The names of the files written.
  virtual Result<std::vector<std::string>> finish() = 0;
};

/// The files that a sink will make.
std::vector<std::string> output_paths(const OutputRequest& request);

}  // namespace afterbay::decomp
