// SPDX-License-Identifier: Apache-2.0
#include "storage/structure/build_structure.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/filters.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/fill.hpp"
#include "storage/library_lock.hpp"
#include "storage/netcdf4/dataset_codec.hpp"
#include "storage/structure/hdf5_image.hpp"
#include "storage/structure/netcdf_names.hpp"

namespace afterbay::storage {
namespace {

int create_mode(Format format) {
  switch (format) {
    case Format::cdf5: return NC_CLOBBER | NC_64BIT_DATA;
    case Format::cdf2: return NC_CLOBBER | NC_64BIT_OFFSET;
    default: return NC_CLOBBER | NC_NETCDF4;
  }
}

std::vector<const char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<const char*> pointers;
  for (const std::string& text : strings) pointers.push_back(text.c_str());
  return pointers;
}

/// A file in memory that never has a name: nothing is left of it when its process is killed.
Result<Descriptor> make_nameless() {
  Descriptor file(::memfd_create("afterbay-structure", MFD_CLOEXEC));
  if (!file.open()) return fail(system_error(errno, "make room in memory for", "the structure of a file"));
  return file;
}

/// Defines a schema in an open netCDF-C file. Runs under the library lock.
class Builder {
 public:
  Builder(int id, const Schema& schema, const model::FileLayout& layout)
      : id_(id), schema_(schema), layout_(layout), classic_(traits_of(layout.format).arithmetic_places) {}

  Result<> define() {
    for (const Dimension& dimension : schema_.dimensions) AFTERBAY_TRY(define_dimension(dimension));
    for (const Attribute& attribute : schema_.attributes)
      AFTERBAY_TRY(put_attribute(NC_GLOBAL, attribute, "global attribute '" + attribute.name + "'"));
    for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
      auto defined = define_variable(schema_.variables[v], layout_.variables[v].record, layout_.stored[v]);
      if (!defined) return fail(std::move(defined).error().in_variable(schema_.variables[v].name));
    }
    if (classic_) return end_classic_definitions();
    AFTERBAY_TRY(check_netcdf(nc_enddef(id_), "end the definitions"));
    return put_constants();
  }

 private:
  Result<> define_dimension(const Dimension& dimension) {
    const std::size_t length = dimension.is_unlimited() ? NC_UNLIMITED : dimension.length;
    return check_netcdf(nc_def_dim(id_, dimension.name.c_str(), length, &dimensions_[dimension.name]),
                        "define dimension '" + dimension.name + "'");
  }

  Result<> define_variable(const Variable& variable, bool record, const model::StoredVariable& stored) {
    const std::string what = "variable '" + variable.name + "'";
    std::vector<int> ids;
    for (const std::string& name : variable.dimensions) {
      const auto found = dimensions_.find(name);
      if (found == dimensions_.end())
        return fail(ErrorCode::unknown_name, "{} uses dimension '{}', which the schema does not have", what,
                    name);
      ids.push_back(found->second);
    }
    int number = 0;
    AFTERBAY_TRY(check_netcdf(nc_def_var(id_, variable.name.c_str(), netcdf_type(variable.type),
                                         static_cast<int>(ids.size()), ids.data(), &number),
                              "define " + what));
    variables_.push_back(number);
    if (!classic_) AFTERBAY_TRY(define_storage(number, variable, record, stored, what));
    // The fill value takes its place in the order of the attributes, the first one unless listed.
    if (!lists_fill(variable)) AFTERBAY_TRY(define_fill(number, variable, what));
    for (const Attribute& attribute : variable.attributes) {
      if (attribute.name == "_FillValue")
        AFTERBAY_TRY(define_fill(number, variable, what));
      else
        AFTERBAY_TRY(put_attribute(number, attribute, "attribute '" + attribute.name + "' of " + what));
    }
    return {};
  }

  static bool lists_fill(const Variable& variable) {
    return std::any_of(variable.attributes.begin(), variable.attributes.end(),
                       [](const Attribute& a) { return a.name == "_FillValue"; });
  }

  /// Chunks and filters. Strings keep the library's defaults: their elements live elsewhere in the
  /// file.
  Result<> define_storage(int number, const Variable& variable, bool record,
                          const model::StoredVariable& stored, const std::string& what) {
    if (variable.type == Type::string || variable.dimensions.empty()) return {};
    std::vector<std::size_t> chunk;
    if (stored.chunked) {
      if (record) chunk.push_back(stored.record_span);
      for (const std::uint64_t length : stored.chunk) chunk.push_back(length);
    }
    AFTERBAY_TRY(check_netcdf(
        nc_def_var_chunking(id_, number, stored.chunked ? NC_CHUNKED : NC_CONTIGUOUS, chunk.data()),
        "chunk " + what));
    return stored.chunked ? define_filters(id_, number, model::filters_of(variable), what) : Result<>{};
  }

  Result<> define_fill(int number, const Variable& variable, const std::string& what) {
    if (variable.fill.empty() && !lists_fill(variable)) return {};
    const Values fill = fill_of(variable);
    if (fill.type != variable.type || fill.count() != 1)
      return fail(ErrorCode::wrong_type, "the fill value of {} must be one {}, but {} of {} are given", what,
                  name_of(variable.type), fill.count(), name_of(fill.type));
    const std::vector<const char*> text = pointers_to(fill.strings);
    const void* value = fill.type == Type::string ? static_cast<const void*>(text.data()) : fill.bytes.data();
    return check_netcdf(nc_def_var_fill(id_, number, NC_FILL, value), "set the fill value of " + what);
  }

