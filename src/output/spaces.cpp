// SPDX-License-Identifier: Apache-2.0
#include "output/spaces.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/caller_terms.hpp"
#include "base/crc64.hpp"
#include "base/suggest.hpp"
#include "output/numbers.hpp"
#include "output/refuse.hpp"
#include "session/state.hpp"

namespace afterbay::output {

namespace {

constexpr double turn = 360;

std::uint64_t product(const std::vector<std::uint64_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{1}, std::multiplies<>());
}

/// Which points of the dimensions of a field a subset keeps.
class Selection {
 public:
  Selection(const Definitions& definitions, const std::vector<std::string>& names, const describe::Grid& grid,
            const std::string& field)
      : definitions_(definitions), names_(names), grid_(grid), field_(field), kept_(names.size()) {
    for (std::size_t d = 0; d < names.size(); ++d) {
      kept_[d].resize(definitions.dimension(names[d]).length);
      std::iota(kept_[d].begin(), kept_[d].end(), std::uint64_t{0});
    }
    if (!grid.stations.empty())
      refuse_at(grid.at, ErrorCode::invalid_argument,
                "grid '{}': stations are not available in this version; use a box of one point, or index",
                grid.name);
    for (const auto& range : grid.box) box(range);
    for (const auto& range : grid.index) index(range);
    for (const auto& levels : grid.levels) keep_levels(levels);
    for (const auto& stride : grid.stride) keep_every(stride);
    for (const std::string& name : grid.reverse) std::ranges::reverse(kept_[find(name)]);
    for (std::size_t d = 0; d < names.size(); ++d)
      if (kept_[d].empty())
        refuse_at(grid.at, ErrorCode::invalid_argument,
                  "grid '{}' keeps no point of the dimension '{}' of field '{}'", grid.name, names[d], field);
  }

  [[nodiscard]] const std::vector<std::vector<std::uint64_t>>& kept() const noexcept { return kept_; }

 private:
  template <class Keep>
  void filter(std::size_t d, Keep keep) {
    std::erase_if(kept_[d], [&](std::uint64_t place) { return !keep(place); });
  }

  [[nodiscard]] std::size_t find(const std::string& name) const {
    const auto found = std::ranges::find(names_, name);
    if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
    refuse_at(grid_.at, ErrorCode::unknown_name, "grid '{}': field '{}' has no dimension '{}'{}; it has {}",
              grid_.name, field_, name, did_you_mean(name, names_), said_list(names_));
  }

  /// The dimension with this coordinate: by its name, or by its standard name.
  [[nodiscard]] std::size_t find_coordinate(const std::string& name) const {
    const auto standard = [](std::string_view given) {
      if (given == "lon") return std::string("longitude");
      if (given == "lat") return std::string("latitude");
      return std::string(given);
    };
    for (const bool by_name : {true, false})
      for (std::size_t d = 0; d < names_.size(); ++d) {
        const Dimension& dimension = definitions_.dimension(names_[d]);
        if (dimension.values.empty()) continue;
        if (by_name ? names_[d] == name : dimension.options.standard_name == standard(name)) return d;
      }
    refuse_at(
        grid_.at, ErrorCode::unknown_name,
        "grid '{}': field '{}' has no dimension with the coordinate '{}'; its dimensions are {}. A subset by "
        "coordinates needs a coordinate of one dimension; otherwise use index",
        grid_.name, field_, name, said_list(names_));
  }

  [[nodiscard]] bool is_longitude(std::size_t d) const {
    const Dimension& dimension = definitions_.dimension(names_[d]);
    return dimension.options.standard_name == "longitude" || names_[d] == "lon" || names_[d] == "longitude";
  }

  [[nodiscard]] std::vector<double> coordinate_of(std::size_t d) const {
    const Dimension& dimension = definitions_.dimension(names_[d]);
    if (!dimension.has_known_values)
      refuse_at(grid_.at, ErrorCode::invalid_argument,
                "grid '{}': the values of the coordinate '{}' are not known, because the file of definitions "
                "has no coordinates with so many values ({}); only a run can select by them",
                grid_.name, names_[d], dimension.length);
    return numbers_of(dimension.values);
  }

