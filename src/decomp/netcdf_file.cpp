// SPDX-License-Identifier: Apache-2.0
#include "decomp/netcdf_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "codec/codec.hpp"
#include "decomp/memory.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/cdf/header.hpp"
#include "storage/library_lock.hpp"
#include "storage/structure/hdf5_image.hpp"

namespace afterbay::decomp {

using storage::LibraryLock;

namespace {

bool is_integer(Type type) {
  return type != Type::text && type != Type::string && type != Type::float32 && type != Type::float64;
}

template <class T>
bool widen_from(std::span<const std::byte> stored, std::span<std::int64_t> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {  // the writing position never passes the
                                                     // reading position
    T value{};
    std::memcpy(&value, stored.data() + i * sizeof(T), sizeof(T));
    if (!std::in_range<std::int64_t>(value)) return false;
    values[i] = static_cast<std::int64_t>(value);
  }
  return true;
}

/// Converts integers of any type to int64; `stored` may be the end of the memory of `values`.
/// False: a value does not fit.
bool widen(Type type, std::span<const std::byte> stored, std::span<std::int64_t> values) {
  switch (type) {
    case Type::int8: return widen_from<std::int8_t>(stored, values);
    case Type::int16: return widen_from<std::int16_t>(stored, values);
    case Type::int32: return widen_from<std::int32_t>(stored, values);
    case Type::uint8: return widen_from<std::uint8_t>(stored, values);
    case Type::uint16: return widen_from<std::uint16_t>(stored, values);
    case Type::uint32: return widen_from<std::uint32_t>(stored, values);
    case Type::uint64: return widen_from<std::uint64_t>(stored, values);
    default: return widen_from<std::int64_t>(stored, values);
  }
}

/// System errors are positive, netCDF's own negative: when reading, those mean that it is not a
/// netCDF file.
ErrorCode code_of(int status, bool writing) {
  if (status > 0) return storage::code_of_errno(status);
  if (status == NC_ENOMEM) return ErrorCode::resources;
  return writing ? ErrorCode::io : ErrorCode::format;
}

/// One past the last byte of a variable; 2^64 - 1 if a damaged header gives a larger value.
std::uint64_t end_of(const storage::CdfVariable& variable, const storage::CdfHeader& header) {
  constexpr std::uint64_t too_many = std::numeric_limits<std::uint64_t>::max();
  if (variable.record && header.records == 0) return 0;
  std::uint64_t before = 0;  // bytes of all records but the last
  std::uint64_t end = 0;
  if (variable.record && __builtin_mul_overflow(header.records - 1, header.record_bytes, &before))
    return too_many;
  if (__builtin_add_overflow(variable.begin, before, &end) ||
      __builtin_add_overflow(end, variable.slab_bytes, &end))
    return too_many;
  return end;
}

/// netCDF-C reads zeros if a classic file is truncated.
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
  auto source = storage::ArrayFile::open(path);
  if (!source) return fail(std::move(source).error().in_file(path));
  file.handle_->source = *std::move(source);
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
  // Not nc_create_mem: its files do not preserve the order of variables, and cannot be opened for
  // writing.
  const std::string name = fmt::format("{} in memory at {}", path, fmt::ptr(file.handle_.get()));
  AFTERBAY_TRY(file.create(name, NC_NETCDF4 | NC_DISKLESS));
  return file;
}

Result<std::optional<std::uint64_t>> NetcdfFile::find_dimension(const std::string& name) const {
  const storage::ArrayDimension* dimension = handle_->source->contents().find_dimension(name);
  return dimension == nullptr ? std::nullopt : std::optional(dimension->length);
}

Result<int> NetcdfFile::find(const std::string& variable) const {
  if (variable.empty()) return NC_GLOBAL;
  int number = 0;
  AFTERBAY_TRY(check(nc_inq_varid(id(), variable.c_str(), &number), variable, "the file does not have it"));
  return number;
}

/// A variable of an integer type.
Result<const storage::ArrayVariable*> NetcdfFile::found(const std::string& name) const {
  const storage::ArrayVariable* variable = handle_->source->contents().find_variable(name);
  if (variable == nullptr) return malformed(*this, name, "the file does not have it");
  if (!is_integer(variable->type)) return malformed(*this, name, "is not of an integer type");
  return variable;
}

bool NetcdfFile::has_variable(const std::string& name) const {
  return handle_->source->contents().find_variable(name) != nullptr;
}

/// Null if there is none.
const Values* NetcdfFile::attribute(const std::string& variable, const std::string& name) const {
  const storage::ArrayContents& contents = handle_->source->contents();
  const storage::ArrayVariable* owner = variable.empty() ? nullptr : contents.find_variable(variable);
  if (!variable.empty() && owner == nullptr) return nullptr;
  for (const Attribute& one : owner == nullptr ? contents.attributes : owner->attributes)
    if (one.name == name) return &one.values;
  return nullptr;
}

bool NetcdfFile::has_attribute(const std::string& variable, const std::string& name) const {
  return attribute(variable, name) != nullptr;
}

Result<std::optional<std::string>> NetcdfFile::find_text(const std::string& variable,
                                                         const std::string& name) const {
  if (!variable.empty() && !has_variable(variable))
    return malformed(*this, variable, "the file does not have it");
  const Values* values = attribute(variable, name);
  if (values == nullptr) return std::nullopt;
  if (values->type == Type::string && values->strings.size() == 1) return values->strings.front();
  if (values->type != Type::text) return malformed(*this, variable, "the attribute {} is not text", name);
  return std::string(values->text());
}

Result<std::string> NetcdfFile::text(const std::string& variable, const std::string& name) const {
  AFTERBAY_TRY_ASSIGN(std::optional<std::string> value, find_text(variable, name));
  if (!value) return malformed(*this, variable, "there is no attribute {}", name);
  return *std::move(value);
}

Result<std::vector<std::int64_t>> NetcdfFile::integers(const std::string& variable,
                                                       const std::string& name) const {
  const Values* values = attribute(variable, name);
  if (values == nullptr) return malformed(*this, variable, "there is no attribute {}", name);
  if (!is_integer(values->type))
    return malformed(*this, variable, "the attribute {} is not of an integer type", name);
  std::vector<std::int64_t> integers(values->count());
  if (!widen(values->type, values->bytes, integers))
    return malformed(*this, variable, "a value of the attribute {} is above 2^63 - 1", name);
  return integers;
}

Result<std::vector<std::uint64_t>> NetcdfFile::shape(const std::string& variable) const {
  AFTERBAY_TRY_ASSIGN(const storage::ArrayVariable* one, found(variable));
  return handle_->source->contents().shape(*one);
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
  return read_box(variable, std::array{start}, std::array{count});
}

Result<std::vector<std::int64_t>> NetcdfFile::read_row(const std::string& variable, std::uint64_t row,
                                                       std::uint64_t count) const {
  return read_box(variable, std::array{row, std::uint64_t{0}}, std::array{std::uint64_t{1}, count});
}

/// Refuses numbers of values that no file of this size can hold, even compressed, or that do not
/// fit into memory.
Result<> NetcdfFile::check_values(const std::string& variable, std::uint64_t count) const {
  const std::uint64_t most_expansion = codec::most_expansion();
  constexpr std::uint64_t always = std::uint64_t{1} << 16;
  std::error_code ignored;
  const std::uint64_t size = std::filesystem::file_size(path(), ignored);
  if (!ignored && count > always && count / most_expansion > size)
    return malformed(*this, variable, "has {} values, but the file has only {} bytes: it is damaged", count,
                     size);
  if (Result<> fits = check_memory(8.0 * static_cast<double>(count), fmt::format("its {} values", count));
      !fits)
    return fail(fits.error().in_file(path()).in_variable(variable));
  return {};
}

Result<std::vector<std::int64_t>> NetcdfFile::read_box(const std::string& variable,
                                                       std::span<const std::uint64_t> start,
                                                       std::span<const std::uint64_t> count) const {
  AFTERBAY_TRY_ASSIGN(const storage::ArrayVariable* one, found(variable));
  AFTERBAY_TRY_ASSIGN(const std::vector<std::uint64_t> lengths, shape(variable));
  if (lengths.size() != count.size())
    return malformed(*this, variable, "has {} dimensions instead of {}", lengths.size(), count.size());
  std::uint64_t many = 1;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    if (start[d] > lengths[d] || count[d] > lengths[d] - start[d])
      return malformed(*this, variable, "has {} values along a dimension, but {} from value {} on are needed",
                       lengths[d], count[d], start[d]);
    if (__builtin_mul_overflow(many, count[d], &many))
      return malformed(*this, variable, "has more values than any file can hold");
  }
  AFTERBAY_TRY(check_values(variable, many));
  std::vector<std::int64_t> values(many);
  if (many == 0) return values;
  // Stored elements lie at the end of the same memory until they are widened.
  const std::span<std::byte> memory = std::as_writable_bytes(std::span(values));
  const std::span<std::byte> stored = memory.last(many * size_of(one->type));
  if (auto done = handle_->source->read(one->id, start, count, stored); !done)
    return fail(std::move(done).error().in_file(path()).in_variable(variable));
  if (!widen(one->type, stored, values)) return malformed(*this, variable, "has a value above 2^63 - 1");
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
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const int number, find(variable));
  int dimension = -1;
  std::size_t values = 0;
  AFTERBAY_TRY(check(nc_inq_vardimid(id(), number, &dimension), variable, "has no dimension"));
  AFTERBAY_TRY(check(nc_inq_dimlen(id(), dimension, &values), variable, "has no length"));
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
    auto image = storage::image_of_open_file(handle_->name);
    if (!image) return fail(image.error().in_file(path()));
    contents = *std::move(image);
  }
  AFTERBAY_TRY(close());
  return part.write(contents);
}

}  // namespace afterbay::decomp
