// SPDX-License-Identifier: Apache-2.0
#include "storage/structure/read_schema.hpp"

#include <vector>

#include "storage/library_lock.hpp"
#include "storage/structure/netcdf_names.hpp"

namespace afterbay::storage {
namespace {

/// Strings that netCDF-C allocated.
struct NetcdfStrings {
  explicit NetcdfStrings(std::size_t count) : pointers(count, nullptr) {}
  NetcdfStrings(const NetcdfStrings&) = delete;
  NetcdfStrings& operator=(const NetcdfStrings&) = delete;
  ~NetcdfStrings() {
    if (!pointers.empty()) nc_free_string(pointers.size(), pointers.data());
  }
  [[nodiscard]] std::vector<std::string> take() const {
    std::vector<std::string> strings;
    for (const char* text : pointers) strings.emplace_back(text == nullptr ? "" : text);
    return strings;
  }
  std::vector<char*> pointers;
};

Result<Type> known_type(nc_type number, const std::string& what) {
  if (const auto type = type_of_netcdf(number)) return *type;
  return fail(ErrorCode::format,
              "{} is of a user-defined type, which only the program that wrote it can extend", what);
}

class Reader {
 public:
  explicit Reader(int id) : id_(id) {}

  Result<FoundFile> read() {
    AFTERBAY_TRY(read_format());
    AFTERBAY_TRY(read_dimensions());
    int variables = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_nvars(id_, &variables), "count the variables"));
    for (int number = 0; number < variables; ++number) AFTERBAY_TRY(read_variable(number));
    int attributes = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_natts(id_, &attributes), "count the global attributes"));
    for (int number = 0; number < attributes; ++number) {
      AFTERBAY_TRY_ASSIGN(Attribute attribute, read_attribute(NC_GLOBAL, number));
      found_.schema.attributes.push_back(std::move(attribute));
    }
    return std::move(found_);
  }

 private:
  Result<> read_format() {
    int format = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_format(id_, &format), "find the format"));
    if (format == NC_FORMAT_CLASSIC)
      return fail(
          ErrorCode::format,
          "it is in the classic format (CDF-1), which is not written any more: convert it (nccopy -k cdf5)");
    found_.format = format == NC_FORMAT_64BIT_OFFSET ? Format::cdf2
                    : format == NC_FORMAT_64BIT_DATA ? Format::cdf5
                                                     : Format::netcdf4;
    int groups = 0;
    if (found_.format == Format::netcdf4)
      AFTERBAY_TRY(check_netcdf(nc_inq_grps(id_, &groups, nullptr), "count the groups"));
    if (groups > 0)
      return fail(ErrorCode::format, "it has {} groups; only files without groups can be extended", groups);
    return {};
  }

  Result<> read_dimensions() {
    int count = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_ndims(id_, &count), "count the dimensions"));
    std::vector<int> unlimited_ids(static_cast<std::size_t>(count) + 1);
    int unlimited_count = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_unlimdims(id_, &unlimited_count, unlimited_ids.data()),
                              "find the unlimited dimension"));
    if (unlimited_count > 1)
      return fail(ErrorCode::format, "it has {} unlimited dimensions; only one can be extended",
                  unlimited_count);
    for (int number = 0; number < count; ++number) {
      char name[NC_MAX_NAME + 1] = {};
      std::size_t length = 0;
      AFTERBAY_TRY(
          check_netcdf(nc_inq_dim(id_, number, name, &length), "read dimension " + std::to_string(number)));
      const bool grows = unlimited_count == 1 && unlimited_ids[0] == number;
      if (grows) found_.records = length;
      found_.schema.dimensions.push_back({name, grows ? unlimited : length});
    }
    return {};
  }

  Result<> read_variable(int number) {
    char name[NC_MAX_NAME + 1] = {};
    nc_type type = NC_NAT;
    int rank = 0;
    int attributes = 0;
    int ids[NC_MAX_VAR_DIMS] = {};
    AFTERBAY_TRY(check_netcdf(nc_inq_var(id_, number, name, &type, &rank, ids, &attributes),
                              "read variable " + std::to_string(number)));
    Variable variable;
    variable.name = name;
    AFTERBAY_TRY_ASSIGN(variable.type, known_type(type, "variable '" + variable.name + "'"));
    for (int d = 0; d < rank; ++d)
      variable.dimensions.push_back(found_.schema.dimensions[static_cast<std::size_t>(ids[d])].name);
    for (int a = 0; a < attributes; ++a) {
      AFTERBAY_TRY_ASSIGN(Attribute attribute, read_attribute(number, a));
      if (attribute.name == "_FillValue")
        variable.fill = std::move(attribute.values);
      else
        variable.attributes.push_back(std::move(attribute));
    }
    found_.schema.variables.push_back(std::move(variable));
    return {};
  }

  Result<Attribute> read_attribute(int variable, int number) {
    char name[NC_MAX_NAME + 1] = {};
    const std::string what = "read attribute " + std::to_string(number);
    AFTERBAY_TRY(check_netcdf(nc_inq_attname(id_, variable, number, name), what));
    nc_type netcdf = NC_NAT;
    std::size_t count = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_att(id_, variable, name, &netcdf, &count), what));
    AFTERBAY_TRY_ASSIGN(const Type type, known_type(netcdf, std::string("attribute '") + name + "'"));
    Attribute attribute{name, {}};
    attribute.values.type = type;
    if (type == Type::string) {
      NetcdfStrings strings(count);
      AFTERBAY_TRY(check_netcdf(nc_get_att_string(id_, variable, name, strings.pointers.data()), what));
      attribute.values.strings = strings.take();
    } else if (count > 0) {
      attribute.values.bytes.resize(count * size_of(type));
      AFTERBAY_TRY(check_netcdf(nc_get_att(id_, variable, name, attribute.values.bytes.data()), what));
    }
    return attribute;
  }

  int id_;
  FoundFile found_;
};

