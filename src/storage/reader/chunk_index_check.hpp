// SPDX-License-Identifier: Apache-2.0
// ChunkIndexCheck: checks whether the chunk indexes of a netCDF-4 file are valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace afterbay::storage {

/// HDF5 1.10 trusts the index of a variable's chunks: with a damaged one it writes beyond its own
/// buffers, or overwrites other data. Here every node is checked before HDF5 reads it. Supports
/// indexes of version 1, which netCDF-4 uses; later versions have checksums. Source: HDF5 File
/// Format Specification version 3.0, III.A.1 (B-tree nodes) and III.A.1 type 1 (raw data chunk
/// nodes).
///
/// Call `begin` for a variable, then `node` for every node as HDF5 reads it, beginning with the
/// root, then `end`. Errors: format.
class ChunkIndexCheck {
 public:
  struct Variable {
    std::string name;
    std::vector<std::uint64_t> chunk;        ///< lengths of a chunk
    std::optional<std::uint64_t> all_bytes;  ///< size of a chunk; nullopt: unknown
  };

  void begin(Variable variable);
  /// `bytes` are the contents of the file at `offset`; the file ends at `end_of_file`. Bytes that
  /// are not a node of a chunk index are ignored.
  Result<> node(std::uint64_t offset, std::span<const std::byte> bytes, std::uint64_t end_of_file);
  /// Ends the variable, in which HDF5 has found `chunks` chunks.
  Result<> end(std::uint64_t chunks);
  /// Checks that no two chunks or nodes of the variables overlap; otherwise the error names a
  /// variable.
  Result<> finish();

 private:
  struct Node;
  /// The description of a node in its parent.
  struct Expected {
    unsigned level = 0;
    std::vector<std::uint64_t> first;  ///< its first key
  };
  /// A chunk or a node.
  struct Extent {
    std::uint64_t begin = 0;
    std::uint64_t size_bytes = 0;
    std::uint32_t variable = 0;
  };

  Result<> enter(const Node& node);
  Result<> note_children(const Node& node, std::uint64_t end_of_file);
  Result<> note_extent(std::uint64_t begin, std::uint64_t size_bytes, std::uint64_t end_of_file);

  std::vector<Variable> variables_;
  std::vector<Extent> extents_;
  // State of the variable that was begun last.
  std::map<std::uint64_t, Expected> expected_;  ///< by offset
  /// By level: the right sibling according to the last node.
  std::map<unsigned, std::uint64_t> expected_right_;
  std::map<unsigned, std::uint64_t> last_;  ///< by level: the last node
  bool any_node_ = false;
  std::uint64_t chunks_ = 0;
};

}  // namespace afterbay::storage
