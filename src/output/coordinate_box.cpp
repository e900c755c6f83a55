// SPDX-License-Identifier: Apache-2.0
#include "output/coordinate_box.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/crc64.hpp"
#include "output/agreement.hpp"
#include "output/refuse.hpp"
#include "output/sphere.hpp"
#include "session/state.hpp"
#include "wire/collective_messages.hpp"

namespace afterbay::output {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
/// Two places from each end of a dimension, each with a longitude and a latitude.
constexpr std::size_t end_places = 4;

void join_extents(std::vector<double>& mine, const std::vector<double>& theirs) {
  for (std::size_t i = 0; i + 1 < mine.size() && i + 1 < theirs.size(); i += 2) {
    mine[i] = std::min(mine[i], theirs[i]);
    mine[i + 1] = std::max(mine[i + 1], theirs[i + 1]);
  }
}

/// Which places have points inside, per dimension.
struct Hits {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::box_hits);
  struct OfDimension {
    std::vector<std::uint8_t> hit;  ///< by place
    std::vector<double> ends;       ///< see CoordinateBox::ends_of
    template <class A>
    void fields(A& a) {
      a(hit, ends);
    }
  };
  std::vector<OfDimension> dimensions;
  std::vector<double> extents;
  template <class A>
  void fields(A& a) {
    a(dimensions, extents);
  }
};

void join_hits(Hits& mine, const Hits& theirs) {
  for (std::size_t d = 0; d < mine.dimensions.size() && d < theirs.dimensions.size(); ++d) {
    Hits::OfDimension& to = mine.dimensions[d];
    const Hits::OfDimension& from = theirs.dimensions[d];
    for (std::size_t i = 0; i < to.hit.size() && i < from.hit.size(); ++i)
      if (from.hit[i] != 0) to.hit[i] = 1;
    for (std::size_t i = 0; i < to.ends.size() && i < from.ends.size(); ++i)
      if (std::isnan(to.ends[i])) to.ends[i] = from.ends[i];
  }
  join_extents(mine.extents, theirs.extents);
}

/// Whether the last place lies beside the first one, as far away as neighbours at the ends are.
bool are_ends_neighbours(const std::vector<double>& ends) {
  if (ends.size() != 2 * end_places || std::ranges::any_of(ends, [](double it) { return std::isnan(it); }))
    return false;
  std::array<Direction, end_places> at;
  for (std::size_t i = 0; i < end_places; ++i) at[i] = direction_of(ends[2 * i], ends[2 * i + 1]);
  const double step = std::max(distance_m(at[0], at[1]), distance_m(at[2], at[3]));
  constexpr double most_steps = 1.5;
  return step > 0 && distance_m(at[3], at[0]) <= most_steps * step;
}

/// Consecutive points of a grid that a rank has found.
struct FoundRuns {
  std::int32_t rank = 0;               ///< among the model ranks
  std::vector<std::uint64_t> offsets;  ///< offsets of the first points; in answers, of their positions
  std::vector<std::uint64_t> lengths;  ///< in answers empty
  template <class A>
  void fields(A& a) {
    a(rank, offsets, lengths);
  }
};

struct FoundPoints {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::box_points);
  std::vector<FoundRuns> ranks;
  std::vector<double> extents;
  template <class A>
  void fields(A& a) {
    a(ranks, extents);
  }
};

struct Positions {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::box_positions);
  std::uint64_t count = 0;
  std::uint64_t digest = 0;
  std::vector<std::uint64_t> places;
  std::vector<FoundRuns> ranks;
  template <class A>
  void fields(A& a) {
    a(count, digest, places, ranks);
  }
};

