// SPDX-License-Identifier: Apache-2.0
#include "replay_input.hpp"

#include <netcdf.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "storage/cdf/header.hpp"

namespace afterbay::app {
namespace {

struct TypeName {
  nc_type number;
  Type type;
};
constexpr std::array types{
    TypeName{NC_BYTE, Type::int8},   TypeName{NC_CHAR, Type::text},     TypeName{NC_SHORT, Type::int16},
    TypeName{NC_INT, Type::int32},   TypeName{NC_FLOAT, Type::float32}, TypeName{NC_DOUBLE, Type::float64},
    TypeName{NC_UBYTE, Type::uint8}, TypeName{NC_USHORT, Type::uint16}, TypeName{NC_UINT, Type::uint32},
    TypeName{NC_INT64, Type::int64}, TypeName{NC_UINT64, Type::uint64}, TypeName{NC_STRING, Type::string},
};

std::optional<Type> type_of_number(nc_type number) {
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const TypeName& t) { return t.number == number; });
  return found == types.end() ? std::nullopt : std::optional(found->type);
}

/// Copies netCDF's strings and frees them.
std::vector<std::string> take_strings(std::vector<char*>& pointers) {
  std::vector<std::string> strings;
  strings.reserve(pointers.size());
  for (const char* pointer : pointers) strings.emplace_back(pointer != nullptr ? pointer : "");
  if (!pointers.empty()) nc_free_string(pointers.size(), pointers.data());
  return strings;
}

std::uint64_t points(std::span<const std::uint64_t> count) {
  return std::accumulate(count.begin(), count.end(), std::uint64_t{1}, std::multiplies<>());
}

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "'" : ", '") + name + "'";
  return all;
}

const char* format_name(int format) {
  switch (format) {
    case NC_FORMAT_CLASSIC: return "classic";
    case NC_FORMAT_64BIT_OFFSET: return "64-bit offset";
    case NC_FORMAT_CDF5: return "cdf5";
    case NC_FORMAT_NETCDF4: return "netCDF-4";
    case NC_FORMAT_NETCDF4_CLASSIC: return "netCDF-4 classic model";
    default: return "unknown format";
  }
}

}  // namespace

const Attribute* InputVariable::find_attribute(std::string_view attribute) const noexcept {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& a) { return a.name == attribute; });
  return found == attributes.end() ? nullptr : &*found;
}

std::vector<std::uint64_t> Contents::shape(const InputVariable& variable) const {
  std::vector<std::uint64_t> lengths;
  for (const std::size_t d : variable.dimensions) lengths.push_back(dimensions[d].length);
  return lengths;
}

Result<InputFile> InputFile::open(const std::string& path) {
  InputFile file(path);
  AFTERBAY_TRY(storage::check_cdf_header(path));
  AFTERBAY_TRY(file.check(nc_open(path.c_str(), NC_NOWRITE, &file.id_), "cannot open it as a netCDF file"));
  AFTERBAY_TRY(file.refuse_what_is_not_atomic());
  AFTERBAY_TRY(file.describe());
  return file;
}

