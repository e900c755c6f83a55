// SPDX-License-Identifier: Apache-2.0
/// @file
/// Schema: the dimensions, variables and attributes of a kind of file. Pure data, no I/O, no MPI.
/// Objects share no state: any thread may use them, one at a time for the same object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "afterbay/export.h"
#include "afterbay/types.hpp"

namespace afterbay {

/// A list of values of one netCDF type: an attribute's value, a fill value, coordinate values.
/// Numbers and text are held as native-endian bytes; strings as strings.
struct AFTERBAY_API Values {
  Type type = Type::text;            ///< the type of all values
  std::vector<std::byte> bytes;      ///< size_of(type) * count() bytes; empty for Type::string
  std::vector<std::string> strings;  ///< only for Type::string

  /// No values.
  Values() = default;
  /// Text (NC_CHAR).
  Values(std::string_view text) : type(Type::text) { assign(text.data(), text.size()); }  // NOLINT
  /// Text (NC_CHAR).
  Values(const char* text) : Values(std::string_view(text)) {}  // NOLINT
  /// Text (NC_CHAR).
  Values(const std::string& text) : Values(std::string_view(text)) {}  // NOLINT
  /// One number.
  template <class T>
    requires(std::is_arithmetic_v<T>)
  Values(T value) : type(type_of<T>) {
    assign(&value, 1);
  }  // NOLINT
  /// Numbers.
  template <class T>
    requires(std::is_arithmetic_v<T>)
  Values(std::span<const T> values) : type(type_of<T>) {
    assign(values.data(), values.size());
  }  // NOLINT
  /// Numbers.
  template <class T>
    requires(std::is_arithmetic_v<T>)
  Values(const std::vector<T>& values) : Values(std::span<const T>(values)) {}  // NOLINT
  /// Numbers.
  template <class T>
    requires(std::is_arithmetic_v<T>)
  Values(std::initializer_list<T> values)
      : Values(std::span<const T>(values.begin(), values.size())) {}  // NOLINT
  /// NC_STRING values (a vector of std::string). A single std::string becomes `text`, as in the
  /// netCDF User's Guide.
  Values(std::vector<std::string> values) : type(Type::string), strings(std::move(values)) {}  // NOLINT

  /// Values of `type` from raw native-endian memory (`count` elements); not for strings.
  static Values raw(Type type, const void* data, std::size_t count) {
    Values values;
    values.type = type;
    values.bytes.resize(count * size_of(type));
    if (count != 0) std::memcpy(values.bytes.data(), data, values.bytes.size());
    return values;
  }

  /// The number of values.
  [[nodiscard]] std::size_t count() const noexcept {
    return type == Type::string ? strings.size() : bytes.size() / size_of(type);
  }
  /// Whether there are no values.
  [[nodiscard]] bool empty() const noexcept { return count() == 0; }
  /// Element `index` as T; T must be the type held.
  template <class T>
  [[nodiscard]] T at(std::size_t index) const {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
  }
  /// The characters of Type::text.
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

/// An attribute of a variable or of the file.
struct AFTERBAY_API Attribute {
  std::string name;  ///< as in the file
  Values values;     ///< all values have one type
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// Length of a dimension that grows with the records.
inline constexpr std::uint64_t unlimited = 0;

/// A dimension.
struct AFTERBAY_API Dimension {
  std::string name;                  ///< as in the file
  std::uint64_t length = unlimited;  ///< `unlimited`: it grows with the records
  /// Whether it grows with the records.
  [[nodiscard]] bool is_unlimited() const noexcept { return length == unlimited; }
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

/// A filter of the chunks of a variable, by the number under which it is registered for HDF5.
struct AFTERBAY_API Filter {
  /// 1 deflate, 2 shuffle, 3 fletcher32, 32001 blosc, 32004 lz4, 32008 bitshuffle, 32015 zstd
  std::uint32_t id = 0;
  std::vector<std::uint32_t> parameters;  ///< level of deflate, zstd or blosc; empty for others
  friend bool operator==(const Filter&, const Filter&) = default;
};

/// Filters, one after the other.
using FilterChain = std::vector<Filter>;

/// Floating-point numbers that a file holds as integers: readers compute scale_factor * integer +
/// add_offset (CF Conventions, section 8.1). See docs/how-to/which-codec.md.
struct AFTERBAY_API Packing {
  /// "int8", "int16" or "int32"; "auto": the smallest of them that `absolute_error` allows.
  std::string type;
  double low = 0;   ///< the smallest number, in the units of the file
  double high = 0;  ///< the largest number, in the units of the file
  /// The largest error, in the units of the file; 0: what the type allows. Negative numbers,
  /// infinities and NaN are refused when the collection is defined.
  double absolute_error = 0;
  friend bool operator==(const Packing&, const Packing&) = default;
};

/// A variable. Dimensions are in C order (slowest first); the unlimited one, if any, comes first.
struct AFTERBAY_API Variable {
  std::string name;                     ///< as in the file
  Type type = Type::float32;            ///< type in the file; `put` converts
  std::vector<std::string> dimensions;  ///< names; empty: a scalar
  std::vector<Attribute> attributes;    ///< in the order of the file
  /// Fill value, one element, converted to `type`; empty: netCDF's default for the type. Written as
  /// `_FillValue` if set.
  Values fill;
  /// Chunk lengths, one per dimension; the unit of the unlimited dimension is records. netCDF-4
  /// only. Empty: chosen from the setting `access`, see docs/how-to/chunks.md.
  std::vector<std::uint64_t> chunk;
  int deflate = 0;       ///< zlib level 0 (off) to 9; netCDF-4 only
  bool shuffle = false;  ///< byte shuffle before compression; netCDF-4 only
  /// Name of the decomposition; empty: `Whole` (every rank holds the whole variable). A Block
  /// covers the trailing dimensions. A Map covers the trailing dimensions if they have its lengths,
  /// else the only other dimensions that have them.
  std::string decomposition;
  /// Values written once when a file is created (coordinates); such a variable is never `put`.
  Values constant;
  /// Filters besides `deflate` and `shuffle`; netCDF-4 only. Whatever their order here, checksums
  /// are applied first, then `shuffle` and `bitshuffle`, then compression.
  FilterChain filters;
  /// Packs the values as integers; `type` is then the type of the values that are put and of
  /// missing values. Not possible in formats of messages (GRIB2, PP, fields files).
  std::optional<Packing> packing;