/// All points of all ranks as runs that do not touch, and the position of each run.
class MergedRuns {
 public:
  explicit MergedRuns(const std::vector<FoundRuns>& ranks) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;  // first point, end
    for (const FoundRuns& of : ranks)
      for (std::size_t i = 0; i < of.offsets.size(); ++i)
        all.emplace_back(of.offsets[i], of.offsets[i] + of.lengths[i]);
    std::ranges::sort(all);
    for (const auto& [first, end] : all) {
      if (!firsts_.empty() && first <= ends_.back()) {
        ends_.back() = std::max(ends_.back(), end);
        continue;
      }
      firsts_.push_back(first);
      ends_.push_back(end);
    }
    for (std::size_t i = 0; i < firsts_.size(); ++i) {
      before_.push_back(count_);
      count_ += ends_[i] - firsts_[i];
    }
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t digest() const {
    return crc64(std::as_bytes(std::span(ends_)), crc64(std::as_bytes(std::span(firsts_))));
  }
  [[nodiscard]] std::uint64_t position(std::uint64_t point) const {
    const auto after = std::ranges::upper_bound(firsts_, point);
    const auto run = static_cast<std::size_t>(after - firsts_.begin()) - 1;
    return before_[run] + point - firsts_[run];
  }
  [[nodiscard]] std::vector<std::uint64_t> points() const {
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < firsts_.size(); ++i)
      for (std::uint64_t point = firsts_[i]; point < ends_[i]; ++point) all.push_back(point);
    return all;
  }

 private:
  std::vector<std::uint64_t> firsts_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint64_t> before_;
  std::uint64_t count_ = 0;
};

FoundRuns runs_of(std::vector<std::uint64_t> points, std::int32_t rank) {
  std::ranges::sort(points);
  FoundRuns runs;
  runs.rank = rank;
  for (const std::uint64_t point : points) {
    if (!runs.offsets.empty() && point < runs.offsets.back() + runs.lengths.back()) continue;
    if (!runs.offsets.empty() && point == runs.offsets.back() + runs.lengths.back()) {
      ++runs.lengths.back();
      continue;
    }
    runs.offsets.push_back(point);
    runs.lengths.push_back(1);
  }
  return runs;
}

std::uint64_t position_in(const FoundRuns& runs, const FoundRuns& positions, std::uint64_t point) {
  const auto after = std::ranges::upper_bound(runs.offsets, point);
  const auto run = static_cast<std::size_t>(after - runs.offsets.begin()) - 1;
  return positions.offsets.at(run) + point - runs.offsets[run];
}

}  // namespace

std::vector<std::uint64_t> SharedGrid::lengths() const {
  std::vector<std::uint64_t> lengths;
  for (const std::string& name : grid.dimensions) lengths.push_back(definitions.dimension(name).length);
  return lengths;
}

bool SharedGrid::reports() const {
  return session == nullptr || decomposition != nullptr ||
         session->state().model_side().identity().model_rank == 0;
}

std::vector<std::uint64_t> hit_range(const std::vector<std::uint8_t>& hit, bool is_circular) {
  const auto is_hit = [](std::uint8_t it) { return it != 0; };
  const auto first = static_cast<std::size_t>(std::ranges::find_if(hit, is_hit) - hit.begin());
  const auto last = hit.size() - 1 -
                    static_cast<std::size_t>(std::find_if(hit.rbegin(), hit.rend(), is_hit) - hit.rbegin());
  // The longest run of places without a point, between the first and the last one that have some.
  std::size_t gap = 0;
  std::size_t gap_end = 0;
  for (std::size_t i = first, previous = first; i <= last; ++i) {
    if (!is_hit(hit[i])) continue;
    if (i - previous > gap + 1) {
      gap = i - previous - 1;
      gap_end = i;
    }
    previous = i;
  }
  const bool around = is_circular && gap > first + (hit.size() - 1 - last);
  std::vector<std::uint64_t> places;
  for (std::size_t i = around ? 0 : first; i < (around ? hit.size() : last + 1); ++i)
    if (!around || i < gap_end - gap || i >= gap_end) places.push_back(i);
  return places;
}