InputFile::~InputFile() {
  if (id_ >= 0) nc_close(id_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      id_(std::exchange(other.id_, -1)),
      dimension_ids_(std::move(other.dimension_ids_)),
      contents_(std::move(other.contents_)) {}

Result<> InputFile::check(int code, std::string_view what, std::string_view variable) const {
  if (code == NC_NOERR) return {};
  Error error = make_error(ErrorCode::io, "{}: {}: {}", path_, what, nc_strerror(code));
  return fail(std::move(error.in_file(path_).in_variable(std::string(variable)).with_native(code)));
}

Result<> InputFile::refuse_what_is_not_atomic() const {
  std::vector<std::string> groups;
  std::vector<std::string> user_types;
  int count = 0;
  AFTERBAY_TRY(check(nc_inq_grps(id_, &count, nullptr), "cannot read its groups"));
  std::vector<int> ids(static_cast<std::size_t>(count));
  if (count > 0) AFTERBAY_TRY(check(nc_inq_grps(id_, &count, ids.data()), "cannot read its groups"));
  for (const int group : ids) {
    std::array<char, NC_MAX_NAME + 1> name{};
    AFTERBAY_TRY(check(nc_inq_grpname(group, name.data()), "cannot read a group's name"));
    groups.emplace_back(name.data());
  }
  AFTERBAY_TRY(check(nc_inq_typeids(id_, &count, nullptr), "cannot read its types"));
  ids.resize(static_cast<std::size_t>(count));
  if (count > 0) AFTERBAY_TRY(check(nc_inq_typeids(id_, &count, ids.data()), "cannot read its types"));
  for (const int type : ids) {
    std::array<char, NC_MAX_NAME + 1> name{};
    AFTERBAY_TRY(check(nc_inq_user_type(id_, type, name.data(), nullptr, nullptr, nullptr, nullptr),
                       "cannot read a type's name"));
    user_types.emplace_back(name.data());
  }
  if (groups.empty() && user_types.empty()) return {};
  std::string found;
  if (!groups.empty()) found += "groups " + joined(groups);
  if (!user_types.empty())
    found += (found.empty() ? "" : " and ") + ("user-defined types " + joined(user_types));
  return fail(
      make_error(ErrorCode::format,
                 "{}: it has {}: only files without groups and with atomic types can be used; take the part "
                 "that you need out with other tools first (for example nccopy -g)",
                 path_, found)
          .in_file(path_));
}

Result<> InputFile::describe() {
  int format = 0;
  int variables = 0;
  int attributes = 0;
  AFTERBAY_TRY(check(nc_inq_format(id_, &format), "cannot read its format"));
  contents_.format = format_name(format);
  AFTERBAY_TRY(describe_dimensions());
  AFTERBAY_TRY(check(nc_inq_nvars(id_, &variables), "cannot read its number of variables"));
  for (int id = 0; id < variables; ++id) {
    AFTERBAY_TRY_ASSIGN(InputVariable variable, describe_variable(id));
    contents_.variables.push_back(std::move(variable));
  }
  AFTERBAY_TRY(check(nc_inq_natts(id_, &attributes), "cannot read its number of attributes"));
  AFTERBAY_TRY_ASSIGN(contents_.attributes, attributes_of(NC_GLOBAL, attributes, {}));
  return {};
}

Result<> InputFile::describe_dimensions() {
  int count = 0;
  int unlimited_count = 0;
  AFTERBAY_TRY(check(nc_inq_dimids(id_, &count, nullptr, 0), "cannot read its dimensions"));
  dimension_ids_.resize(static_cast<std::size_t>(count));
  if (count > 0)
    AFTERBAY_TRY(check(nc_inq_dimids(id_, &count, dimension_ids_.data(), 0), "cannot read its dimensions"));
  AFTERBAY_TRY(
      check(nc_inq_unlimdims(id_, &unlimited_count, nullptr), "cannot read its unlimited dimensions"));
  std::vector<int> unlimited_ids(static_cast<std::size_t>(unlimited_count));
  if (unlimited_count > 0)
    AFTERBAY_TRY(check(nc_inq_unlimdims(id_, &unlimited_count, unlimited_ids.data()),
                       "cannot read its unlimited dimensions"));
  for (const int id : dimension_ids_) {
    std::array<char, NC_MAX_NAME + 1> name{};
    std::size_t length = 0;
    AFTERBAY_TRY(check(nc_inq_dim(id_, id, name.data(), &length), "cannot read a dimension"));
    const bool is_unlimited =
        std::find(unlimited_ids.begin(), unlimited_ids.end(), id) != unlimited_ids.end();
    contents_.dimensions.push_back({name.data(), length, is_unlimited});
  }
  return {};
}

Result<InputVariable> InputFile::describe_variable(int id) const {
  std::array<char, NC_MAX_NAME + 1> name{};
  nc_type type = NC_NAT;
  int dimensions = 0;
  int attributes = 0;
  AFTERBAY_TRY(check(nc_inq_var(id_, id, name.data(), &type, &dimensions, nullptr, &attributes),
                     "cannot read a variable"));
  InputVariable variable;
  variable.name = name.data();
  variable.id = id;
  const std::optional<Type> known = type_of_number(type);
  if (!known)
    return fail(
        make_error(ErrorCode::format,
                   "{}: variable '{}' has the type number {}, which is none of netCDF-4's atomic types",
                   path_, variable.name, type)
            .in_file(path_)
            .in_variable(variable.name));
  variable.type = *known;
  std::vector<int> ids(static_cast<std::size_t>(dimensions));
  if (dimensions > 0)
    AFTERBAY_TRY(
        check(nc_inq_vardimid(id_, id, ids.data()), "cannot read a variable's dimensions", variable.name));
  for (const int dimension : ids) {
    const auto found = std::find(dimension_ids_.begin(), dimension_ids_.end(), dimension);
    variable.dimensions.push_back(static_cast<std::size_t>(found - dimension_ids_.begin()));
  }
  AFTERBAY_TRY_ASSIGN(variable.attributes, attributes_of(id, attributes, variable.name));
  AFTERBAY_TRY(describe_storage(variable));
  return variable;
}

Result<> InputFile::describe_storage(InputVariable& variable) const {
  if (!contents_.format.starts_with("netCDF-4") || variable.dimensions.empty()) return {};
  int storage = NC_CONTIGUOUS;
  std::vector<std::size_t> lengths(variable.dimensions.size());
  AFTERBAY_TRY(check(nc_inq_var_chunking(id_, variable.id, &storage, lengths.data()),
                     "cannot read its chunking", variable.name));
  if (storage == NC_CHUNKED) variable.chunk.assign(lengths.begin(), lengths.end());
  int shuffle = 0;
  int deflate = 0;
  int level = 0;
  AFTERBAY_TRY(check(nc_inq_var_deflate(id_, variable.id, &shuffle, &deflate, &level),
                     "cannot read its filters", variable.name));
  variable.shuffle = shuffle != 0;
  variable.deflate = deflate != 0 ? level : 0;
  return {};
}

Result<std::vector<Attribute>> InputFile::attributes_of(int id, int count, std::string_view variable) const {
  std::vector<Attribute> attributes;
  for (int number = 0; number < count; ++number) {
    std::array<char, NC_MAX_NAME + 1> name{};
    AFTERBAY_TRY(
        check(nc_inq_attname(id_, id, number, name.data()), "cannot read an attribute's name", variable));
    AFTERBAY_TRY_ASSIGN(Values values, attribute_values(id, name.data(), variable));
    attributes.push_back({name.data(), std::move(values)});
  }
  return attributes;
}

Result<Values> InputFile::attribute_values(int id, const std::string& name, std::string_view variable) const {
  nc_type number = NC_NAT;
  std::size_t length = 0;
  AFTERBAY_TRY(check(nc_inq_att(id_, id, name.c_str(), &number, &length),
                     "cannot read attribute '" + name + "'", variable));
  const std::optional<Type> type = type_of_number(number);
  if (!type)
    return fail(
        make_error(ErrorCode::format,
                   "{}: attribute '{}'{} has the type number {}, which is none of netCDF-4's atomic types",
                   path_, name, variable.empty() ? "" : " of variable '" + std::string(variable) + "'",
                   number)
            .in_file(path_));
  Values values;
  values.type = *type;
  if (length == 0) return values;
  if (*type == Type::string) {
    std::vector<char*> pointers(length);
    AFTERBAY_TRY(check(nc_get_att_string(id_, id, name.c_str(), pointers.data()),
                       "cannot read attribute '" + name + "'", variable));
    values.strings = take_strings(pointers);
    return values;
  }
  values.bytes.resize(length * size_of(*type));
  AFTERBAY_TRY(check(nc_get_att(id_, id, name.c_str(), values.bytes.data()),
                     "cannot read attribute '" + name + "'", variable));
  return values;
}

Result<> InputFile::read(const InputVariable& variable, std::span<const std::uint64_t> start,
                         std::span<const std::uint64_t> count, std::span<std::byte> values) const {
  if (points(count) == 0) return {};
  const std::vector<std::size_t> from(start.begin(), start.end());
  const std::vector<std::size_t> lengths(count.begin(), count.end());
  return check(nc_get_vara(id_, variable.id, from.data(), lengths.data(), values.data()),
               "cannot read values of '" + variable.name + "'", variable.name);
}

Result<std::vector<std::string>> InputFile::read_strings(const InputVariable& variable,
                                                         std::span<const std::uint64_t> start,
                                                         std::span<const std::uint64_t> count) const {
  const std::vector<std::size_t> from(start.begin(), start.end());
  const std::vector<std::size_t> lengths(count.begin(), count.end());
  std::vector<char*> pointers(points(count));
  if (pointers.empty()) return std::vector<std::string>{};
  AFTERBAY_TRY(check(nc_get_vara_string(id_, variable.id, from.data(), lengths.data(), pointers.data()),
                     "cannot read values of '" + variable.name + "'", variable.name));
  return take_strings(pointers);
}

Result<Values> InputFile::read_all(const InputVariable& variable) const {
  const std::vector<std::uint64_t> shape = contents_.shape(variable);
  const std::vector<std::uint64_t> start(shape.size(), 0);
  Values values;
  values.type = variable.type;
  if (variable.type == Type::string) {
    AFTERBAY_TRY_ASSIGN(values.strings, read_strings(variable, start, shape));
    return values;
  }
  values.bytes.resize(points(shape) * size_of(variable.type));
  AFTERBAY_TRY(read(variable, start, shape, values.bytes));
  return values;
}

void InputFile::cache_chunks(const InputVariable& variable, std::uint64_t bytes) const {
  // Only speed depends on it: when netCDF refuses, its default stays.
  constexpr std::size_t slots = 4133;
  if (!variable.chunk.empty()) nc_set_var_chunk_cache(id_, variable.id, bytes, slots, 0.75F);
}

}  // namespace afterbay::app
