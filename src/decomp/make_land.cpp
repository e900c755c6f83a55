// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "decomp/make.hpp"
#include "decomp/wide.hpp"

namespace afterbay::decomp {
namespace {

/// The approximate number of pieces of a rank's land, distributed over the whole grid.
constexpr std::uint64_t pieces_of_rank = 20;
constexpr std::uint64_t most_samples = std::uint64_t{1} << 20;

/// About the number of points that can be examined in a minute.
constexpr std::uint64_t most_grid_points = std::uint64_t{1} << 33;

/// A smooth height on the sphere with some continents and islands: a sum of products of functions
/// of the latitude and of the longitude:
///
///   sin(2 l + 0.5) cos(p) + 0.8 cos(3 l - 1) sin(2 p + 0.3) + 0.5 sin(5 l + 3 p) cos(p)
///   + 0.3 cos(11 l) sin(9 p) + 0.4 sin(p)
class Height {
 public:
  using Terms = std::array<double, 6>;

  Height(std::uint64_t lat, std::uint64_t lon) : lat_(lat) {
    columns_.reserve(lon);
    for (std::uint64_t i = 0; i < lon; ++i) {
      const double l = (static_cast<double>(i) + 0.5) / static_cast<double>(lon) * 2.0 * std::numbers::pi;
      columns_.push_back({std::sin(2.0 * l + 0.5), std::cos(3.0 * l - 1.0), std::sin(5.0 * l),
                          std::cos(5.0 * l), std::cos(11.0 * l), 1.0});
    }
  }

  [[nodiscard]] Terms row(std::uint64_t j) const {
    const double p = ((static_cast<double>(j) + 0.5) / static_cast<double>(lat_) - 0.5) * std::numbers::pi;
    return {std::cos(p),
            0.8 * std::sin(2.0 * p + 0.3),
            0.5 * std::cos(3.0 * p) * std::cos(p),
            0.5 * std::sin(3.0 * p) * std::cos(p),
            0.3 * std::sin(9.0 * p),
            0.4 * std::sin(p)};
  }

  [[nodiscard]] double at(const Terms& row, std::uint64_t column) const {
    const Terms& terms = columns_[column];
    double sum = 0.0;
    for (std::size_t k = 0; k < terms.size(); ++k) sum += row[k] * terms[k];
    return sum;
  }

 private:
  std::uint64_t lat_;
  std::vector<Terms> columns_;
};

class LandMask {
 public:
  explicit LandMask(const LandRequest& request)
      : lat_(request.lat), lon_(request.lon), height_(request.lat, request.lon) {
    if (request.land_percent >= 100.0) {
      sea_level_ = -std::numeric_limits<double>::infinity();
      return;
    }
    const std::uint64_t points = lat_ * lon_;
    const std::uint64_t samples = std::min(points, most_samples);
    std::vector<double> heights;
    for (std::uint64_t i = 0; i < samples; ++i) {
      const std::uint64_t point = multiply_divide(i, points, samples);
      heights.push_back(height_.at(height_.row(point / lon_), point % lon_));
    }
    const auto under_water =
        static_cast<std::ptrdiff_t>((1.0 - request.land_percent / 100.0) * static_cast<double>(samples));
    const auto level = heights.begin() + std::min(under_water, static_cast<std::ptrdiff_t>(samples) - 1);
    std::nth_element(heights.begin(), level, heights.end());
    sea_level_ = *level;
  }

  /// All land in ascending order.
  [[nodiscard]] std::vector<Run> runs() const {
    RunList land;
    for (std::uint64_t j = 0; j < lat_; ++j) {
      const Height::Terms row = height_.row(j);
      for (std::uint64_t i = 0; i < lon_; ++i)
        if (height_.at(row, i) >= sea_level_) land.add(static_cast<std::int64_t>(j * lon_ + i));
    }
    return std::move(land.runs());
  }

 private:
  std::uint64_t lat_;
  std::uint64_t lon_;
  Height height_;
  double sea_level_ = 0.0;
};

/// Runs by the numbers of their points among all land points.
class Land {
 public:
  explicit Land(std::vector<Run> runs) : runs_(std::move(runs)) {
    for (const Run& run : runs_) {
      first_.push_back(points_);
      points_ += run.length;
    }
  }
  [[nodiscard]] std::uint64_t points() const { return points_; }

