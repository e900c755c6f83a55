// SPDX-License-Identifier: Apache-2.0
// ChunkedInput: a chunked variable of a netCDF-4 file, read and decoded without the library.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/thread_safety.hpp"
#include "storage/input/chunk_memory.hpp"
#include "storage/input/hdf5_source.hpp"
#include "storage/input/rows.hpp"
#include "storage/input/variable_input.hpp"

namespace afterbay::storage {

/// Objects that the variables of a file share.
struct ChunkSources {
  InputBytes* file = nullptr;
  ChunkFinder* finder = nullptr;
  ChunkMemory* memory = nullptr;
};

/// Reads run concurrently; they wait for the library lock only to find chunks that were not
/// requested before.
class ChunkedInput : public VariableInput {
 public:
  /// `record`: its first dimension is the record dimension. `fill`: one native element, for points
  /// beyond the variable's own lengths.
  ChunkedInput(const ChunkSources& sources, std::uint32_t variable, DatasetStorage storage, bool record,
               std::vector<std::byte> fill);
  Result<> read(std::uint64_t record, const model::Box& box, std::span<std::byte> to,
                ReadCost& cost) override;

 private:
  /// The part of a read within one chunk.
  struct Part {
    std::uint64_t number = 0;  ///< number of the chunk, in C order
    model::Index first;        ///< first element of the chunk
    model::Index count;        ///< number of values in each dimension; 1 record
    model::Index in_chunk;     ///< their start in the chunk
    model::Index in_target;    ///< their start in the target
  };

  [[nodiscard]] std::vector<Part> parts_of(const model::Box& wanted, const model::Index& target_start) const;
  Result<std::vector<ChunkAddress>> addresses_of(std::span<const Part> parts, ReadCost& cost)
      AFTERBAY_EXCLUDES(mutex_);
  std::vector<Part> rest_of_record(std::span<const Part> parts) AFTERBAY_EXCLUDES(mutex_);
  Result<> read_plain(const Part& part, const ChunkAddress& address, const model::Index& target,
                      std::byte* to, RunReader& reader);
  Result<> read_filtered(const Part& part, const ChunkAddress& address, const model::Index& target,
                         std::byte* to, ReadCost& cost);
  Result<> decode(const ChunkAddress& address, std::span<std::byte> chunk, ReadCost& cost);
  void fill_part(const Part& part, const model::Index& target, std::byte* to);
  [[nodiscard]] bool whole(const Part& part) const noexcept;

  ChunkSources sources_;
  std::uint32_t variable_;
  DatasetStorage storage_;
  bool record_;
  std::vector<std::byte> beyond_;
  model::Index chunks_;  ///< number of chunks in each dimension
  std::uint64_t chunk_bytes_;
  Mutex mutex_;
  std::unordered_map<std::uint64_t, ChunkAddress> known_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage
