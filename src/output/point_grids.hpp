// SPDX-License-Identifier: Apache-2.0
// Points of grids that a rule defines: HEALPix and reduced Gaussian grids.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "afterbay/output.hpp"

namespace afterbay::output {

/// Degrees; longitudes from 0 to 360.
struct PointOnSphere {
  double latitude = 0;
  double longitude = 0;
};

/// A cell, whose corners follow each other counterclockwise as seen from above. Longitudes of
/// corners differ from that of the centre by at most 180 degrees; a corner at a pole has that of
/// the centre.
struct CellOnSphere {
  PointOnSphere centre;
  std::array<PointOnSphere, 4> corners;
};

/// A grid by index of its points.
class PointGrid {
 public:
  virtual ~PointGrid() = default;
  [[nodiscard]] virtual std::uint64_t points() const noexcept = 0;
  /// `index`: below points().
  [[nodiscard]] virtual CellOnSphere cell(std::uint64_t index) const = 0;
};

/// Górski et al. (2005), Astrophys. J. 622, 759: the projection of section 4, the numbering of
/// section 5. Throws invalid_argument for an `nside` that does not exist.
class HealpixPoints final : public PointGrid {
 public:
  explicit HealpixPoints(const HealpixGrid& grid);
  [[nodiscard]] std::uint64_t points() const noexcept override { return 12 * nside_ * nside_; }
  [[nodiscard]] CellOnSphere cell(std::uint64_t index) const override;

 private:
  /// A place in one of the 12 base pixels: along its edges to the north-east and the north-west,
  /// from its southern corner, in cells.
  struct Place {
    int base = 0;
    double x = 0;
    double y = 0;
  };
  [[nodiscard]] Place of_nested(std::uint64_t index) const;
  [[nodiscard]] Place of_ring(std::uint64_t index) const;
  [[nodiscard]] PointOnSphere project(const Place& place) const;

  std::uint64_t nside_;
  bool nested_;
};

/// Latitudes are the roots of the Legendre polynomial, in the middle of bands whose areas are the
/// weights of Gauss's quadrature; longitudes begin at 0. Throws invalid_argument without latitudes,
/// or for one without points.
class GaussianPoints final : public PointGrid {
 public:
  explicit GaussianPoints(const GaussianGrid& grid);
  [[nodiscard]] std::uint64_t points() const noexcept override { return first_.back(); }
  [[nodiscard]] CellOnSphere cell(std::uint64_t index) const override;

 private:
  std::vector<std::uint64_t> first_;  ///< point of each latitude; then the number of all points
  std::vector<double> latitudes_;     ///< degrees, from north to south
  std::vector<double> edges_;         ///< edges of the bands, degrees; one more than bands
};

/// Gauss's quadrature on [-1, 1].
struct GaussianRule {
  std::vector<double> nodes;  ///< descending
  std::vector<double> weights;
};
GaussianRule gaussian_rule(std::size_t nodes);

}  // namespace afterbay::output
