// SPDX-License-Identifier: Apache-2.0
// BoxTree: a bounding box tree, which is halved at the median of the boxes' centres along the
// longest side of the centres' bounds (like a kd-tree); and gaps(), which divides space in the same
// way.
#include <algorithm>

#include "model/decomposition.hpp"

namespace afterbay::model {
namespace {

constexpr std::size_t leaf_boxes = 8;

std::uint64_t low(const Box& box, std::size_t i) { return box.start[i]; }
std::uint64_t high(const Box& box, std::size_t i) { return box.start[i] + box.count[i]; }

/// Appends the parts of `from` outside `hole`: at most two per dimension.
void subtract(const Box& from, const Box& hole, std::vector<Box>& parts) {
  const Box common = intersect(from, hole);
  if (common.empty()) {
    parts.push_back(from);
    return;
  }
  Box rest = from;
  for (std::size_t i = 0; i < from.rank(); ++i) {
    Box part = rest;
    part.count[i] = common.start[i] - rest.start[i];
    if (part.count[i] > 0) parts.push_back(part);
    part.start[i] = high(common, i);
    part.count[i] = high(rest, i) - part.start[i];
    if (part.count[i] > 0) parts.push_back(part);
    rest.start[i] = common.start[i];
    rest.count[i] = common.count[i];
  }
}

/// Finds a position at which to cut `within` along a face of one of the boxes, near the middle of
/// the boxes; returns false if no face lies inside.
bool cut_of(const BoxTree& tree, const Box& within, std::span<const std::uint32_t> which,
            std::size_t& dimension, std::uint64_t& at) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < within.rank(); ++i) {
    std::vector<std::uint64_t> faces;
    for (const std::uint32_t index : which) {
      const Box box = tree.box(index);
      for (const std::uint64_t face : {low(box, i), high(box, i)})
        if (face > low(within, i) && face < high(within, i)) faces.push_back(face);
    }
    std::sort(faces.begin(), faces.end());
    const auto distinct = static_cast<std::size_t>(std::unique(faces.begin(), faces.end()) - faces.begin());
    if (distinct <= most) continue;
    most = distinct;
    dimension = i;
    at = faces[distinct / 2];
  }
  return most > 0;
}

void collect_gaps(const BoxTree& tree, const Box& within, const std::vector<std::uint32_t>& candidates,
                  std::vector<Box>& found) {
  std::vector<std::uint32_t> inside;
  std::uint64_t covered = 0;
  for (const std::uint32_t index : candidates) {
    const std::uint64_t points = intersect(within, tree.box(index)).points();
    covered += points;
    if (points > 0) inside.push_back(index);
  }
  if (covered >= within.points()) return;
  std::size_t dimension = 0;
  std::uint64_t at = 0;
  if (inside.size() > leaf_boxes && cut_of(tree, within, inside, dimension, at)) {
    Box left = within, right = within;
    left.count[dimension] = at - within.start[dimension];
    right.start[dimension] = at;
    right.count[dimension] -= left.count[dimension];
    collect_gaps(tree, left, inside, found);
    collect_gaps(tree, right, inside, found);
    return;
  }
  std::vector<Box> open{within}, next;
  for (const std::uint32_t index : inside) {
    next.clear();
    for (const Box& box : open) subtract(box, tree.box(index), next);
    open.swap(next);
  }
  found.insert(found.end(), open.begin(), open.end());
}

}  // namespace

BoxTree::BoxTree(std::span<const Box> boxes) {
  build(boxes.size(), [&](std::size_t i) -> const Box& { return boxes[i]; });
}

BoxTree::BoxTree(std::span<const RankBlock> blocks) {
  build(blocks.size(), [&](std::size_t i) -> const Box& { return blocks[i].box; });
}

