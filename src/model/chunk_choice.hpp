// SPDX-License-Identifier: Apache-2.0
// The chunk lengths of all variables of a collection: given by the schema or the configuration, or
// chosen here.
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

/// The facts, in addition to the schema, on which the shapes depend; equal on all ranks.
struct ChunkFacts {
  LayoutSizes sizes;
  /// Memory for compressed chunks of several records, on all servers.
  std::uint64_t assembly_bytes = 64u << 20;
  std::uint64_t expected_bytes = 0;  ///< expected size of a file; 0: unknown
};

/// The facts that concern one variable.
struct VariableFacts {
  Access access = Access::map;
  bool from_setting = false;            ///< its chunk lengths, if any, come from the configuration
  std::optional<MapDimensions> mapped;  ///< the dimensions that its map covers
  /// Number of dimensions of its block decomposition; 0: it has none.
  std::size_t block_rank = 0;
  std::uint64_t bands = 1;  ///< number of ranks that share a block decomposition
};

/// The source of a variable's chunk lengths.
enum class ChunkSource : std::uint8_t { contiguous, schema, setting, access };

struct ChunkChoice {
  ChunkSource source = ChunkSource::contiguous;
  Access access = Access::map;
  bool short_of_memory = false;  ///< fewer records per chunk than wanted, because of memory.chunks
};

/// Whether variables of netCDF-4 files are stored in chunks: variables with records, filters or
/// given chunk lengths.
bool is_chunked(const Schema& schema, const Variable& variable);

/// Sets the chunk lengths of each chunked variable of a valid schema that has none. Returns one
/// result per variable; `variables` has one entry per variable. A pure function: all ranks choose
/// the same.
std::vector<ChunkChoice> choose_chunks(Schema& schema, std::span<const VariableFacts> variables,
                                       const ChunkFacts& facts);

/// "schema", "setting chunk", "access map", "access series, fewer records because of
/// memory.chunks", "contiguous".
std::string text_of(const ChunkChoice& choice);

}  // namespace afterbay::model
