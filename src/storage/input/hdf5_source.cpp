// SPDX-License-Identifier: Apache-2.0
#include "storage/input/hdf5_source.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "storage/fill.hpp"
#include "storage/library_lock.hpp"
#include "storage/netcdf4/dataset_codec.hpp"

namespace afterbay::storage {
namespace {

/// HDF5's standard types of both byte orders.
struct StandardTypes {
  hid_t little;
  hid_t big;
};

StandardTypes standard_types(Type type) {
  switch (type) {
    case Type::int8: return {H5T_STD_I8LE, H5T_STD_I8BE};
    case Type::int16: return {H5T_STD_I16LE, H5T_STD_I16BE};
    case Type::int32: return {H5T_STD_I32LE, H5T_STD_I32BE};
    case Type::int64: return {H5T_STD_I64LE, H5T_STD_I64BE};
    case Type::uint8: return {H5T_STD_U8LE, H5T_STD_U8BE};
    case Type::uint16: return {H5T_STD_U16LE, H5T_STD_U16BE};
    case Type::uint32: return {H5T_STD_U32LE, H5T_STD_U32BE};
    case Type::uint64: return {H5T_STD_U64LE, H5T_STD_U64BE};
    case Type::float32: return {H5T_IEEE_F32LE, H5T_IEEE_F32BE};
    case Type::float64: return {H5T_IEEE_F64LE, H5T_IEEE_F64BE};
    case Type::text:
    case Type::string: break;
  }
  return {H5I_INVALID_HID, H5I_INVALID_HID};
}

/// How elements are stored; nothing when it is not one of the two ways.
std::optional<StoredElements> elements_of(hid_t type, Type wanted) {
  if (wanted == Type::string) return std::nullopt;
  if (wanted == Type::text) {
    const bool one_byte = H5Tget_class(type) == H5T_STRING && H5Tget_size(type) == 1;
    return one_byte ? std::optional(StoredElements{1, false}) : std::nullopt;
  }
  const StandardTypes standard = standard_types(wanted);
  for (const bool big : {false, true})
    if (H5Tequal(type, big ? standard.big : standard.little) > 0)
      return StoredElements{size_of(wanted), model::needs_swap(big)};
  return std::nullopt;
}

/// The value that HDF5 returns for elements that were never written; the variable's fill value if
/// HDF5 returns none.
std::vector<std::byte> fill_in(hid_t creation_list, const Variable& variable) {
  std::vector<std::byte> fill = fill_of(variable).bytes;
  H5D_fill_time_t time = H5D_FILL_TIME_ERROR;
  H5D_fill_value_t status = H5D_FILL_VALUE_ERROR;
  if (H5Pget_fill_time(creation_list, &time) < 0 || H5Pfill_value_defined(creation_list, &status) < 0 ||
      time == H5D_FILL_TIME_NEVER || status == H5D_FILL_VALUE_UNDEFINED)
    return fill;
  const StandardTypes standard = standard_types(variable.type);
  const hid_t native = variable.type == Type::text                  ? hid_t{H5T_C_S1}
                       : std::endian::native == std::endian::little ? standard.little
                                                                    : standard.big;
  std::vector<std::byte> stored(size_of(variable.type));
  return H5Pget_fill_value(creation_list, native, stored.data()) < 0 ? fill : stored;
}

std::optional<model::Index> lengths_in(hid_t dataset, std::size_t rank) {
  const Hdf5Id space(H5Dget_space(dataset));
  std::array<hsize_t, H5S_MAX_RANK> lengths{};
  if (!space.valid() || H5Sget_simple_extent_ndims(space.get()) != static_cast<int>(rank))
    return std::nullopt;
  if (rank > 0 && H5Sget_simple_extent_dims(space.get(), lengths.data(), nullptr) < 0) return std::nullopt;
  model::Index index;
  for (std::size_t d = 0; d < rank; ++d) index.push_back(lengths[d]);
  return index;
}

void inspect_layout(hid_t dataset, hid_t creation_list, DatasetStorage& storage) {
  const H5D_layout_t kind = H5Pget_layout(creation_list);
  if (kind == H5D_CONTIGUOUS && H5Pget_external_count(creation_list) == 0) {
    const haddr_t offset = H5Dget_offset(dataset);
    storage.offset = offset;
    storage.kind = offset == HADDR_UNDEF ? DatasetStorage::Kind::nowhere : DatasetStorage::Kind::contiguous;
  }
  if (kind != H5D_CHUNKED) return;
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  const int rank = H5Pget_chunk(creation_list, static_cast<int>(chunk.size()), chunk.data());
  auto codec = codec_of(creation_list, storage.elements.bytes);
  if (rank != static_cast<int>(storage.lengths.size) || !codec) return;
  for (std::size_t d = 0; d < storage.lengths.size; ++d) storage.chunk.push_back(chunk[d]);
  storage.codec = *std::move(codec);
  storage.kind = DatasetStorage::Kind::chunked;
}

/// Keeps the name of HDF5's function where the failure began.
herr_t keep_function(unsigned depth, const H5E_error2_t* entry, void* name) {
  if (depth == 0 && entry->func_name != nullptr) *static_cast<std::string*>(name) = entry->func_name;
  return 0;
}

/// Whether HDF5 refused to tell a chunk's size because there is no such chunk: it says so with the
/// code of other failures, but from the outermost of its functions.
bool failed_for_want_of_chunk() {
  std::string function;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_function, &function);
  return function == "H5D__get_chunk_storage_size";
}

}  // namespace

