// SPDX-License-Identifier: Apache-2.0
// Hdf5Source: where the bytes of a netCDF-4 file's variables lie, found by HDF5 and read by us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "codec/chunk_codec.hpp"
#include "storage/input/input_bytes.hpp"
#include "storage/input/run_reader.hpp"
#include "storage/netcdf4/dataset.hpp"
#include "storage/netcdf4/file_driver.hpp"

namespace afterbay::storage {

/// Where the stored bytes of a chunk lie.
struct ChunkAddress {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;    ///< 0: never written
  std::uint32_t skipped = 0;  ///< filters left out
};

/// How HDF5 keeps a variable.
struct DatasetStorage {
  enum class Kind {
    library,     ///< in a way that we do not read
    contiguous,  ///< at `offset`
    nowhere,     ///< contiguous, and no space was ever given
    chunked
  };
  Kind kind = Kind::library;
  std::uint64_t offset = 0;
  model::Index lengths;  ///< lengths of all its dimensions, the record dimension included
  model::Index chunk;    ///< lengths of a chunk, as many as `lengths`
  codec::ChunkCodec codec;
  StoredElements elements;
  std::vector<std::byte> fill;  ///< what HDF5 gives for chunks never written; native
};

/// Finds the chunks of variables in a file.
class ChunkFinder {
 public:
  ChunkFinder() = default;
  ChunkFinder(const ChunkFinder&) = delete;
  ChunkFinder& operator=(const ChunkFinder&) = delete;
  virtual ~ChunkFinder() = default;
  /// Addresses of the chunks of a variable, by its index in the schema, whose first elements are
  /// given.
  virtual Result<std::vector<ChunkAddress>> find(std::uint32_t variable,
                                                 std::span<const model::Index> first_elements) = 0;
};

/// Finds places, under the library lock; reads no values. Any thread.
class Hdf5Source : public ChunkFinder {
 public:
  /// Opens the file once more, beside netCDF-C.
  static Result<std::unique_ptr<Hdf5Source>> open(const InputBytes& file);
  ~Hdf5Source() override;

  /// How these variables are kept, one after the other.
  std::vector<DatasetStorage> inspect(std::span<const Variable> variables);
  /// The variables are those of the last `inspect`.
  Result<std::vector<ChunkAddress>> find(std::uint32_t variable,
                                         std::span<const model::Index> first_elements) override;

 private:
  explicit Hdf5Source(std::unique_ptr<BlockWriter> bytes)
      : bytes_(std::move(bytes)), driver_(std::make_unique<FileDriver>(*bytes_)) {}
  DatasetStorage inspect_one(const Variable& variable);
  Result<ChunkAddress> find_one(hid_t dataset, const model::Index& first_element);

  std::unique_ptr<BlockWriter> bytes_;
  std::unique_ptr<FileDriver> driver_;
  // Closed under the library lock by the destructor.
  Hdf5Id file_;
  std::vector<Hdf5Id> datasets_;
  std::optional<PlaceholderBytes> placeholder_;
};

}  // namespace afterbay::storage
