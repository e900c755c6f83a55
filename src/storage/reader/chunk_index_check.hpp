// SPDX-License-Identifier: Apache-2.0
// ChunkIndexCheck: whether the indexes that a netCDF-4 file has of its chunks can be trusted.
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

/// HDF5 1.10 believes what the index of a variable's chunks says: with a damaged one it writes behind its own
/// buffers, or data over other data. Here every node is checked before HDF5 sees it. Indexes of version 1,
/// which netCDF-4 uses; those of later versions have checksums. Source: HDF5 File Format Specification
/// version 3.0, III.A.1 (B-tree nodes) and III.A.1 type 1 (raw data chunk nodes).
///
/// `begin` for a variable, then `node` for every node as HDF5 reads it from the root on, then `end`.
/// Errors: format.
class ChunkIndexCheck {
 public:
  struct Variable {
    std::string name;
    std::vector<std::uint64_t> chunk;        ///< lengths of a chunk
    std::optional<std::uint64_t> all_bytes;  ///< of a chunk; nothing: not known
  };

  void begin(Variable variable);
  /// `bytes` as the file has them at `offset`; the file ends at `end_of_file`. What is no node of a chunk
  /// index is passed over.
  Result<> node(std::uint64_t offset, std::span<const std::byte> bytes, std::uint64_t end_of_file);
  /// HDF5 has found so many chunks in the variable.
  Result<> end(std::uint64_t chunks);
  /// No two chunks or nodes of the variables lie in the same place. Names a variable where they do.
  Result<> finish();

 private:
  struct Node;
  /// What a node's parent says about it.
  struct Expected {
    unsigned level = 0;
    std::vector<std::uint64_t> first;  ///< its first key
  };
  /// A chunk or a node.
  struct Place {
    std::uint64_t begin = 0;
    std::uint64_t size_bytes = 0;
    std::uint32_t variable = 0;
  };

  Result<> enter(const Node& node);
  Result<> note_children(const Node& node, std::uint64_t end_of_file);
  Result<> note_place(std::uint64_t begin, std::uint64_t size_bytes, std::uint64_t end_of_file);

  std::vector<Variable> variables_;
  std::vector<Place> places_;
  // Of the variable that was begun last.
  std::map<std::uint64_t, Expected> expected_;  ///< by offset
  std::map<unsigned, std::uint64_t>
      expected_right_;                      ///< by level: what the last node calls its right sibling
  std::map<unsigned, std::uint64_t> last_;  ///< by level: the last node
  bool any_node_ = false;
  std::uint64_t chunks_ = 0;
};

}  // namespace afterbay::storage
