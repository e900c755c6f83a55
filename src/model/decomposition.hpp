// SPDX-License-Identifier: Apache-2.0
// Decompositions seen from all ranks: do their boxes cover the global index space exactly once?
// Memory and time depend on the number of boxes, never on the number of points.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/box.hpp"

namespace afterbay::model {

struct RankBlock {
  int rank = 0;
  Box box;
};

/// This rank's block alone: equal lengths of its three lists, 1 to 7 dimensions, no global length of
/// 0, start + count within the global lengths. `name` is the decomposition's name for messages.
Result<> check_block(std::string_view name, const Block& block);

/// Box of a block that check_block accepted.
Box box_of(const Block& block);

/// All ranks together: boxes outside the domain, overlap (the two ranks and their first common
/// box), gaps unless allowed (the first missing box and the number of missing points). Boxes of no
/// points are left out. O(n log n) for n boxes of a regular decomposition.
Result<> check_coverage(std::string_view name, const Index& global, std::span<const RankBlock> blocks,
                        const Coverage& coverage);

/// Which of many boxes touch a given one: a bounding box tree over them. Immutable; may be used by
/// several threads. Boxes of no points are never found.
class BoxTree {
 public:
  BoxTree() = default;
  explicit BoxTree(std::span<const Box> boxes);
  explicit BoxTree(std::span<const RankBlock> blocks);

  /// Calls `visit(index)` for every box that shares a point with `box`, until it returns false.
  template <class Visit>
  void for_each(const Box& box, Visit&& visit) const;
  /// Indices of the boxes that share a point with `box`, ascending.
  [[nodiscard]] std::vector<std::uint32_t> touching(const Box& box) const;
  /// Points of `box` inside the boxes, each box counted for itself.
  [[nodiscard]] std::uint64_t covered(const Box& box) const;
  [[nodiscard]] const Box& box(std::uint32_t index) const { return boxes_[index]; }
  [[nodiscard]] std::size_t size() const { return boxes_.size(); }

 private:
  struct Node {
    Box bounds;
    std::uint32_t first = 0;  ///< in order_, when a leaf; else index of the left child (right: + 1)
    std::uint32_t count = 0;  ///< boxes of a leaf; 0: inner node
  };
  void build();
  void split(std::uint32_t node, std::uint32_t first, std::uint32_t last);

  std::vector<Box> boxes_;
  std::vector<std::uint32_t> order_;
  std::vector<Node> nodes_;
};

/// The parts of `within` that no box of the tree covers, as disjoint boxes in C order of their
/// starts. The tree's boxes must not overlap.
std::vector<Box> gaps(const BoxTree& tree, const Box& within);

/// A part of the trailing dimensions as a part of a variable of `shape` (lengths without the record
/// dimension): the leading dimensions are whole. `part` has at most as many dimensions.
Box extend(const Box& part, const Index& shape);

/// Does a decomposition of the global lengths `global` fit the trailing dimensions of `variable`
/// (without the record dimension)? Otherwise an Error names dimension, length expected and found.
Result<> check_fit(const Schema& schema, const Variable& variable, std::string_view decomposition,
                   std::span<const std::uint64_t> global);

/// The part of `variable` (without the record dimension) that a rank with `block` holds: check_fit,
/// then extend.
Result<Box> box_for(const Schema& schema, const Variable& variable, const Block& block);

/// "[0:4, 10:20]": the index ranges of a box, ends left out, for messages.
std::string text_of(const Box& box);

template <class Visit>
void BoxTree::for_each(const Box& box, Visit&& visit) const {
  if (nodes_.empty() || box.empty()) return;
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    const Node& node = nodes_[open.back()];
    open.pop_back();
    if (intersect(node.bounds, box).empty()) continue;
    if (node.count == 0) {
      open.push_back(node.first + 1);
      open.push_back(node.first);
      continue;
    }
    for (std::uint32_t i = node.first; i < node.first + node.count; ++i)
      if (!intersect(boxes_[order_[i]], box).empty() && !visit(order_[i])) return;
  }
}

}  // namespace afterbay::model
