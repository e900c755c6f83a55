// SPDX-License-Identifier: Apache-2.0
#include "output/spaces.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/caller_terms.hpp"
#include "base/crc64.hpp"
#include "output/fitting_selection.hpp"
#include "output/refuse.hpp"
#include "session/state.hpp"

namespace afterbay::output {

namespace {

std::uint64_t product(const std::vector<std::uint64_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{1}, std::multiplies<>());
}

/// The kept indices of a dimension that lie in [start, start + count). Their positions among all
/// kept indices are consecutive, because these are in ascending or descending order.
struct Window {
  std::uint64_t first = 0;            ///< position of the first one among all kept indices
  std::vector<std::uint64_t> inside;  ///< the indices, relative to `start`
};

Window window(const Space::Dimension& dimension, std::uint64_t start, std::uint64_t count) {
  Window window;
  for (std::uint64_t i = 0; i < dimension.length; ++i) {
    const std::uint64_t place = dimension.is_whole() ? i : dimension.places[i];
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

/// The map of arrays with `length` values per point, which lie together.
Map with_values(const client::MapPart& map, std::uint64_t length) {
  Map made;
  made.global.assign(map.global().begin(), map.global().end());
  made.global.push_back(length);
  const model::PointRuns& runs = map.described();
  made.indices.assign(runs.elements() * length, made.hole);
  runs.for_each([&](const model::PointRun& run) {
    for (std::uint64_t i = 0; i < run.length * length; ++i)
      made.indices[run.element * length + i] = static_cast<std::int64_t>(run.offset * length + i);
  });
  return made;
}

std::string text_of_places(const std::vector<std::uint64_t>& places) {
  return fmt::format("{}-{} #{:016x}", places.front(), places.back(),
                     crc64(std::as_bytes(std::span(places))));
}

/// Whether a subset keeps all points of these dimensions, which does not depend on the ranks.
bool keeps_all(const Space& space, const std::vector<Space::Dimension>& dimensions) {
  return !space.has_joint_box && !space.known_in_run_only &&
         std::ranges::all_of(dimensions, [](const Space::Dimension& it) { return it.is_whole(); });
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
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
    if (!dimension.is_whole()) text += fmt::format(" at {} {}", dimension.name, dimension.cut);
  return text;
}

std::uint64_t Space::global_points() const noexcept {
  std::uint64_t all = 1;
  for (const Dimension& dimension : dimensions) all *= dimension.length;
  return all;
}

bool Spaces::ranks_have_failed() const noexcept {
  return session_ != nullptr && session_->state().output.agreed_to_fail;
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

std::vector<std::optional<std::uint64_t>> Spaces::points_of(const Grid& grid) {
  const Part& part = part_of(grid);
  if (part.points > std::numeric_limits<std::uint32_t>::max())
    refuse(ErrorCode::resources, "grid '{}' has {} points on this rank; at most {} can be processed",
           grid.name, part.points, std::numeric_limits<std::uint32_t>::max());
  std::vector<std::optional<std::uint64_t>> points(part.points);
  const client::Decomposition* const of =
      grid.decomposition.empty() ? nullptr : &decomposition(grid.decomposition);
  if (of != nullptr && of->map) {
    of->map->described().for_each([&](const model::PointRun& run) {
      for (std::uint64_t i = 0; i < run.length; ++i) points[run.element + i] = run.offset + i;
    });
    return points;
  }
  std::vector<std::uint64_t> at(part.local.size(), 0);
  for (std::optional<std::uint64_t>& point : points) {
    std::uint64_t index = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
      index = index * definitions_.dimension(grid.dimensions[d]).length + at[d] +
              (of != nullptr ? of->block.start[d] : 0);
    point = index;
    for (std::size_t d = at.size(); d-- > 0 && ++at[d] == part.local[d];) at[d] = 0;
  }
  return points;
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
    made->dimensions.push_back({name, definitions_.dimension(name).length, {}, {}});
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

const Space& Spaces::subset(const Field& field, const describe::GridSubset& described) {
  const Space& own_space = own(field);
  const describe::GridSubset grid = fitting_selection(definitions_, field, described);
  if (selects_all(grid) && !selects_all(described)) return own_space;
  const Chosen chosen = chosen_by(field, grid);
  const std::string key = key_of(field, grid.name, chosen.all());
  if (const auto known = spaces_.find(key); known != spaces_.end()) return *known->second;
  std::vector<std::string> names = definitions_.dimensions_of(field);
  if (!grid.stations.empty()) names.resize(own_space.axes);  // they replace the others
  DimensionChoice choice(definitions_, field, names, grid);
  // Definitions on file do not have the coordinates that ranks have together.
  const bool is_joint = !choice.joint().empty() && session_ != nullptr;
  const bool by_points =
      is_joint && !own_space.grid.empty() && definitions_.grid(own_space.grid).dimensions.size() == 1;
  Space like;
  like.name = grid.name;
  like.grid = own_space.grid;
  like.chosen_by = chosen.all();
  like.part = own_space.grid + " of " + grid.name;
  if (!chosen.of_grid.empty()) like.part += fmt::format(" by {}", fmt::join(chosen.of_grid, ", "));
  like.known_in_run_only = !choice.is_known() || (!choice.joint().empty() && session_ == nullptr);
  if (!choice.joint().empty()) check_box(choice, field, grid);
  if (is_joint && !by_points) apply_box(choice, field, grid, like.part, own_space.axes);
  const SelectedPoints* const points =
      by_points ? &points_in_box(choice, field, grid, like.part, own_space.axes) : nullptr;
  const std::size_t count = by_points ? own_space.axes : names.size();
  choice.finish(count);
  like.marks_outside = grid.outside == describe::Outside::missing;
  for (std::size_t d = 0; d < count; ++d) {
    const DimensionChoice::Indices& kept = choice.kept(d);
    const std::uint64_t whole = definitions_.dimension(names[d]).length;
    if (!kept || (kept->size() == whole && std::ranges::is_sorted(*kept)))
      like.dimensions.push_back({names[d], whole, {}, {}});
    else
      like.dimensions.push_back({names[d], kept->size(), *kept, text_of_places(*kept)});
  }
  like.has_joint_box = !choice.joint().empty();
  if (grid.stations.empty() && keeps_all(like, like.dimensions)) return own_space;
  if (!grid.stations.empty()) place_stations(like, field, grid);
  if (by_points) choose_points(like, choice, *points);
  return *spaces_.emplace(key, make_subset(like, own_space, like.dimensions)).first->second;
}

const Space& Spaces::without(const Space& of, const std::vector<std::string>& axes) {
  if (of.late) return late(of, axes);
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
  if (!of.is_subset() || (!of.has_list && keeps_all(of, dimensions))) return own_space;
  // Coordinates of an axis that vanishes choose nothing any more: fields without it have the same
  // points.
  std::vector<std::string> chosen = of.chosen_by;
  std::erase_if(chosen, [&](const std::string& name) {
    const auto& all = definitions_.coordinates();
    const auto found = std::ranges::find(all, name, &Coordinate::name);
    return !remains(name) ||
           (found != all.end() && found->grid.empty() && !std::ranges::all_of(found->dimensions, remains));
  });
  const std::string key = key_of(rest, of.name, chosen);
  if (const auto known = spaces_.find(key); known != spaces_.end()) return *known->second;
  auto made = make_subset(of, own_space, std::move(dimensions));
  made->chosen_by = std::move(chosen);
  return *spaces_.emplace(key, std::move(made)).first->second;
}

std::string Spaces::key_of(const Field& field, const std::string& subset,
                           const std::vector<std::string>& chosen_by) {
  return fmt::format("{}|{}|{}|{}", fmt::join(field.options.axes, ","), field.options.grid, subset,
                     fmt::join(chosen_by, ","));
}

std::vector<std::string> Spaces::Chosen::all() const {
  std::vector<std::string> names = of_grid;
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

Spaces::Chosen Spaces::chosen_by(const Field& field, const describe::GridSubset& grid) const {
  Chosen chosen;
  const Grid* const of = field.options.grid.empty() ? nullptr : &definitions_.grid(field.options.grid);
  const auto add = [&](std::string_view name) {
    try {
      const auto found = find_coordinate(definitions_, field, name);
      if (!found) return false;
      add_once(of != nullptr && is_of_grid(*found, *of) ? chosen.of_grid : chosen.others, found->name);
      return has_several_dimensions(*found);
    } catch (const Failure&) {
      return false;  // DimensionChoice and stations say so, at the place in the description
    }
  };
  bool is_joint = !grid.stations.empty();
  for (const describe::GridSubset::Range& range : grid.box) is_joint = add(range.coordinate) || is_joint;
  for (const describe::GridSubset::Levels& levels : grid.levels) add(levels.coordinate);
  // Stations, and whether the ends of a grid are neighbours.
  for (const char* const name : {"lon", "lat"})
    if (is_joint) add(name);
  return chosen;
}

std::unique_ptr<Space> Spaces::make_subset(const Space& like, const Space& own_space,
                                           std::vector<Space::Dimension> dimensions) {
  auto space = std::make_unique<Space>();
  space->name = like.name;
  space->grid = own_space.grid;
  space->axes = own_space.axes;
  space->own = &own_space;
  space->dimensions = std::move(dimensions);
  space->has_list = like.has_list;
  space->stations = like.stations;
  space->marks_outside = like.marks_outside;
  space->known_in_run_only = like.known_in_run_only;
  space->has_joint_box = like.has_joint_box;
  space->part = like.part;
  space->chosen_by = like.chosen_by;
  for (std::size_t a = 0; a < space->axes; ++a) space->local.push_back(space->dimensions[a].length);
  if (session_ == nullptr) {
    leave_empty(*space);
  } else if (space->grid.empty()) {
    gather_axes(*space, {0}, 1);
  } else if (space->has_list) {
    take_list(*space, definitions_.grid(space->grid));
  } else {
    divide(*space, definitions_.grid(space->grid));
  }
  if (session_ != nullptr) space->points = product(space->local);
  return space;
}

SharedGrid Spaces::shared(const Grid& grid) const {
  const bool is_divided = session_ != nullptr && !grid.decomposition.empty();
  return {session_, definitions_, grid, is_divided ? &decomposition(grid.decomposition) : nullptr};
}

void Spaces::check_box(const DimensionChoice& choice, const Field& field, const describe::GridSubset& grid) {
  if (field.options.grid.empty())
    refuse_at(choice.joint().front().range->at, ErrorCode::invalid_argument,
              "grid '{}': field '{}' has no horizontal grid, so that a box by '{}', which has several "
              "dimensions, cannot be taken of it; use index",
              grid.name, field.name, choice.joint().front().coordinate.name);
}

void Spaces::apply_box(DimensionChoice& choice, const Field& field, const describe::GridSubset& grid,
                       const std::string& part, std::size_t axes) {
  const Grid& of = definitions_.grid(field.options.grid);
  auto known = boxes_.find(part);
  if (known == boxes_.end()) {
    const SharedGrid all = shared(of);
    const CoordinateBox box(all, field, grid, choice, axes);
    known = boxes_.emplace(part, Box{box.index_box(), box.inside()}).first;
  }
  for (std::size_t d = 0; d < of.dimensions.size(); ++d)
    choice.keep_only(axes + d, known->second.box.places[d]);
}

const SelectedPoints& Spaces::points_in_box(const DimensionChoice& choice, const Field& field,
                                            const describe::GridSubset& grid, const std::string& part,
                                            std::size_t axes) {
  const Grid& of = definitions_.grid(field.options.grid);
  const std::string& name = of.dimensions.front();
  if (const auto known = selected_points_.find(part); known != selected_points_.end()) return known->second;
  // Values along the dimension that every rank writes need the list of points.
  const bool listed =
      of.decomposition.empty() || !definitions_.dimension(name).values.empty() ||
      std::ranges::any_of(definitions_.coordinates(), [&](const Coordinate& it) {
        return it.grid.empty() && std::ranges::find(it.dimensions, name) != it.dimensions.end();
      });
  const SharedGrid all = shared(of);
  return selected_points_.emplace(part, CoordinateBox(all, field, grid, choice, axes).selected_points(listed))
      .first->second;
}

void Spaces::choose_points(Space& space, const DimensionChoice& choice, const SelectedPoints& set) {
  const Grid& of = definitions_.grid(space.grid);
  const std::string& name = of.dimensions.front();
  const std::uint64_t step = choice.stride_of(name);
  const bool reversed = choice.is_reversed(name);
  const std::uint64_t count = (set.count - 1) / step + 1;
  const auto place_of = [&](std::uint64_t position) {
    return reversed ? count - 1 - position / step : position / step;
  };
  Space::Dimension dimension{
      name, count, {}, fmt::format("#{:016x}/{}{}", set.digest, step, reversed ? "-" : "")};
  if (!set.places.empty()) {
    dimension.places.resize(count);
    for (std::uint64_t p = 0; p < set.count; p += step) dimension.places[place_of(p)] = set.places[p];
  }
  std::vector<std::uint32_t> elements;
  std::vector<std::uint64_t> positions;
  if (of.decomposition.empty()) {
    for (const std::uint64_t place : dimension.places) elements.push_back(static_cast<std::uint32_t>(place));
  } else {
    for (std::size_t i = 0; i < set.elements.size(); ++i) {
      if (set.positions[i] % step != 0) continue;
      elements.push_back(set.elements[i]);
      positions.push_back(place_of(set.positions[i]));
    }
  }
  space.dimensions.push_back(std::move(dimension));
  space.has_list = true;
  list_points(of, space.part, count, elements, positions);
}

void Spaces::place_stations(Space& space, const Field& field, const describe::GridSubset& grid) {
  if (space.grid.empty())
    refuse_at(grid.at, ErrorCode::invalid_argument,
              "grid '{}': field '{}' has no horizontal grid, so that it has no values at stations; give it "
              "\"grid: own\", or write it into another file",
              grid.name, field.name);
  if (std::ranges::find(field.options.axes, station_name) != field.options.axes.end())
    refuse_at(grid.at, ErrorCode::conflict,
              "grid '{}': field '{}' has a dimension '{}' already; stations need this name", grid.name,
              field.name, station_name);
  const Grid& of = definitions_.grid(space.grid);
  const SharedGrid all = shared(of);
  auto& known = stations_[space.part];
  if (known == nullptr) known = std::make_shared<const Stations>(find_stations(all, field, grid));
  space.stations = known;
  space.known_in_run_only = space.known_in_run_only || !known->are_known;
  space.has_list = true;
  space.dimensions.push_back(
      {station_name, known->count(), known->points, fmt::format("#{:016x}", known->digest())});
  if (session_ == nullptr) return;
  const StationElements found = elements_of(*known, all);
  std::vector<std::uint32_t> elements = found.elements;
  if (of.decomposition.empty())
    for (std::size_t i = 0; i < elements.size(); ++i) elements[found.stations[i]] = found.elements[i];
  list_points(of, space.part, known->count(), elements, {found.stations.begin(), found.stations.end()});
}

void Spaces::list_points(const Grid& grid, const std::string& name, std::uint64_t count,
                         const std::vector<std::uint32_t>& elements,
                         const std::vector<std::uint64_t>& positions) {
  if (!gathered_.emplace(name, elements).second || grid.decomposition.empty()) return;
  Map part;
  part.global = {count};
  part.indices.assign(positions.begin(), positions.end());
  const Coverage coverage = decomposition(grid.decomposition).coverage;
  session_->decomposition(name, part, coverage);
}

void Spaces::take_list(Space& space, const Grid& grid) {
  if (!grid.decomposition.empty()) space.decomposition = space.part;
  const std::vector<std::uint32_t>& elements = gathered_.at(space.part);
  space.local.push_back(elements.size());
  gather_axes(space, elements, part_of(grid).points);
}

/// `elements`: of the grid's array, which the subset has, in its order.
void Spaces::mark_outside(Space& space, const std::vector<std::uint32_t>& elements) const {
  const auto known = boxes_.find(space.part);
  if (known == boxes_.end() || !space.marks_outside) return;
  std::uint32_t levels = 1;
  for (std::size_t a = 0; a < space.axes; ++a) levels *= static_cast<std::uint32_t>(space.local[a]);
  const std::vector<bool>& inside = known->second.inside;
  for (std::uint32_t level = 0; level < levels; ++level)
    for (std::uint32_t i = 0; i < elements.size(); ++i)
      if (elements[i] >= inside.size() || !inside[elements[i]])
        space.outside.push_back(level * static_cast<std::uint32_t>(elements.size()) + i);
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
  const std::uint64_t length = definitions_.dimension(vertices).length;
  // A map covers the trailing dimensions if they have its lengths.
  const bool is_ambiguous =
      it.map && std::ranges::all_of(it.map->global(), [&](std::uint64_t other) { return other == length; });
  if (it.map && !is_ambiguous) return space.decomposition;
  const std::string name = space.decomposition + " with " + vertices;
  if (!with_vertices_.insert(name).second) return name;
  const Coverage coverage = it.coverage;
  if (it.map) {
    session_->decomposition(name, with_values(*it.map, length), coverage);
    return name;
  }
  Block block = it.block;
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
  const bool all = std::ranges::all_of(space.dimensions.begin() + static_cast<std::ptrdiff_t>(space.axes),
                                       space.dimensions.end(), [](const auto& it) { return it.is_whole(); });
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
    mark_outside(space, elements);
    space.local.insert(space.local.end(), local.begin(), local.end());
    return gather_axes(space, elements, own_points);
  }
  space.decomposition = space.part;
  if (!gathered_.contains(space.decomposition)) {
    const client::Decomposition& it = decomposition(grid.decomposition);
    if (it.map)
      divide_map(space, grid, *it.map);
    else
      divide_block(space, grid, it.block);
  }
  mark_outside(space, gathered_.at(space.decomposition));
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
    kept[d].assign(map.global()[d], dimension.is_whole() ? 0 : none);
    for (std::uint64_t i = 0; i < dimension.length; ++i)
      kept[d][dimension.is_whole() ? i : dimension.places[i]] = static_cast<std::int64_t>(i);
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
