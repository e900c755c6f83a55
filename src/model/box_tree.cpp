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

/// Twice the centre, to avoid fractions.
std::uint64_t middle(const Box& box, std::size_t i) { return low(box, i) + high(box, i); }

template <class Boxes>
Box bounds_of(const Boxes& boxes, std::span<const std::uint32_t> which) {
  Box bounds = boxes[which[0]];
  for (const std::uint32_t index : which) {
    const Box& box = boxes[index];
    for (std::size_t i = 0; i < box.rank(); ++i) {
      const std::uint64_t end = std::max(high(bounds, i), high(box, i));
      bounds.start[i] = std::min(low(bounds, i), low(box, i));
      bounds.count[i] = end - bounds.start[i];
    }
  }
  return bounds;
}

template <class Boxes>
std::size_t widest_dimension(const Boxes& boxes, std::span<const std::uint32_t> which) {
  std::size_t widest = 0;
  std::uint64_t width = 0;
  for (std::size_t i = 0; i < boxes[which[0]].rank(); ++i) {
    const auto [least, most] = std::minmax_element(which.begin(), which.end(), [&](auto a, auto b) {
      return middle(boxes[a], i) < middle(boxes[b], i);
    });
    const std::uint64_t here = middle(boxes[*most], i) - middle(boxes[*least], i);
    if (here > width) {
      width = here;
      widest = i;
    }
  }
  return widest;
}

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
    for (const std::uint32_t index : which)
      for (const std::uint64_t face : {low(tree.box(index), i), high(tree.box(index), i)})
        if (face > low(within, i) && face < high(within, i)) faces.push_back(face);
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

BoxTree::BoxTree(std::span<const Box> boxes) : boxes_(boxes.begin(), boxes.end()) { build(); }

BoxTree::BoxTree(std::span<const RankBlock> blocks) {
  boxes_.reserve(blocks.size());
  for (const RankBlock& block : blocks) boxes_.push_back(block.box);
  build();
}

void BoxTree::build() {
  for (std::uint32_t i = 0; i < boxes_.size(); ++i)
    if (!boxes_[i].empty()) order_.push_back(i);
  if (order_.empty()) return;
  nodes_.reserve(order_.size() / 2 + 1);
  nodes_.emplace_back();
  split(0, 0, static_cast<std::uint32_t>(order_.size()));
}

void BoxTree::split(std::uint32_t node, std::uint32_t first, std::uint32_t last) {
  const std::span<std::uint32_t> which(order_.data() + first, last - first);
  nodes_[node].bounds = bounds_of(boxes_, which);
  nodes_[node].first = first;
  nodes_[node].count = last - first;
  if (which.size() <= leaf_boxes) return;
  const std::size_t dimension = widest_dimension(boxes_, which);
  const auto half = which.begin() + static_cast<std::ptrdiff_t>(which.size() / 2);
  std::nth_element(which.begin(), half, which.end(), [&](std::uint32_t a, std::uint32_t b) {
    return middle(boxes_[a], dimension) < middle(boxes_[b], dimension);
  });
  const auto children = static_cast<std::uint32_t>(nodes_.size());
  nodes_.resize(nodes_.size() + 2);
  nodes_[node].first = children;
  nodes_[node].count = 0;
  const auto cut = first + static_cast<std::uint32_t>(which.size() / 2);
  split(children, first, cut);
  split(children + 1, cut, last);
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
    points += intersect(boxes_[index], box).points();
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
