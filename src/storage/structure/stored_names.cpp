// SPDX-License-Identifier: Apache-2.0
#include "storage/structure/stored_names.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/library_lock.hpp"
#include "storage/structure/netcdf_names.hpp"

namespace afterbay::storage {
namespace {

bool is_ascii(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// The name that netCDF-C gives to a dimension that is defined as `name`, in a file in memory;
/// nothing if it refuses the name.
std::optional<std::string> stored_name(const std::string& name) {
  const LibraryLock lock;
  int id = -1;
  if (nc_create("afterbay-names", NC_CLOBBER | NC_DISKLESS, &id) != NC_NOERR) return std::nullopt;
  NetcdfHandle file(id);
  int dimension = -1;
  std::array<char, NC_MAX_NAME + 1> stored{};
  if (nc_def_dim(id, name.c_str(), 1, &dimension) != NC_NOERR) return std::nullopt;
  if (nc_inq_dimname(id, dimension, stored.data()) != NC_NOERR) return std::nullopt;
  return std::string(stored.data());
}

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<std::uint8_t>(byte));
  return text;
}

Result<> check(const std::string& name, const std::string& what, const std::string& variable) {
  if (is_ascii(name) || name.find('\0') != std::string::npos) return {};
  const auto stored = stored_name(name);
  if (!stored || *stored == name) return {};
  Error error =
      make_error(ErrorCode::invalid_argument,
                 "the name of {} '{}' is not in Unicode normal form C, in which netCDF stores names: "
                 "it has the bytes {}, use {}",
                 what, name, hexadecimal(name), hexadecimal(*stored));
  return fail(variable.empty() ? std::move(error) : std::move(error).in_variable(variable));
}

}  // namespace

Result<> check_stored_names(const Schema& schema) {
  for (const Dimension& dimension : schema.dimensions) AFTERBAY_TRY(check(dimension.name, "dimension", {}));
  for (const Attribute& attribute : schema.attributes)
    AFTERBAY_TRY(check(attribute.name, "global attribute", {}));
  for (const Variable& variable : schema.variables) {
    AFTERBAY_TRY(check(variable.name, "variable", variable.name));
    for (const Attribute& attribute : variable.attributes)
      AFTERBAY_TRY(check(attribute.name, "attribute", variable.name));
  }
  return {};
}

Result<> check_stored_names(const SchemaChanges& changes) {
  for (const auto& [variable, attribute] : changes.attributes)
    if (!attribute.values.empty())
      AFTERBAY_TRY(check(attribute.name, variable.empty() ? "global attribute" : "attribute", variable));
  return {};
}

}  // namespace afterbay::storage
