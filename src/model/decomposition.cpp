// SPDX-License-Identifier: Apache-2.0
#include "model/decomposition.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>

#include "afterbay/error.hpp"
#include "base/caller_terms.hpp"
#include "model/variable_shape.hpp"

namespace afterbay {

std::vector<std::uint64_t> Integers::counts(const char* what) const {
  std::vector<std::uint64_t> counts;
  counts.reserve(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].negative)
      throw Failure(Error(ErrorCode::invalid_argument,
                          fmt::format("Block: the {} in dimension {} is {}; it cannot be negative", what, i,
                                      static_cast<std::int64_t>(values_[i].bits))));
    counts.push_back(values_[i].bits);
  }
  return counts;
}

}  // namespace afterbay

namespace afterbay::model {
namespace {

/// The box of the first `length` indices of `box` along dimension `dimension`.
Box prefix(Box box, std::size_t dimension, std::uint64_t length) {
  box.count[dimension] = length;
  return box;
}

/// The largest n in [0, limit] for which `holds(n)`. holds(0) is true, and holds(n) stays false
/// after the first n for which it is false.
template <class Predicate>
std::uint64_t largest(std::uint64_t limit, Predicate holds) {
  std::uint64_t low = 0;
  while (low < limit) {
    const std::uint64_t middle = limit - (limit - low) / 2;
    if (holds(middle)) {
      low = middle;
    } else {
      limit = middle - 1;
    }
  }
  return low;
}

/// Finds the first missing point in C order and grows it to as large a box of missing points as
/// fits, along the fastest dimension first. The tree's boxes must not overlap, and at least one
/// point must be missing.
Box first_gap(const BoxTree& tree, const Box& domain) {
  Box gap = domain;
  for (std::size_t i = 0; i < domain.rank(); ++i) {
    const std::uint64_t whole = largest(gap.count[i] - 1, [&](std::uint64_t n) {
      const Box part = prefix(gap, i, n);
      return tree.covered(part) == part.points();
    });
    gap.start[i] += whole;
    gap.count[i] = 1;
  }
  for (std::size_t i = domain.rank(); i-- > 0;) {
    const std::uint64_t room = domain.start[i] + domain.count[i] - gap.start[i];
    gap.count[i] =
        1 + largest(room - 1, [&](std::uint64_t n) { return tree.covered(prefix(gap, i, n + 1)) == 0; });
  }
  return gap;
}

std::optional<Error> outside(std::string_view name, const Index& global, const RankBlock& block) {
  const Box& box = block.box;
  if (box.start.size != global.size || box.count.size != global.size)
    return make_error(ErrorCode::conflict,
                      "decomposition '{}': rank {} has {} dimensions, but the global index space has {}: all "
                      "ranks must "
                      "give the same global lengths",
                      name, block.rank, box.rank(), global.size)
        .at_rank(block.rank);
  for (std::size_t i = 0; i < global.size; ++i)
    if (box.count[i] > global[i] || box.start[i] > global[i] - box.count[i])
      return make_error(
                 ErrorCode::invalid_argument,
                 "decomposition '{}': rank {} holds indices {} of dimension {}, but only {} exist: check "
                 "start and count",
                 name, block.rank, said_range(box.start[i], box.count[i]), said_dimension(i, global.size),
                 said_range(0, global[i]))
          .at_rank(block.rank);
  return std::nullopt;
}

std::optional<Error> overlap(std::string_view name, const BoxTree& tree, std::span<const RankBlock> blocks) {
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    std::uint32_t other = i;
    tree.for_each(blocks[i].box, [&](std::uint32_t found) {
      if (found > i && (other == i || found < other)) other = found;
      return true;
    });
    if (other == i) continue;
    const Box common = intersect(blocks[i].box, blocks[other].box);
    return make_error(ErrorCode::conflict,
                      "decomposition '{}': ranks {} and {} both hold {} ({} points, from index ranges {} and "
                      "{}): every "
                      "point must belong to one rank, leave halos out of start and count",
                      name, blocks[i].rank, blocks[other].rank, text_of(common), common.points(),
                      text_of(blocks[i].box), text_of(blocks[other].box))
        .at_rank(blocks[other].rank);
  }
  return std::nullopt;
}

std::optional<Error> missing(std::string_view name, const BoxTree& tree, const Box& domain) {
  const std::uint64_t covered = tree.covered(domain);
  if (covered == domain.points()) return std::nullopt;
  return make_error(
      ErrorCode::conflict,
      "decomposition '{}': {} of {} points belong to no rank, the first are {}: correct start and count, "
      "or allow gaps so that they get the fill value",
      name, domain.points() - covered, domain.points(), text_of(first_gap(tree, domain)));
}

/// Whether the product of the lengths fits into 63 bits.
bool countable(const Index& lengths) {
  std::uint64_t left = std::numeric_limits<std::int64_t>::max();
  for (const std::uint64_t length : lengths) {
    if (length == 0) return true;
    left /= length;
    if (left == 0) return false;
  }
  return true;
}

}  // namespace