Result<Values> read_all(int id, const std::string& name) {
  const std::string what = "read variable '" + name + "'";
  int number = 0;
  nc_type netcdf = NC_NAT;
  int rank = 0;
  int ids[NC_MAX_VAR_DIMS] = {};
  AFTERBAY_TRY(check_netcdf(nc_inq_varid(id, name.c_str(), &number), what));
  AFTERBAY_TRY(check_netcdf(nc_inq_var(id, number, nullptr, &netcdf, &rank, ids, nullptr), what));
  std::size_t count = 1;
  for (int d = 0; d < rank; ++d) {
    std::size_t length = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_dimlen(id, ids[d], &length), what));
    count *= length;
  }
  Values values;
  AFTERBAY_TRY_ASSIGN(values.type, known_type(netcdf, "variable '" + name + "'"));
  if (values.type == Type::string) {
    NetcdfStrings strings(count);
    AFTERBAY_TRY(check_netcdf(nc_get_var_string(id, number, strings.pointers.data()), what));
    values.strings = strings.take();
    return values;
  }
  values.bytes.resize(count * size_of(values.type));
  AFTERBAY_TRY(check_netcdf(nc_get_var(id, number, values.bytes.data()), what));
  return values;
}

Error about(Error error, const std::string& path) {
  return std::move(error.in_file(path).add("while reading " + path));
}

}  // namespace

Result<FoundFile> read_schema(const std::string& path) {
  const LibraryLock lock;
  int id = -1;
  if (auto opened = check_netcdf(nc_open(path.c_str(), NC_NOWRITE, &id), "open it"); !opened)
    return fail(about(std::move(opened).error(), path));
  NetcdfFile file(id);
  return Reader(id).read().map_error([&](Error error) { return about(std::move(error), path); });
}

Result<Values> read_values(const std::string& path, const std::string& variable) {
  const LibraryLock lock;
  int id = -1;
  if (auto opened = check_netcdf(nc_open(path.c_str(), NC_NOWRITE, &id), "open it"); !opened)
    return fail(about(std::move(opened).error(), path));
  NetcdfFile file(id);
  return read_all(id, variable).map_error([&](Error error) { return about(std::move(error), path); });
}

}  // namespace afterbay::storage
