// SPDX-License-Identifier: Apache-2.0
// Dataset: one variable of an open netCDF-4 file: where its pieces lie.
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

/// What HDF5 says of a dataset: the same in all files that begin with the same structure.
struct DatasetFacts {
  std::string name;  ///< in the file
  VariableStorage storage;
  std::vector<hsize_t> lengths;  ///< of its dimensions, that of records too
};

/// All calls under a LibraryLock, but for the plain getters, which any thread may call.
class Dataset {
 public:
  /// Opens it and looks how it is stored. `index`: of the variable in the layout.
  static Result<Dataset> open(hid_t file, FileDriver& driver, const Variable& variable,
                              const model::FileLayout& layout, std::size_t index);
  /// One that is known already: it is opened when it is first needed.
  Dataset(hid_t file, FileDriver& driver, const Variable& variable, const model::FileLayout& layout,
          std::size_t index, DatasetFacts facts);

  [[nodiscard]] const DatasetFacts& facts() const noexcept { return facts_; }
  [[nodiscard]] const VariableStorage& storage() const noexcept { return facts_.storage; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Lets the variable have at least that many records; nothing for fixed ones.
  Result<> extend(std::uint64_t records);

  /// Makes the chunk of `piece` that holds `record` have `stored_bytes` in the file and gives their
  /// offset; an uncompressed chunk that is there keeps its place. `skipped` as EncodedChunk's.
  /// `bytes` is only an address range, never read.
  Result<std::uint64_t> place_chunk(const model::Piece& piece, std::uint64_t record,
                                    std::span<const std::byte> bytes, std::uint32_t skipped);

  /// Offset of a dense variable's first byte; space is allocated at the first call.
  Result<std::uint64_t> place_dense(std::uint64_t size_bytes);

  /// Hands a piece (as the layout stores it, little-endian) to HDF5.
  Result<> write_through(const model::Piece& piece, std::uint64_t record, std::span<const std::byte> bytes);
  /// All strings of as many records, from `record` on, as there are values for.
  Result<> write_strings(std::uint64_t record, std::span<const std::string> values);

  /// `careful`: of a file that may be damaged, what HDF5 holds of the dataset is written first. A close that
  /// fails leaves HDF5 with half of a dataset.
  Result<> close(bool careful);
  /// It stays open in HDF5.
  void leave_open() noexcept { id_.release(); }

 private:
  Result<> reach();
  Result<> inspect();
  Result<> inspect_chunks(hid_t creation_list);
  Result<bool> inspect_filters(hid_t creation_list);
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
  std::uint64_t extent_ = 0;  ///< records
  std::optional<std::uint64_t> dense_offset_;
};

/// Address space without memory behind it: stands for bytes that are only counted.
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
