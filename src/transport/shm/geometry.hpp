// SPDX-License-Identifier: Apache-2.0
// Geometry: the layout of a server's segment. A pure function of the sizes, the number of model
// ranks and the number of those that use the segment, so that the server and its ranks compute the
// same one.
//
// header | marks | one PeerOrder per rank | one PeerSlot per rank that uses the segment | rings
// (up, down) of these | frame records | expected counts | frame table | states of blocks | metadata
// of parts | piece counters | blocks
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "transport/link.hpp"

namespace afterbay::transport::shm {

inline constexpr std::uint64_t page_bytes = 4096;
/// Where huge pages are larger, none are used.
inline constexpr std::uint64_t huge_page_bytes = 2u << 20;

/// A way to cut a block into equal parts, each of which holds a frame.
struct Cut {
  std::uint32_t parts = 1;
  std::uint32_t pieces = 0;  ///< maximum number of pieces of a frame in a part
  std::uint64_t bytes = 0;   ///< of a frame in a part

  /// Distance between parts. A frame begins at its phase, which is less than a page, so each part
  /// has one page more than its bytes. Frames and chunks whose length is a power of two fill their
  /// part.
  [[nodiscard]] std::uint64_t stride() const noexcept { return bytes + page_bytes; }
};

/// Number of the cut of a block that is one part.
inline constexpr std::uint32_t uncut = 0;
/// Parts are not smaller than a 256th of a block.
inline constexpr std::uint32_t most_cuts = 16;

/// Parts are numbered through: those of block b are b * slots, b * slots + 1, ..., however it is
/// cut (design/0096-blocks-cut-into-parts.md).
struct Geometry {
  LinkSizes sizes;  ///< ring_bytes and reply_bytes rounded up to powers of two
  std::uint32_t peers = 0;
  std::uint32_t rings = 0;       ///< peers that use the segment
  std::uint32_t max_pieces = 0;  ///< pieces of all frames
  std::uint64_t places = 0;      ///< entries of the frame table
  std::uint32_t blocks = 0;
  std::uint32_t reserve = 0;       ///< blocks reserved for the rank that is behind all others
  std::uint32_t reserve_cut = 0;   ///< the smallest parts into which these are cut
  std::uint32_t slots = 0;         ///< the most parts that a block has
  std::uint32_t block_pieces = 0;  ///< piece counters of a block, for all of its parts
  std::uint64_t block_stride = 0;  ///< distance between blocks
  std::uint32_t cuts = 0;          ///< number of ways to cut a block
  std::array<Cut, most_cuts> cut;  ///< from one part on, the number of parts ascending
  std::uint64_t marks_at = 0;
  std::uint64_t orders_at = 0;
  std::uint64_t peers_at = 0;
  std::uint64_t rings_at = 0;
  std::uint64_t frames_at = 0;
  std::uint64_t expected_at = 0;
  std::uint64_t table_at = 0;
  std::uint64_t states_at = 0;
  std::uint64_t meta_at = 0;
  std::uint64_t counters_at = 0;
  std::uint64_t blocks_at = 0;
  std::uint64_t total_bytes = 0;

  [[nodiscard]] std::uint64_t block_memory_bytes() const noexcept { return blocks * sizes.block_bytes; }
  /// What a part counts as, of the memory.
  [[nodiscard]] std::uint64_t share_bytes(std::uint32_t of_cut) const noexcept {
    return sizes.block_bytes / cut[of_cut].parts;
  }
  /// Of so many blocks: an eighth, but one for frames that need a whole block and one for parts.
  [[nodiscard]] std::uint32_t reserve_of(std::uint32_t count) const noexcept {
    return std::min(count, std::max(count / 8, cuts > 1 ? 2U : 1U));
  }
  /// The cut with the smallest parts that hold such a frame; `cuts` if none do.
  [[nodiscard]] std::uint32_t cut_for(std::uint64_t bytes, std::uint64_t pieces) const noexcept;
};

/// Fails (invalid_argument), naming the invalid size and its requirement. `rings`: number of peers
/// that use the segment; the others send by MPI.
Result<Geometry> make_geometry(const LinkSizes& sizes, std::size_t peers, std::size_t rings);
/// All peers use the segment.
inline Result<Geometry> make_geometry(const LinkSizes& sizes, std::size_t peers) {
  return make_geometry(sizes, peers, peers);
}

}  // namespace afterbay::transport::shm
