// SPDX-License-Identifier: Apache-2.0
#include "storage/input/library_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "storage/cdf/header.hpp"
#include "storage/library_lock.hpp"
#include "storage/netcdf4/hdf5.hpp"
#include "storage/stopwatch.hpp"
#include "storage/structure/netcdf_names.hpp"

namespace afterbay::storage {
namespace {

/// While this object exists, the first message of HDF5 on a failure is recorded: netCDF-C itself
/// only reports "HDF error".
class Hdf5Complaint {
 public:
  Hdf5Complaint() { H5Eset_auto2(H5E_DEFAULT, note, &text_); }
  Hdf5Complaint(const Hdf5Complaint&) = delete;
  Hdf5Complaint& operator=(const Hdf5Complaint&) = delete;
  ~Hdf5Complaint() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

  /// The error of a netCDF-C call, including HDF5's message.
  [[nodiscard]] Error error(int status, const std::string& doing) const {
    Error error = netcdf_error(status, doing);
    if (status == NC_EHDFERR && !text_.empty()) error.add("HDF5: " + text_);
    return error;
  }
  /// The error of nc_open: every failure concerns the file.
  [[nodiscard]] Error refusal(int status) const {
    Error refused = error(status, "open it as a netCDF file");
    if (status < 0 && status != NC_ENOMEM) refused.code = ErrorCode::format;
    return refused;
  }

 private:
  static herr_t keep_innermost(unsigned, const H5E_error2_t* entry, void* text) {
    if (entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
    return 1;  // stop here
  }
  static herr_t note(hid_t stack, void* text) {
    H5Ewalk2(stack, H5E_WALK_UPWARD, keep_innermost, text);
    return 0;
  }
  std::string text_;
};

/// When a file is opened, netCDF-C allocates a table for the chunk cache of every dataset, and
/// memory for up to 64 MiB of chunks when it is read. Files are opened without these; see
/// LibraryFile::keep_chunks.
class NoChunkCaches {
 public:
  NoChunkCaches() {
    nc_get_chunk_cache(&bytes_, &slots_, &preemption_);
    nc_set_chunk_cache(0, 1, preemption_);
  }
  NoChunkCaches(const NoChunkCaches&) = delete;
  NoChunkCaches& operator=(const NoChunkCaches&) = delete;
  ~NoChunkCaches() { nc_set_chunk_cache(bytes_, slots_, preemption_); }

