// SPDX-License-Identifier: Apache-2.0
#include "storage/reader/append_trial.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/regular_file.hpp"
#include "storage/library_lock.hpp"
#include "storage/netcdf4/dataset.hpp"

namespace afterbay::storage {
namespace {

/// One more than fits into a node of the B-trees that HDF5 writes by default, so that the last node
/// is split.
constexpr hsize_t added_chunks = 65;
/// A sufficient size for an encoded chunk.
constexpr std::uint64_t encoded_bytes = 4096;

/// Reads a file, and keeps writes to it in memory. One thread at a time.
class OverlayDisk : public Disk {
 public:
  ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) override {
    for (std::size_t done = 0; done < count;) {
      const auto at = static_cast<std::uint64_t>(offset) + done;
      const std::size_t part = std::min<std::size_t>(count - done, page_bytes - at % page_bytes);
      auto [page, is_new] = pages_.try_emplace(at / page_bytes);
      if (is_new && !read_page(descriptor, at / page_bytes, page->second)) return -1;
      std::memcpy(page->second.data() + at % page_bytes, bytes + done, part);
      done += part;
    }
    return static_cast<ssize_t>(count);
  }
  ssize_t read(int descriptor, std::byte* bytes, std::size_t count, off_t offset) override {
    const auto at = static_cast<std::uint64_t>(offset);
    const ssize_t got = Disk::read(descriptor, bytes, count, offset);
    if (got < 0) return got;
    const auto covered = pages_.lower_bound(at / page_bytes);
    if (covered == pages_.end() || covered->first * page_bytes >= at + count) return got;
    std::memset(bytes + got, 0, count - static_cast<std::size_t>(got));
    for (auto page = covered; page != pages_.end() && page->first * page_bytes < at + count; ++page) {
      const std::uint64_t begin = std::max(at, page->first * page_bytes);
      const std::uint64_t end = std::min(at + count, (page->first + 1) * page_bytes);
      std::memcpy(bytes + (begin - at), page->second.data() + begin % page_bytes, end - begin);
    }
    return static_cast<ssize_t>(count);
  }
  int truncate(int, off_t) override { return 0; }
  int sync(int) override { return 0; }
  int start_write_back(int, off_t, off_t) override { return 0; }

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  using Page = std::array<std::byte, page_bytes>;

  bool read_page(int descriptor, std::uint64_t number, Page& page) {
    page.fill(std::byte{0});
    return Disk::read(descriptor, page.data(), page.size(), static_cast<off_t>(number * page_bytes)) >= 0;
  }

  std::map<std::uint64_t, Page> pages_;
};

}  // namespace

Result<std::unique_ptr<AppendTrial>> AppendTrial::open(const std::string& path) {
  RegularFile opened(path);
  if (!opened.open()) return fail(ErrorCode::io, "cannot read {}: {}", path, opened.problem());
  std::unique_ptr<AppendTrial> trial(new AppendTrial(Descriptor(opened.release())));
  AFTERBAY_TRY_ASSIGN(trial->bytes_, BlockWriter::open(trial->descriptor_.get(), path, DirectIo::off,
                                                       std::make_shared<OverlayDisk>()));
  trial->driver_ = std::make_unique<FileDriver>(*trial->bytes_);
  trial->driver_->check_structure(
      [trial = trial.get()](std::uint64_t offset, std::span<const std::byte> bytes) -> Result<> {
        if (!trial->follows_) return {};
        return trial->indexes_.node(offset, bytes, trial->driver_->size_bytes());
      });
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const Hdf5Id access, trial->driver_->access_list());
  trial->file_ = Hdf5Id(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()));
  if (!trial->file_.valid()) return fail(trial->driver_->error("open the file"));
  return trial;
}

/// Leaves the file open in HDF5: closing a damaged file again could crash.
AppendTrial::~AppendTrial() { file_.release(); }

