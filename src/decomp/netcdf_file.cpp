// SPDX-License-Identifier: Apache-2.0
#include "decomp/netcdf_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "decomp/hdf5_image.hpp"
#include "decomp/memory.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/cdf/header.hpp"
#include "storage/library_lock.hpp"

namespace afterbay::decomp {

using storage::LibraryLock;

namespace {

bool is_integer(nc_type type) {
  return type == NC_BYTE || type == NC_UBYTE || type == NC_SHORT || type == NC_USHORT || type == NC_INT ||
         type == NC_UINT || type == NC_INT64 || type == NC_UINT64;
}

/// System errors are positive, netCDF's own negative: when reading those say that the file is not one.
ErrorCode code_of(int status, bool writing) {
  if (status > 0) return storage::code_of_errno(status);
  if (status == NC_ENOMEM) return ErrorCode::resources;
  return writing ? ErrorCode::io : ErrorCode::format;
}

/// One past the last byte of a variable; 2^64 - 1 where a damaged header says more than that.
std::uint64_t end_of(const storage::CdfVariable& variable, const storage::CdfHeader& header) {
  constexpr std::uint64_t too_many = std::numeric_limits<std::uint64_t>::max();
  if (variable.record && header.records == 0) return 0;
  std::uint64_t before = 0;  // bytes of records before its last one
  std::uint64_t end = 0;
  if (variable.record && __builtin_mul_overflow(header.records - 1, header.record_bytes, &before))
    return too_many;
  if (__builtin_add_overflow(variable.begin, before, &end) ||
      __builtin_add_overflow(end, variable.slab_bytes, &end))
    return too_many;
  return end;
}

/// netCDF-C reads zeros where a classic file has been cut off.
Result<> check_size(const storage::CdfHeader& header, const std::string& path) {
  std::error_code ignored;
  const std::uint64_t size = std::filesystem::file_size(path, ignored);
  for (const storage::CdfVariable& variable : header.variables) {
    const std::uint64_t end = end_of(variable, header);
    if (end <= size) continue;
    return fail(make_error(ErrorCode::format,
                           "has {} bytes, but this variable goes from byte {} to {}: it has been cut off",
                           size, variable.begin, end)
                    .in_file(path)
                    .in_variable(variable.name));
  }
  return {};
}

}  // namespace

NetcdfFile::Handle::~Handle() {
  if (id < 0) return;
  const LibraryLock lock;
  nc_close(id);
}

Error NetcdfFile::error(int status, const std::string& variable, const std::string& what) const {
  Error error = make_error(code_of(status, handle_->writing), "{}: {}", what, nc_strerror(status));
  return error.in_file(path()).in_variable(variable).with_native(status);
}

Result<> NetcdfFile::check(int status, const std::string& variable, const std::string& what) const {
  if (status == NC_NOERR) return {};
  return fail(error(status, variable, what));
}

Result<NetcdfFile> NetcdfFile::open(const std::string& path) {
  NetcdfFile file(std::make_unique<Handle>(path, false));
  AFTERBAY_TRY_ASSIGN(const auto header, storage::check_cdf_header(path));
  if (header) AFTERBAY_TRY(check_size(*header, path));
  const LibraryLock lock;
  AFTERBAY_TRY(file.check(nc_open(path.c_str(), NC_NOWRITE, &file.handle_->id), "", "cannot be opened"));
  return file;
}

Result<> NetcdfFile::create(const std::string& at, int kind) {
  const LibraryLock lock;
  handle_->name = at;
  AFTERBAY_TRY(check(nc_create(at.c_str(), kind | NC_CLOBBER, &handle_->id), "", "cannot be created"));
  int before = 0;
  nc_set_fill(id(), NC_NOFILL, &before);
  return {};
}

Result<NetcdfFile> NetcdfFile::create_classic(const std::string& path) {
  NetcdfFile file(std::make_unique<Handle>(path, true));
  AFTERBAY_TRY(file.create(path, NC_64BIT_DATA));
  return file;
}

Result<NetcdfFile> NetcdfFile::create_in_memory(const std::string& path) {
  NetcdfFile file(std::make_unique<Handle>(path, true));
  // Not nc_create_mem: its files do not keep the order of their variables, and cannot be opened for writing.
  const std::string name = fmt::format("{} in memory at {}", path, fmt::ptr(file.handle_.get()));
  AFTERBAY_TRY(file.create(name, NC_NETCDF4 | NC_DISKLESS));
  return file;
}

Result<std::optional<std::uint64_t>> NetcdfFile::find_dimension(const std::string& name) const {
  const LibraryLock lock;
  int dimension = 0;
  std::size_t length = 0;
  const int status = nc_inq_dimid(id(), name.c_str(), &dimension);
  if (status == NC_EBADDIM) return std::nullopt;
  AFTERBAY_TRY(check(status, "", "dimension " + name));
  AFTERBAY_TRY(check(nc_inq_dimlen(id(), dimension, &length), "", "dimension " + name));
  return length;
}

Result<int> NetcdfFile::find(const std::string& variable) const {
  if (variable.empty()) return NC_GLOBAL;
  int number = 0;
  AFTERBAY_TRY(check(nc_inq_varid(id(), variable.c_str(), &number), variable, "the file does not have it"));
  return number;
}

bool NetcdfFile::has_variable(const std::string& name) const {
  const LibraryLock lock;
  int number = 0;
  return nc_inq_varid(id(), name.c_str(), &number) == NC_NOERR;
}

bool NetcdfFile::has_attribute(const std::string& variable, const std::string& name) const {
  const LibraryLock lock;
  const Result<int> number = find(variable);
  std::size_t length = 0;
  return number && nc_inq_attlen(id(), *number, name.c_str(), &length) == NC_NOERR;
}

Result<std::optional<std::string>> NetcdfFile::find_text(const std::string& variable,
                                                         const std::string& name) const {
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const int number, find(variable));
  nc_type type = NC_NAT;
  std::size_t length = 0;
  const int status = nc_inq_att(id(), number, name.c_str(), &type, &length);
  if (status == NC_ENOTATT) return std::nullopt;
  AFTERBAY_TRY(check(status, variable, "attribute " + name));
  if (type == NC_STRING && length == 1) {
    char* text = nullptr;
    AFTERBAY_TRY(check(nc_get_att_string(id(), number, name.c_str(), &text), variable, "attribute " + name));
    std::string value = text == nullptr ? "" : text;
    nc_free_string(1, &text);
    return value;
  }
  if (type != NC_CHAR) return malformed(*this, variable, "the attribute {} is not text", name);
  std::string value(length, '\0');
  AFTERBAY_TRY(
      check(nc_get_att_text(id(), number, name.c_str(), value.data()), variable, "attribute " + name));
  return value;
}