std::string text_of(const Box& box) {
  return said_box({box.start.begin(), box.rank()}, {box.count.begin(), box.rank()});
}

Result<> check_block(std::string_view name, const Block& block) {
  const std::size_t rank = block.global.size();
  if (rank == 0 || rank > max_rank)
    return fail(ErrorCode::invalid_argument, "decomposition '{}' has {} dimensions: 1 to {} are possible",
                name, rank, max_rank);
  if (block.start.size() != rank || block.count.size() != rank)
    return fail(ErrorCode::invalid_argument,
                "decomposition '{}' gives {} global lengths, {} starts and {} counts: give one of each for "
                "every dimension",
                name, rank, block.start.size(), block.count.size());
  const Index global(block.global);
  for (std::size_t i = 0; i < rank; ++i)
    if (global[i] == 0)
      return fail(ErrorCode::invalid_argument, "decomposition '{}': global length of dimension {} is 0", name,
                  said_dimension(i, rank));
  if (!countable(global))
    return fail(ErrorCode::invalid_argument, "decomposition '{}' has more points than 2^63", name);
  const Box box{Index(block.start), Index(block.count)};
  if (box.empty()) return {};
  for (std::size_t i = 0; i < rank; ++i)
    if (box.count[i] > global[i] || box.start[i] > global[i] - box.count[i])
      return fail(ErrorCode::invalid_argument,
                  "decomposition '{}': start {} and count {} in dimension {} go beyond the global length {}",
                  name, said_start(box.start[i]), box.count[i], said_dimension(i, rank), global[i]);
  return {};
}

Box box_of(const Block& block) { return {Index(block.start), Index(block.count)}; }

Result<> check_coverage(std::string_view name, const Index& global, std::span<const RankBlock> blocks,
                        const Coverage& coverage) {
  std::vector<RankBlock> filled;
  filled.reserve(blocks.size());
  for (const RankBlock& block : blocks) {
    if (block.box.empty()) continue;
    if (auto error = outside(name, global, block)) return fail(*std::move(error));
    filled.push_back(block);
  }
  const BoxTree tree{std::span<const RankBlock>(filled)};
  if (auto error = overlap(name, tree, filled)) return fail(*std::move(error));
  if (coverage.gaps_allowed) return {};
  const Box domain{Index::filled(global.size, 0), global};
  if (auto error = missing(name, tree, domain)) return fail(*std::move(error));
  return {};
}

Box extend(const Box& part, const Index& shape) {
  const std::size_t leading = shape.size - part.rank();
  Box box{Index::filled(shape.size, 0), shape};
  for (std::size_t i = 0; i < part.rank(); ++i) {
    box.start[leading + i] = part.start[i];
    box.count[leading + i] = part.count[i];
  }
  return box;
}

Result<> check_fit(const Schema& schema, const Variable& variable, std::string_view decomposition,
                   std::span<const std::uint64_t> global) {
  std::vector<const Dimension*> dimensions;
  for (const std::string& name : variable.dimensions) {
    const Dimension* dimension = schema.find_dimension(name);
    if (dimension != nullptr && !dimension->is_unlimited()) dimensions.push_back(dimension);
  }
  if (global.size() > dimensions.size())
    return fail(make_error(ErrorCode::conflict,
                           "variable '{}' has {} dimensions besides the unlimited one, too few for "
                           "decomposition '{}' with {}",
                           variable.name, dimensions.size(), decomposition, global.size())
                    .in_variable(variable.name));
  const std::size_t leading = dimensions.size() - global.size();
  for (std::size_t i = 0; i < global.size(); ++i)
    if (dimensions[leading + i]->length != global[i])
      return fail(
          make_error(
              ErrorCode::conflict,
              "variable '{}': dimension '{}' has length {}, but dimension {} of decomposition '{}' has {}",
              variable.name, dimensions[leading + i]->name, dimensions[leading + i]->length,
              said_dimension(i, global.size()), decomposition, global[i])
              .in_variable(variable.name));
  return {};
}

Result<Box> box_for(const Schema& schema, const Variable& variable, const Block& block) {
  AFTERBAY_TRY(check_fit(schema, variable, variable.decomposition, block.global));
  return extend(box_of(block), shape_of(schema, variable));
}

}  // namespace afterbay::model
