// SPDX-License-Identifier: Apache-2.0
#include "output/stations.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/crc64.hpp"
#include "base/suggest.hpp"
#include "output/agreement.hpp"
#include "output/refuse.hpp"
#include "output/sphere.hpp"
#include "wire/collective_messages.hpp"

namespace afterbay::output {

namespace {

constexpr double millimetres = 1000;
/// Larger grids are left to a run, in which each rank looks at its part.
constexpr std::uint64_t most_points_without_run = std::uint64_t{1} << 22;

/// The nearest points that ranks have found, one per station.
struct Nearest {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::nearest_points);
  std::vector<std::int64_t> distances_mm;  ///< -1: none
  std::vector<std::uint64_t> points;
  std::vector<double> lon;
  std::vector<double> lat;
  template <class A>
  void fields(A& a) {
    a(distances_mm, points, lon, lat);
  }

  explicit Nearest(std::size_t stations = 0)
      : distances_mm(stations, -1), points(stations), lon(stations), lat(stations) {}
  /// If points have equal distances, the first one of the grid counts, whichever rank holds it.
  void offer(std::size_t station, std::int64_t mm, std::uint64_t point, double east, double north) {
    const std::int64_t best = distances_mm[station];
    if (best >= 0 && (mm > best || (mm == best && point >= points[station]))) return;
    distances_mm[station] = mm;
    points[station] = point;
    lon[station] = east;
    lat[station] = north;
  }
};

/// The coordinates of the points of a grid.
struct PointCoordinates {
  PointValues lon;
  PointValues lat;
  std::optional<PointValues> mask;
};

class StationFinder {
 public:
  StationFinder(const SharedGrid& grid, const Field& field, const describe::GridSubset& described)
      : grid_(grid), field_(field), described_(described) {}

  Stations run() {
    PointCoordinates coordinates{horizontal("lon"), horizontal("lat"), std::nullopt};
    if (!described_.mask.empty()) coordinates.mask = mask();
    AgreementSteps<Nearest, Nearest> steps;
    steps.join = [](Nearest& all, const Nearest& theirs) {
      for (std::size_t s = 0; s < all.points.size() && s < theirs.points.size(); ++s)
        if (theirs.distances_mm[s] >= 0)
          all.offer(s, theirs.distances_mm[s], theirs.points[s], theirs.lon[s], theirs.lat[s]);
    };
    steps.decide = [&](Nearest all) {
      check(all);
      return all;
    };
    std::uint64_t points = 1;
    for (const std::uint64_t length : grid_.lengths()) points *= length;
    if (grid_.session == nullptr && points > most_points_without_run) are_known_ = false;
    Stations stations;
    stations.are_known = are_known_;
    Nearest mine(described_.stations.size());
    if (are_known_ && grid_.reports()) look(coordinates, mine);
    Nearest found = mine;
    if (grid_.session != nullptr)
      found = agree(
          *grid_.session,
          fmt::format("the points of the grid '{}' for the stations '{}'", grid_.grid.name, described_.name),
          std::move(mine), steps);
    else if (are_known_)
      found = steps.decide(std::move(mine));
    stations.name = described_.name;
    stations.grid = grid_.grid.name;
    for (const describe::GridSubset::Station& it : described_.stations) {
      stations.names.push_back(it.name);
      stations.wanted_lon.push_back(it.lon);
      stations.wanted_lat.push_back(it.lat);
    }
    stations.points = found.points;
    stations.lon = found.lon;
    stations.lat = found.lat;
    for (const std::int64_t mm : found.distances_mm)
      stations.distance_m.push_back(static_cast<double>(mm) / millimetres);
    stations.lon_name = coordinates.lon.name();
    stations.lat_name = coordinates.lat.name();
    return stations;
  }

 private:
  [[nodiscard]] PointValues horizontal(const char* name) {
    try {
      const auto found = find_coordinate(grid_.definitions, field_, name);
      if (found && is_of_grid(*found, grid_.grid)) return values_of(*found);
    } catch (const Failure& failure) {
      refuse_at(described_.at, failure.code(), "grid '{}': {}", described_.name, failure.error().message);
    }
    const std::vector<std::string> known = coordinate_names(grid_.definitions, field_);
    refuse_at(described_.at, ErrorCode::unknown_name,
              "grid '{}': stations need longitudes and latitudes of the points of the grid '{}', but field "
              "'{}' has no coordinate '{}'; {}",
              described_.name, grid_.grid.name, field_.name, name,
              known.empty() ? std::string("the model has given it none")
                            : fmt::format("it has {}", fmt::join(known, ", ")));
  }

  [[nodiscard]] PointValues values_of(const FoundCoordinate& coordinate) {
    are_known_ = are_known_ && has_known_values(grid_.definitions, coordinate);
    return {grid_.definitions, grid_.grid, coordinate};
  }

