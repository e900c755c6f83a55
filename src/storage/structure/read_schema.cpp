// SPDX-License-Identifier: Apache-2.0
#include "storage/structure/read_schema.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "model/box.hpp"
#include "model/filters.hpp"
#include "storage/cdf/header.hpp"
#include "storage/library_lock.hpp"
#include "storage/netcdf4/dataset_codec.hpp"
#include "storage/structure/netcdf_names.hpp"

namespace afterbay::storage {
namespace {

Result<Type> known_type(nc_type number, const std::string& what) {
  if (const auto type = type_of_netcdf(number)) return *type;
  return fail(ErrorCode::format,
              "{} is of a user-defined type, which only the program that wrote it can extend", what);
}

/// A dimension as netCDF-C has it.
struct FoundDimension {
  int number = 0;
  std::string name;
  std::uint64_t length = 0;
  bool grows = false;
};

/// What netCDF-C says of a variable, before its attributes.
struct FoundVariable {
  std::string name;
  nc_type type = NC_NAT;
  std::vector<int> dimensions;
  int attributes = 0;
};

class Reader {
 public:
  Reader(int id, Demand demand) : id_(id), tolerant_(demand == Demand::what_fits) {}

  Result<FoundFile> read() {
    AFTERBAY_TRY(read_format());
    AFTERBAY_TRY(read_dimensions());
    AFTERBAY_TRY(read_variables());
    AFTERBAY_TRY_ASSIGN(found_.schema.attributes, read_attributes(NC_GLOBAL));
    return std::move(found_);
  }

