// SPDX-License-Identifier: Apache-2.0
// Trials of chains of filters: what a chain takes and saves, and which one suits the pace of a
// model. Used by `afterbay codecs` and by servers (`compress: auto`).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "codec/chunk_codec.hpp"

namespace afterbay::codec {

/// Filters as settings of a collection: {"shuffle", 1}, {"zstd", 3}. Empty: none.
using FilterLevels = std::vector<std::pair<std::string, int>>;

/// "shuffle, zstd 3", "none".
std::string text_of(const FilterLevels& filters);
/// The configuration with which a collection is written with these filters and no others.
std::string settings_of(std::string_view collection, const FilterLevels& filters);
/// Fails with unknown_name if there is no such codec.
Result<FilterChain> chain_of(const FilterLevels& filters);

/// The names of the compressors that this build has. `everywhere`: those that every HDF5 library
/// has.
std::vector<std::string> compressors_here(bool everywhere = false);
/// The chains to try: none, and combinations of this build's codecs, the most promising first.
/// `only`: names of compressors; empty: all.
std::vector<FilterLevels> chains_to_try(std::span<const std::string> only);
/// The chain that is used before anything was measured: shuffle and the compressor among `only`
/// with the largest Codec::untried. The same for all processes of a build.
FilterLevels untried_chain(std::span<const std::string> only);

/// What it takes to encode a record with a chain.
struct Trial {
  FilterLevels filters;
  double seconds = 0;  ///< time of one core to encode a record of all variables
  double bytes = 0;    ///< size of an encoded record
};

struct ChunkTrial {
  double seconds = 0;  ///< processor time of the calling thread
  double bytes = 0;    ///< encoded
};

/// Encodes a chunk. Without filters it takes no time.
Result<ChunkTrial> try_chunk(const ChunkCodec& codec, std::span<const std::byte> chunk);

/// The trial with the fewest bytes among those that take at most `seconds`; of equal ones the
/// fastest. One without filters, which takes no time, must be among them.
std::size_t choose(std::span<const Trial> trials, double seconds);

/// The share of the writers' time that encoding may take; the rest is for taking data in and for
/// the disk.
inline constexpr double usual_share = 0.5;

/// A line per trial, the smallest first, which begins with "#". `plain_bytes`: of a record without
/// filters.
std::string table_of(std::vector<Trial> trials, const FilterLevels& chosen, double seconds,
                     double plain_bytes);

}  // namespace afterbay::codec
