// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/dataset.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "storage/block_writer/system_error.hpp"
#include "storage/netcdf4/dataset_codec.hpp"

namespace afterbay::storage {
namespace {

/// The type in which layouts hold elements: little-endian. Text is a string of one byte, as
/// netCDF-C has it.
hid_t stored_type(Type type) {
  switch (type) {
    case Type::int8: return H5T_STD_I8LE;
    case Type::int16: return H5T_STD_I16LE;
    case Type::int32: return H5T_STD_I32LE;
    case Type::int64: return H5T_STD_I64LE;
    case Type::uint8: return H5T_STD_U8LE;
    case Type::uint16: return H5T_STD_U16LE;
    case Type::uint32: return H5T_STD_U32LE;
    case Type::uint64: return H5T_STD_U64LE;
    case Type::float32: return H5T_IEEE_F32LE;
    case Type::float64: return H5T_IEEE_F64LE;
    case Type::text:
    case Type::string: return H5T_C_S1;
  }
  return H5I_INVALID_HID;
}

bool stored_as(hid_t dataset_type, Type type) {
  if (type == Type::text) return H5Tget_class(dataset_type) == H5T_STRING && H5Tget_size(dataset_type) == 1;
  return type != Type::string && H5Tequal(dataset_type, stored_type(type)) > 0;
}

}  // namespace

Error Dataset::error(const std::string& doing) const {
  return driver_->error(doing + " variable '" + name_ + "'").in_variable(name_);
}

Dataset::Dataset(hid_t file, FileDriver& driver, const Variable& variable, const model::FileLayout& layout,
                 std::size_t index, DatasetFacts facts)
    : file_(file),
      driver_(&driver),
      layout_(&layout.variables[index]),
      stored_(&layout.stored[index]),
      type_(variable.type),
      name_(variable.name),
      facts_(std::move(facts)) {
  if (layout_->record && !facts_.lengths.empty()) extent_ = facts_.lengths[0];
}

Result<Dataset> Dataset::open(hid_t file, FileDriver& driver, const Variable& variable,
                              const model::FileLayout& layout, std::size_t index) {
  Dataset dataset(file, driver, variable, layout, index, {dataset_name(file, variable.name), {}, {}});
  AFTERBAY_TRY(dataset.reach());
  AFTERBAY_TRY(dataset.inspect());
  return dataset;
}

/// Before every use of the dataset itself.
Result<> Dataset::reach() {
  if (id_.valid()) return {};
  id_ = Hdf5Id(H5Dopen2(file_, facts_.name.c_str(), H5P_DEFAULT));
  if (!id_.valid()) return fail(error("open"));
  return {};
}

/// Finds out whether the dataset is stored as the layout says, so that bytes can go to their place.
Result<> Dataset::inspect() {
  const Hdf5Id space(H5Dget_space(id_.get()));
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0) return fail(error("find the shape of"));
  facts_.lengths.resize(static_cast<std::size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space.get(), facts_.lengths.data(), nullptr);
  if (layout_->record && rank > 0) extent_ = facts_.lengths[0];
  const Hdf5Id type(H5Dget_type(id_.get()));
  const Hdf5Id creation(H5Dget_create_plist(id_.get()));
  if (!type.valid() || !creation.valid()) return fail(error("find the type of"));
  if (!stored_as(type.get(), type_)) return {};
  const H5D_layout_t kind = H5Pget_layout(creation.get());
  if (kind == H5D_CONTIGUOUS && !stored_->chunked && H5Pget_external_count(creation.get()) == 0)
    facts_.storage.kind = StorageKind::dense;
  if (kind == H5D_CHUNKED && stored_->chunked) return inspect_chunks(creation.get());
  return {};
}

Result<> Dataset::inspect_chunks(hid_t creation_list) {
  std::vector<hsize_t> chunk(facts_.lengths.size());
  if (H5Pget_chunk(creation_list, static_cast<int>(chunk.size()), chunk.data()) < 0)
    return fail(error("find the chunks of"));
  const std::size_t record_rank = layout_->record ? 1 : 0;
  if (!std::equal(chunk.begin() + static_cast<std::ptrdiff_t>(record_rank), chunk.end(),
                  stored_->chunk.begin(), stored_->chunk.end()))
    return {};
  auto codec = codec_of(creation_list, size_of(type_));
  if (!codec) return {};
  facts_.storage.codec = *std::move(codec);
  if (layout_->record) facts_.storage.span = chunk[0];
  facts_.storage.kind = StorageKind::chunks;
  return {};
}

Result<> Dataset::extend(std::uint64_t records) {
  if (!layout_->record || records <= extent_) return {};
  AFTERBAY_TRY(reach());
  facts_.lengths[0] = records;
  if (H5Dset_extent(id_.get(), facts_.lengths.data()) < 0) return fail(error("add records to"));
  extent_ = records;
  return {};
}

/// Where the chunk of a piece that holds a record begins, in elements.
Dataset::ChunkIndex Dataset::first_element(const model::Piece& piece, std::uint64_t record) const {
  ChunkIndex at{};
  std::size_t d = 0;
  if (layout_->record) at[d++] = record / facts_.storage.span * facts_.storage.span;
  for (const std::uint64_t start : piece.box.start) at[d++] = start;
  return at;
}