CoordinateBox::CoordinateBox(const SharedGrid& grid, const Field& field,
                             const describe::GridSubset& described, const DimensionChoice& choice,
                             std::size_t axes)
    : grid_(grid),
      field_(field),
      described_(described),
      choice_(choice),
      axes_(axes),
      lengths_(grid.lengths()),
      points_(grid.points()) {
  for (const DimensionChoice::JointRange& it : choice.joint()) {
    if (!is_of_grid(it.coordinate, grid.grid))
      refuse_at(it.range->at, ErrorCode::invalid_argument,
                "grid '{}': the coordinate '{}' has other dimensions than the grid '{}'; use index",
                described.name, it.coordinate.name, grid.grid.name);
    try {
      values_.emplace_back(grid.definitions, grid.grid, it.coordinate);
    } catch (const Failure& failure) {
      refuse_at(it.range->at, failure.code(), "grid '{}': {}", described.name, failure.error().message);
    }
  }
  look();
}

void CoordinateBox::look() {
  std::vector<std::vector<bool>> kept(lengths_.size());  // by place; empty: all
  for (std::size_t d = 0; d < lengths_.size(); ++d) {
    const DimensionChoice::Indices& places = choice_.kept(axes_ + d);
    if (!places) continue;
    kept[d].assign(lengths_[d], false);
    for (const std::uint64_t place : *places) kept[d][place] = true;
  }
  std::uint32_t elements = 0;
  for (const GridPoint& point : points_) elements = std::max(elements, point.element + 1);
  inside_.assign(elements, false);
  for (std::size_t c = 0; c < values_.size(); ++c) extents_.insert(extents_.end(), {infinite, -infinite});
  for (const GridPoint& point : points_) {
    bool inside = true;
    for (std::size_t c = 0; c < values_.size(); ++c) {
      const double value = values_[c].at(point);
      extents_[2 * c] = std::fmin(extents_[2 * c], value);
      extents_[2 * c + 1] = std::fmax(extents_[2 * c + 1], value);
      inside = inside &&
               is_inside(value, *choice_.joint()[c].range, values_[c].quantity(), values_[c].tolerance());
    }
    inside_[point.element] = inside;
    if (!inside) continue;
    std::uint64_t rest = point.index;
    for (std::size_t d = lengths_.size(); d-- > 0;) {
      inside = inside && (kept[d].empty() || kept[d][rest % lengths_[d]]);
      rest /= lengths_[d];
    }
    if (inside) found_.push_back(point);
  }
}

std::string CoordinateBox::text() const {
  return fmt::format("the points of the grid '{}' in the box '{}'", grid_.grid.name, described_.name);
}

void CoordinateBox::refuse_empty(const std::vector<double>& extents) const {
  std::vector<std::string> texts;
  for (std::size_t c = 0; c < values_.size(); ++c) {
    const describe::GridSubset::Range& range = *choice_.joint()[c].range;
    const bool any = extents[2 * c] <= extents[2 * c + 1];
    texts.push_back(fmt::format(
        "{} from {} to {}, while {} {}", range.coordinate, range.low, range.high, values_[c].name(),
        any ? fmt::format("goes from {:.6g} to {:.6g}", extents[2 * c], extents[2 * c + 1])
            : std::string("has no numbers")));
  }
  refuse_at(choice_.joint().front().range->at, ErrorCode::invalid_argument,
            "grid '{}' keeps no point of the grid '{}': none lies inside {}", described_.name,
            grid_.grid.name, fmt::join(texts, "; "));
}

std::vector<double> CoordinateBox::ends_of(std::size_t dimension) const {
  constexpr std::uint64_t least = 3;
  std::vector<double> ends(2 * end_places, unknown);
  const std::uint64_t length = lengths_[dimension];
  if (length < least) return ends;
  const auto lon = find_coordinate(grid_.definitions, field_, "lon");
  const auto lat = find_coordinate(grid_.definitions, field_, "lat");
  if (!lon || !lat || !is_of_grid(*lon, grid_.grid) || !is_of_grid(*lat, grid_.grid)) return ends;
  const PointValues lons(grid_.definitions, grid_.grid, *lon);
  const PointValues lats(grid_.definitions, grid_.grid, *lat);
  std::unordered_map<std::uint64_t, std::size_t> wanted;
  const std::array<std::uint64_t, end_places> places{0, 1, length - 2, length - 1};
  for (std::size_t i = 0; i < end_places; ++i) {
    std::uint64_t index = 0;
    for (std::size_t d = 0; d < lengths_.size(); ++d)
      index = index * lengths_[d] + (d == dimension ? places[i] : lengths_[d] / 2);
    wanted.emplace(index, i);
    if (const auto twice = wanted.find(index); twice->second != i) ends.clear();
  }
  if (ends.empty()) return std::vector<double>(2 * end_places, unknown);
  for (const GridPoint& point : points_) {
    const auto at = wanted.find(point.index);
    if (at == wanted.end()) continue;
    ends[2 * at->second] = lons.at(point);
    ends[2 * at->second + 1] = lats.at(point);
  }
  return ends;
}

