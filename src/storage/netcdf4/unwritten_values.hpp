// SPDX-License-Identifier: Apache-2.0
// UnwrittenValues: values that were never written, at positions that a netCDF-4 file has for them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"
#include "storage/block_writer/block_writer.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/ledger.hpp"
#include "storage/netcdf4/piece_writer.hpp"
#include "storage/netcdf4/placed_chunks.hpp"
#include "storage/netcdf4/variable_storage.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// Chunks that have no position need nothing: readers return the fill value for them. Holes in
/// allocated storage do: dense variables, and plain chunks of several records. At its end, a file
/// gets fill values there; an epoch logs the holes, and recovery fills them. Used by one thread at
/// a time; referenced objects must outlive it.
class UnwrittenValues {
 public:
  /// The position of a piece that is not encoded.
  using FindPosition = std::function<Result<std::uint64_t>(const model::Piece& piece, std::uint64_t record)>;

  /// `present`: number of records of earlier runs; HDF5 writes the chunks that contain some.
  UnwrittenValues(const Schema& schema, const model::FileLayout& layout, std::vector<VariableStorage> storage,
                  std::uint64_t present, FindPosition find_position);

  /// Writes fill values, also after the last record of a chunk: a later append finds them there, as
  /// netCDF-C leaves them.
  Result<> fill(const Ledger& written, BlockWriter& writer, WriteCost& cost) const;
  /// Logs the holes of an epoch with `records` records, and chunks that have a position although
  /// nothing of them is written.
  Result<> log(const Ledger& written, std::uint64_t records, PlacedChunks& placed, const PieceWriter& pieces,
               EpochLog& log) const;

 private:
  struct Hole {
    std::uint32_t variable = 0;
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
  };
  using IsPlaced = std::function<bool(std::uint32_t variable)>;
  using Visit = std::function<Result<>(const Hole& hole)>;

  /// `is_placed`: whether a dense variable of which nothing is written has a position.
  Result<> each_hole(const Ledger& written, const IsPlaced& is_placed, const Visit& visit) const;
  Result<> each_hole_of_dense(std::uint32_t variable, const Ledger& written, const Visit& visit) const;
  Result<> each_hole_of_chunks(const model::Piece& piece, const Ledger& written, const Visit& visit) const;
  [[nodiscard]] LoggedFill logged(const Hole& hole) const;

  const Schema& schema_;
  const model::FileLayout& layout_;
  std::vector<VariableStorage> storage_;  ///< by variable
  std::uint64_t present_;
  FindPosition find_position_;
};

}  // namespace afterbay::storage
