// SPDX-License-Identifier: Apache-2.0
// Checks of decompositions over all ranks: whether their boxes cover the global index space exactly
// once. Memory and time depend on the number of boxes, not on the number of points.
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

/// Checks this rank's block alone: equal lengths of its three lists, 1 to 7 dimensions, no global
/// length of 0, start + count within the global lengths. `name` is the decomposition's name for
/// messages.
Result<> check_block(std::string_view name, const Block& block);

/// The box of a block that check_block has accepted.
Box box_of(const Block& block);

/// Checks all ranks together: boxes outside the domain, overlap (reports the two ranks and their
/// first common box), and gaps unless allowed (reports the first missing box and the number of
/// missing points). Boxes without points are ignored. O(n log n) for n boxes of a regular
/// decomposition.
Result<> check_coverage(std::string_view name, const Index& global, std::span<const RankBlock> blocks,
                        const Coverage& coverage);

/// A bounding box tree, which finds the boxes that touch a given one. Immutable; may be used by
/// several threads. Boxes without points are never found.
class BoxTree {
 public:
  BoxTree() = default;
  explicit BoxTree(std::span<const Box> boxes);
  explicit BoxTree(std::span<const RankBlock> blocks);

  /// Calls `visit(index)` for every box that shares a point with `box`, until it returns false.
  template <class Visit>
  void for_each(const Box& box, Visit&& visit) const;
  /// The indices of the boxes that share a point with `box`, ascending.
  [[nodiscard]] std::vector<std::uint32_t> touching(const Box& box) const;
  /// The number of points of `box` inside the boxes. A point inside several boxes counts several
  /// times.
  [[nodiscard]] std::uint64_t covered(const Box& box) const;
  [[nodiscard]] const Box& box(std::uint32_t index) const { return boxes_[index]; }
  [[nodiscard]] std::size_t size() const { return boxes_.size(); }

 private:
  struct Node {
    Box bounds;
    /// Leaf: index in order_; otherwise index of the left child (right: + 1).
    std::uint32_t first = 0;
    std::uint32_t count = 0;  ///< number of boxes of a leaf; 0: inner node
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

/// Extends a part of the trailing dimensions to a part of a variable of `shape` (lengths without
/// the record dimension), with the full leading dimensions. `part` must not have more dimensions
/// than `shape`.
Box extend(const Box& part, const Index& shape);

/// Checks whether a decomposition with the global lengths `global` fits the trailing dimensions of
/// `variable` (without the record dimension). Otherwise the error names the dimension, the expected
/// and the found length.
Result<> check_fit(const Schema& schema, const Variable& variable, std::string_view decomposition,
                   std::span<const std::uint64_t> global);

/// The part of `variable` (without the record dimension) that a rank with `block` holds: check_fit
/// followed by extend.
Result<Box> box_for(const Schema& schema, const Variable& variable, const Block& block);

/// "[0:4, 10:20]": the index ranges of a box for messages; ends are excluded.
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
