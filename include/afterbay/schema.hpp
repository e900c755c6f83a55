// SPDX-License-Identifier: Apache-2.0
// Schema: the dimensions, variables and attributes of a kind of file. Pure data, no I/O, no MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "afterbay/types.hpp"

namespace afterbay {

/// A list of values of one netCDF type: an attribute's value, a fill value, coordinate values.
/// Numbers and text are held as native-endian bytes; strings as strings.
struct Values {
  Type type = Type::text;
  std::vector<std::byte> bytes;      ///< size_of(type) * count() bytes; empty for Type::string
  std::vector<std::string> strings;  ///< only for Type::string

  Values() = default;
  Values(std::string_view text) : type(Type::text) { assign(text.data(), text.size()); }  // NOLINT
  Values(const char* text) : Values(std::string_view(text)) {}                            // NOLINT
  Values(const std::string& text) : Values(std::string_view(text)) {}                     // NOLINT
  template <class T>
    requires(std::is_arithmetic_v<T>)
  Values(T value) : type(type_of<T>) {
    assign(&value, 1);
  }  // NOLINT
  template <class T>
    requires(std::is_arithmetic_v<T>)
  Values(std::span<const T> values) : type(type_of<T>) {
    assign(values.data(), values.size());
  }  // NOLINT
  template <class T>
    requires(std::is_arithmetic_v<T>)
  Values(const std::vector<T>& values) : Values(std::span<const T>(values)) {}  // NOLINT
  template <class T>
    requires(std::is_arithmetic_v<T>)
  Values(std::initializer_list<T> values)
      : Values(std::span<const T>(values.begin(), values.size())) {}  // NOLINT
  /// NC_STRING values (a vector of std::string); a single std::string is `text`, as in the NUG.
  Values(std::vector<std::string> values) : type(Type::string), strings(std::move(values)) {}  // NOLINT

  /// Values of `type` from raw native-endian memory (`count` elements); not for strings.
  static Values raw(Type type, const void* data, std::size_t count) {
    Values values;
    values.type = type;
    values.bytes.resize(count * size_of(type));
    if (count != 0) std::memcpy(values.bytes.data(), data, values.bytes.size());
    return values;
  }

  [[nodiscard]] std::size_t count() const noexcept {
    return type == Type::string ? strings.size() : bytes.size() / size_of(type);
  }
  [[nodiscard]] bool empty() const noexcept { return count() == 0; }
  /// Element `index` as T; T must be the type held.
  template <class T>
  [[nodiscard]] T at(std::size_t index) const {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
  }
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  friend bool operator==(const Values&, const Values&) = default;

 private:
  template <class T>
  void assign(const T* data, std::size_t count) {
    bytes.resize(count * sizeof(T));
    if (count != 0) std::memcpy(bytes.data(), data, bytes.size());
  }
};

struct Attribute {
  std::string name;
  Values values;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// Length of a dimension that grows by records.
inline constexpr std::uint64_t unlimited = 0;

struct Dimension {
  std::string name;
  std::uint64_t length = unlimited;
  [[nodiscard]] bool is_unlimited() const noexcept { return length == unlimited; }
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

/// A variable. Dimensions are in C order (slowest first); the unlimited one, if any, comes first.
struct Variable {
  std::string name;
  Type type = Type::float32;
  std::vector<std::string> dimensions;
  std::vector<Attribute> attributes;
  /// Fill value, one element, converted to `type`; empty: netCDF's default for the type. Written as
  /// `_FillValue` when given here.
  Values fill;
  /// Chunk lengths, one a dimension; along the unlimited one it is records; netCDF-4 only. Empty: they follow
  /// the reader, see `access` in the settings and docs/how-to/chunks.md.
  std::vector<std::uint64_t> chunk;
  int deflate = 0;       ///< zlib level 0 (off) to 9; netCDF-4 only
  bool shuffle = false;  ///< byte shuffle before deflate; netCDF-4 only
  /// Name of the decomposition; empty: `Whole` (every rank holds all). A Block's dimensions are the trailing
  /// ones. Those of a Map are the trailing ones if these have its lengths, else the only others that do.
  std::string decomposition;
  /// Values written once when a file is created (coordinates); then it is never `put`.
  Values constant;

  Variable& attribute(std::string attribute_name, Values values);
  Variable& with_fill(Values value) {
    fill = std::move(value);
    return *this;
  }
  Variable& with_chunk(std::vector<std::uint64_t> lengths) {
    chunk = std::move(lengths);
    return *this;
  }
  Variable& with_deflate(int level, bool with_shuffle = true) {
    deflate = level;
    shuffle = with_shuffle;
    return *this;
  }
  Variable& on(std::string decomposition_name) {
    decomposition = std::move(decomposition_name);
    return *this;
  }
  Variable& with_constant(Values values) {
    constant = std::move(values);
    return *this;
  }
  friend bool operator==(const Variable&, const Variable&) = default;
};

/// Dimensions, variables and global attributes by name, in the order in which they were added.
/// Adding a name twice replaces nothing: `validate` (and so the session) refuses it.
struct Schema {
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;
  std::vector<Attribute> attributes;

  Schema& dimension(std::string name, std::uint64_t length);
  /// Adds a variable and returns it; the reference holds until the next variable is added.
  Variable& variable(std::string name, Type type, std::vector<std::string> dimension_names);
  /// Adds or replaces a global attribute.
  Schema& attribute(std::string name, Values values);

  [[nodiscard]] const Dimension* find_dimension(std::string_view name) const noexcept;
  [[nodiscard]] const Variable* find_variable(std::string_view name) const noexcept;
  [[nodiscard]] Variable* find_variable(std::string_view name) noexcept;
  friend bool operator==(const Schema&, const Schema&) = default;
};

/// Changes to a schema for one file only, applied before the file is created.
struct SchemaChanges {
  struct AttributeChange {
    std::string variable;  ///< empty: a global attribute
    Attribute attribute;   ///< empty values: the attribute is removed
  };
  struct ConstantChange {
    std::string variable;
    Values constant;
  };
  std::vector<AttributeChange> attributes;
  std::vector<ConstantChange> constants;
  [[nodiscard]] bool empty() const noexcept { return attributes.empty() && constants.empty(); }

  SchemaChanges& attribute(std::string name, Values values) {
    attributes.push_back({{}, {std::move(name), std::move(values)}});
    return *this;
  }
  SchemaChanges& attribute(std::string variable, std::string name, Values values) {
    attributes.push_back({std::move(variable), {std::move(name), std::move(values)}});
    return *this;
  }
  SchemaChanges& constant(std::string variable, Values values) {
    constants.push_back({std::move(variable), std::move(values)});
    return *this;
  }
};

}  // namespace afterbay
