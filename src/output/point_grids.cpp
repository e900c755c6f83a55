// SPDX-License-Identifier: Apache-2.0
#include "output/point_grids.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "output/refuse.hpp"

namespace afterbay::output {
namespace {

constexpr double degrees = 180 / std::numbers::pi;
constexpr std::uint64_t most_nside = std::uint64_t{1} << 29;  ///< the points have numbers below 2^63
constexpr std::size_t most_latitudes = 1 << 15;
constexpr std::uint32_t most_in_row = std::numeric_limits<std::int32_t>::max();

/// For the 12 base pixels: the ring of their southern corner in units of nside, and the longitude
/// of their middle in units of 45 degrees.
constexpr std::array<int, 12> southern_ring{2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4};
constexpr std::array<int, 12> middle_longitude{1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7};

/// Every second bit, from the lowest one.
std::uint64_t even_bits(std::uint64_t bits) {
  std::uint64_t found = 0;
  for (int i = 0; i < 32; ++i) found |= (bits >> (2 * i) & 1) << i;
  return found;
}

std::uint64_t square_root(std::uint64_t value) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(value)));
  while (root * root > value) --root;
  while ((root + 1) * (root + 1) <= value) ++root;
  return root;
}

/// The same longitude, within 180 degrees of another one.
double near(double longitude, double other) {
  if (longitude - other > 180) return longitude - 360;
  if (other - longitude > 180) return longitude + 360;
  return longitude;
}

}  // namespace

HealpixPoints::HealpixPoints(const HealpixGrid& grid) : nside_(grid.nside), nested_(grid.nested) {
  if (nside_ == 0 || nside_ > most_nside)
    refuse(ErrorCode::invalid_argument, "a HEALPix grid has nside {}: expected 1 to {}", nside_, most_nside);
  if (nested_ && !std::has_single_bit(nside_))
    refuse(ErrorCode::invalid_argument,
           "a HEALPix grid in nested order has nside {}: expected a power of two, such as {}; other grids "
           "have ring order",
           nside_, std::bit_ceil(nside_));
}

HealpixPoints::Place HealpixPoints::of_nested(std::uint64_t index) const {
  const std::uint64_t in_base = index % (nside_ * nside_);
  return {static_cast<int>(index / (nside_ * nside_)), static_cast<double>(even_bits(in_base)) + 0.5,
          static_cast<double>(even_bits(in_base >> 1)) + 0.5};
}

/// Rings are numbered from 1 in the north to 4 nside - 1, their points from 1 in the east of
/// Greenwich.
HealpixPoints::Place HealpixPoints::of_ring(std::uint64_t index) const {
  const auto n = static_cast<std::int64_t>(nside_);
  const std::uint64_t in_cap = 2 * nside_ * (nside_ - 1);
  std::int64_t ring = 0;
  std::int64_t in_ring = 0;
  std::int64_t quarter = 0;  ///< number of points in a quarter of the ring
  std::int64_t shift = 0;    ///< 1: the first point lies on Greenwich's meridian
  std::int64_t base = 0;
  if (index < in_cap) {
    quarter = static_cast<std::int64_t>((1 + square_root(1 + 2 * index)) / 2);
    ring = quarter;
    in_ring = static_cast<std::int64_t>(index) + 1 - 2 * ring * (ring - 1);
    base = (in_ring - 1) / quarter;
  } else if (index < points() - in_cap) {
    const auto after_cap = static_cast<std::int64_t>(index - in_cap);
    ring = after_cap / (4 * n) + n;
    in_ring = after_cap % (4 * n) + 1;
    quarter = n;
    shift = (ring + n) % 2;
    // Diagonals that ascend and descend through the point tell its base pixel.
    const std::int64_t below = ring - n + 1;
    const std::int64_t above = 2 * n + 2 - below;
    const std::int64_t descending = (in_ring - below / 2 + n - 1) / n;
    const std::int64_t ascending = (in_ring - above / 2 + n - 1) / n;
    base = ascending == descending ? ascending % 4 + 4 : ascending < descending ? ascending : descending + 8;
  } else {
    const std::uint64_t from_end = points() - index;
    quarter = static_cast<std::int64_t>((1 + square_root(2 * from_end - 1)) / 2);
    in_ring = 4 * quarter + 1 - (static_cast<std::int64_t>(from_end) - 2 * quarter * (quarter - 1));
    ring = 4 * n - quarter;
    base = 8 + (in_ring - 1) / quarter;
  }
  const auto at = static_cast<std::size_t>(base);
  const std::int64_t down = ring - southern_ring[at] * n + 1;
  std::int64_t east = 2 * in_ring - middle_longitude[at] * quarter - shift - 1;
  if (east >= 2 * n) east -= 8 * n;
  return {static_cast<int>(base), static_cast<double>((east - down) / 2) + 0.5,
          static_cast<double>((-east - down) / 2) + 0.5};
}

