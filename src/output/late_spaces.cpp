// SPDX-License-Identifier: Apache-2.0
// Spaces of results of reductions over grids.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "output/numbers.hpp"
#include "output/refuse.hpp"
#include "output/spaces.hpp"
#include "session/state.hpp"

namespace afterbay::output {

namespace {

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

const Space& Spaces::late(const Space& of, const std::vector<std::string>& over, const Regions& regions) {
  auto made = std::make_unique<Space>();
  made->name = of.name;
  made->chosen_by = of.chosen_by;
  made->late = true;
  std::string key = "late|" + of.name;
  for (const Space::Dimension& dimension : of.dimensions) {
    if (is_among(over, dimension.name)) continue;
    key += "|" + dimension.name + " " + dimension.cut;
    made->dimensions.push_back(dimension);
    const bool is_of_grid = static_cast<std::size_t>(&dimension - of.dimensions.data()) >= of.axes;
    made->known_in_run_only = made->known_in_run_only || (is_of_grid && of.known_in_run_only);
    if (dimension.name != station_name || of.stations == nullptr) continue;
    made->stations = of.stations;
    key += fmt::format(" by {}, {}", of.stations->lon_name, of.stations->lat_name);
  }
  if (!regions.dimension.empty()) {
    key += "|" + regions.dimension;
    made->dimensions.push_back({regions.dimension, regions.count, {}, {}});
  }
  auto& space = spaces_[key];
  if (space) return *space;
  made->axes = made->dimensions.size();
  const bool first = session_ != nullptr && session_->model_rank() == 0;
  for (const Space::Dimension& dimension : made->dimensions)
    made->local.push_back(first ? dimension.length : 0);
  if (session_ != nullptr)
    made->points =
        std::accumulate(made->local.begin(), made->local.end(), std::size_t{1}, std::multiplies<>());
  if (!made->dimensions.empty()) {
    made->decomposition = "first rank of " + key;
    std::vector<std::uint64_t> lengths;
    for (const Space::Dimension& dimension : made->dimensions) lengths.push_back(dimension.length);
    if (session_ != nullptr)
      session_->decomposition(made->decomposition,
                              Block(lengths, std::vector<std::uint64_t>(lengths.size(), 0), made->local));
  }
  space = std::move(made);
  return *space;
}

std::shared_ptr<const GridGroups> Spaces::groups(const Space& of, const std::vector<std::string>& over,
                                                 const Regions& regions) {
  std::vector<bool> vanishes;
  std::string key = fmt::format("{}|{}", of.decomposition, of.grid);
  for (std::size_t d = of.axes; d < of.dimensions.size(); ++d) {
    vanishes.push_back(is_among(over, of.dimensions[d].name));
    key +=
        fmt::format("|{}{} {}", of.dimensions[d].name, vanishes.back() ? "" : " stays", of.dimensions[d].cut);
  }
  if (regions.numbers != nullptr) key += "|by " + regions.numbers->name + " along " + regions.dimension;
  auto& known = groups_[key];
  if (known == nullptr) known = std::make_shared<const GridGroups>(make_groups(of, vanishes, regions));
  return known;
}

std::vector<std::uint64_t> Spaces::regions_of(const Space& of, const Regions& regions) {
  std::vector<std::uint64_t> found;
  if (regions.numbers == nullptr) return found;
  for (const double number : numbers_of(regions.numbers->values)) {
    const bool is_region =
        number >= 1 && number <= static_cast<double>(regions.count) && number == std::floor(number);
    found.push_back(is_region ? static_cast<std::uint64_t>(number) - 1 : regions.count);
  }
  if (!of.is_subset()) return found;
  // Without axes, `from` begins with the elements of the first level.
  std::uint64_t kept_levels = 1;
  for (std::size_t a = 0; a < of.axes; ++a) kept_levels *= of.local[a];
  std::vector<std::uint64_t> kept;
  for (std::size_t i = 0; i < of.from.size() / std::max<std::uint64_t>(kept_levels, 1); ++i)
    kept.push_back(found[of.from[i] % found.size()]);
  return kept;
}

GridGroups Spaces::make_groups(const Space& of, const std::vector<bool>& vanishes,
                               const Regions& regions) const {
  GridGroups groups;
  std::vector<std::uint64_t> lengths;
  for (std::size_t d = 0; d < vanishes.size(); ++d) {
    lengths.push_back(of.dimensions[of.axes + d].length);
    if (!vanishes[d]) groups.all *= lengths.back();
  }
  groups.all *= regions.count;
  if (session_ == nullptr) return groups;
  const std::vector<std::uint64_t> region = regions_of(of, regions);
  std::map<std::uint64_t, std::vector<std::uint32_t>> by_point;
  const auto add = [&](std::uint64_t place, std::uint32_t element) {
    std::uint64_t point = 0;
    std::uint64_t stride = 1;
    for (std::size_t d = lengths.size(); d-- > 0; place /= lengths[d]) {
      if (vanishes[d]) continue;
      point += place % lengths[d] * stride;
      stride *= lengths[d];
    }
    if (regions.numbers == nullptr)
      by_point[point].push_back(element);
    else if (region[element] < regions.count)
      by_point[point * regions.count + region[element]].push_back(element);
  };
  const auto add_block = [&](const std::vector<std::uint64_t>& start,
                             const std::vector<std::uint64_t>& count) {
    const std::uint64_t all =
        std::accumulate(count.begin(), count.end(), std::uint64_t{1}, std::multiplies<>());
    for (std::uint64_t element = 0; element < all; ++element) {
      std::uint64_t rest = element;
      std::uint64_t place = 0;
      std::uint64_t stride = 1;
      for (std::size_t d = count.size(); d-- > 0; rest /= count[d]) {
        place += (start[d] + rest % count[d]) * stride;
        stride *= lengths[d];
      }
      add(place, static_cast<std::uint32_t>(element));
    }
  };
  if (of.decomposition.empty()) {
    // All ranks have the same values.
    if (session_->model_rank() == 0) add_block(std::vector<std::uint64_t>(lengths.size(), 0), lengths);
  } else {
    const client::Decomposition& it = decomposition(of.decomposition);
    if (it.coverage.repeats != Repeats::refuse)
      refuse(ErrorCode::conflict,
             "ranks may hold points of the grid '{}' several times (its decomposition has repeats), so that "
             "a reduction over it would count them several times: use a decomposition without repeats, in "
             "which these points are holes on all ranks but one",
             of.grid);
    if (it.map)
      it.map->described().for_each([&](const model::PointRun& run) {
        for (std::uint32_t i = 0; i < run.length; ++i) add(run.offset + i, run.element + i);
      });
    else
      add_block(it.block.start, it.block.count);
  }
  for (auto& [point, elements] : by_point) {
    std::ranges::sort(elements);
    groups.points.push_back(point);
    groups.elements.insert(groups.elements.end(), elements.begin(), elements.end());
    groups.ends.push_back(groups.elements.size());
  }
  return groups;
}

}  // namespace afterbay::output