  Result<> put_attribute(int variable, const Attribute& attribute, const std::string& what) {
    const Values& values = attribute.values;
    const char* name = attribute.name.c_str();
    if (values.type == Type::string) {
      if (classic_)
        return fail(ErrorCode::wrong_type,
                    "{} is of type string, which {} files cannot hold: give it as text", what,
                    name_of(layout_.format));
      std::vector<const char*> text = pointers_to(values.strings);
      return check_netcdf(nc_put_att_string(id_, variable, name, text.size(), text.data()), "write " + what);
    }
    return check_netcdf(
        nc_put_att(id_, variable, name, netcdf_type(values.type), values.count(), values.bytes.data()),
        "write " + what);
  }

  Result<> end_classic_definitions() {
    int before = 0;
    AFTERBAY_TRY(check_netcdf(nc_set_fill(id_, NC_NOFILL, &before), "turn off filling"));
    return check_netcdf(nc__enddef(id_, 0, model::page_bytes, 0, model::page_bytes), "end the definitions");
  }

  Result<> put_constants() {
    for (std::size_t v = 0; v < schema_.variables.size(); ++v) {
      const Variable& variable = schema_.variables[v];
      if (variable.constant.empty()) continue;
      const std::string what = "write the constant values of variable '" + variable.name + "'";
      std::vector<const char*> text = pointers_to(variable.constant.strings);
      const int status = variable.type == Type::string
                             ? nc_put_var_string(id_, variables_[v], text.data())
                             : nc_put_var(id_, variables_[v], variable.constant.bytes.data());
      if (auto put = check_netcdf(status, what); !put)
        return fail(std::move(put).error().in_variable(variable.name));
    }
    return {};
  }

  int id_;
  const Schema& schema_;
  const model::FileLayout& layout_;
  bool classic_;
  std::map<std::string, int> dimensions_;
  std::vector<int> variables_;
};

/// netCDF-C opens the nameless file once more.
Result<> build_classic(const Schema& schema, const model::FileLayout& layout, Structure& structure) {
  const std::string path = fmt::format("/proc/self/fd/{}", structure.file.get());
  int id = -1;
  AFTERBAY_TRY(check_netcdf(nc_create(path.c_str(), create_mode(layout.format), &id),
                            "begin the structure of a file"));
  NetcdfHandle file(id);
  AFTERBAY_TRY(Builder(id, schema, layout).define());
  AFTERBAY_TRY(check_netcdf(file.close(), "write the structure of a file"));
  struct stat status {};
  if (::fstat(structure.file.get(), &status) != 0)
    return fail(system_error(errno, "find the size of", "the structure of a file"));
  structure.size_bytes = static_cast<std::uint64_t>(status.st_size);
  return {};
}

/// HDF5 resolves the name of a file that it opens, which a nameless one does not survive, and
/// netCDF-C's own files in memory (NC_INMEMORY) lose the order of variables. So the file is one in
/// memory that is not written to the disk (NC_DISKLESS), and HDF5 itself hands out its bytes.
Result<> build_netcdf4(const Schema& schema, const model::FileLayout& layout, Structure& structure) {
  static std::uint64_t number = 0;  // under the library lock
  const std::string name = fmt::format("afterbay-structure-{}-{}", ::getpid(), ++number);
  int id = -1;
  AFTERBAY_TRY(check_netcdf(nc_create(name.c_str(), create_mode(layout.format) | NC_DISKLESS, &id),
                            "begin the structure of a file"));
  NetcdfHandle file(id);
  AFTERBAY_TRY_ASSIGN(const Hdf5Id image, reopen(name));
  AFTERBAY_TRY(Builder(id, schema, layout).define());
  AFTERBAY_TRY(check_netcdf(file.close(), "write the structure of a file"));
  AFTERBAY_TRY_ASSIGN(const std::vector<std::byte> bytes, image_of_open_file(image.get()));
  AFTERBAY_TRY_ASSIGN(const auto room, structure.open());
  AFTERBAY_TRY(room->write_structure(0, bytes));
  structure.size_bytes = bytes.size();
  return {};
}

}  // namespace

Result<Structure> build_structure(const Schema& schema, const model::FileLayout& layout) {
  Structure structure;
  AFTERBAY_TRY_ASSIGN(structure.file, make_nameless());
  const LibraryLock lock;
  AFTERBAY_TRY(traits_of(layout.format).arithmetic_places ? build_classic(schema, layout, structure)
                                                          : build_netcdf4(schema, layout, structure));
  return structure;
}

Result<std::unique_ptr<BlockWriter>> Structure::open() const {
  return BlockWriter::open(file.get(), "the temporary structure", DirectIo::off, Disk::real());
}

Result<std::vector<std::byte>> image_of(BlockWriter& structure, std::uint64_t size_bytes) {
  std::vector<std::byte> image(size_bytes);
  AFTERBAY_TRY(structure.read(0, image));
  return image;
}

}  // namespace afterbay::storage
