// SPDX-License-Identifier: Apache-2.0
// CdfPieces: the pieces of a classic file and their positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"
#include "storage/block_writer/block_writer.hpp"
#include "storage/leader_part.hpp"
#include "storage/ledger.hpp"
#include "storage/sealed.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// The positions given by the header.
struct CdfOffsets {
  /// Offset of each schema variable, or of its first record if it has records.
  std::vector<std::uint64_t> begins;
  std::uint64_t record_bytes = 0;  ///< distance between records

  [[nodiscard]] std::uint64_t first_byte_of_records(const model::FileLayout& layout) const noexcept;
  [[nodiscard]] std::uint64_t offset_of(const model::FileLayout& layout, const model::Piece& piece,
                                        std::uint64_t record) const noexcept;
};

/// Encodes the positions for members.
std::vector<std::byte> seal(const CdfOffsets& offsets, const LeaderPart& part,
                            const model::FileLayout& layout);
struct CdfShare {
  CdfOffsets offsets;
  LeaderPart part;
};
Result<CdfShare> open_cdf_share(std::span<const std::byte> bytes, const model::FileLayout& layout);

/// Writes pieces in place. Any thread. Owns nothing: the referenced objects must outlive it.
class CdfPieces {
 public:
  CdfPieces(const Schema& schema, const model::FileLayout& layout, const CdfOffsets& offsets,
            BlockWriter& writer, const Ledger& ledger)
      : schema_(schema), layout_(layout), offsets_(offsets), writer_(writer), ledger_(ledger) {}

  /// Writes pieces of the layout. The caller marks them in the ledger.
  Result<> write(std::span<const PieceWrite> pieces, WriteCost& cost);

 private:
  [[nodiscard]] Result<> check_record(std::uint32_t variable, std::uint64_t record) const;
  [[nodiscard]] std::uint64_t records_in_file() const;

  const Schema& schema_;
  const model::FileLayout& layout_;
  const CdfOffsets& offsets_;
  BlockWriter& writer_;
  const Ledger& ledger_;
};

}  // namespace afterbay::storage
