// SPDX-License-Identifier: Apache-2.0
// The chunk lengths of a whole collection: given by the schema or the configuration, or chosen here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "model/chunk_shape.hpp"
#include "model/layout.hpp"
#include "model/map_cells.hpp"

namespace afterbay::model {

/// What shapes depend on besides the schema; equal on all ranks.
struct ChunkFacts {
  LayoutSizes sizes;
  std::uint64_t assembly_bytes = 64u << 20;  ///< for compressed chunks of several records, on all servers
  std::uint64_t expected_bytes = 0;          ///< of a whole file; 0: not said
};

/// What they depend on for one variable.
struct VariableFacts {
  Access access = Access::map;
  bool from_setting = false;       ///< its chunk lengths, if it has any, are the configuration's
  std::optional<MapPlace> mapped;  ///< the dimensions that its map covers
  std::size_t block_rank = 0;      ///< dimensions of its block decomposition; 0: on none
  std::uint64_t bands = 1;         ///< ranks that share a block decomposition
};

/// Who gave a variable's chunk lengths.
enum class ChunkSource : std::uint8_t { contiguous, schema, setting, access };

struct ChunkChoice {
  ChunkSource source = ChunkSource::contiguous;
  Access access = Access::map;
  bool short_of_memory = false;  ///< fewer records a chunk than wanted: memory.chunks
};

/// Whether variables of netCDF-4 files are stored in chunks: those with records, filters or given lengths.
bool is_chunked(const Schema& schema, const Variable& variable);

/// Gives each variable of a valid schema that is chunked and has no chunk lengths its lengths. One result and
/// one of `facts` a variable. A pure function: all ranks choose the same.
std::vector<ChunkChoice> choose_chunks(Schema& schema, std::span<const VariableFacts> variables,
                                       const ChunkFacts& facts);

/// "schema", "setting chunk", "access map", "access series, fewer records for want of memory.chunks",
/// "contiguous".
std::string text_of(const ChunkChoice& choice);

}  // namespace afterbay::model