Result<std::unique_ptr<Hdf5Source>> Hdf5Source::open(const InputBytes& file) {
  AFTERBAY_TRY_ASSIGN(auto bytes,
                      BlockWriter::open(file.descriptor(), file.path(), DirectIo::off, Disk::real()));
  const LibraryLock lock;
  std::unique_ptr<Hdf5Source> source(new Hdf5Source(std::move(bytes)));
  AFTERBAY_TRY_ASSIGN(const Hdf5Id access, source->driver_->access_list());
  H5Pset_cache(access.get(), 0, 1, 0, 0.75);  // values are not read through it: no tables for chunk caches
  source->file_ = Hdf5Id(H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, access.get()));
  if (!source->file_.valid()) return fail(source->driver_->error("open it with HDF5"));
  return source;
}

Hdf5Source::~Hdf5Source() {
  const LibraryLock lock;
  datasets_.clear();
  file_.reset();
}

std::vector<DatasetStorage> Hdf5Source::inspect(std::span<const Variable> variables) {
  const LibraryLock lock;
  std::vector<DatasetStorage> found;
  datasets_.clear();
  for (const Variable& variable : variables) found.push_back(inspect_one(variable));
  H5Eclear2(H5E_DEFAULT);
  return found;
}

/// What is unusual in any way stays with the library.
DatasetStorage Hdf5Source::inspect_one(const Variable& variable) {
  DatasetStorage storage;
  const std::string name = dataset_name(file_.get(), variable.name);
  datasets_.emplace_back();
  H5L_info_t link{};
  if (H5Lget_info(file_.get(), name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
    return storage;  // an external link leads to another file
  Hdf5Id& dataset = datasets_.back();
  dataset = Hdf5Id(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT));
  if (!dataset.valid()) return storage;
  const Hdf5Id type(H5Dget_type(dataset.get()));
  const Hdf5Id creation(H5Dget_create_plist(dataset.get()));
  const auto lengths = lengths_in(dataset.get(), variable.dimensions.size());
  if (!type.valid() || !creation.valid() || !lengths) return storage;
  const auto elements = elements_of(type.get(), variable.type);
  if (!elements) return storage;
  storage.lengths = *lengths;
  storage.elements = *elements;
  storage.fill = fill_in(creation.get(), variable);
  inspect_layout(dataset.get(), creation.get(), storage);
  return storage;
}

Result<std::vector<ChunkAddress>> Hdf5Source::find(std::uint32_t variable,
                                                   std::span<const model::Index> first_elements) {
  const LibraryLock lock;
  std::vector<ChunkAddress> addresses;
  addresses.reserve(first_elements.size());
  for (const model::Index& first : first_elements) {
    AFTERBAY_TRY_ASSIGN(const ChunkAddress address, find_one(datasets_[variable].get(), first));
    addresses.push_back(address);
  }
  return addresses;
}

/// H5Dget_chunk_info_by_coord walks through all chunks of a dataset before version 1.14. The size
/// of a chunk and a read of it are each one search in the index; what is read is not moved, only
/// its place noted.
Result<ChunkAddress> Hdf5Source::find_one(hid_t dataset, const model::Index& first_element) {
  std::array<hsize_t, model::max_dimensions + 1> at{};
  std::copy(first_element.begin(), first_element.end(), at.begin());
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(dataset, at.data(), &bytes) < 0) {
    if (!failed_for_want_of_chunk()) return fail(driver_->error("find a chunk"));
    bytes = 0;
  }
  if (bytes == 0) return ChunkAddress{};
  if (!placeholder_ || placeholder_->bytes().size() < bytes) {
    placeholder_.reset();
    AFTERBAY_TRY_ASSIGN(PlaceholderBytes reserved, PlaceholderBytes::reserve(bytes));
    placeholder_.emplace(std::move(reserved));
  }
  const std::span<const std::byte> target = placeholder_->bytes().first(bytes);
  FileDriver::Capture capture(*driver_, target);
  std::uint32_t skipped = 0;
  auto* address = const_cast<std::byte*>(target.data());  // NOLINT: HDF5 hands it to the driver only
  if (H5Dread_chunk(dataset, H5P_DEFAULT, at.data(), &skipped, address) < 0)
    return fail(driver_->error("find a chunk"));
  if (!capture.offset()) return fail(ErrorCode::internal, "HDF5 gave no place for a chunk");
  return ChunkAddress{*capture.offset(), bytes, skipped};
}

}  // namespace afterbay::storage
