// SPDX-License-Identifier: Apache-2.0
// Chunks of a file, with which `afterbay codecs` tries chains of filters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "codec/trial.hpp"
#include "replay_input.hpp"

namespace afterbay::app {

/// Chunks of one variable.
struct ChunkSample {
  std::size_t element_bytes = 1;
  std::vector<std::vector<std::byte>> chunks;
  double per_record = 1;  ///< a record of the variable has that many times the bytes of `chunks`
};

/// Chunks from the first `records` records of all variables that have records of numbers, about
/// `most_bytes` in all. Without chunks in the file, a chunk is a record, or a part of it. Fails if
/// the file cannot be read, and with invalid_argument if it has no such variables.
Result<std::vector<ChunkSample>> sample_chunks(const NetcdfReader& file, std::uint64_t records,
                                               std::uint64_t most_bytes);

/// Encodes all chunks with one chain.
Result<codec::Trial> try_filters(const codec::FilterLevels& filters, std::span<const ChunkSample> samples);

}  // namespace afterbay::app
