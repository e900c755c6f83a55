// SPDX-License-Identifier: Apache-2.0
// Checks of decompositions over all ranks: whether their boxes cover the global index space exactly
// once. Memory and time depend on the number of boxes, not on the number of points.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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
/// several threads. All boxes with points must have the same number of dimensions. Boxes without
/// points are never found. Takes about 20 bytes per box, and 20 per box and dimension.
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
  [[nodiscard]] Box box(std::uint32_t index) const;
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Memory in use.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  struct Node {
    /// Leaf: index in order_; otherwise index of the left child (right: + 1).
    std::uint32_t first = 0;
    std::uint32_t count = 0;  ///< number of boxes of a leaf; 0: inner node
  };
  /// The ends [low, high) of a box along one dimension.
  struct Ends {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    /// Twice the centre, to avoid fractions.
    [[nodiscard]] std::uint64_t middle() const { return low + high; }
  };
  template <class BoxAt>
  void build(std::size_t boxes, BoxAt&& box_at);
  void split(std::uint32_t node, std::uint32_t first, std::uint32_t last);
  void set_bounds(std::uint32_t node, std::span<const std::uint32_t> which);
  [[nodiscard]] std::size_t widest_dimension(std::span<const std::uint32_t> which) const;
  [[nodiscard]] std::span<const Ends> ends_of(std::uint32_t index) const {
    return {boxes_.data() + index * dimensions_, dimensions_};
  }
  [[nodiscard]] std::span<const Ends> bounds_of(std::uint32_t node) const {
    return {bounds_.data() + node * dimensions_, dimensions_};
  }
  [[nodiscard]] static bool touches(std::span<const Ends> ends, const Box& box);

  std::size_t size_ = 0;
  std::size_t dimensions_ = 0;
  std::vector<Ends> boxes_;   ///< by box, one per dimension
  std::vector<Ends> bounds_;  ///< by node likewise
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
    const std::uint32_t at = open.back();
    const Node& node = nodes_[at];
    open.pop_back();
    if (!touches(bounds_of(at), box)) continue;
    if (node.count == 0) {
      open.push_back(node.first + 1);
      open.push_back(node.first);
      continue;
    }
    for (std::uint32_t i = node.first; i < node.first + node.count; ++i)
      if (touches(ends_of(order_[i]), box) && !visit(order_[i])) return;
  }
}

inline bool BoxTree::touches(std::span<const Ends> ends, const Box& box) {
  for (std::size_t d = 0; d < ends.size(); ++d)
    if (std::max(ends[d].low, box.start[d]) >= std::min(ends[d].high, box.start[d] + box.count[d]))
      return false;
  return true;
}

}  // namespace afterbay::model
