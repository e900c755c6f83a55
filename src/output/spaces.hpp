// SPDX-License-Identifier: Apache-2.0
// Space: the points of a field, or a subset of them, globally and on this rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "client/model_session.hpp"
#include "describe/description.hpp"
#include "output/coordinate_box.hpp"
#include "output/dimension_choice.hpp"
#include "output/field_definitions.hpp"
#include "output/stations.hpp"

namespace afterbay::output {

/// The dimension of stations.
inline constexpr const char* station_name = "station";

struct Space {
  struct Dimension {
    std::string name;          ///< name of the model's dimension; "station" for stations
    std::uint64_t length = 0;  ///< length of what is kept
    std::vector<std::uint64_t>
        places;       ///< what is kept of the model's dimension, in this order; empty: see `cut`
    std::string cut;  ///< what is kept, as text that differs for different places; empty: all
    [[nodiscard]] bool is_whole() const noexcept { return cut.empty(); }
  };
  std::string name;                   ///< name of the subset; "own": all points
  std::vector<Dimension> dimensions;  ///< slowest first; those of the grid are the last
  std::size_t axes = 0;               ///< dimensions before those of the grid
  std::string grid;                   ///< empty: the same values on all ranks
  std::string decomposition;  ///< decomposition of the session; empty: every rank holds the whole variable
  std::vector<std::uint64_t> local;  ///< lengths of this rank's array: axes, then its part of the grid
  std::size_t points = 0;            ///< in this rank's array
  /// Elements of the field's own array that are kept; empty for all points of the field.
  std::vector<std::uint32_t> from;
  /// Elements of this space's array whose points lie outside of the box and are to be missing.
  std::vector<std::uint32_t> outside;
  bool marks_outside = false;  ///< see describe::Outside
  /// Its points follow from coordinates that definitions on file do not have. The number of
  /// stations is known; otherwise, the space has all points that it could have.
  bool known_in_run_only = false;
  bool has_joint_box = false;  ///< a subset by a box of coordinates that ranks have together
  /// For a subset: what is kept of the grid, as a name, which differs if the field means other
  /// coordinates.
  std::string part;
  std::vector<std::string> chosen_by;  ///< coordinates of the model by which a subset keeps points
  const Space* own = nullptr;          ///< space of all points of the field; null: this one
  /// For results of reductions over a grid: the first model rank holds all points, and values come
  /// later than those of other spaces (late_steps.hpp). All dimensions are axes. A single value is
  /// an element on each rank; the element of the first rank counts.
  bool late = false;
  bool has_list = false;  ///< a dimension of listed points stands for those of the grid
  /// The listed points, the dimension "station", are those of stations; null: they are not.
  std::shared_ptr<const Stations> stations;

  [[nodiscard]] bool is_subset() const noexcept { return own != nullptr; }
  /// Points of all ranks together.
  [[nodiscard]] std::uint64_t global_points() const noexcept;
  /// For messages: "lev 40 x lat 96 x lon 144".
  [[nodiscard]] std::string text() const;
  /// Which points a subset keeps, " at lat 2-3 #c0ffee": differs for different points. Otherwise
  /// empty.
  [[nodiscard]] std::string places_text() const;
};

/// The elements of a rank's part of a grid, by the point of a result to which they belong when some
/// dimensions of the grid vanish.
struct GridGroups {
  std::vector<std::uint64_t> points;    ///< points of the grid without these dimensions, ascending
  std::vector<std::size_t> ends;        ///< end of each point's elements in `elements`
  std::vector<std::uint32_t> elements;  ///< ascending for each point
  std::uint64_t all = 1;                ///< points of the grid without these dimensions
};

/// Regions of a grid, for each of which there is a result.
struct Regions {
  /// Numbers of the regions, from 1 on; other numbers belong to no region.
  const Coordinate* numbers = nullptr;
  std::string dimension;
  std::uint64_t count = 1;
};

/// The spaces of a run. Subsets get decompositions of their own in the session.
class Spaces {
 public:
  /// `session`: whose rank this is; it outlives the spaces. Null: a rank that holds no points of
  /// any field.
  Spaces(Session* session, const FieldDefinitions& definitions)
      : session_(session), definitions_(definitions) {}

