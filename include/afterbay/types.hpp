// SPDX-License-Identifier: Apache-2.0
/// @file
/// The atomic types of netCDF-4 and how C++ types map to them. Objects share no state: any thread
/// may use them, one at a time for the same object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "afterbay/export.h"

namespace afterbay {

/// The netCDF-4 atomic types. `text` is NC_CHAR (one byte per element), `string` is NC_STRING.
/// Source: the netCDF User's Guide, "Data types". The numbers are Afterbay's own and are used in
/// messages between processes.
enum class AFTERBAY_API Type : std::uint8_t {
  int8 = 1,     ///< std::int8_t, NC_BYTE
  text = 2,     ///< char, NC_CHAR
  int16 = 3,    ///< std::int16_t, NC_SHORT
  int32 = 4,    ///< std::int32_t, NC_INT
  float32 = 5,  ///< float, NC_FLOAT
  float64 = 6,  ///< double, NC_DOUBLE
  uint8 = 7,    ///< std::uint8_t, NC_UBYTE
  uint16 = 8,   ///< std::uint16_t, NC_USHORT
  uint32 = 9,   ///< std::uint32_t, NC_UINT
  int64 = 10,   ///< std::int64_t, NC_INT64
  uint64 = 11,  ///< std::uint64_t, NC_UINT64
  string = 12,  ///< std::string, NC_STRING
};

/// Bytes of one element in memory and in a file; 0 for `string`, whose elements vary in length.
constexpr std::size_t size_of(Type type) noexcept {
  switch (type) {
    case Type::int8:
    case Type::uint8:
    case Type::text: return 1;
    case Type::int16:
    case Type::uint16: return 2;
    case Type::int32:
    case Type::uint32:
    case Type::float32: return 4;
    case Type::int64:
    case Type::uint64:
    case Type::float64: return 8;
    case Type::string: return 0;
  }
  return 0;
}

/// The type's name in YAML, messages and documentation: "float64", "text", ...
constexpr std::string_view name_of(Type type) noexcept {
  switch (type) {
    case Type::int8: return "int8";
    case Type::text: return "text";
    case Type::int16: return "int16";
    case Type::int32: return "int32";
    case Type::float32: return "float32";
    case Type::float64: return "float64";
    case Type::uint8: return "uint8";
    case Type::uint16: return "uint16";
    case Type::uint32: return "uint32";
    case Type::int64: return "int64";
    case Type::uint64: return "uint64";
    case Type::string: return "string";
  }
  return "unknown";
}

template <class T>
struct TypeOf;
template <>
struct TypeOf<std::int8_t> {
  static constexpr Type value = Type::int8;
};
template <>
struct TypeOf<char> {
  static constexpr Type value = Type::text;
};
template <>
struct TypeOf<std::int16_t> {
  static constexpr Type value = Type::int16;
};
template <>
struct TypeOf<std::int32_t> {
  static constexpr Type value = Type::int32;
};
template <>
struct TypeOf<float> {
  static constexpr Type value = Type::float32;
};
template <>
struct TypeOf<double> {
  static constexpr Type value = Type::float64;
};
template <>
struct TypeOf<std::uint8_t> {
  static constexpr Type value = Type::uint8;
};
template <>
struct TypeOf<std::uint16_t> {
  static constexpr Type value = Type::uint16;
};
template <>
struct TypeOf<std::uint32_t> {
  static constexpr Type value = Type::uint32;
};
template <>
struct TypeOf<std::int64_t> {
  static constexpr Type value = Type::int64;
};
template <>
struct TypeOf<std::uint64_t> {
  static constexpr Type value = Type::uint64;
};
template <>
struct TypeOf<std::string> {
  static constexpr Type value = Type::string;
};

/// The netCDF type of the C++ type T; a compile error for types that netCDF does not have.
template <class T>
inline constexpr Type type_of = TypeOf<T>::value;

/// The formats of files. A build may have others, which are known by their names only.
enum class AFTERBAY_API Store : std::uint8_t {
  netcdf4 = 0,     ///< netCDF-4, in HDF5 files
  cdf5 = 1,        ///< classic netCDF with 64-bit sizes (CDF-5)
  cdf2 = 2,        ///< classic netCDF with 64-bit offsets (CDF-2)
  memory = 3,      ///< kept in the memory of the servers and never published: for tests
  grib2 = 4,       ///< GRIB edition 2; needs a build with ecCodes
  pp = 5,          ///< PP file of the Unified Model
  fieldsfile = 6,  ///< fields file of the Unified Model
};

/// The store's name in settings: "netcdf4", ...
constexpr std::string_view name_of(Store store) noexcept {
  switch (store) {
    case Store::netcdf4: return "netcdf4";
    case Store::cdf5: return "cdf5";
    case Store::cdf2: return "cdf2";
    case Store::memory: return "memory";
    case Store::grib2: return "grib2";
    case Store::pp: return "pp";
    case Store::fieldsfile: return "fieldsfile";
  }
  return "unknown";
}

/// What to do if a file with the final name exists.
enum class AFTERBAY_API Existing : std::uint8_t {
  refuse = 0,   ///< an error when the file is opened
  replace = 1,  ///< the new file replaces it when it is published; until then it is untouched
  append = 2,   ///< records are added to it
};

/// Its name in settings: "refuse", ...
constexpr std::string_view name_of(Existing existing) noexcept {
  switch (existing) {
    case Existing::refuse: return "refuse";
    case Existing::replace: return "replace";
    case Existing::append: return "append";
  }
  return "unknown";
}

/// An enumerator, or the name of one as text. Names are checked where they are used.
template <class Enumeration>
class Choice {
 public:
  Choice(Enumeration value) : name_(name_of(value)) {}                      ///< the enumerator
  Choice(std::string name) noexcept : name_(std::move(name)) {}             ///< its name
  Choice(const char* name) : name_(name) {}                                 ///< its name
  [[nodiscard]] const std::string& name() const noexcept { return name_; }  ///< as text
  friend bool operator==(const Choice&, const Choice&) = default;

 private:
  std::string name_;
};

}  // namespace afterbay