 private:
  std::size_t bytes_ = 0;
  std::size_t slots_ = 0;
  float preemption_ = 0.75f;
};

constexpr float input_preemption = 0.75f;
constexpr std::size_t cache_slots = 1009;

/// Start and count along all dimensions, including that of records.
struct Hyperslab {
  std::array<std::size_t, model::max_dimensions + 1> start{};
  std::array<std::size_t, model::max_dimensions + 1> count{};
};

Hyperslab hyperslab_of(bool has_records, std::uint64_t record, const model::Box& box) {
  Hyperslab slab;
  std::size_t d = 0;
  if (has_records) {
    slab.start[d] = record;
    slab.count[d++] = 1;
  }
  for (std::size_t i = 0; i < box.rank(); ++i, ++d) {
    slab.start[d] = box.start[i];
    slab.count[d] = box.count[i];
  }
  return slab;
}

}  // namespace

Result<std::unique_ptr<LibraryFile>> LibraryFile::open(const std::string& path) {
  AFTERBAY_TRY(check_cdf_header(path));
  const LibraryLock lock;
  const Hdf5Complaint complaint;
  const NoChunkCaches without;
  int id = -1;
  if (const int status = nc_open(path.c_str(), NC_NOWRITE, &id); status != NC_NOERR)
    return fail(complaint.refusal(status));
  NetcdfHandle opened(id);  // closed under this lock if anything fails
  AFTERBAY_TRY_ASSIGN(FoundFile found, read_schema_of(id, Demand::what_fits));
  std::unique_ptr<LibraryFile> file(new LibraryFile(opened.release()));
  file->found_ = std::move(found);
  return file;
}

LibraryFile::~LibraryFile() {
  const LibraryLock lock;
  nc_close(id_);
}

/// The memory with which no chunk is decoded twice if records are read one after the other, each in
/// any order of its parts.
std::uint64_t LibraryFile::cache_bytes(const Variable& variable) const {
  std::uint64_t bytes = std::max<std::size_t>(1, size_of(variable.type));
  for (std::size_t d = 0; d < variable.chunk.size(); ++d) {
    const Dimension* dimension = found_.schema.find_dimension(variable.dimensions[d]);
    const std::uint64_t length = dimension->is_unlimited() ? 1 : dimension->length;
    const std::uint64_t chunk = variable.chunk[d];
    if (__builtin_mul_overflow(bytes, std::max(length, (length + chunk - 1) / chunk * chunk), &bytes))
      return input_chunk_memory_bytes;
  }
  return std::min(bytes, input_chunk_memory_bytes);
}

Result<> LibraryFile::keep_chunks(std::uint32_t number) {
  const Variable& variable = found_.schema.variables[number];
  const auto known = std::find_if(cached_.begin(), cached_.end(),
                                  [&](const Cached& cached) { return cached.variable == number; });
  if (variable.chunk.empty() || known != cached_.end()) return {};
  const Cached wanted{number, cache_bytes(variable)};
  std::uint64_t used = wanted.bytes;
  for (const Cached& cached : cached_) used += cached.bytes;
  for (; used > input_chunk_memory_bytes && !cached_.empty(); cached_.pop_front()) {
    AFTERBAY_TRY(check_netcdf(
        nc_set_var_chunk_cache(id_, found_.numbers[cached_.front().variable], 0, 1, input_preemption),
        "give back a chunk cache"));
    used -= cached_.front().bytes;
  }
  AFTERBAY_TRY(check_netcdf(
      nc_set_var_chunk_cache(id_, found_.numbers[number], wanted.bytes, cache_slots, input_preemption),
      "set up a chunk cache"));
  cached_.push_back(wanted);
  return {};
}

Result<> LibraryFile::read(std::uint32_t variable, std::uint64_t record, const model::Box& box,
                           std::span<std::byte> to) {
  const LibraryLock lock;
  const Hdf5Complaint complaint;
  AFTERBAY_TRY(keep_chunks(variable));
  const bool has_records = found_.schema.variables[variable].dimensions.size() > box.rank();
  const Hyperslab slab = hyperslab_of(has_records, record, box);
  const int status =
      nc_get_vara(id_, found_.numbers[variable], slab.start.data(), slab.count.data(), to.data());
  if (status != NC_NOERR) return fail(complaint.error(status, "read its values"));
  return {};
}

Result<std::vector<std::string>> LibraryFile::read_strings(std::uint32_t variable, std::uint64_t record) {
  const LibraryLock lock;
  const Hdf5Complaint complaint;
  std::size_t strings = 1;
  model::Box box;
  bool has_records = false;
  for (const std::string& name : found_.schema.variables[variable].dimensions) {
    const Dimension* dimension = found_.schema.find_dimension(name);
    if (dimension->is_unlimited()) {
      has_records = true;
      continue;
    }
    box.start.push_back(0);
    box.count.push_back(dimension->length);
    strings *= dimension->length;
  }
  const Hyperslab slab = hyperslab_of(has_records, record, box);
  NetcdfStrings values(strings);
  const int status = nc_get_vara_string(id_, found_.numbers[variable], slab.start.data(), slab.count.data(),
                                        values.pointers.data());
  if (status != NC_NOERR) return fail(complaint.error(status, "read its strings"));
  return values.take();
}

Result<> LibraryInput::read(std::uint64_t record, const model::Box& box, std::span<std::byte> to,
                            ReadCost& cost) {
  const Stopwatch watch(cost.library_ns);
  AFTERBAY_TRY(file_.read(variable_, record, box, to));
  cost.bytes_in += to.size();
  return {};
}

}  // namespace afterbay::storage
