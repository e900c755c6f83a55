// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/file_driver.hpp"

#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <functional>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace afterbay::storage {

/// HDF5's handle of a file of this driver: HDF5's own part comes first.
struct DriverFile {
  H5FD_t base;
  FileDriver* driver;
};

namespace {

/// Chunks of at least this size begin on a page boundary, so that direct I/O can write them (like
/// the layout's pieces).
constexpr hsize_t least_aligned_bytes = 64u << 10;

/// The driver's part of an access list. HDF5 copies it bytewise.
struct DriverInfo {
  FileDriver* driver;
};

/// Null: the driver was destroyed, and HDF5 could not close the file.
FileDriver* driver_of(H5FD_t* file) { return reinterpret_cast<DriverFile*>(file)->driver; }
const FileDriver* driver_of(const H5FD_t* file) { return reinterpret_cast<const DriverFile*>(file)->driver; }

H5FD_t* open_file(const char*, unsigned, hid_t access_list, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access_list));
  if (info == nullptr) return nullptr;
  auto* file = new (std::nothrow) DriverFile{};
  if (file == nullptr) return nullptr;
  file->driver = info->driver;
  file->driver->opened(file);
  return &file->base;
}

herr_t close_file(H5FD_t* file) {
  if (FileDriver* const driver = driver_of(file)) driver->closed(reinterpret_cast<DriverFile*>(file));
  delete reinterpret_cast<DriverFile*>(file);
  return 0;
}

int compare_files(const H5FD_t* a, const H5FD_t* b) {
  const std::less<const void*> less;
  const auto identity = [](const H5FD_t* file) -> const void* {
    return driver_of(file) == nullptr ? static_cast<const void*>(file) : driver_of(file);
  };
  if (less(identity(a), identity(b))) return -1;
  return less(identity(b), identity(a)) ? 1 : 0;
}

/// No data sieve: it would copy raw data into a buffer of HDF5.
herr_t query(const H5FD_t* file, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  // With accumulation, structure would be read in parts that are not nodes.
  const FileDriver* const driver = file == nullptr ? nullptr : driver_of(file);
  if (driver == nullptr || !driver->checks_structure()) *flags |= H5FD_FEAT_ACCUMULATE_METADATA;
  return 0;
}

haddr_t end_of_allocation(const H5FD_t* file, H5FD_mem_t) {
  const FileDriver* const driver = driver_of(file);
  return driver == nullptr ? 0 : driver->end_of_allocation;
}

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  if (FileDriver* const driver = driver_of(file)) driver->end_of_allocation = end;
  return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) {
  const FileDriver* const driver = driver_of(file);
  return driver == nullptr ? 0 : driver->size_bytes();
}

herr_t read_bytes(H5FD_t* file, H5FD_mem_t kind, hid_t, haddr_t offset, size_t count, void* buffer) {
  const bool raw = kind == H5FD_MEM_DRAW;
  FileDriver* const driver = driver_of(file);
  return driver != nullptr && driver->read(raw, offset, {static_cast<std::byte*>(buffer), count}) ? 0 : -1;
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t kind, hid_t, haddr_t offset, size_t count, const void* buffer) {
  const bool raw = kind == H5FD_MEM_DRAW;
  FileDriver* const driver = driver_of(file);
  if (driver != nullptr) driver->write(raw, offset, {static_cast<const std::byte*>(buffer), count});
  return 0;
}

/// Only at the end: before, other threads write beyond the end that HDF5 knows.
herr_t truncate_file(H5FD_t* file, hid_t, hbool_t closing) {
  FileDriver* const driver = driver_of(file);
  if (closing && driver != nullptr) driver->truncate();
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t kind{};
#if H5_VERSION_GE(1, 14, 0)
  kind.version = H5FD_CLASS_VERSION;
  kind.value = static_cast<H5FD_class_value_t>(700);  // in the range for private use
#endif
  kind.name = "afterbay";
  kind.maxaddr = static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max());
  kind.fc_degree = H5F_CLOSE_STRONG;
  kind.fapl_size = sizeof(DriverInfo);
  kind.open = open_file;
  kind.close = close_file;
  kind.cmp = compare_files;
  kind.query = query;
  kind.get_eoa = end_of_allocation;
  kind.set_eoa = set_end_of_allocation;
  kind.get_eof = end_of_file;
  kind.read = read_bytes;
  kind.write = write_bytes;
  kind.truncate = truncate_file;
  const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
  for (int i = 0; i < H5FD_MEM_NTYPES; ++i) kind.fl_map[i] = map[i];
  return kind;
}

/// Registered once per process, and again after HDF5 was shut down (H5close). Requires the library
/// lock.
hid_t driver_id() {
  static const H5FD_class_t kind = driver_class();
  static hid_t id = H5I_INVALID_HID;
  if (id < 0 || H5Iget_type(id) != H5I_VFL) id = H5FDregister(&kind);
  return id;
}

}  // namespace

FileDriver::~FileDriver() {
  for (DriverFile* const file : files_) file->driver = nullptr;
}

