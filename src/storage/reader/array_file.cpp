// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "storage/cdf/header.hpp"
#include "storage/library_lock.hpp"
#include "storage/netcdf4/dataset_codec.hpp"
#include "storage/reader/array_file.hpp"
#include "storage/reader/remote_file.hpp"
#include "storage/structure/netcdf_names.hpp"

namespace afterbay::storage {
namespace {

std::uint64_t points_of(std::span<const std::uint64_t> count) {
  return std::accumulate(count.begin(), count.end(), std::uint64_t{1}, std::multiplies<>());
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

/// The implementation with netCDF-C in this process.
class LocalArrayFile : public ArrayFile {
 public:
  explicit LocalArrayFile(std::string path) : path_(std::move(path)) {}
  ~LocalArrayFile() override {
    const LibraryLock lock;
    if (id_ >= 0) nc_close(id_);
  }

  Result<> open_it();
  Result<> read(int variable, std::span<const std::uint64_t> start, std::span<const std::uint64_t> count,
                std::span<std::byte> values) override;
  Result<std::vector<std::string>> read_strings(int variable, std::span<const std::uint64_t> start,
                                                std::span<const std::uint64_t> count) override;
  void cache_chunks(int variable, std::uint64_t bytes) override;

 private:
  Result<> check(int code, std::string_view what, std::string_view variable = {}) const;
  Result<> describe_groups_and_types();
  Result<> describe();
  Result<> describe_dimensions();
  Result<> describe_variable(int id);
  Result<> describe_storage(ArrayVariable& variable) const;
  Result<std::vector<Attribute>> attributes_of(int id, int count, const std::string& variable);
  Result<std::optional<Values>> attribute_values(int id, const std::string& name,
                                                 const std::string& variable) const;
  [[nodiscard]] std::string name_of_variable(int id) const;

  std::string path_;
  int id_ = -1;
  std::vector<int> dimension_ids_;
};

/// If netCDF-C fails to open or describe a file, the cause is in the file.
Result<> LocalArrayFile::check(int code, std::string_view what, std::string_view variable) const {
  if (code == NC_NOERR) return {};
  const ErrorCode kind = code > 0            ? ErrorCode::io
                         : code == NC_ENOMEM ? ErrorCode::resources
                                             : ErrorCode::format;
  Error error = make_error(kind, "{}: {}: {}", path_, what, nc_strerror(code));
  return fail(std::move(error.in_file(path_).in_variable(std::string(variable)).with_native(code)));
}

Result<> LocalArrayFile::open_it() {
  AFTERBAY_TRY(check_cdf_header(path_));
  const LibraryLock lock;
  AFTERBAY_TRY(check(nc_open(path_.c_str(), NC_NOWRITE, &id_), "cannot open it as a netCDF file"));
  AFTERBAY_TRY(describe_groups_and_types());
  return describe();
}

Result<> LocalArrayFile::describe_groups_and_types() {
  int count = 0;
  AFTERBAY_TRY(check(nc_inq_grps(id_, &count, nullptr), "cannot read its groups"));
  std::vector<int> ids(static_cast<std::size_t>(count));
  if (count > 0) AFTERBAY_TRY(check(nc_inq_grps(id_, &count, ids.data()), "cannot read its groups"));
  for (const int group : ids) {
    std::array<char, NC_MAX_NAME + 1> name{};
    AFTERBAY_TRY(check(nc_inq_grpname(group, name.data()), "cannot read a group's name"));
    contents_.groups.emplace_back(name.data());
  }
  AFTERBAY_TRY(check(nc_inq_typeids(id_, &count, nullptr), "cannot read its types"));
  ids.resize(static_cast<std::size_t>(count));
  if (count > 0) AFTERBAY_TRY(check(nc_inq_typeids(id_, &count, ids.data()), "cannot read its types"));
  for (const int type : ids) {
    std::array<char, NC_MAX_NAME + 1> name{};
    AFTERBAY_TRY(check(nc_inq_user_type(id_, type, name.data(), nullptr, nullptr, nullptr, nullptr),
                       "cannot read a type's name"));
    contents_.user_types.emplace_back(name.data());
  }
  return {};
}

Result<> LocalArrayFile::describe() {
  int format = 0;
  int variables = 0;
  int attributes = 0;
  AFTERBAY_TRY(check(nc_inq_format(id_, &format), "cannot read its format"));
  contents_.format = format_name(format);
  AFTERBAY_TRY(describe_dimensions());
  AFTERBAY_TRY(check(nc_inq_nvars(id_, &variables), "cannot read its number of variables"));
  for (int id = 0; id < variables; ++id) AFTERBAY_TRY(describe_variable(id));
  AFTERBAY_TRY(check(nc_inq_natts(id_, &attributes), "cannot read its number of attributes"));
  AFTERBAY_TRY_ASSIGN(contents_.attributes, attributes_of(NC_GLOBAL, attributes, {}));
  return {};
}

Result<> LocalArrayFile::describe_dimensions() {
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

Result<> LocalArrayFile::describe_variable(int id) {
  std::array<char, NC_MAX_NAME + 1> name{};
  nc_type type = NC_NAT;
  int dimensions = 0;
  int attributes = 0;
  AFTERBAY_TRY(check(nc_inq_var(id_, id, name.data(), &type, &dimensions, nullptr, &attributes),
                     "cannot read a variable"));
  ArrayVariable variable;
  variable.name = name.data();
  variable.id = id;
  const std::optional<Type> known = type_of_netcdf(type);
  if (!known) {
    contents_.left_out.push_back(fmt::format("variable '{}' (type number {})", variable.name, type));
    return {};
  }
  variable.type = *known;
  std::vector<int> ids(static_cast<std::size_t>(dimensions));
  if (dimensions > 0)
    AFTERBAY_TRY(
        check(nc_inq_vardimid(id_, id, ids.data()), "cannot read a variable's dimensions", variable.name));
  for (const int dimension : ids) {
    const auto found = std::find(dimension_ids_.begin(), dimension_ids_.end(), dimension);
    if (found == dimension_ids_.end())
      return fail(make_error(ErrorCode::format, "{}: a dimension of variable '{}' is not in the file", path_,
                             variable.name)
                      .in_file(path_)
                      .in_variable(variable.name));
    variable.dimensions.push_back(static_cast<std::size_t>(found - dimension_ids_.begin()));
  }
  AFTERBAY_TRY_ASSIGN(variable.attributes, attributes_of(id, attributes, variable.name));
  AFTERBAY_TRY(describe_storage(variable));
  contents_.variables.push_back(std::move(variable));
  return {};
}

Result<> LocalArrayFile::describe_storage(ArrayVariable& variable) const {
  if (!contents_.format.starts_with("netCDF-4") || variable.dimensions.empty()) return {};
  int storage = NC_CONTIGUOUS;
  std::vector<std::size_t> lengths(variable.dimensions.size());
  AFTERBAY_TRY(check(nc_inq_var_chunking(id_, variable.id, &storage, lengths.data()),
                     "cannot read its chunking", variable.name));
  if (storage == NC_CHUNKED) variable.chunk.assign(lengths.begin(), lengths.end());
  auto chain = read_filters(id_, variable.id, variable.type, "read its filters");
  if (!chain) return fail(std::move(chain).error().in_file(path_).in_variable(variable.name));
  variable.filters = *std::move(chain);
  return {};
}

Result<std::vector<Attribute>> LocalArrayFile::attributes_of(int id, int count, const std::string& variable) {
  std::vector<Attribute> attributes;
  for (int number = 0; number < count; ++number) {
    std::array<char, NC_MAX_NAME + 1> name{};
    AFTERBAY_TRY(
        check(nc_inq_attname(id_, id, number, name.data()), "cannot read an attribute's name", variable));
    AFTERBAY_TRY_ASSIGN(std::optional<Values> values, attribute_values(id, name.data(), variable));
    if (values)
      attributes.push_back({name.data(), *std::move(values)});
    else
      contents_.left_out.push_back(fmt::format("attribute '{}'{}", name.data(),
                                               variable.empty() ? "" : " of variable '" + variable + "'"));
  }
  return attributes;
}

/// Nullopt if it does not have an atomic type.
Result<std::optional<Values>> LocalArrayFile::attribute_values(int id, const std::string& name,
                                                               const std::string& variable) const {
  nc_type number = NC_NAT;
  std::size_t length = 0;
  AFTERBAY_TRY(check(nc_inq_att(id_, id, name.c_str(), &number, &length),
                     "cannot read attribute '" + name + "'", variable));
  const std::optional<Type> type = type_of_netcdf(number);
  if (!type) return std::nullopt;
  Values values;
  values.type = *type;
  if (length == 0) return values;
  if (*type == Type::string) {
    NetcdfStrings strings(length);
    AFTERBAY_TRY(check(nc_get_att_string(id_, id, name.c_str(), strings.pointers.data()),
                       "cannot read attribute '" + name + "'", variable));
    values.strings = strings.take();
    return values;
  }
  values.bytes.resize(length * size_of(*type));
  AFTERBAY_TRY(check(nc_get_att(id_, id, name.c_str(), values.bytes.data()),
                     "cannot read attribute '" + name + "'", variable));
  return values;
}

std::string LocalArrayFile::name_of_variable(int id) const {
  const auto found = std::find_if(contents_.variables.begin(), contents_.variables.end(),
                                  [&](const ArrayVariable& variable) { return variable.id == id; });
  return found == contents_.variables.end() ? "" : found->name;
}

Result<> LocalArrayFile::read(int variable, std::span<const std::uint64_t> start,
                              std::span<const std::uint64_t> count, std::span<std::byte> values) {
  if (points_of(count) == 0) return {};
  const std::vector<std::size_t> from(start.begin(), start.end());
  const std::vector<std::size_t> lengths(count.begin(), count.end());
  const LibraryLock lock;
  const int status = nc_get_vara(id_, variable, from.data(), lengths.data(), values.data());
  if (status == NC_NOERR) return {};
  const std::string name = name_of_variable(variable);
  return check(status, "cannot read values of '" + name + "'", name);
}

Result<std::vector<std::string>> LocalArrayFile::read_strings(int variable,
                                                              std::span<const std::uint64_t> start,
                                                              std::span<const std::uint64_t> count) {
  const std::vector<std::size_t> from(start.begin(), start.end());
  const std::vector<std::size_t> lengths(count.begin(), count.end());
  NetcdfStrings strings(points_of(count));
  if (strings.pointers.empty()) return std::vector<std::string>{};
  const LibraryLock lock;
  const std::string name = name_of_variable(variable);
  AFTERBAY_TRY(check(nc_get_vara_string(id_, variable, from.data(), lengths.data(), strings.pointers.data()),
                     "cannot read values of '" + name + "'", name));
  return strings.take();
}

void LocalArrayFile::cache_chunks(int variable, std::uint64_t bytes) {
  constexpr std::size_t slots = 4133;
  const LibraryLock lock;
  // If netCDF refuses, its default applies.
  nc_set_var_chunk_cache(id_, variable, bytes, slots, 0.75F);
}

}  // namespace

const Attribute* ArrayVariable::find_attribute(std::string_view attribute) const noexcept {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& a) { return a.name == attribute; });
  return found == attributes.end() ? nullptr : &*found;
}

std::vector<std::uint64_t> ArrayContents::shape(const ArrayVariable& variable) const {
  std::vector<std::uint64_t> lengths;
  for (const std::size_t d : variable.dimensions) lengths.push_back(dimensions[d].length);
  return lengths;
}

const ArrayDimension* ArrayContents::find_dimension(std::string_view name) const noexcept {
  const auto found = std::find_if(dimensions.begin(), dimensions.end(),
                                  [&](const ArrayDimension& d) { return d.name == name; });
  return found == dimensions.end() ? nullptr : &*found;
}

const ArrayVariable* ArrayContents::find_variable(std::string_view name) const noexcept {
  const auto found = std::find_if(variables.begin(), variables.end(),
                                  [&](const ArrayVariable& v) { return v.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

Result<std::unique_ptr<ArrayFile>> ArrayFile::open_here(const std::string& path) {
  auto file = std::make_unique<LocalArrayFile>(path);
  AFTERBAY_TRY(file->open_it());
  return file;
}

Result<std::unique_ptr<ArrayFile>> ArrayFile::open(const std::string& path) {
  AFTERBAY_TRY_ASSIGN(const auto classic, check_cdf_header(path));
  if (classic) return open_here(path);
  return RemoteArrayFile::open(path);
}

}  // namespace afterbay::storage
