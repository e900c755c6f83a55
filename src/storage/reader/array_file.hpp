// SPDX-License-Identifier: Apache-2.0
// ArrayFile: the complete contents of a netCDF file as returned by netCDF-C, for programs that copy
// or compare files.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"

namespace afterbay::storage {

struct ArrayDimension {
  std::string name;
  std::uint64_t length = 0;  ///< current length; for an unlimited dimension the number of records
  bool unlimited = false;
};

struct ArrayVariable {
  std::string name;
  int id = -1;  ///< netCDF's own number
  Type type = Type::float32;
  std::vector<std::size_t> dimensions;  ///< indices into ArrayContents::dimensions, C order
  std::vector<Attribute> attributes;    ///< in the order of the file
  std::vector<std::uint64_t> chunk;     ///< empty: contiguous, or a classic format
  FilterChain filters;                  ///< those of our codecs

  [[nodiscard]] const Attribute* find_attribute(std::string_view attribute) const noexcept;
};

/// Everything in the root group of a file except the values of variables. Attributes that netCDF
/// generates for readers (_NCProperties, _Format, ...) are not included.
struct ArrayContents {
  std::string format;  ///< as printed by ncdump -k: "classic", "cdf5", "netCDF-4", ...
  std::vector<ArrayDimension> dimensions;
  std::vector<ArrayVariable> variables;
  std::vector<Attribute> attributes;
  std::vector<std::string> groups;      ///< names of groups, whose contents are not read
  std::vector<std::string> user_types;  ///< names of user-defined types
  std::vector<std::string> left_out;    ///< variables and attributes without an atomic type

  [[nodiscard]] std::vector<std::uint64_t> shape(const ArrayVariable& variable) const;
  [[nodiscard]] const ArrayDimension* find_dimension(std::string_view name) const noexcept;
  [[nodiscard]] const ArrayVariable* find_variable(std::string_view name) const noexcept;
};

/// An open file. May not be used by several threads at the same time.
class ArrayFile {
 public:
  /// Files of the classic formats are read in this process, all others in a reader process, so that
  /// a damaged file cannot end this one. Fails with io (cannot be opened), or format (damaged, or
  /// not a netCDF file).
  static Result<std::unique_ptr<ArrayFile>> open(const std::string& path);
  /// The same in this process, for all formats.
  static Result<std::unique_ptr<ArrayFile>> open_here(const std::string& path);

  ArrayFile() = default;
  ArrayFile(const ArrayFile&) = delete;
  ArrayFile& operator=(const ArrayFile&) = delete;
  virtual ~ArrayFile() = default;

  [[nodiscard]] const ArrayContents& contents() const noexcept { return contents_; }
  /// Reads the box (start, count) of a variable of numbers or text, dense, in C order and the
  /// machine's byte order. `values` has the box's points times the size of the type. Reads nothing
  /// for a box without points.
  virtual Result<> read(int variable, std::span<const std::uint64_t> start,
                        std::span<const std::uint64_t> count, std::span<std::byte> values) = 0;
  /// The same for strings; a missing string reads as an empty one.
  virtual Result<std::vector<std::string>> read_strings(int variable, std::span<const std::uint64_t> start,
                                                        std::span<const std::uint64_t> count) = 0;
  /// Provides room for decoded chunks, so that reading a variable piece by piece decodes each chunk
  /// once. Affects only the speed.
  virtual void cache_chunks(int variable, std::uint64_t bytes) = 0;

 protected:
  ArrayContents contents_;
};

}  // namespace afterbay::storage