  /// Whether the ranks have failed together while they made a space: none of them makes others, for
  /// which it would wait for ranks that do not.
  [[nodiscard]] bool ranks_have_failed() const noexcept;
  /// Throws unknown_name if the session does not have the grid's decomposition, invalid_argument if
  /// it has other lengths.
  const Space& own(const Field& field);
  /// The points of the field that the subset keeps: own(field) if it has none of the axes along
  /// which the subset selects (fitting_selection.hpp). Throws, at the place in the description, if
  /// the subset cannot be taken of this field or has no points. Waits for the other ranks, if it
  /// depends on coordinates of a grid that ranks hold together: stations, and boxes by coordinates
  /// that are not dimensions.
  const Space& subset(const Field& field, const describe::GridSubset& described);
  /// The points of `of` without some of its dimensions, which are given by name and some of which
  /// belong to the grid; or of a late space. With regions, their dimension is the last one.
  const Space& late(const Space& of, const std::vector<std::string>& over, const Regions& regions = {});
  /// What this rank contributes to the points of `late(of, over)`. Throws conflict if ranks may
  /// hold a point several times.
  std::shared_ptr<const GridGroups> groups(const Space& of, const std::vector<std::string>& over,
                                           const Regions& regions = {});
  /// The points of `of` without some of its axes, which are given by name.
  const Space& without(const Space& of, const std::vector<std::string>& axes);
  /// All points of a grid.
  const Space& of_grid(const std::string& grid);
  /// The points of this rank's array of a grid, as linear indices; nullopt for elements that belong
  /// to no point.
  std::vector<std::optional<std::uint64_t>> points_of(const Grid& grid);
  /// The decomposition for several values per point of a space's grid, as many as a dimension has.
  std::string with_vertices(const Space& space, const std::string& vertices);

 private:
  /// A grid's part on this rank.
  struct Part {
    std::vector<std::uint64_t> local;  ///< lengths of a block, or the elements of a map
    std::size_t points = 1;
  };
  const Part& part_of(const Grid& grid);
  [[nodiscard]] SharedGrid shared(const Grid& grid) const;
  /// The subset of `own_space` that keeps these points of its dimensions. `like`: of other fields
  /// on the grid.
  std::unique_ptr<Space> make_subset(const Space& like, const Space& own_space,
                                     std::vector<Space::Dimension> dimensions);
  /// The coordinates that a subset means: fields of one grid may mean different ones.
  struct Chosen {
    std::vector<std::string> of_grid;
    std::vector<std::string> others;  ///< coordinates of axes
    [[nodiscard]] std::vector<std::string> all() const;
  };
  [[nodiscard]] Chosen chosen_by(const Field& field, const describe::GridSubset& grid) const;
  /// The same for all fields with these axes on this grid that mean the same coordinates.
  static std::string key_of(const Field& field, const std::string& subset,
                            const std::vector<std::string>& chosen_by);
  /// Refuses a box by coordinates of several dimensions of a field without a grid.
  static void check_box(const DimensionChoice& choice, const Field& field, const describe::GridSubset& grid);
  /// Applies a box by coordinates to the dimensions of a grid; once for all fields with the same
  /// `part` of it, Space::part.
  void apply_box(DimensionChoice& choice, const Field& field, const describe::GridSubset& grid,
                 const std::string& part, std::size_t axes);
  /// The points of an unstructured grid in a box by coordinates, before strides; once likewise.
  const SelectedPoints& points_in_box(const DimensionChoice& choice, const Field& field,
                                      const describe::GridSubset& grid, const std::string& part,
                                      std::size_t axes);
  void choose_points(Space& space, const DimensionChoice& choice, const SelectedPoints& set);
  void place_stations(Space& space, const Field& field, const describe::GridSubset& grid);
  /// Makes the decomposition of a list of points, which replace the dimensions of a grid; once
  /// likewise. `elements`: of this rank's array, at these `positions` of the list.
  void list_points(const Grid& grid, const std::string& name, std::uint64_t count,
                   const std::vector<std::uint32_t>& elements, const std::vector<std::uint64_t>& positions);
  void take_list(Space& space, const Grid& grid);
  void mark_outside(Space& space, const std::vector<std::uint32_t>& elements) const;
  void divide(Space& space, const Grid& grid);
  void divide_block(Space& space, const Grid& grid, const Block& block);
  void divide_map(Space& space, const Grid& grid, const client::MapPart& map);
  /// Makes the space of a rank without points.
  void leave_empty(Space& space) const;
  void gather_axes(Space& space, const std::vector<std::uint32_t>& of_grid, std::size_t own_points) const;
  const client::Decomposition& decomposition(const std::string& name) const;
  GridGroups make_groups(const Space& of, const std::vector<bool>& vanishes, const Regions& regions) const;
  /// By element of a space's part of its grid, from 0 on; regions.count outside of all regions.
  [[nodiscard]] static std::vector<std::uint64_t> regions_of(const Space& of, const Regions& regions);

  Session* session_;
  const FieldDefinitions& definitions_;
  std::map<std::string, std::unique_ptr<Space>> spaces_;
  std::map<std::string, Part> parts_;
  std::map<std::string, std::shared_ptr<const GridGroups>> groups_;  ///< by space and dimensions
  /// Elements of a grid's array that are kept, by Space::part, which is also the name of the
  /// decomposition that was made for them.
  std::map<std::string, std::vector<std::uint32_t>> gathered_;
  std::map<std::string, std::vector<std::uint64_t>> local_of_;
  std::set<std::string> with_vertices_;  ///< decompositions that were made
  /// What ranks have found together, by Space::part.
  struct Box {
    IndexBox box;
    std::vector<bool> inside;  ///< by element of the grid's array
  };
  std::map<std::string, Box> boxes_;
  std::map<std::string, SelectedPoints> selected_points_;
  std::map<std::string, std::shared_ptr<const Stations>> stations_;
};

}  // namespace afterbay::output