  void box(const describe::Grid::Range& range) {
    const std::size_t d = find_coordinate(range.coordinate);
    const std::vector<double> values = coordinate_of(d);
    if (is_longitude(d)) {
      // East of `low`, at most as far as `high` is.
      const double width = range.high - range.low;
      const double span = width >= turn ? turn : width - turn * std::floor(width / turn);
      return filter(d, [&](std::uint64_t place) {
        const double east = values[place] - range.low;
        return east - turn * std::floor(east / turn) <= span;
      });
    }
    filter(d, [&](std::uint64_t place) { return values[place] >= range.low && values[place] <= range.high; });
  }

  void index(const describe::Grid::IndexRange& range) {
    const std::size_t d = find(range.dimension);
    const std::uint64_t length = definitions_.dimension(names_[d]).length;
    if (static_cast<std::uint64_t>(range.last) >= length)
      refuse_at(grid_.at, ErrorCode::invalid_argument,
                "grid '{}': index {} of '{}' does not exist: the dimension has {} points, from 0 to {}",
                grid_.name, range.last, range.dimension, length, length - 1);
    filter(d, [&](std::uint64_t place) {
      return place >= static_cast<std::uint64_t>(range.first) &&
             place <= static_cast<std::uint64_t>(range.last);
    });
  }

  void keep_levels(const describe::Grid::Levels& levels) {
    const std::size_t d = find_coordinate(levels.coordinate);
    const std::vector<double> values = coordinate_of(d);
    std::vector<std::uint64_t> places;
    for (const double level : levels.values) {
      const auto found = std::ranges::find_if(values, [&](double value) {
        return std::abs(value - level) <= 1e-6 * std::max(std::abs(value), std::abs(level));
      });
      if (found == values.end())
        refuse_at(grid_.at, ErrorCode::invalid_argument,
                  "grid '{}': '{}' has no level {}; it has {}. Values between levels need an interpolation",
                  grid_.name, levels.coordinate, level, fmt::join(values, ", "));
      places.push_back(static_cast<std::uint64_t>(found - values.begin()));
    }
    std::ranges::sort(places);
    filter(d, [&](std::uint64_t place) { return std::ranges::binary_search(places, place); });
  }

  void keep_every(const describe::Grid::Stride& stride) {
    std::vector<std::uint64_t>& kept = kept_[find(stride.dimension)];
    std::vector<std::uint64_t> fewer;
    for (std::size_t i = 0; i < kept.size(); i += static_cast<std::size_t>(stride.step))
      fewer.push_back(kept[i]);
    kept = std::move(fewer);
  }

  const Definitions& definitions_;
  const std::vector<std::string>& names_;
  const describe::Grid& grid_;
  const std::string& field_;
  std::vector<std::vector<std::uint64_t>> kept_;
};

/// What is kept of a dimension inside [start, start + count): the places in what is kept, which are
/// consecutive, because what is kept is in ascending or descending order.
struct Window {
  std::uint64_t first = 0;
  std::vector<std::uint64_t> inside;  ///< places from `start` on
};

Window window(const Space::Dimension& dimension, std::uint64_t start, std::uint64_t count) {
  Window window;
  for (std::uint64_t i = 0; i < dimension.length; ++i) {
    const std::uint64_t place = dimension.places.empty() ? i : dimension.places[i];
    if (place < start || place >= start + count) continue;
    if (window.inside.empty()) window.first = i;
    window.inside.push_back(place - start);
  }
  return window;
}

/// Elements of an array with lengths `shape`, for all combinations of places in its dimensions.
std::vector<std::uint32_t> combinations(const std::vector<std::uint64_t>& shape,
                                        const std::vector<std::vector<std::uint64_t>>& places) {
  std::vector<std::uint32_t> elements{0};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::vector<std::uint32_t> longer;
    longer.reserve(elements.size() * places[d].size());
    for (const std::uint32_t element : elements)
      for (const std::uint64_t place : places[d])
        longer.push_back(static_cast<std::uint32_t>(element * shape[d] + place));
    elements = std::move(longer);
  }
  return elements;
}

}  // namespace

std::string Space::text() const {
  std::string text;
  for (const Dimension& dimension : dimensions)
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", dimension.name, dimension.length);
  return text.empty() ? "a single value" : text;
}