  [[nodiscard]] PointValues mask() {
    std::vector<std::string> known;
    for (const Coordinate& it : grid_.definitions.coordinates()) {
      const FoundCoordinate found{it.name, &it, Quantity::other, {}};
      if ((it.grid.empty() && it.dimensions.empty()) || !is_of_grid(found, grid_.grid) ||
          !it.options.vertices.empty())
        continue;
      known.push_back(it.name);
      if (it.name == described_.mask) return values_of(found);
    }
    refuse_at(described_.at, ErrorCode::unknown_name,
              "grid '{}': the grid '{}' has no coordinate '{}' for mask{}; {}", described_.name,
              grid_.grid.name, described_.mask, did_you_mean(described_.mask, known),
              known.empty() ? std::string("the model has given it none")
                            : fmt::format("it has {}", fmt::join(known, ", ")));
  }

  /// Compares chords, which is fast; distances count, if they could be less than or equal to the
  /// best.
  void look(const PointCoordinates& coordinates, Nearest& mine) const {
    std::vector<Direction> wanted;
    for (const describe::GridSubset::Station& it : described_.stations)
      wanted.push_back(direction_of(it.lon, it.lat));
    constexpr double infinite_chord = 5;  // squares of chords are at most 4
    std::vector<double> least(wanted.size(), infinite_chord);
    // Twice the chord of a millimetre on either side, and rounding.
    constexpr double slack = 4e-9;
    for (const GridPoint& point : grid_.points()) {
      const double east = coordinates.lon.at(point);
      const double north = coordinates.lat.at(point);
      if (std::isnan(east) || std::isnan(north)) continue;
      if (coordinates.mask) {
        const double value = coordinates.mask->at(point);
        if (std::isnan(value) || value == 0) continue;
      }
      const Direction here = direction_of(east, north);
      for (std::size_t s = 0; s < wanted.size(); ++s) {
        const double chord = squared_chord(here, wanted[s]);
        if (chord > least[s]) continue;
        mine.offer(s, std::llround(distance_m(here, wanted[s]) * millimetres), point.index, east, north);
        const double longest = std::sqrt(chord) + slack;
        least[s] = std::min(least[s], longest * longest);
      }
    }
  }

  void check(const Nearest& found) const {
    std::vector<std::string> problems;
    for (std::size_t s = 0; s < described_.stations.size(); ++s) {
      const describe::GridSubset::Station& it = described_.stations[s];
      if (found.distances_mm[s] < 0)
        refuse_at(
            it.at, ErrorCode::invalid_argument,
            "grid '{}': the grid '{}' has no point with a longitude and a latitude{} for the station '{}'",
            described_.name, grid_.grid.name,
            described_.mask.empty() ? "" : " at which '" + described_.mask + "' is not 0", it.name);
      const double distance = static_cast<double>(found.distances_mm[s]) / millimetres;
      if (described_.max_distance_m && distance > *described_.max_distance_m)
        problems.push_back(
            fmt::format("{}: grid '{}': the station '{}' at [{}, {}] is {:.3f} km away from the nearest "
                        "point of the grid "
                        "'{}', at [{:.6g}, {:.6g}]; max_distance is {} km",
                        it.at.text(), described_.name, it.name, it.lon, it.lat, distance / 1000,
                        grid_.grid.name, found.lon[s], found.lat[s], *described_.max_distance_m / 1000));
    }
    if (!problems.empty())
      throw Failure(Error(ErrorCode::invalid_argument, fmt::format("{}", fmt::join(problems, "\n"))));
  }

  const SharedGrid& grid_;
  const Field& field_;
  const describe::GridSubset& described_;
  bool are_known_ = true;  ///< see Stations
};

}  // namespace

std::uint64_t Stations::digest() const {
  std::uint64_t digest = crc64(std::as_bytes(std::span(points)));
  for (const std::string& station : names) {
    digest = crc64(std::as_bytes(std::span(station)), digest);
    digest = crc64(std::as_bytes(std::span(":", 1)), digest);
  }
  for (const std::vector<double>* const list : {&wanted_lon, &wanted_lat})
    digest = crc64(std::as_bytes(std::span(*list)), digest);
  return digest;
}

Stations find_stations(const SharedGrid& grid, const Field& field, const describe::GridSubset& described) {
  return StationFinder(grid, field, described).run();
}

StationElements elements_of(const Stations& stations, const SharedGrid& grid) {
  std::unordered_multimap<std::uint64_t, std::uint32_t> wanted;
  for (std::size_t s = 0; s < stations.points.size(); ++s)
    wanted.emplace(stations.points[s], static_cast<std::uint32_t>(s));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const GridPoint& point : grid.points()) {
    const auto [first, end] = wanted.equal_range(point.index);
    for (auto it = first; it != end; ++it) found.emplace_back(point.element, it->second);
  }
  std::ranges::sort(found);
  StationElements elements;
  for (const auto& [element, station] : found) {
    elements.elements.push_back(element);
    elements.stations.push_back(station);
  }
  return elements;
}

}  // namespace afterbay::output