Result<std::string> NetcdfFile::text(const std::string& variable, const std::string& name) const {
  AFTERBAY_TRY_ASSIGN(std::optional<std::string> value, find_text(variable, name));
  if (!value) return malformed(*this, variable, "there is no attribute {}", name);
  return *std::move(value);
}

Result<std::vector<std::int64_t>> NetcdfFile::integers(const std::string& variable,
                                                       const std::string& name) const {
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const int number, find(variable));
  nc_type type = NC_NAT;
  std::size_t length = 0;
  const int status = nc_inq_att(id(), number, name.c_str(), &type, &length);
  if (status == NC_ENOTATT) return malformed(*this, variable, "there is no attribute {}", name);
  AFTERBAY_TRY(check(status, variable, "attribute " + name));
  if (!is_integer(type))
    return malformed(*this, variable, "the attribute {} is not of an integer type", name);
  std::vector<long long> values(length);
  AFTERBAY_TRY(
      check(nc_get_att_longlong(id(), number, name.c_str(), values.data()), variable, "attribute " + name));
  return std::vector<std::int64_t>(values.begin(), values.end());
}

Result<std::vector<std::uint64_t>> NetcdfFile::shape(const std::string& variable) const {
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const int number, find(variable));
  nc_type type = NC_NAT;
  int dimensions = 0;
  int ids[NC_MAX_VAR_DIMS];
  AFTERBAY_TRY(check(nc_inq_var(id(), number, nullptr, &type, &dimensions, ids, nullptr), variable,
                     "cannot be looked at"));
  if (!is_integer(type)) return malformed(*this, variable, "is not of an integer type");
  std::vector<std::uint64_t> lengths;
  for (int i = 0; i < dimensions; ++i) {
    std::size_t length = 0;
    AFTERBAY_TRY(check(nc_inq_dimlen(id(), ids[i], &length), variable, "has no length"));
    lengths.push_back(length);
  }
  return lengths;
}

Result<std::uint64_t> NetcdfFile::length(const std::string& variable) const {
  AFTERBAY_TRY_ASSIGN(const auto lengths, shape(variable));
  if (lengths.size() != 1)
    return malformed(*this, variable, "has {} dimensions instead of one", lengths.size());
  return lengths[0];
}

Result<std::vector<std::int64_t>> NetcdfFile::read(const std::string& variable) const {
  AFTERBAY_TRY_ASSIGN(const std::uint64_t all, length(variable));
  return read(variable, 0, all);
}

Result<std::vector<std::int64_t>> NetcdfFile::read(const std::string& variable, std::uint64_t start,
                                                   std::uint64_t count) const {
  return read_box(variable, std::array{std::size_t{start}}, std::array{std::size_t{count}});
}