Result<> AppendTrial::try_variable(const std::string& name) {
  const LibraryLock lock;
  const auto failed = [&](Error error) {
    return fail(std::move(error.in_variable(name).add("while adding records to variable '" + name +
                                                      "' in memory, before the file is touched")));
  };
  const std::string stored = dataset_name(file_.get(), name);
  H5L_info_t link{};
  if (H5Lget_info(file_.get(), stored.c_str(), &link, H5P_DEFAULT) < 0)
    return failed(driver_->error("find the variable"));
  if (link.type != H5L_TYPE_HARD)
    return failed(make_error(ErrorCode::format, "the variable is only a link to one in another place"));
  const hid_t dataset = H5Dopen2(file_.get(), stored.c_str(), H5P_DEFAULT);
  if (dataset < 0) return failed(driver_->error("open the variable"));
  if (auto done = follow_index(dataset, name); !done) return failed(std::move(done).error());
  if (auto done = add_records(dataset); !done) return failed(std::move(done).error());
  if (H5Dclose(dataset) < 0) return failed(driver_->error("close the variable"));
  if (auto done = driver_->check("add records"); !done) return failed(std::move(done).error());
  return {};
}

Result<> AppendTrial::follow_index(hid_t dataset, const std::string& name) {
  const Hdf5Id creation(H5Dget_create_plist(dataset));
  if (!creation.valid()) return fail(driver_->error("find how the variable is stored"));
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return {};
  follows_ = true;
  auto checked = check_index(dataset, creation, name);
  follows_ = false;
  return checked;
}

/// Counting chunks visits every node of the index, but no data.
Result<> AppendTrial::check_index(hid_t dataset, const Hdf5Id& creation_list, const std::string& name) {
  const Hdf5Id space(H5Dget_space(dataset));
  const Hdf5Id type(H5Dget_type(dataset));
  std::array<hsize_t, H5S_MAX_RANK> lengths{};
  const int rank = H5Pget_chunk(creation_list.get(), H5S_MAX_RANK, lengths.data());
  H5D_chunk_index_t kind = H5D_CHUNK_IDX_BTREE;
  if (rank < 1 || rank > H5S_MAX_RANK || !space.valid() || !type.valid() ||
      H5Dget_chunk_index_type(dataset, &kind) < 0)
    return fail(driver_->error("find the chunks of the variable"));
  ChunkIndexCheck::Variable variable{.name = name, .chunk = {}, .all_bytes = std::nullopt};
  std::uint64_t bytes = H5Tget_size(type.get());
  for (int d = 0; d < rank; ++d) {
    variable.chunk.push_back(lengths[static_cast<std::size_t>(d)]);
    if (variable.chunk.back() == 0 || __builtin_mul_overflow(bytes, variable.chunk.back(), &bytes))
      return fail(ErrorCode::format, "such chunks are not possible");
  }
  const bool as_in_memory = H5Tis_variable_str(type.get()) == 0 && H5Tdetect_class(type.get(), H5T_VLEN) == 0;
  if (as_in_memory && H5Pget_nfilters(creation_list.get()) == 0) variable.all_bytes = bytes;
  indexes_.begin(std::move(variable));
  hsize_t chunks = 0;
  if (H5Dget_num_chunks(dataset, space.get(), &chunks) < 0)
    return fail(driver_->error("follow the index of its chunks"));
  return kind == H5D_CHUNK_IDX_BTREE ? indexes_.end(chunks) : Result<>();
}

