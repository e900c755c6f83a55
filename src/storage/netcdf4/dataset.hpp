// SPDX-License-Identifier: Apache-2.0
// Dataset: a variable of an open netCDF-4 file, and the positions of its pieces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"
#include "storage/netcdf4/file_driver.hpp"
#include "storage/netcdf4/hdf5.hpp"
#include "storage/netcdf4/variable_storage.hpp"

namespace afterbay::storage {

/// Properties of a dataset that are the same in all files with the same initial structure.
struct DatasetFacts {
  std::string name;  ///< name in the file
  VariableStorage storage;
  std::vector<hsize_t> lengths;  ///< lengths of its dimensions, including the record dimension
};

/// All calls need a LibraryLock, except simple getters, which any thread may call.
class Dataset {
 public:
  /// Opens the dataset and determines how it is stored. `index`: its variable's index in the
  /// layout.
  static Result<Dataset> open(hid_t file, FileDriver& driver, const Variable& variable,
                              const model::FileLayout& layout, std::size_t index);
  /// A dataset with known properties: it is opened when it is first needed.
  Dataset(hid_t file, FileDriver& driver, const Variable& variable, const model::FileLayout& layout,
          std::size_t index, DatasetFacts facts);

  [[nodiscard]] const DatasetFacts& facts() const noexcept { return facts_; }
  [[nodiscard]] const VariableStorage& storage() const noexcept { return facts_.storage; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Extends the variable to at least that many records; does nothing for fixed variables.
  Result<> extend(std::uint64_t records);

  /// Allocates `stored_bytes` in the file for the chunk of `piece` that contains `record`, and
  /// returns the offset; an existing uncompressed chunk keeps its position. `skipped` as in
  /// EncodedChunk. `bytes` is only an address range, which is never read.
  Result<std::uint64_t> place_chunk(const model::Piece& piece, std::uint64_t record,
                                    std::span<const std::byte> bytes, std::uint32_t skipped);

  /// Offset of a dense variable's first byte; space is allocated in the first call.
  Result<std::uint64_t> place_dense(std::uint64_t size_bytes);

  /// Passes a piece (in the layout's form, little-endian) to HDF5.
  Result<> write_through(const model::Piece& piece, std::uint64_t record, std::span<const std::byte> bytes);
  /// Writes all strings of as many records, beginning with `record`, as there are values for.
  Result<> write_strings(std::uint64_t record, std::span<const std::string> values);

  /// Sets a number that is an attribute already; `only_larger`: unless it has a larger value.
  Result<> set_number(const std::string& attribute, double value, bool only_larger);

  /// `careful`: for a file that may be damaged, HDF5's buffered data of the dataset are written
  /// first. A failed close leaves a half-closed dataset in HDF5.
  Result<> close(bool careful);
  /// Leaves it open in HDF5.
  void leave_open() noexcept { id_.release(); }

 private:
  Result<> reach();
  Result<> inspect();
  Result<> inspect_chunks(hid_t creation_list);
  Result<Hdf5Id> select(const model::Box& box, std::uint64_t record, std::uint64_t count);
  using ChunkIndex = std::array<hsize_t, model::max_dimensions + 1>;
  [[nodiscard]] ChunkIndex first_element(const model::Piece& piece, std::uint64_t record) const;
  [[nodiscard]] Error error(const std::string& doing) const;

  hid_t file_;
  FileDriver* driver_;
  const model::VariableLayout* layout_;
  const model::StoredVariable* stored_;
  Type type_;
  std::string name_;
  Hdf5Id id_;
  DatasetFacts facts_;
  std::uint64_t extent_ = 0;  ///< number of records
  std::optional<std::uint64_t> dense_offset_;
};

/// Address space without memory: it represents bytes that are only counted.
class PlaceholderBytes {
 public:
  static Result<PlaceholderBytes> reserve(std::uint64_t size_bytes);
  PlaceholderBytes(PlaceholderBytes&& other) noexcept : bytes_(other.bytes_) { other.bytes_ = {}; }
  PlaceholderBytes& operator=(PlaceholderBytes&&) = delete;
  ~PlaceholderBytes();
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  explicit PlaceholderBytes(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace afterbay::storage