  /// Adds or replaces an attribute.
  Variable& attribute(std::string attribute_name, Values values);
  /// Sets the fill value.
  Variable& with_fill(Values value) {
    fill = std::move(value);
    return *this;
  }
  /// Sets the chunk lengths.
  Variable& with_chunk(std::vector<std::uint64_t> lengths) {
    chunk = std::move(lengths);
    return *this;
  }
  /// Sets compression.
  Variable& with_deflate(int level, bool with_shuffle = true) {
    deflate = level;
    shuffle = with_shuffle;
    return *this;
  }
  /// Adds a filter.
  Variable& with_filter(std::uint32_t id, std::vector<std::uint32_t> parameters = {}) {
    filters.push_back({id, std::move(parameters)});
    return *this;
  }
  /// Sets a filter by its name ("zstd"): to a level, or with level 1 on for a filter without
  /// levels; 0 removes it. Throws Failure (unknown_name) if there is no such filter.
  Variable& with_filter(std::string_view filter_name, int level = 1);
  /// Packs float32 or float64 as integers of `packed_type` ("int16", "auto", ...). A value outside
  /// of [low, high] that they cannot hold is refused when it is put.
  Variable& with_packing(std::string_view packed_type, double low, double high, double absolute_error = 0) {
    packing = Packing{std::string(packed_type), low, high, absolute_error};
    return *this;
  }
  /// Sets the decomposition.
  Variable& on(std::string decomposition_name) {
    decomposition = std::move(decomposition_name);
    return *this;
  }
  /// Sets the constant values.
  Variable& with_constant(Values values) {
    constant = std::move(values);
    return *this;
  }
  friend bool operator==(const Variable&, const Variable&) = default;
};

/// Dimensions, variables and global attributes by name, in the order in which they were added.
/// Adding a name twice is an error that Session::collection reports.
struct AFTERBAY_API Schema {
  std::vector<Dimension> dimensions;  ///< in the order of the file
  std::vector<Variable> variables;    ///< in the order of the file
  std::vector<Attribute> attributes;  ///< global attributes

  /// Adds a dimension.
  Schema& dimension(std::string name, std::uint64_t length);
  /// Adds a variable and returns it; the reference holds until the next variable is added.
  Variable& variable(std::string name, Type type, std::vector<std::string> dimension_names);
  /// Adds or replaces a global attribute.
  Schema& attribute(std::string name, Values values);

  /// The dimension with that name, or null.
  [[nodiscard]] const Dimension* find_dimension(std::string_view name) const noexcept;
  /// The variable with that name, or null.
  [[nodiscard]] const Variable* find_variable(std::string_view name) const noexcept;
  /// The variable with that name, or null.
  [[nodiscard]] Variable* find_variable(std::string_view name) noexcept;
  friend bool operator==(const Schema&, const Schema&) = default;
};

/// Changes to a schema for one file only, applied before the file is created.
struct AFTERBAY_API SchemaChanges {
  /// An attribute to set or remove.
  struct AttributeChange {
    std::string variable;  ///< empty: a global attribute
    Attribute attribute;   ///< empty values: remove the attribute
  };
  /// New constant values.
  struct ConstantChange {
    std::string variable;  ///< a variable with constant values
    Values constant;       ///< as many values as in the schema, converted to the variable's type
  };
  std::vector<AttributeChange> attributes;  ///< applied in order
  std::vector<ConstantChange> constants;    ///< applied in order
  /// True if there are no changes.
  [[nodiscard]] bool empty() const noexcept { return attributes.empty() && constants.empty(); }

  /// Sets a global attribute, or removes it if `values` is empty.
  SchemaChanges& attribute(std::string name, Values values) {
    attributes.push_back({{}, {std::move(name), std::move(values)}});
    return *this;
  }
  /// Sets an attribute of a variable, or removes it if `values` is empty.
  SchemaChanges& attribute(std::string variable, std::string name, Values values) {
    attributes.push_back({std::move(variable), {std::move(name), std::move(values)}});
    return *this;
  }
  /// Replaces the constant values of a variable.
  SchemaChanges& constant(std::string variable, Values values) {
    constants.push_back({std::move(variable), std::move(values)});
    return *this;
  }
};

}  // namespace afterbay
