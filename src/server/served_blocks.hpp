// SPDX-License-Identifier: Apache-2.0
// ServedBlocks: what this server knows of a decomposition in blocks: which model ranks hold points,
// and the blocks in which its own pieces lie. The server that checks the decomposition also gets
// all other blocks, and keeps them only until they are checked. Used by the ingest thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/ingest_thread.hpp"
#include "model/decomposition.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::server {

class ServedBlocks {
 public:
  ServedBlocks(const model::Index& global, std::size_t ranks) : global_(global), holds_(ranks, false) {}

  /// Sets what a rank describes. Fails if its block does not have the decomposition's dimensions.
  Result<> set(std::size_t peer, const wire::DefineDecomposition& message) AFTERBAY_REQUIRES(ingest_thread);
  /// Checks the blocks that were described since the last `settle`: those of all ranks.
  Result<> check(std::string_view name, std::span<const int> session_ranks, const Coverage& coverage)
      AFTERBAY_REQUIRES(ingest_thread);
  /// Keeps the new blocks in which pieces of this server lie, drops the others. Call it before
  /// `tree` and `of`.
  void settle() AFTERBAY_REQUIRES(ingest_thread);

  /// Whether a rank holds points, here or elsewhere.
  [[nodiscard]] bool holds(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread) { return holds_[peer]; }
  [[nodiscard]] std::uint32_t holders() const AFTERBAY_REQUIRES(ingest_thread);
  /// The blocks in which pieces of this server lie.
  [[nodiscard]] const model::BoxTree& tree() const AFTERBAY_REQUIRES(ingest_thread) { return tree_; }
  /// The block of a rank; without points if no pieces of this server lie in it.
  [[nodiscard]] model::Box of(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::uint64_t bytes() const AFTERBAY_REQUIRES(ingest_thread);  ///< memory in use

 private:
  struct Described {
    std::uint32_t peer = 0;
    bool here = false;
    model::Box box;
  };

  model::Index global_;
  std::vector<bool> holds_ AFTERBAY_GUARDED_BY(ingest_thread);     ///< by model rank
  std::vector<Described> new_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< since the last `settle`
  /// Ranks that hold the tree's boxes, ascending.
  std::vector<std::uint32_t> peers_ AFTERBAY_GUARDED_BY(ingest_thread);
  model::BoxTree tree_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
