// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include "decomp/hilbert.hpp"
#include "decomp/make.hpp"
#include "decomp/wide.hpp"

namespace afterbay::decomp {
namespace {

constexpr std::uint64_t most_cells = std::uint64_t{1} << 31;

/// Renumbers items 0 ... all - 1: strips of consecutive items stay together, the strips are
/// scattered.
class Scatter {
 public:
  Scatter(std::uint64_t all, std::uint64_t strip) : strip_(strip), strips_(all / strip) {
    constexpr double golden = 0.61803398874989484820;
    factor_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(strips_) * golden));
    while (strips_ > 0 && std::gcd(factor_, strips_) != 1) ++factor_;
  }
  /// The last, shorter strip keeps its place.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t item) const noexcept {
    const std::uint64_t strip = item / strip_;
    if (strip >= strips_) return item;
    const auto moved = static_cast<std::uint64_t>(static_cast<Wide>(strip) * factor_ % strips_);
    return moved * strip_ + item % strip_;
  }

 private:
  std::uint64_t strip_;
  std::uint64_t strips_;
  std::uint64_t factor_ = 1;
};

/// The cells of all ranks, rank by rank: pieces of a Hilbert curve, each in ascending order.
std::vector<std::uint32_t> patches(std::uint64_t ranks, std::uint64_t cells) {
  const auto width = static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(cells))));
  std::vector<std::uint32_t> order;
  order.reserve(cells);
  along_hilbert_curve(width, width, [&](std::uint64_t x, std::uint64_t y) {
    if (y * width + x < cells) order.push_back(static_cast<std::uint32_t>(y * width + x));
  });
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const Share share = share_of(cells, ranks, rank);
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(share.start);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(share.count));
  }
  return order;
}

/// A kind of item of the mesh: a fixed number per cell, numbered in strips of that length.
struct Kind {
  const char* name;
  const char* name_with_levels;
  std::uint64_t of_cell;
  std::uint64_t strip;
};
constexpr Kind cells_kind{"cells", "cells_levels", 1, 8};
constexpr Kind edges_kind{"edges", "edges_levels", 3, 2};
constexpr Kind vertices_kind{"vertices", "vertices_levels", 2, 3};

class Mesh {
 public:
  explicit Mesh(const MpasRequest& request)
      : ranks_(request.ranks), cells_(request.cells), order_(patches(ranks_, cells_)) {}

  /// `levels` 0: none.
  [[nodiscard]] Decomposition map(const char* name, const Kind& kind, std::uint64_t levels) const {
    const std::uint64_t all = cells_ * kind.of_cell;
    const std::uint64_t deep = std::max<std::uint64_t>(levels, 1);
    const Scatter number(all, kind.strip);
    Decomposition map = levels == 0 ? Decomposition(name, {all}) : Decomposition(name, {all, levels});
    for (std::uint64_t rank = 0; rank < ranks_; ++rank) {
      const Share share = share_of(cells_, ranks_, rank);
      RunList list;
      for (std::uint64_t i = share.start; i < share.start + share.count; ++i)
        for (std::uint64_t k = 0; k < kind.of_cell; ++k)
          list.add(static_cast<std::int64_t>(number(order_[i] * kind.of_cell + k) * deep), deep);
      const Segment segment{list.runs().size(), 1, 0};
      map.add_rank(std::span(&segment, share.count > 0 ? 1 : 0), list.runs());
    }
    return map;
  }

 private:
  std::uint64_t ranks_;
  std::uint64_t cells_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

Result<> make_mpas(const MpasRequest& request, const Receive& receive) {
  AFTERBAY_TRY(check_ranks(request.ranks));
  if (request.cells < 1 || request.cells > most_cells)
    return fail(ErrorCode::invalid_argument, "{} cells: it must be 1 ... {}", request.cells, most_cells);
  AFTERBAY_TRY(check_sizes({request.cells * 3, std::max<std::uint64_t>(request.levels, 1)}));
  // Strips of edges have at most two edges, and every cell has a place on the curve.
  AFTERBAY_TRY(check_room(fmt::format("{} cells", request.cells), request.ranks,
                          static_cast<double>(request.cells * edges_kind.of_cell),
                          static_cast<double>(request.cells * sizeof(std::uint32_t))));
  const Mesh mesh(request);
  const auto hand_on = [&](const char* name, const Kind& kind, std::uint64_t levels) -> Result<> {
    const Decomposition map = mesh.map(name, kind, levels);
    AFTERBAY_TRY(check_lists(map));
    return receive(map);
  };
  AFTERBAY_TRY(hand_on(cells_kind.name, cells_kind, 0));
  AFTERBAY_TRY(hand_on(edges_kind.name, edges_kind, 0));
  if (request.levels == 0) return hand_on(vertices_kind.name, vertices_kind, 0);
  for (const Kind& kind : {cells_kind, edges_kind, vertices_kind})
    AFTERBAY_TRY(hand_on(kind.name_with_levels, kind, request.levels));
  return hand_on("cells_interfaces", cells_kind, request.levels + 1);
}

}  // namespace afterbay::decomp