Result<> AppendTrial::add_records(hid_t dataset) {
  const Hdf5Id creation(H5Dget_create_plist(dataset));
  const Hdf5Id space(H5Dget_space(dataset));
  const Hdf5Id type(H5Dget_type(dataset));
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (!creation.valid() || !type.valid() || rank < 0)
    return fail(driver_->error("find the shape of the variable"));
  std::vector<hsize_t> lengths(static_cast<std::size_t>(rank));
  std::vector<hsize_t> most(lengths.size());
  if (rank == 0 || H5Pget_layout(creation.get()) != H5D_CHUNKED) return {};
  if (H5Sget_simple_extent_dims(space.get(), lengths.data(), most.data()) < 0)
    return fail(driver_->error("find the shape of the variable"));
  H5D_alloc_time_t allocation = H5D_ALLOC_TIME_ERROR;
  if (H5Pget_alloc_time(creation.get(), &allocation) < 0)
    return fail(driver_->error("find how the variable is stored"));
  const bool empty = std::find(lengths.begin() + 1, lengths.end(), 0U) != lengths.end();
  // With early allocation, all data of new records would be written.
  if (most[0] != H5S_UNLIMITED || empty || allocation == H5D_ALLOC_TIME_EARLY) return {};
  if (H5Tis_variable_str(type.get()) > 0) return add_string(dataset, type.get(), std::move(lengths));
  return add_chunks(dataset, creation.get(), std::move(lengths));
}

/// Chunks get a position in the file, but no bytes.
Result<> AppendTrial::add_chunks(hid_t dataset, hid_t creation_list, std::vector<hsize_t> lengths) {
  constexpr std::uint64_t most_records = std::uint64_t{1} << 62;
  std::vector<hsize_t> chunk(lengths.size());
  const Hdf5Id type(H5Dget_type(dataset));
  if (H5Pget_chunk(creation_list, static_cast<int>(chunk.size()), chunk.data()) < 0)
    return fail(driver_->error("find the chunks of the variable"));
  std::uint64_t bytes = H5Tget_size(type.get());
  bool sensible = chunk[0] > 0 && chunk[0] < most_records / (added_chunks + 2) && lengths[0] < most_records;
  for (const hsize_t length : chunk) sensible = sensible && !__builtin_mul_overflow(bytes, length, &bytes);
  if (!sensible) return fail(ErrorCode::format, "so many records, or such large chunks, are not possible");
  if (H5Pget_nfilters(creation_list) > 0) bytes = std::min(bytes, encoded_bytes);
  const hsize_t first = (lengths[0] + chunk[0] - 1) / chunk[0] * chunk[0];
  lengths[0] = first + added_chunks * chunk[0];
  if (H5Dset_extent(dataset, lengths.data()) < 0) return fail(driver_->error("add records"));
  AFTERBAY_TRY_ASSIGN(const PlaceholderBytes placeholder, PlaceholderBytes::reserve(bytes));
  FileDriver::Capture capture(*driver_, placeholder.bytes());
  std::vector<hsize_t> at(lengths.size(), 0);
  for (hsize_t number = 0; number < added_chunks; ++number) {
    at[0] = first + number * chunk[0];
    if (H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, at.data(), bytes, placeholder.bytes().data()) < 0)
      return fail(driver_->error("add chunks"));
  }
  return {};
}

/// Adds the first string of a new record.
Result<> AppendTrial::add_string(hid_t dataset, hid_t type, std::vector<hsize_t> lengths) {
  std::vector<hsize_t> start(lengths.size(), 0);
  const std::vector<hsize_t> count(lengths.size(), 1);
  start[0] = lengths[0]++;
  if (H5Dset_extent(dataset, lengths.data()) < 0) return fail(driver_->error("add records"));
  const Hdf5Id in_file(H5Dget_space(dataset));
  const Hdf5Id in_memory(H5Screate(H5S_SCALAR));
  const char* const text = "x";
  if (H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
      H5Dwrite(dataset, type, in_memory.get(), in_file.get(), H5P_DEFAULT, &text) < 0)
    return fail(driver_->error("add a string"));
  return {};
}

Result<> AppendTrial::finish() {
  AFTERBAY_TRY(indexes_.finish());
  const LibraryLock lock;
  if (H5Fclose(file_.release()) < 0) return fail(driver_->error("close the file"));
  return driver_->check("close the file");
}

}  // namespace afterbay::storage