Result<std::uint64_t> Dataset::place_chunk(const model::Piece& piece, std::uint64_t record,
                                           std::span<const std::byte> bytes, std::uint32_t skipped) {
  AFTERBAY_TRY(reach());
  AFTERBAY_TRY(extend(record + 1));
  const ChunkIndex at = first_element(piece, record);
  FileDriver::Capture capture(*driver_, bytes);
  if (H5Dwrite_chunk(id_.get(), H5P_DEFAULT, skipped, at.data(), bytes.size(), bytes.data()) < 0)
    return fail(error("place a chunk of"));
  if (!capture.offset())
    return fail(make_error(ErrorCode::internal, "HDF5 gave no place for a chunk of variable '{}'", name_)
                    .in_variable(name_));
  return *capture.offset();
}

Result<std::uint64_t> Dataset::place_dense(std::uint64_t size_bytes) {
  if (dense_offset_) return *dense_offset_;
  AFTERBAY_TRY(reach());
  if (const haddr_t known = H5Dget_offset(id_.get()); known != HADDR_UNDEF) {
    dense_offset_ = known;
    return *dense_offset_;
  }
  H5Eclear2(H5E_DEFAULT);
  // Not allocated yet: HDF5 allocates it when the whole dataset is written. The capture discards
  // the bytes.
  AFTERBAY_TRY_ASSIGN(const PlaceholderBytes placeholder, PlaceholderBytes::reserve(size_bytes));
  const Hdf5Id type(H5Dget_type(id_.get()));
  FileDriver::Capture capture(*driver_, placeholder.bytes());
  if (H5Dwrite(id_.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, placeholder.bytes().data()) < 0)
    return fail(error("allocate"));
  if (!capture.offset())
    return fail(
        make_error(ErrorCode::internal, "HDF5 gave no place for variable '{}'", name_).in_variable(name_));
  dense_offset_ = capture.offset();
  return *dense_offset_;
}

/// The part of the file's space that a box of `records` records is.
Result<Hdf5Id> Dataset::select(const model::Box& box, std::uint64_t record, std::uint64_t records) {
  AFTERBAY_TRY(reach());
  AFTERBAY_TRY(extend(record + records));
  Hdf5Id space(H5Dget_space(id_.get()));
  if (!space.valid()) return fail(error("find the shape of"));
  if (facts_.lengths.empty()) return space;
  std::vector<hsize_t> start;
  std::vector<hsize_t> count;
  if (layout_->record) {
    start.push_back(record);
    count.push_back(records);
  }
  start.insert(start.end(), box.start.begin(), box.start.end());
  count.insert(count.end(), box.count.begin(), box.count.end());
  if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0)
    return fail(error("select a part of"));
  return space;
}

Result<> Dataset::write_through(const model::Piece& piece, std::uint64_t record,
                                std::span<const std::byte> bytes) {
  AFTERBAY_TRY_ASSIGN(const Hdf5Id in_file, select(piece.box, record, 1));
  std::vector<hsize_t> stored(piece.stored.begin(), piece.stored.end());
  std::vector<hsize_t> count(piece.box.count.begin(), piece.box.count.end());
  const std::vector<hsize_t> start(stored.size(), 0);
  const Hdf5Id in_memory(stored.empty()
                             ? H5Screate(H5S_SCALAR)
                             : H5Screate_simple(static_cast<int>(stored.size()), stored.data(), nullptr));
  if (!stored.empty() &&
      H5Sselect_hyperslab(in_memory.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0)
    return fail(error("select a part of"));
  if (H5Dwrite(id_.get(), stored_type(type_), in_memory.get(), in_file.get(), H5P_DEFAULT, bytes.data()) < 0)
    return fail(error("write"));
  return {};
}

Result<> Dataset::write_strings(std::uint64_t record, std::span<const std::string> values) {
  const model::Box whole{model::Index::filled(layout_->shape.size, 0), layout_->shape};
  const std::uint64_t record_strings = std::max<std::uint64_t>(1, layout_->shape.product());
  const std::uint64_t records = std::max<std::uint64_t>(1, values.size() / record_strings);
  AFTERBAY_TRY_ASSIGN(const Hdf5Id in_file, select(whole, record, records));
  const hsize_t count = values.size();
  const Hdf5Id in_memory(H5Screate_simple(1, &count, nullptr));
  const Hdf5Id type(H5Dget_type(id_.get()));
  std::vector<const char*> pointers;
  for (const std::string& text : values) pointers.push_back(text.c_str());
  if (H5Dwrite(id_.get(), type.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, pointers.data()) < 0)
    return fail(error("write"));
  return {};
}

Result<> Dataset::set_number(const std::string& attribute, double value, bool only_larger) {
  AFTERBAY_TRY(reach());
  const Hdf5Id id(H5Aopen(id_.get(), attribute.c_str(), H5P_DEFAULT));
  double known = 0;
  if (!id.valid() || H5Aread(id.get(), H5T_NATIVE_DOUBLE, &known) < 0)
    return fail(error("read attribute '" + attribute + "' of"));
  if (known == value || (only_larger && known > value)) return {};
  if (H5Awrite(id.get(), H5T_NATIVE_DOUBLE, &value) < 0)
    return fail(error("write attribute '" + attribute + "' of"));
  return {};
}

Result<> Dataset::close(bool careful) {
  if (!id_.valid()) return {};
  if (careful && H5Dflush(id_.get()) < 0) return fail(error("write what is known of"));
  if (H5Idec_ref(id_.release()) < 0) return fail(error("close"));
  return {};
}

Result<PlaceholderBytes> PlaceholderBytes::reserve(std::uint64_t size_bytes) {
  void* address = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return fail(system_error(errno, "reserve address space for", "a variable"));
  return PlaceholderBytes({static_cast<const std::byte*>(address), size_bytes});
}

PlaceholderBytes::~PlaceholderBytes() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());  // NOLINT: from mmap
}

}  // namespace afterbay::storage
