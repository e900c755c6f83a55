// SPDX-License-Identifier: Apache-2.0
// NetcdfReader: any netCDF file of the classic data model or with netCDF-4's atomic types. Each
// process opens the file and reads only what is requested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "storage/reader/array_file.hpp"

namespace afterbay::app {

using InputDimension = storage::ArrayDimension;
using InputVariable = storage::ArrayVariable;
using Contents = storage::ArrayContents;

class NetcdfReader {
 public:
  /// Fails with io (cannot be opened or read), or format: damaged (more values or records than a
  /// file of its size can hold), or with groups and user-defined types, which are named.
  static Result<NetcdfReader> open(const std::string& path);
  [[nodiscard]] const Contents& contents() const { return file_->contents(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Reads the box (start, count) of a variable of numbers or text, dense, C order, in native byte
  /// order. `values` has the number of points times the size of the type. A box without points
  /// reads nothing.
  Result<> read(const InputVariable& variable, std::span<const std::uint64_t> start,
                std::span<const std::uint64_t> count, std::span<std::byte> values) const;
  /// The same for strings; a missing string reads as an empty one.
  Result<std::vector<std::string>> read_strings(const InputVariable& variable,
                                                std::span<const std::uint64_t> start,
                                                std::span<const std::uint64_t> count) const;
  /// Reads all values of a variable. Fails with resources if they do not fit into memory.
  Result<Values> read_all(const InputVariable& variable) const;
  /// Sets the cache for decoded chunks, so that each chunk is decoded once when a variable is read
  /// piece by piece.
  void cache_chunks(const InputVariable& variable, std::uint64_t bytes) const;

 private:
  NetcdfReader(std::string path, std::unique_ptr<storage::ArrayFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  [[nodiscard]] Result<> refuse_what_is_not_atomic() const;
  [[nodiscard]] Result<> refuse_absurd_lengths() const;

  std::string path_;
  std::unique_ptr<storage::ArrayFile> file_;
};

}  // namespace afterbay::app
