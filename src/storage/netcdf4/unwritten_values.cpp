// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/unwritten_values.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/fill.hpp"

namespace afterbay::storage {

UnwrittenValues::UnwrittenValues(const Schema& schema, const model::FileLayout& layout,
                                 std::vector<VariableStorage> storage, std::uint64_t present,
                                 FindPosition find_position)
    : schema_(schema),
      layout_(layout),
      storage_(std::move(storage)),
      present_(present),
      find_position_(std::move(find_position)) {}

Result<> UnwrittenValues::each_hole(const Ledger& written, const IsPlaced& is_placed,
                                    const Visit& visit) const {
  for (std::uint32_t v = 0; v < storage_.size(); ++v) {
    const VariableStorage& storage = storage_[v];
    const model::Pieces pieces = layout_.pieces_of_variable(v);
    const auto has = [&](const model::Piece& piece) { return written.has(piece, 0); };
    if (storage.kind == StorageKind::dense &&
        (std::any_of(pieces.begin(), pieces.end(), has) || is_placed(v)))
      AFTERBAY_TRY(each_hole_of_dense(v, written, visit));
    if (storage.kind == StorageKind::chunks && storage.span > 1 && !storage.encodes())
      for (const model::Piece& piece : pieces) AFTERBAY_TRY(each_hole_of_chunks(piece, written, visit));
  }
  return {};
}

Result<> UnwrittenValues::each_hole_of_dense(std::uint32_t variable, const Ledger& written,
                                             const Visit& visit) const {
  for (const model::Piece& piece : layout_.pieces_of_variable(variable)) {
    if (written.has(piece, 0)) continue;
    AFTERBAY_TRY_ASSIGN(const std::uint64_t offset, find_position_(piece, 0));
    AFTERBAY_TRY(visit({variable, offset, piece.bytes}));
  }
  return {};
}

/// Runs of records that are missing in chunks of which some are written. Their positions follow
/// from that of the chunk: the runs may lie beyond the last record, and requesting a position there
/// would extend the file.
Result<> UnwrittenValues::each_hole_of_chunks(const model::Piece& piece, const Ledger& written,
                                              const Visit& visit) const {
  const std::uint64_t span = storage_[piece.variable].span;
  const std::uint64_t begin = (present_ + span - 1) / span * span;
  for (const std::uint64_t first : written.partly_written(piece, begin, span)) {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t chunk, find_position_(piece, first));
    for (std::uint64_t record = first; record < first + span;) {
      const std::uint64_t run = record;
      while (record < first + span && !written.has(piece, record)) ++record;
      if (record > run)
        AFTERBAY_TRY(
            visit({piece.variable, chunk + (run - first) * piece.bytes, (record - run) * piece.bytes}));
      else
        ++record;
    }
  }
  return {};
}

Result<> UnwrittenValues::fill(const Ledger& written, BlockWriter& writer, WriteCost& cost) const {
  std::optional<FillPattern> pattern;
  std::uint32_t variable = 0;
  return each_hole(
      written, [](std::uint32_t) { return false; },
      [&](const Hole& hole) {
        if (!pattern || variable != hole.variable) pattern.emplace(schema_.variables[hole.variable], false);
        variable = hole.variable;
        const Extent extent{hole.offset, pattern->at(hole.offset, hole.size_bytes)};
        return writer.write({&extent, 1}, cost);
      });
}

/// The fill value in the byte order of the file, which is little-endian in HDF5.
LoggedFill UnwrittenValues::logged(const Hole& hole) const {
  std::vector<std::byte> element = fill_of(schema_.variables[hole.variable]).bytes;
  to_file_order(element, element.size(), false);
  return {hole.offset, hole.size_bytes, std::move(element)};
}

Result<> UnwrittenValues::log(const Ledger& written, std::uint64_t records, PlacedChunks& placed,
                              const PieceWriter& pieces, EpochLog& log) const {
  AFTERBAY_TRY(each_hole(
      written, [&](std::uint32_t variable) { return placed.has_any_of(variable); },
      [&](const Hole& hole) { return log.add(logged(hole)); }));
  for (const PlacedChunks::Unwritten& it : placed.unwritten(written, records)) {
    if (!storage_[it.piece.variable].encodes()) {
      AFTERBAY_TRY(log.add(logged({it.piece.variable, it.offset, it.size_bytes})));
      continue;
    }
    AFTERBAY_TRY_ASSIGN(const codec::EncodedChunk chunk, pieces.chunk_of_fill(it.piece));
    AFTERBAY_TRY(log.add(
        LoggedChunk{it.piece.variable, pieces.first_element(it.piece, it.first_record), chunk.skipped},
        chunk.bytes.bytes()));
  }
  return {};
}

}  // namespace afterbay::storage