std::string Space::places_text() const {
  std::string text;
  for (const Dimension& dimension : dimensions)
    if (!dimension.places.empty())
      text += fmt::format(" at {} {}-{} #{:016x}", dimension.name, dimension.places.front(),
                          dimension.places.back(), crc64(std::as_bytes(std::span(dimension.places))));
  return text;
}

std::uint64_t Space::global_points() const noexcept {
  std::uint64_t all = 1;
  for (const Dimension& dimension : dimensions) all *= dimension.length;
  return all;
}

const client::Decomposition& Spaces::decomposition(const std::string& name) const {
  return *must(session_->state().model_side().definitions().decomposition(name));
}

const Spaces::Part& Spaces::part_of(const Grid& grid) {
  const auto [at, fresh] = parts_.try_emplace(grid.name);
  if (!fresh) return at->second;
  std::vector<std::uint64_t> lengths;
  for (const std::string& name : grid.dimensions) lengths.push_back(definitions_.dimension(name).length);
  Part part;
  if (grid.decomposition.empty()) {
    part.local = lengths;
  } else {
    const client::Decomposition& it = decomposition(grid.decomposition);
    std::vector<std::uint64_t> global;
    if (it.map) {
      global.assign(it.map->global().begin(), it.map->global().end());
      part.local = {it.map->described().elements()};
    } else {
      global = it.block.global;
      part.local = it.block.count;
    }
    if (global != lengths)
      refuse(ErrorCode::invalid_argument, "grid '{}' has the lengths {}, but its decomposition '{}' has {}",
             grid.name, said_lengths(lengths), grid.decomposition, said_lengths(global));
  }
  part.points = product(part.local);
  return at->second = std::move(part);
}

const Space& Spaces::own(const Field& field) {
  const std::string key = fmt::format("{}|{}", fmt::join(field.options.axes, ","), field.options.grid);
  auto& space = spaces_[key];
  if (space) return *space;
  auto made = std::make_unique<Space>();
  made->name = "own";
  made->grid = field.options.grid;
  made->axes = field.options.axes.size();
  for (const std::string& name : definitions_.dimensions_of(field))
    made->dimensions.push_back({name, definitions_.dimension(name).length, {}});
  for (const std::string& axis : field.options.axes)
    made->local.push_back(definitions_.dimension(axis).length);
  if (session_ == nullptr) {
    leave_empty(*made);
  } else if (!made->grid.empty()) {
    const Grid& grid = definitions_.grid(made->grid);
    const Part& part = part_of(grid);
    made->decomposition = grid.decomposition;
    made->local.insert(made->local.end(), part.local.begin(), part.local.end());
  }
  if (session_ != nullptr) made->points = product(made->local);
  if (made->points > std::numeric_limits<std::uint32_t>::max())
    refuse(ErrorCode::resources, "field '{}' has {} values on this rank; at most {} can be processed",
           field.name, made->points, std::numeric_limits<std::uint32_t>::max());
  space = std::move(made);
  return *space;
}

const Space& Spaces::subset(const Field& field, const describe::Grid& grid) {
  const Space& own_space = own(field);
  const std::string key = key_of(field, grid.name);
  if (const auto known = spaces_.find(key); known != spaces_.end()) return *known->second;
  const std::vector<std::string> names = definitions_.dimensions_of(field);
  const Selection selection(definitions_, names, grid, field.name);
  std::vector<Space::Dimension> dimensions;
  for (std::size_t d = 0; d < names.size(); ++d) {
    const std::vector<std::uint64_t>& kept = selection.kept()[d];
    const std::uint64_t whole = definitions_.dimension(names[d]).length;
    const bool all = kept.size() == whole && std::ranges::is_sorted(kept);
    dimensions.push_back({names[d], kept.size(), all ? std::vector<std::uint64_t>{} : kept});
  }
  return *spaces_.emplace(key, make_subset(grid.name, own_space, std::move(dimensions))).first->second;
}

