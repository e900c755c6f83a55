// SPDX-License-Identifier: Apache-2.0
// InputFile: any netCDF file of the classic data model or of netCDF-4's atomic types, read by serial
// netCDF-C. Each process opens the file for itself and reads only what it asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"

namespace afterbay::app {

struct InputDimension {
  std::string name;
  std::uint64_t length = 0;  ///< the present one; of an unlimited dimension the number of records
  bool unlimited = false;
};

struct InputVariable {
  std::string name;
  int id = -1;  ///< netCDF's own number
  Type type = Type::float32;
  std::vector<std::size_t> dimensions;  ///< indices into Contents::dimensions, C order
  std::vector<Attribute> attributes;    ///< in the file's order
  std::vector<std::uint64_t> chunk;     ///< empty: contiguous, or a classic format
  int deflate = 0;
  bool shuffle = false;

  [[nodiscard]] const Attribute* find_attribute(std::string_view attribute) const noexcept;
};

/// Everything that a file says except the variables' values. Attributes that netCDF makes up for a
/// reader (_NCProperties, _Format, ...) are not among them.
struct Contents {
  std::string format;  ///< as ncdump -k calls it: "classic", "cdf5", "netCDF-4", ...
  std::vector<InputDimension> dimensions;
  std::vector<InputVariable> variables;
  std::vector<Attribute> attributes;

  [[nodiscard]] std::vector<std::uint64_t> shape(const InputVariable& variable) const;
};

class InputFile {
 public:
  /// Fails with io (cannot be opened or read), or format: groups and user-defined types, named.
  static Result<InputFile> open(const std::string& path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  [[nodiscard]] const Contents& contents() const { return contents_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// The box (start, count) of a variable of numbers or text, dense, C order, the machine's byte order.
  /// `values` has the box's points times the size of the type. A box of no points reads nothing.
  Result<> read(const InputVariable& variable, std::span<const std::uint64_t> start,
                std::span<const std::uint64_t> count, std::span<std::byte> values) const;
  /// The same for strings; a missing string reads as an empty one.
  Result<std::vector<std::string>> read_strings(const InputVariable& variable,
                                                std::span<const std::uint64_t> start,
                                                std::span<const std::uint64_t> count) const;
  /// All values of a variable.
  Result<Values> read_all(const InputVariable& variable) const;
  /// Room for decoded chunks, so that reading a variable piece by piece decodes each chunk once.
  void cache_chunks(const InputVariable& variable, std::uint64_t bytes) const;

 private:
  explicit InputFile(std::string path) : path_(std::move(path)) {}
  Result<> check(int code, std::string_view what, std::string_view variable = {}) const;
  Result<> refuse_what_is_not_atomic() const;
  Result<> describe();
  Result<> describe_dimensions();
  Result<InputVariable> describe_variable(int id) const;
  Result<> describe_storage(InputVariable& variable) const;
  Result<std::vector<Attribute>> attributes_of(int id, int count, std::string_view variable) const;
  Result<Values> attribute_values(int id, const std::string& name, std::string_view variable) const;

  std::string path_;
  int id_ = -1;
  std::vector<int> dimension_ids_;
  Contents contents_;
};

}  // namespace afterbay::app