template <class BoxAt>
void BoxTree::build(std::size_t boxes, BoxAt&& box_at) {
  size_ = boxes;
  for (std::uint32_t i = 0; i < boxes; ++i)
    if (!box_at(i).empty()) order_.push_back(i);
  if (order_.empty()) return;
  dimensions_ = box_at(order_.front()).rank();
  boxes_.resize(boxes * dimensions_);
  for (const std::uint32_t i : order_) {
    const Box& box = box_at(i);
    for (std::size_t d = 0; d < dimensions_; ++d) boxes_[i * dimensions_ + d] = {low(box, d), high(box, d)};
  }
  const std::size_t leaves = order_.size() / (leaf_boxes / 2) + 1;
  nodes_.reserve(2 * leaves);
  bounds_.reserve(2 * leaves * dimensions_);
  nodes_.emplace_back();
  bounds_.resize(dimensions_);
  split(0, 0, static_cast<std::uint32_t>(order_.size()));
  nodes_.shrink_to_fit();
  bounds_.shrink_to_fit();
}

void BoxTree::set_bounds(std::uint32_t node, std::span<const std::uint32_t> which) {
  Ends* const bounds = bounds_.data() + node * dimensions_;
  std::ranges::copy(ends_of(which.front()), bounds);
  for (const std::uint32_t index : which) {
    const auto ends = ends_of(index);
    for (std::size_t d = 0; d < dimensions_; ++d)
      bounds[d] = {std::min(bounds[d].low, ends[d].low), std::max(bounds[d].high, ends[d].high)};
  }
}

std::size_t BoxTree::widest_dimension(std::span<const std::uint32_t> which) const {
  std::size_t widest = 0;
  std::uint64_t width = 0;
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const auto [least, most] = std::ranges::minmax_element(
        which, {}, [&](std::uint32_t index) { return ends_of(index)[d].middle(); });
    const std::uint64_t here = ends_of(*most)[d].middle() - ends_of(*least)[d].middle();
    if (here > width) {
      width = here;
      widest = d;
    }
  }
  return widest;
}

void BoxTree::split(std::uint32_t node, std::uint32_t first, std::uint32_t last) {
  const std::span<std::uint32_t> which(order_.data() + first, last - first);
  set_bounds(node, which);
  nodes_[node] = {first, last - first};
  if (which.size() <= leaf_boxes) return;
  const std::size_t d = widest_dimension(which);
  const auto half = which.begin() + static_cast<std::ptrdiff_t>(which.size() / 2);
  std::nth_element(which.begin(), half, which.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ends_of(a)[d].middle() < ends_of(b)[d].middle();
  });
  const auto children = static_cast<std::uint32_t>(nodes_.size());
  nodes_.resize(nodes_.size() + 2);
  bounds_.resize(nodes_.size() * dimensions_);
  nodes_[node] = {children, 0};
  const auto cut = first + static_cast<std::uint32_t>(which.size() / 2);
  split(children, first, cut);
  split(children + 1, cut, last);
}

Box BoxTree::box(std::uint32_t index) const {
  Box box;
  for (const Ends& ends : boxes_.empty() ? std::span<const Ends>() : ends_of(index)) {
    box.start.push_back(ends.low);
    box.count.push_back(ends.high - ends.low);
  }
  return box;
}

std::uint64_t BoxTree::memory_bytes() const noexcept {
  return (boxes_.capacity() + bounds_.capacity()) * sizeof(Ends) + order_.capacity() * sizeof(std::uint32_t) +
         nodes_.capacity() * sizeof(Node);
}

std::vector<std::uint32_t> BoxTree::touching(const Box& box) const {
  std::vector<std::uint32_t> found;
  for_each(box, [&](std::uint32_t index) {
    found.push_back(index);
    return true;
  });
  std::sort(found.begin(), found.end());
  return found;
}

std::uint64_t BoxTree::covered(const Box& box) const {
  std::uint64_t points = 0;
  for_each(box, [&](std::uint32_t index) {
    points += intersect(this->box(index), box).points();
    return true;
  });
  return points;
}

std::vector<Box> gaps(const BoxTree& tree, const Box& within) {
  std::vector<Box> found;
  if (within.empty()) return found;
  collect_gaps(tree, within, tree.touching(within), found);
  std::sort(found.begin(), found.end(), [](const Box& a, const Box& b) {
    return std::lexicographical_compare(a.start.begin(), a.start.end(), b.start.begin(), b.start.end());
  });
  return found;
}

}  // namespace afterbay::model
