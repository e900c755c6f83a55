// SPDX-License-Identifier: Apache-2.0
#include "storage/cdf/cdf_pieces.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/caller_terms.hpp"
#include "storage/cdf/limits.hpp"
#include "storage/record_reach.hpp"

namespace afterbay::storage {

std::uint64_t CdfOffsets::first_byte_of_records(const model::FileLayout& layout) const noexcept {
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t v = 0; v < begins.size(); ++v)
    if (layout.variables[v].record) begin = std::min(begin, begins[v]);
  return begin;
}

std::uint64_t CdfOffsets::offset_of(const model::FileLayout& layout, const model::Piece& piece,
                                    std::uint64_t record) const noexcept {
  const std::uint64_t record_offset = layout.variables[piece.variable].record ? record * record_bytes : 0;
  return begins[piece.variable] + record_offset + layout.slab_offset(piece);
}

std::vector<std::byte> seal(const CdfOffsets& offsets, const LeaderPart& part,
                            const model::FileLayout& layout) {
  SealedWriter writer(SealedKind::cdf_share, digest_of(layout));
  part.write(writer);
  writer.number(offsets.record_bytes);
  for (const std::uint64_t begin : offsets.begins) writer.number(begin);
  return std::move(writer).finish();
}

Result<CdfShare> open_cdf_share(std::span<const std::byte> bytes, const model::FileLayout& layout) {
  AFTERBAY_TRY_ASSIGN(SealedReader reader,
                      SealedReader::open(bytes, SealedKind::cdf_share, digest_of(layout)));
  CdfShare share;
  AFTERBAY_TRY_ASSIGN(share.part, LeaderPart::read(reader));
  AFTERBAY_TRY_ASSIGN(share.offsets.record_bytes, reader.number());
  for (std::size_t v = 0; v < layout.variables.size(); ++v) {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t begin, reader.number());
    share.offsets.begins.push_back(begin);
  }
  AFTERBAY_TRY(reader.end());
  return share;
}

Result<> CdfPieces::write(std::span<const PieceWrite> pieces, WriteCost& cost) {
  std::vector<Extent> extents;
  extents.reserve(pieces.size());
  for (const PieceWrite& write : pieces) {
    AFTERBAY_TRY(check_record(write.piece.variable, write.record));
    extents.push_back({offsets_.offset_of(layout_, write.piece, write.record), write.bytes});
  }
  return writer_.write(extents, cost);
}

/// The number of records that any server of a shared file has begun: records that others wrote need
/// no more space.
std::uint64_t CdfPieces::records_in_file() const {
  const std::uint64_t size = writer_.used_bytes();
  const std::uint64_t begin = offsets_.first_byte_of_records(layout_);
  if (size <= begin || offsets_.record_bytes == 0) return ledger_.records();
  return std::max(ledger_.records(), (size - begin - 1) / offsets_.record_bytes + 1);
}

Result<> CdfPieces::check_record(std::uint32_t variable, std::uint64_t record) const {
  if (layout_.variables[variable].record && record > ledger_.records())
    AFTERBAY_TRY(check_reach(schema_, layout_, variable, record, records_in_file(),
                             [this] { return writer_.free_bytes(); }));
  if (!layout_.variables[variable].record || record < traits_of(layout_.format).most_records) return {};
  const std::string& name = schema_.variables[variable].name;
  return fail(make_error(ErrorCode::invalid_argument,
                         "record {} of variable '{}' is more than a {} file can count", said_index(record),
                         name, name_of(layout_.format))
                  .in_variable(name));
}

}  // namespace afterbay::storage