const Space& Spaces::without(const Space& of, const std::vector<std::string>& axes) {
  const auto remains = [&](const std::string& name) { return std::ranges::find(axes, name) == axes.end(); };
  Field rest;
  rest.name = "without " + fmt::format("{}", fmt::join(axes, ", "));
  rest.options.grid = of.grid;
  std::vector<Space::Dimension> dimensions;
  for (std::size_t d = 0; d < of.dimensions.size(); ++d) {
    if (d < of.axes && !remains(of.dimensions[d].name)) continue;
    dimensions.push_back(of.dimensions[d]);
    if (d < of.axes) rest.options.axes.push_back(of.dimensions[d].name);
  }
  const Space& own_space = own(rest);
  if (!of.is_subset()) return own_space;
  const std::string key = key_of(rest, of.name);
  if (const auto known = spaces_.find(key); known != spaces_.end()) return *known->second;
  return *spaces_.emplace(key, make_subset(of.name, own_space, std::move(dimensions))).first->second;
}

std::string Spaces::key_of(const Field& field, const std::string& subset) {
  return fmt::format("{}|{}|{}", fmt::join(field.options.axes, ","), field.options.grid, subset);
}

std::unique_ptr<Space> Spaces::make_subset(const std::string& name, const Space& own_space,
                                           std::vector<Space::Dimension> dimensions) {
  auto space = std::make_unique<Space>();
  space->name = name;
  space->grid = own_space.grid;
  space->axes = own_space.axes;
  space->own = &own_space;
  space->dimensions = std::move(dimensions);
  for (std::size_t a = 0; a < space->axes; ++a) space->local.push_back(space->dimensions[a].length);
  if (session_ == nullptr) {
    leave_empty(*space);
  } else if (space->grid.empty()) {
    gather_axes(*space, {0}, 1);
  } else {
    divide(*space, definitions_.grid(space->grid));
  }
  if (session_ != nullptr) space->points = product(space->local);
  return space;
}

const Space& Spaces::of_grid(const std::string& grid) {
  Field field;
  field.name = grid;
  field.options.grid = grid;
  return own(field);
}

/// A Map stays as it is; a Block covers the trailing dimensions, and needs one more.
std::string Spaces::with_vertices(const Space& space, const std::string& vertices) {
  if (session_ == nullptr) return space.decomposition;
  if (space.decomposition.empty()) return {};
  const client::Decomposition& it = decomposition(space.decomposition);
  if (it.map) return space.decomposition;
  const std::string name = space.decomposition + " with " + vertices;
  if (!with_vertices_.insert(name).second) return name;
  const std::uint64_t length = definitions_.dimension(vertices).length;
  Block block = it.block;
  const Coverage coverage = it.coverage;
  block.global.push_back(length);
  block.start.push_back(0);
  block.count.push_back(length);
  if (std::ranges::find(block.count, 0U) != block.count.end()) std::ranges::fill(block.count, 0U);
  session_->decomposition(name, block, coverage);
  return name;
}

void Spaces::leave_empty(Space& space) const {
  if (space.grid.empty()) return;
  const Grid& grid = definitions_.grid(space.grid);
  space.decomposition = grid.decomposition;
  space.local.insert(space.local.end(), grid.dimensions.size(), 0);
}

/// Makes the decomposition of a subset of a grid, once for all fields with the same subset.
void Spaces::divide(Space& space, const Grid& grid) {
  const std::size_t own_points = part_of(grid).points;
  const bool all =
      std::ranges::all_of(space.dimensions.begin() + static_cast<std::ptrdiff_t>(space.axes),
                          space.dimensions.end(), [](const auto& it) { return it.places.empty(); });
  if (all || grid.decomposition.empty()) {
    // Every rank holds the whole grid, or nothing of it is cut.
    space.decomposition = grid.decomposition;
    std::vector<std::uint32_t> elements(own_points);
    std::iota(elements.begin(), elements.end(), 0U);
    std::vector<std::uint64_t> local = part_of(grid).local;
    if (!all) {
      std::vector<std::vector<std::uint64_t>> places;
      local.clear();
      for (std::size_t d = space.axes; d < space.dimensions.size(); ++d) {
        places.push_back(
            window(space.dimensions[d], 0, definitions_.dimension(space.dimensions[d].name).length).inside);
        local.push_back(places.back().size());
      }
      elements = combinations(part_of(grid).local, places);
    }
    space.local.insert(space.local.end(), local.begin(), local.end());
    return gather_axes(space, elements, own_points);
  }
  space.decomposition = grid.name + " of " + space.name;
  if (!gathered_.contains(space.decomposition)) {
    const client::Decomposition& it = decomposition(grid.decomposition);
    if (it.map)
      divide_map(space, grid, *it.map);
    else
      divide_block(space, grid, it.block);
  }
  const std::vector<std::uint64_t>& local = local_of_.at(space.decomposition);
  space.local.insert(space.local.end(), local.begin(), local.end());
  gather_axes(space, gathered_.at(space.decomposition), own_points);
}

