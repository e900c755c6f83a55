// SPDX-License-Identifier: Apache-2.0
// Measures chains of filters on the chunks of a file, and chooses one for a model's pace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "replay_input.hpp"

namespace afterbay::app {

/// Filters as settings of a collection: {"shuffle", 1}, {"zstd", 3}. Empty: none.
using FilterLevels = std::vector<std::pair<std::string, int>>;

/// "shuffle, zstd 3", "none".
std::string text_of(const FilterLevels& filters);

/// Chunks of one variable.
struct ChunkSample {
  std::size_t element_bytes = 1;
  std::vector<std::vector<std::byte>> chunks;
  double per_record = 1;  ///< a record of the variable has that many times the bytes of `chunks`
};

/// Chunks from the first `records` records of all variables that have records of numbers, about
/// `most_bytes` in all. Without chunks in the file, a chunk is a record, or a part of it. Fails if
/// the file cannot be read, and with invalid_argument if it has no such variables.
Result<std::vector<ChunkSample>> sample_chunks(const InputFile& file, std::uint64_t records,
                                               std::uint64_t most_bytes);

struct CodecTrial {
  FilterLevels filters;
  double seconds = 0;  ///< of one core, to encode a record of all variables
  double bytes = 0;    ///< of a record, encoded
};

/// The chains to try: none, and combinations of this build's codecs. `only`: names of compressors;
/// empty: all.
std::vector<FilterLevels> chains_to_try(std::span<const std::string> only);

/// Encodes all chunks with one chain.
Result<CodecTrial> try_filters(const FilterLevels& filters, std::span<const ChunkSample> samples);

/// The trial with the fewest bytes among those that take at most `seconds`; of equal ones the
/// fastest. One without filters, which takes no time, must be among them.
std::size_t choose(std::span<const CodecTrial> trials, double seconds);

}  // namespace afterbay::app