  void add(RunList& list, std::uint64_t from, std::uint64_t to) const {
    auto i =
        static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), from) - first_.begin() - 1);
    for (; from < to; ++i) {
      const std::uint64_t within = from - first_[i];
      const std::uint64_t many = std::min(runs_[i].length - within, to - from);
      list.add(runs_[i].offset + static_cast<std::int64_t>(within), many);
      from += many;
    }
  }

 private:
  std::vector<Run> runs_;
  std::vector<std::uint64_t> first_;
  std::uint64_t points_ = 0;
};

/// The list of a rank on one level: every ranks-th piece, padded with holes to `length`.
std::vector<Run> list_of(const Land& land, std::uint64_t rank, std::uint64_t ranks, std::uint64_t piece,
                         std::uint64_t length) {
  RunList list;
  std::uint64_t listed = 0;
  for (std::uint64_t from = rank * piece; from < land.points(); from += ranks * piece) {
    const std::uint64_t to = std::min(from + piece, land.points());
    land.add(list, from, to);
    listed += to - from;
  }
  list.add_holes(length - listed);
  return std::move(list.runs());
}

/// A row crosses at most about 20 coasts; a rank's piece ends at a coast or at its own end.
Result<> check_grid(const LandRequest& request) {
  const std::uint64_t points = request.lat * request.lon;
  if (points > most_grid_points)
    return fail(ErrorCode::resources, "a grid of {} x {} points is more than the limit of {} (2^33)",
                request.lat, request.lon, most_grid_points);
  constexpr double coasts = 20;
  const double land_runs = std::min(coasts * static_cast<double>(request.lat), static_cast<double>(points));
  const double pieces =
      std::min(static_cast<double>(request.ranks * pieces_of_rank), static_cast<double>(points));
  const double runs = land_runs + pieces + static_cast<double>(request.ranks);  // plus each rank's holes
  const double others = static_cast<double>(request.lon) * sizeof(Height::Terms) +
                        land_runs * (2 * sizeof(Run) + 2 * sizeof(std::uint64_t));
  return check_room(fmt::format("{} x {} points", request.lat, request.lon), request.ranks, runs, others);
}

}  // namespace

Result<> make_land(const LandRequest& request, const Receive& receive) {
  AFTERBAY_TRY(check_ranks(request.ranks));
  AFTERBAY_TRY(check_sizes({std::max<std::uint64_t>(request.levels, 1), request.lat, request.lon}));
  if (!(request.land_percent > 0.0) || request.land_percent > 100.0)
    return fail(ErrorCode::invalid_argument, "{} % of land: it must be above 0 and at most 100",
                request.land_percent);
  AFTERBAY_TRY(check_grid(request));
  const std::uint64_t ranks = request.ranks;
  const Land land(LandMask(request).runs());
  const std::uint64_t piece =
      std::max<std::uint64_t>(1, (land.points() + ranks * pieces_of_rank - 1) / (ranks * pieces_of_rank));
  // Rank 0 has the maximum number of pieces, all complete except possibly the last of all.
  const std::uint64_t rounds = (land.points() + ranks * piece - 1) / (ranks * piece);
  const std::uint64_t length = std::min(rounds * piece, land.points());
  for (const bool with_levels : {false, true}) {
    if (with_levels && request.levels == 0) break;
    Decomposition map = with_levels ? Decomposition("land_levels", {request.levels, request.lat, request.lon})
                                    : Decomposition("land", {request.lat, request.lon});
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      const std::vector<Run> runs = list_of(land, rank, ranks, piece, length);
      const Segment segment = with_levels ? Segment{runs.size(), request.levels,
                                                    static_cast<std::int64_t>(request.lat * request.lon)}
                                          : Segment{runs.size(), 1, 0};
      map.add_rank(std::span(&segment, 1), runs);
    }
    AFTERBAY_TRY(check_lists(map));
    AFTERBAY_TRY(receive(map));
  }
  return {};
}

}  // namespace afterbay::decomp