 private:
  Result<> read_format() {
    int format = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_format(id_, &format), "find the format"));
    if (format == NC_FORMAT_CLASSIC && !tolerant_)
      return fail(
          ErrorCode::format,
          "it is in the classic format (CDF-1), which is not written any more: convert it (nccopy -k cdf5)");
    const bool classic = format == NC_FORMAT_CLASSIC || format == NC_FORMAT_64BIT_OFFSET;
    found_.format = classic ? Format::cdf2 : format == NC_FORMAT_64BIT_DATA ? Format::cdf5 : Format::netcdf4;
    if (found_.format != Format::netcdf4) return {};
    int groups = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_grps(id_, &groups, nullptr), "count the groups"));
    if (groups == 0) return {};
    if (tolerant_) return leave_out_groups(id_, {});
    return fail(ErrorCode::format, "it has {} groups; only files without groups can be extended", groups);
  }

  Result<> leave_out_groups(int parent, const std::string& path) {  // NOLINT(misc-no-recursion): of groups
    int count = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_grps(parent, &count, nullptr), "count the groups"));
    std::vector<int> groups(static_cast<std::size_t>(count));
    AFTERBAY_TRY(check_netcdf(nc_inq_grps(parent, &count, groups.data()), "find the groups"));
    for (const int group : groups) {
      char name[NC_MAX_NAME + 1] = {};
      int variables = 0;
      AFTERBAY_TRY(check_netcdf(nc_inq_grpname(group, name), "read the name of a group"));
      AFTERBAY_TRY(check_netcdf(nc_inq_nvars(group, &variables), "count the variables of a group"));
      const std::string group_path = path + name + "/";
      for (int number = 0; number < variables; ++number) {
        char variable[NC_MAX_NAME + 1] = {};
        AFTERBAY_TRY(check_netcdf(nc_inq_varname(group, number, variable), "read the name of a variable"));
        found_.left_out.push_back(
            {group_path + variable,
             "it is in the group '/" + path + name + "'; only variables outside of groups are read"});
      }
      AFTERBAY_TRY(leave_out_groups(group, group_path));
    }
    return {};
  }

  Result<> read_dimensions() {
    int count = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_dimids(id_, &count, nullptr, 0), "count the dimensions"));
    std::vector<int> numbers(static_cast<std::size_t>(count) + 1);
    AFTERBAY_TRY(check_netcdf(nc_inq_dimids(id_, &count, numbers.data(), 0), "find the dimensions"));
    std::vector<int> growing(static_cast<std::size_t>(count) + 1);
    int growing_count = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_unlimdims(id_, &growing_count, nullptr), "find unlimited dimensions"));
    growing.resize(static_cast<std::size_t>(growing_count));
    AFTERBAY_TRY(
        check_netcdf(nc_inq_unlimdims(id_, &growing_count, growing.data()), "find the unlimited dimension"));
    if (growing_count > 1 && !tolerant_)
      return fail(ErrorCode::format, "it has {} unlimited dimensions; only one can be extended",
                  growing_count);
    for (int i = 0; i < count; ++i) {
      const int number = numbers[static_cast<std::size_t>(i)];
      char name[NC_MAX_NAME + 1] = {};
      std::size_t length = 0;
      AFTERBAY_TRY(
          check_netcdf(nc_inq_dim(id_, number, name, &length), "read dimension " + std::to_string(number)));
      const bool grows = std::find(growing.begin(), growing.end(), number) != growing.end();
      dimensions_.push_back({number, name, length, grows});
    }
    return {};
  }

  Result<> read_variables() {
    int count = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_nvars(id_, &count), "count the variables"));
    std::vector<FoundVariable> variables;
    for (int number = 0; number < count; ++number) {
      AFTERBAY_TRY_ASSIGN(FoundVariable variable, inquire(number));
      variables.push_back(std::move(variable));
    }
    choose_record_dimension(variables);
    for (int number = 0; number < count; ++number) {
      const FoundVariable& variable = variables[static_cast<std::size_t>(number)];
      AFTERBAY_TRY_ASSIGN(const std::optional<std::string> obstacle, obstacle_of(variable));
      if (obstacle && !tolerant_)
        return fail(ErrorCode::format, "variable '{}': {}", variable.name, *obstacle);
      if (obstacle)
        found_.left_out.push_back({variable.name, *obstacle});
      else
        AFTERBAY_TRY(read_variable(number, variable));
    }
    return {};
  }

  Result<FoundVariable> inquire(int number) {
    char name[NC_MAX_NAME + 1] = {};
    int rank = 0;
    int ids[NC_MAX_VAR_DIMS] = {};
    FoundVariable variable;
    AFTERBAY_TRY(check_netcdf(nc_inq_var(id_, number, name, &variable.type, &rank, ids, &variable.attributes),
                              "read variable " + std::to_string(number)));
    variable.name = name;
    variable.dimensions.assign(ids, ids + rank);
    return variable;
  }

  [[nodiscard]] const FoundDimension* dimension(int number) const {
    for (const FoundDimension& found : dimensions_)
      if (found.number == number) return &found;
    return nullptr;
  }

  /// The first unlimited dimension that leads a variable, or else the first one.
  void choose_record_dimension(const std::vector<FoundVariable>& variables) {
    for (FoundDimension& candidate : dimensions_) {
      if (!candidate.grows) continue;
      const bool leads = std::any_of(variables.begin(), variables.end(), [&](const FoundVariable& variable) {
        return !variable.dimensions.empty() && variable.dimensions.front() == candidate.number;
      });
      if (record_dimension_ == nullptr || leads) record_dimension_ = &candidate;
      if (leads) break;
    }
    for (const FoundDimension& found : dimensions_) {
      if (&found == record_dimension_) {
        found_.records = found.length;
        found_.schema.dimensions.push_back({found.name, unlimited});
      } else if (found.length > 0) {  // a Schema has no other dimensions without length
        found_.schema.dimensions.push_back({found.name, found.length});
      }
    }
  }

  /// Why a Schema cannot hold a variable; an error when that is one.
  Result<std::optional<std::string>> obstacle_of(const FoundVariable& variable) const {
    const auto type = known_type(variable.type, "variable '" + variable.name + "'");
    if (!type && !tolerant_) return fail(type.error());
    if (!type) return "it is of a user-defined type";
    if (tolerant_ && variable.dimensions.size() > model::max_dimensions)
      return fmt::format("it has {} dimensions, of at most {}", variable.dimensions.size(),
                         model::max_dimensions);
    for (std::size_t d = 0; d < variable.dimensions.size(); ++d) {
      const FoundDimension* found = dimension(variable.dimensions[d]);
      if (found == nullptr) return "a dimension of it is not in the root group";
      if (found == record_dimension_ && d > 0)
        return fmt::format("its dimension '{}' is unlimited and not its first", found->name);
      if (found != record_dimension_ && found->length == 0)
        return fmt::format("its dimension '{}' has length 0: it has no values", found->name);
    }
    if (tolerant_ && record_dimension_ != nullptr && variable.dimensions.size() == model::max_dimensions &&
        variable.dimensions.front() != record_dimension_->number)
      return fmt::format("it has {} dimensions, of at most {} without the record dimension",
                         variable.dimensions.size(), model::max_dimensions - 1);
    return std::nullopt;
  }

  Result<> read_variable(int number, const FoundVariable& found) {
    Variable variable;
    variable.name = found.name;
    AFTERBAY_TRY_ASSIGN(variable.type, known_type(found.type, "variable '" + variable.name + "'"));
    for (const int id : found.dimensions) variable.dimensions.push_back(dimension(id)->name);
    if (!fits_in_a_file(found_.schema, variable)) {
      if (!tolerant_)
        return fail(ErrorCode::format, "variable '{}' has more values than a file can hold", variable.name);
      found_.left_out.push_back({variable.name, "it has more values than a file can hold"});
      return {};
    }
    AFTERBAY_TRY_ASSIGN(variable.attributes, read_attributes(number));
    const auto fill = std::find_if(variable.attributes.begin(), variable.attributes.end(),
                                   [](const Attribute& attribute) { return attribute.name == "_FillValue"; });
    if (fill != variable.attributes.end() && fill->values.type == variable.type) {
      variable.fill = std::move(fill->values);
      variable.attributes.erase(fill);
    }
    if (found_.format == Format::netcdf4) AFTERBAY_TRY(read_storage(number, variable));
    found_.schema.variables.push_back(std::move(variable));
    found_.numbers.push_back(number);
    return {};
  }

  Result<> read_storage(int number, Variable& variable) {
    const std::string what = "read how variable '" + variable.name + "' is stored";
    int storage = NC_CONTIGUOUS;
    std::vector<std::size_t> chunk(variable.dimensions.size() + 1);
    AFTERBAY_TRY(check_netcdf(nc_inq_var_chunking(id_, number, &storage, chunk.data()), what));
    if (storage != NC_CHUNKED) return {};
    variable.chunk.assign(chunk.begin(), chunk.end() - 1);
    AFTERBAY_TRY_ASSIGN(FilterChain chain, read_filters(id_, number, variable.type, what));
    model::set_filters(variable, std::move(chain));
    return {};
  }

  /// When not all is demanded, attributes that cannot be read are left out: they are not data.
  Result<std::vector<Attribute>> read_attributes(int variable) {
    int count = 0;
    AFTERBAY_TRY(check_netcdf(nc_inq_varnatts(id_, variable, &count), "count the attributes"));
    std::vector<Attribute> attributes;
    for (int number = 0; number < count; ++number) {
      auto attribute = read_attribute(variable, number);
      if (attribute)
        attributes.push_back(std::move(*attribute));
      else if (!tolerant_)
        return fail(std::move(attribute).error());
    }
    return attributes;
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
  bool tolerant_;
  std::vector<FoundDimension> dimensions_;
  const FoundDimension* record_dimension_ = nullptr;
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

bool fits_in_a_file(const Schema& schema, const Variable& variable) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 62;
  std::uint64_t bytes = std::max<std::size_t>(size_of(variable.type), 1);
  for (const std::string& name : variable.dimensions) {
    const Dimension* dimension = schema.find_dimension(name);
    const std::uint64_t length = dimension->is_unlimited() ? 1 : dimension->length;
    if (__builtin_mul_overflow(bytes, length, &bytes) || bytes > most_bytes) return false;
  }
  return true;
}

Result<FoundFile> read_schema_of(int id, Demand demand) { return Reader(id, demand).read(); }

Result<FoundFile> read_schema(const std::string& path) {
  AFTERBAY_TRY(check_cdf_header(path));
  const LibraryLock lock;
  int id = -1;
  if (auto opened = check_netcdf(nc_open(path.c_str(), NC_NOWRITE, &id), "open it"); !opened)
    return fail(about(std::move(opened).error(), path));
  NetcdfHandle file(id);
  return read_schema_of(id, Demand::all).map_error([&](Error error) {
    return about(std::move(error), path);
  });
}

Result<Values> read_values(const std::string& path, const std::string& variable) {
  AFTERBAY_TRY(check_cdf_header(path));
  const LibraryLock lock;
  int id = -1;
  if (auto opened = check_netcdf(nc_open(path.c_str(), NC_NOWRITE, &id), "open it"); !opened)
    return fail(about(std::move(opened).error(), path));
  NetcdfHandle file(id);
  return read_all(id, variable).map_error([&](Error error) { return about(std::move(error), path); });
}

}  // namespace afterbay::storage