void Spaces::divide_block(Space& space, const Grid& grid, const Block& block) {
  std::vector<std::uint64_t> global;
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;
  std::vector<std::vector<std::uint64_t>> places;
  for (std::size_t d = 0; d < grid.dimensions.size(); ++d) {
    const Space::Dimension& dimension = space.dimensions[space.axes + d];
    Window inside = window(dimension, block.start[d], block.count[d]);
    global.push_back(dimension.length);
    start.push_back(inside.first);
    count.push_back(inside.inside.size());
    places.push_back(std::move(inside.inside));
  }
  const Coverage coverage = decomposition(grid.decomposition).coverage;
  if (std::ranges::find(count, 0U) != count.end()) std::ranges::fill(count, 0U);
  gathered_[space.decomposition] = combinations(block.count, places);
  // From here on, `block` may lie elsewhere.
  session_->decomposition(space.decomposition, Block(global, start, count), coverage);
  local_of_[space.decomposition] = std::move(count);
}

void Spaces::divide_map(Space& space, const Grid& grid, const client::MapPart& map) {
  const std::size_t rank = grid.dimensions.size();
  // By place in the model's dimension: the place in what is kept, or none.
  constexpr std::int64_t none = -1;
  std::vector<std::vector<std::int64_t>> kept(rank);
  Map part;
  for (std::size_t d = 0; d < rank; ++d) {
    const Space::Dimension& dimension = space.dimensions[space.axes + d];
    kept[d].assign(map.global()[d], dimension.places.empty() ? 0 : none);
    for (std::uint64_t i = 0; i < dimension.length; ++i)
      kept[d][dimension.places.empty() ? i : dimension.places[i]] = static_cast<std::int64_t>(i);
    part.global.push_back(dimension.length);
  }
  std::vector<std::pair<std::uint32_t, std::int64_t>> found;  // element, index in the subset
  map.described().for_each([&](const model::PointRun& run) {
    for (std::uint32_t i = 0; i < run.length; ++i) {
      std::uint64_t rest = run.offset + i;
      std::int64_t index = 0;
      std::int64_t stride = 1;
      bool inside = true;
      for (std::size_t d = rank; d-- > 0;) {
        const std::int64_t place = kept[d][rest % map.global()[d]];
        rest /= map.global()[d];
        inside = inside && place != none;
        index += place * stride;
        stride *= static_cast<std::int64_t>(part.global[d]);
      }
      if (inside) found.emplace_back(run.element + i, index);
    }
  });
  std::ranges::sort(found);  // in the order of the rank's array
  std::vector<std::uint32_t> elements;
  for (const auto& [element, index] : found) {
    elements.push_back(element);
    part.indices.push_back(index);
  }
  const Coverage coverage = decomposition(grid.decomposition).coverage;
  session_->decomposition(space.decomposition, part, coverage);
  local_of_[space.decomposition] = {elements.size()};
  gathered_[space.decomposition] = std::move(elements);
}

void Spaces::gather_axes(Space& space, const std::vector<std::uint32_t>& of_grid,
                         std::size_t own_points) const {
  std::vector<std::uint64_t> lengths;
  std::vector<std::vector<std::uint64_t>> places;
  for (std::size_t a = 0; a < space.axes; ++a) {
    const std::uint64_t length = definitions_.dimension(space.dimensions[a].name).length;
    lengths.push_back(length);
    places.push_back(window(space.dimensions[a], 0, length).inside);
  }
  for (const std::uint32_t level : combinations(lengths, places))
    for (const std::uint32_t element : of_grid)
      space.from.push_back(static_cast<std::uint32_t>(level * own_points + element));
}

}  // namespace afterbay::output