IndexBox CoordinateBox::index_box() const {
  Hits mine;
  mine.extents = extents_;
  for (std::size_t d = 0; d < lengths_.size(); ++d) {
    Hits::OfDimension& of = mine.dimensions.emplace_back();
    of.hit.assign(lengths_[d], 0);
    try {
      of.ends = ends_of(d);
    } catch (const Failure&) {
      of.ends.assign(2 * end_places, unknown);  // several longitudes: nothing is known of the ends
    }
  }
  if (grid_.reports())
    for (const GridPoint& point : found_) {
      std::uint64_t rest = point.index;
      for (std::size_t d = lengths_.size(); d-- > 0;) {
        mine.dimensions[d].hit[rest % lengths_[d]] = 1;
        rest /= lengths_[d];
      }
    }
  AgreementSteps<Hits, Hits> steps;
  steps.join = [](Hits& all, const Hits& theirs) { join_hits(all, theirs); };
  steps.decide = [&](Hits all) {
    const auto& first = all.dimensions.front().hit;
    if (std::ranges::find(first, 1) == first.end()) refuse_empty(all.extents);
    return all;
  };
  const Hits all = agree(*grid_.session, text(), std::move(mine), steps);
  IndexBox box;
  for (const Hits::OfDimension& of : all.dimensions)
    box.places.push_back(hit_range(of.hit, are_ends_neighbours(of.ends)));
  return box;
}

SelectedPoints CoordinateBox::selected_points(bool listed) const {
  const std::int32_t rank = grid_.session->state().model_side().identity().model_rank;
  std::vector<std::uint64_t> indices;
  if (grid_.reports())
    for (const GridPoint& point : found_) indices.push_back(point.index);
  const FoundRuns runs = runs_of(std::move(indices), rank);
  AgreementSteps<FoundPoints, Positions> steps;
  steps.join = [](FoundPoints& all, FoundPoints theirs) {
    for (FoundRuns& it : theirs.ranks) all.ranks.push_back(std::move(it));
    join_extents(all.extents, theirs.extents);
  };
  steps.decide = [&](const FoundPoints& all) {
    const MergedRuns merged(all.ranks);
    if (merged.count() == 0) refuse_empty(all.extents);
    Positions answer{merged.count(), merged.digest(), {}, {}};
    if (listed) answer.places = merged.points();
    for (const FoundRuns& of : all.ranks) {
      FoundRuns positions{of.rank, {}, {}};
      for (const std::uint64_t offset : of.offsets) positions.offsets.push_back(merged.position(offset));
      answer.ranks.push_back(std::move(positions));
    }
    return answer;
  };
  steps.part = [](int first, int end, const Positions& answer) {
    Positions part{answer.count, answer.digest, answer.places, {}};
    for (const FoundRuns& of : answer.ranks)
      if (of.rank >= first && of.rank < end) part.ranks.push_back(of);
    return part;
  };
  const Positions answer = agree(*grid_.session, text(), FoundPoints{{runs}, extents_}, steps);
  SelectedPoints set;
  set.count = answer.count;
  set.digest = answer.digest;
  set.places = answer.places;
  const auto own = std::ranges::find(answer.ranks, rank, &FoundRuns::rank);
  if (grid_.decomposition == nullptr || own == answer.ranks.end()) return set;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> found;
  for (const GridPoint& point : found_)
    found.emplace_back(point.element, position_in(runs, *own, point.index));
  std::ranges::sort(found);
  for (const auto& [element, position] : found) {
    set.elements.push_back(element);
    set.positions.push_back(position);
  }
  return set;
}

}  // namespace afterbay::output
