// SPDX-License-Identifier: Apache-2.0
// Geometry: the layout of a server's segment. A pure function of the sizes, the number of model
// ranks and the number of those that use the segment, so that the server and its ranks compute the
// same one.
//
// header | marks | one PeerOrder per rank | one PeerSlot per rank that uses the segment | rings
// (up, down) of these | frame records | expected counts | frame table | block metadata | piece
// counters | blocks (large, then small)
#pragma once

#include <array>
#include <cstdint>

#include "transport/link.hpp"

namespace afterbay::transport::shm {

inline constexpr std::uint64_t page_bytes = 4096;
/// Where huge pages are larger, none are used.
inline constexpr std::uint64_t huge_page_bytes = 2u << 20;

/// Blocks have two sizes, so that small frames do not each take a large block.
enum BlockClass : std::uint32_t { large_blocks = 0, small_blocks = 1 };

struct BlockClassGeometry {
  std::uint32_t count = 0;
  std::uint32_t first = 0;        ///< number of the first block of this class
  std::uint32_t reserve = 0;      ///< blocks reserved for the rank that is behind all others
  std::uint32_t pieces = 0;       ///< maximum number of pieces of a frame in such a block
  std::uint64_t bytes = 0;        ///< maximum size of a frame in one block
  std::uint64_t at = 0;           ///< offset of the first block in the segment
  std::uint64_t counters_at = 0;  ///< offset of the first block's counters

  /// Distance between blocks. A frame begins at its phase, which is less than a page, so each block
  /// has one page more than its bytes. Frames and chunks whose length is a power of two fill their
  /// block.
  [[nodiscard]] std::uint64_t stride() const noexcept { return bytes + page_bytes; }
};

struct Geometry {
  LinkSizes sizes;  ///< ring_bytes and reply_bytes rounded up to powers of two
  std::uint32_t peers = 0;
  std::uint32_t rings = 0;       ///< peers that use the segment
  std::uint32_t max_pieces = 0;  ///< pieces of all frames
  std::uint64_t places = 0;      ///< entries of the frame table
  std::array<BlockClassGeometry, 2> classes;
  std::uint64_t marks_at = 0;
  std::uint64_t orders_at = 0;
  std::uint64_t peers_at = 0;
  std::uint64_t rings_at = 0;
  std::uint64_t frames_at = 0;
  std::uint64_t expected_at = 0;
  std::uint64_t table_at = 0;
  std::uint64_t meta_at = 0;
  std::uint64_t total_bytes = 0;

  [[nodiscard]] std::uint32_t blocks() const noexcept { return classes[0].count + classes[1].count; }
  [[nodiscard]] std::uint64_t block_memory_bytes() const noexcept {
    return classes[0].count * classes[0].bytes + classes[1].count * classes[1].bytes;
  }
};

/// Fails (invalid_argument), naming the invalid size and its requirement. `rings`: number of peers
/// that use the segment; the others send by MPI.
Result<Geometry> make_geometry(const LinkSizes& sizes, std::size_t peers, std::size_t rings);
/// All peers use the segment.
inline Result<Geometry> make_geometry(const LinkSizes& sizes, std::size_t peers) {
  return make_geometry(sizes, peers, peers);
}

}  // namespace afterbay::transport::shm