Result<std::vector<std::int64_t>> NetcdfFile::read_row(const std::string& variable, std::uint64_t row,
                                                       std::uint64_t count) const {
  return read_box(variable, std::array{std::size_t{row}, std::size_t{0}},
                  std::array{std::size_t{1}, std::size_t{count}});
}

Result<std::vector<std::int64_t>> NetcdfFile::read_box(const std::string& variable,
                                                       std::span<const std::size_t> start,
                                                       std::span<const std::size_t> count) const {
  static_assert(sizeof(long long) == sizeof(std::int64_t));
  const std::size_t many = std::reduce(count.begin(), count.end(), std::size_t{1}, std::multiplies<>());
  if (Result<> fits = check_memory(8.0 * static_cast<double>(many), fmt::format("its {} values", many));
      !fits)
    return fail(fits.error().in_file(path()).in_variable(variable));
  std::vector<std::int64_t> values(many);
  if (many == 0) return values;
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const int number, find(variable));
  AFTERBAY_TRY(check(nc_get_vara_longlong(id(), number, start.data(), count.data(),
                                          reinterpret_cast<long long*>(values.data())),
                     variable, "cannot be read"));
  return values;
}

Result<int> NetcdfFile::add_dimension(const std::string& name, std::uint64_t length) {
  const LibraryLock lock;
  int dimension = 0;
  AFTERBAY_TRY(check(nc_def_dim(id(), name.c_str(), length, &dimension), "", "dimension " + name));
  return dimension;
}

Result<> NetcdfFile::add_variable(const std::string& name, nc_type type, std::optional<int> dimension) {
  const LibraryLock lock;
  int number = 0;
  const int rank = dimension ? 1 : 0;
  return check(nc_def_var(id(), name.c_str(), type, rank, dimension ? &*dimension : nullptr, &number), name,
               "cannot be defined");
}

Result<> NetcdfFile::compress(const std::string& variable) {
  constexpr std::size_t chunk_values = std::size_t{1} << 17;  // 1 MiB
  AFTERBAY_TRY_ASSIGN(const std::uint64_t values, length(variable));
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const int number, find(variable));
  const std::size_t chunk = std::min<std::size_t>(values, chunk_values);
  AFTERBAY_TRY(check(nc_def_var_chunking(id(), number, NC_CHUNKED, &chunk), variable, "chunks"));
  AFTERBAY_TRY(check(nc_def_var_deflate(id(), number, 1, 1, 1), variable, "compression"));
  return check(nc_def_var_fletcher32(id(), number, NC_FLETCHER32), variable, "checksums");
}

Result<> NetcdfFile::put_text(const std::string& variable, const std::string& name,
                              const std::string& value) {
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const int number, find(variable));
  return check(nc_put_att_text(id(), number, name.c_str(), value.size(), value.data()), variable,
               "attribute " + name);
}

Result<> NetcdfFile::put_integers(const std::string& variable, const std::string& name, nc_type type,
                                  std::span<const std::int64_t> values) {
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const int number, find(variable));
  const std::vector<long long> copy(values.begin(), values.end());
  return check(nc_put_att_longlong(id(), number, name.c_str(), type, copy.size(), copy.data()), variable,
               "attribute " + name);
}

Result<> NetcdfFile::end_definitions() {
  constexpr std::size_t room_for_header = std::size_t{64} << 10;
  const LibraryLock lock;
  return check(nc__enddef(id(), room_for_header, 4, 0, 4), "", "cannot be written");
}

Result<> NetcdfFile::define_more() {
  const LibraryLock lock;
  return check(nc_redef(id()), "", "cannot be defined further");
}

Result<> NetcdfFile::write(const std::string& variable, std::uint64_t start,
                           std::span<const std::int64_t> values) {
  if (values.empty()) return {};
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const int number, find(variable));
  const std::size_t first = start;
  const std::size_t many = values.size();
  return check(
      nc_put_vara_longlong(id(), number, &first, &many, reinterpret_cast<const long long*>(values.data())),
      variable, "cannot be written");
}

Result<> NetcdfFile::write_scalar(const std::string& variable, std::int64_t value) {
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const int number, find(variable));
  const long long copy = value;
  return check(nc_put_var_longlong(id(), number, &copy), variable, "cannot be written");
}

Result<> NetcdfFile::close() {
  const LibraryLock lock;
  return check(nc_close(std::exchange(handle_->id, -1)), "", "cannot be closed");
}

Result<> NetcdfFile::close_into(PartFile& part) {
  std::vector<std::byte> contents;
  {
    const LibraryLock lock;
    AFTERBAY_TRY(check(nc_sync(id()), "", "cannot be completed"));
    auto image = image_of_open_file(handle_->name);
    if (!image) return fail(image.error().in_file(path()));
    contents = *std::move(image);
  }
  AFTERBAY_TRY(close());
  return part.write(contents);
}

}  // namespace afterbay::decomp