PointOnSphere HealpixPoints::project(const Place& place) const {
  const auto n = static_cast<double>(nside_);
  const auto at = static_cast<std::size_t>(place.base);
  const double ring = southern_ring[at] * n - place.x - place.y;
  double sine = 0;
  double cosine = 0;
  double quarter = n;
  if (ring < n || ring > 3 * n) {
    quarter = ring < n ? ring : 4 * n - ring;
    const double from_pole = quarter * quarter / (3 * n * n);  // 1 - |sine|
    sine = ring < n ? 1 - from_pole : from_pole - 1;
    cosine = std::sqrt(from_pole * (2 - from_pole));
  } else {
    sine = (2 * n - ring) * 2 / (3 * n);
    cosine = std::sqrt((1 - sine) * (1 + sine));
  }
  double east = middle_longitude[at] * quarter + place.x - place.y;
  if (east < 0) east += 8 * quarter;
  if (east >= 8 * quarter) east -= 8 * quarter;
  return {degrees * std::atan2(sine, cosine), quarter > 0 ? 45 * east / quarter : 0};
}

CellOnSphere HealpixPoints::cell(std::uint64_t index) const {
  const Place middle = nested_ ? of_nested(index) : of_ring(index);
  CellOnSphere cell;
  cell.centre = project(middle);
  constexpr std::array<std::array<double, 2>, 4> from_south{
      {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}}};
  for (std::size_t i = 0; i < from_south.size(); ++i) {
    PointOnSphere& corner = cell.corners[i];
    corner = project({middle.base, middle.x + from_south[i][0], middle.y + from_south[i][1]});
    corner.longitude = std::abs(corner.latitude) > 90 - 1e-9 ? cell.centre.longitude
                                                             : near(corner.longitude, cell.centre.longitude);
  }
  return cell;
}

/// Newton's method from Tricomi's estimate of the roots.
GaussianRule gaussian_rule(std::size_t count) {
  GaussianRule rule{std::vector<double>(count), std::vector<double>(count)};
  const auto n = static_cast<double>(count);
  for (std::size_t i = 0; i < (count + 1) / 2; ++i) {
    double x = (1 - (n - 1) / (8 * n * n * n)) *
               std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
    double slope = 0;
    for (int iteration = 0; iteration < 20; ++iteration) {
      double before = 1;
      double value = x;
      for (std::size_t k = 2; k <= count; ++k) {
        const auto degree = static_cast<double>(k);
        const double next = ((2 * degree - 1) * x * value - (degree - 1) * before) / degree;
        before = value;
        value = next;
      }
      slope = n * (before - x * value) / (1 - x * x);
      const double change = value / slope;
      x -= change;
      if (std::abs(change) < 1e-16) break;
    }
    if (count % 2 == 1 && i == count / 2) x = 0;
    rule.nodes[i] = x;
    rule.nodes[count - 1 - i] = -x;
    rule.weights[i] = rule.weights[count - 1 - i] = 2 / ((1 - x * x) * slope * slope);
  }
  return rule;
}

GaussianPoints::GaussianPoints(const GaussianGrid& grid) {
  const std::vector<std::uint32_t>& rows = grid.points_of_latitudes;
  if (rows.empty() || rows.size() > most_latitudes)
    refuse(ErrorCode::invalid_argument, "a Gaussian grid has {} latitudes: expected 1 to {}", rows.size(),
           most_latitudes);
  const auto wrong =
      std::ranges::find_if(rows, [](std::uint32_t count) { return count == 0 || count > most_in_row; });
  if (wrong != rows.end())
    refuse(ErrorCode::invalid_argument,
           "a Gaussian grid has {} points at latitude number {} of {}: expected 1 to {}", *wrong,
           wrong - rows.begin() + 1, rows.size(), most_in_row);
  first_.push_back(0);
  for (const std::uint32_t count : rows) first_.push_back(first_.back() + count);
  const GaussianRule rule = gaussian_rule(rows.size());
  double sine = 1;
  edges_.push_back(90);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    latitudes_.push_back(degrees * std::asin(rule.nodes[i]));
    sine -= rule.weights[i];
    edges_.push_back(i + 1 == rows.size() ? -90 : degrees * std::asin(std::clamp(sine, -1.0, 1.0)));
  }
}

CellOnSphere GaussianPoints::cell(std::uint64_t index) const {
  const auto after = std::ranges::upper_bound(first_, index);
  const auto row = static_cast<std::size_t>(after - first_.begin()) - 1;
  const auto count = static_cast<double>(first_[row + 1] - first_[row]);
  const auto number = static_cast<double>(index - first_[row]);
  const double west = 360 * (number - 0.5) / count;
  const double east = 360 * (number + 0.5) / count;
  const double south = edges_[row + 1];
  const double north = edges_[row];
  return {{latitudes_[row], 360 * number / count},
          {{{south, west}, {south, east}, {north, east}, {north, west}}}};
}

}  // namespace afterbay::output