Result<Hdf5Id> FileDriver::access_list() {
  Hdf5Id list(H5Pcreate(H5P_FILE_ACCESS));
  const DriverInfo info{this};
  if (!list.valid() || H5Pset_driver(list.get(), driver_id(), &info) < 0 ||
      H5Pset_libver_bounds(list.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST) < 0 ||
      H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG) < 0 ||
      H5Pset_alignment(list.get(), least_aligned_bytes, model::page_bytes) < 0)
    return fail(hdf5_error("set up the access to the file"));
  return list;
}

bool FileDriver::Capture::take(std::uint64_t offset, std::span<const std::byte> moved) {
  const std::less_equal<const std::byte*> not_after;
  const bool inside = not_after(bytes_.data(), moved.data()) &&
                      not_after(moved.data() + moved.size(), bytes_.data() + bytes_.size());
  if (!inside) return false;
  if (!offset_) offset_ = offset - static_cast<std::uint64_t>(moved.data() - bytes_.data());
  return true;
}

void FileDriver::write(bool raw, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (raw && capture_ != nullptr && capture_->take(offset, bytes)) return note_data(offset, bytes.size());
  if (failure_) return;
  if (!note(log_before(offset, bytes.size(), false))) return;
  written_.add(offset, bytes.size());
  if (log_ == nullptr) {
    note(writer_.write_structure(offset, bytes));
    return;
  }
  auto at = log_->add_structure(offset, bytes);
  if (at)
    withheld_.put(offset, bytes.size(), *at);
  else
    note(fail(std::move(at).error()));
}

bool FileDriver::read(bool raw, std::uint64_t offset, std::span<std::byte> bytes) {
  if (raw && capture_ != nullptr && capture_->take(offset, bytes)) return true;
  if (!note(writer_.read(offset, bytes))) return false;
  if (log_ != nullptr && !note(withheld_.read(offset, bytes, read_log()))) return false;
  return raw || !structure_check_ || note(structure_check_(offset, bytes));
}

void FileDriver::truncate() {
  if (!failure_) note(writer_.truncate(end_of_allocation));
}

std::uint64_t FileDriver::size_bytes() const {
  return std::max(writer_.size_bytes().value_or(0), withheld_.end());
}

/// Data may be placed where structure was: structure must not be written there again.
void FileDriver::note_data(std::uint64_t offset, std::uint64_t size_bytes) {
  if (failure_ || !note(log_before(offset, size_bytes, true))) return;
  if (!written_.overlaps(offset, size_bytes)) return;
  written_.remove(offset, size_bytes);
  if (log_ == nullptr || failure_) return;
  withheld_.drop(offset, size_bytes);
  note(log_->add(LoggedData{offset, size_bytes}));
}

ReadLog FileDriver::read_log() const {
  return [log = log_](std::uint64_t at, std::span<std::byte> bytes) { return log->read(at, bytes); };
}

/// Bytes that the file contained when it was opened, and that the run has not overwritten yet, are
/// in no log: in a file that is appended to, older epochs need them. `by_data`: they are
/// overwritten with data, which later epochs keep.
Result<> FileDriver::log_before(std::uint64_t offset, std::uint64_t size_bytes, bool by_data) {
  if (offset >= first_bytes_) return {};
  const std::uint64_t size = std::min(size_bytes, first_bytes_ - offset);
  std::vector<std::byte> bytes;
  for (const auto& [begin, end] : log_ == nullptr ? ByteRanges::Gaps() : known_.gaps(offset, size)) {
    bytes.resize(end - begin);
    AFTERBAY_TRY(writer_.read(begin, bytes));
    AFTERBAY_TRY(log_->add_before(begin, bytes));
    if (by_data) AFTERBAY_TRY(log_->add(LoggedData{begin, end - begin}));
  }
  known_.add(offset, size);
  return {};
}

Result<> FileDriver::begin_log(EpochLog& log) {
  constexpr std::uint64_t most_bytes = 1u << 20;
  std::vector<std::byte> bytes;
  for (const auto& [begin, end] : written_.all())
    for (std::uint64_t at = begin; at < end; at += bytes.size()) {
      bytes.resize(std::min(most_bytes, end - at));
      AFTERBAY_TRY(writer_.read(at, bytes));
      AFTERBAY_TRY(log.add_structure(at, bytes));
    }
  log_ = &log;
  return {};
}

Result<> FileDriver::settle(std::uint64_t cut) {
  if (log_ == nullptr) return {};
  return withheld_.settle(cut, read_log(), writer_);
}

Result<> FileDriver::end_log() {
  if (log_ == nullptr) return {};
  AFTERBAY_TRY(withheld_.settle(std::numeric_limits<std::uint64_t>::max(), read_log(), writer_));
  log_ = nullptr;
  return {};
}

bool FileDriver::note(Result<> result) {
  if (!result && !failure_) failure_ = std::move(result).error();
  return result.has_value();
}

Result<> FileDriver::check(const std::string& doing) const {
  if (!failure_) return {};
  Error error = *failure_;
  return fail(std::move(error.add("while HDF5 was to " + doing)));
}

Error FileDriver::error(const std::string& doing) {
  failed_ = true;
  Error from_hdf5 = hdf5_error(doing);
  if (!failure_) return from_hdf5;
  Error error = *failure_;
  return error.add("while HDF5 was to " + doing);
}

}  // namespace afterbay::storage
