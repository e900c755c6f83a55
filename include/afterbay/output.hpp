// SPDX-License-Identifier: Apache-2.0
/// @file
/// Output: a model puts its fields once, and a description says which files there are, how often
/// they are written, and with which operations (docs/reference/description.md).
///
/// @code
/// SessionOptions options;
/// options.set("output", "output.yaml");
/// Session session = open_session(MPI_COMM_WORLD, options);
/// if (session.is_server()) { session.serve(); return 0; }
/// session.decomposition("atm", Block{global, start, count});
/// Output output(session, {.calendar = Calendar("noleap"),
///                         .start = {.year = 2000},
///                         .step = Period::parse("30min")});
/// output.dimension("lat", latitudes, {.units = "degrees_north", .standard_name = "latitude"});
/// output.dimension("lon", longitudes, {.units = "degrees_east", .standard_name = "longitude"});
/// output.grid("atm", {"lat", "lon"}, "atm");
/// output.field("tas", {.grid = "atm", .units = "K", .standard_name = "air_temperature"});
/// output.start();
/// for (std::int64_t n = 1; n <= steps; ++n) {
///   output.step(n);
///   compute();
///   output.put("tas", tas.data());
/// }
/// output.finalize();
/// session.finalize();
/// @endcode
///
/// Time: step n covers the time after `start + (n - 1) * step`, up to and including `start + n *
/// step`. Values that are put in step n are those of its end. Step 0 is the state at the start of
/// the run, before the first step; it is optional and only enters instants of files with
/// `at_start`.
///
/// Rules for every call:
/// - Order: every model rank makes the same calls in the same order, with the same arguments except
///   for data. All definitions come before start().
/// - Waits: start() waits for all model ranks, for the servers as Session::start does, and to read
///   the state from which the run resumes and the files to which it appends. put(), put_section(),
///   step(), save() and finalize() write records: they wait for room as OutputFile::put does, as
///   Collection::open does if a file begins, and, if the run continues that file, until the servers
///   have opened and read it. step(), save() and finalize() also wait as Session::end_step and
///   OutputFile::close do, and, if the description reduces over dimensions of a grid, for other
///   model ranks: step() for those that are more than two steps behind; save(), finalize() and the
///   end of a step with an epoch of the description until all have ended the step. save(), and
///   finalize() with a path, wait as Session::start does at first use. The other calls do not wait.
/// - Errors are thrown as Failure, as by Session. A call that is refused because of its arguments
///   or its order leaves the output usable; after an error in values (results that a type cannot
///   hold) or files, end the run. bad_state: every call on an empty handle and after the end of the
///   session, except date(), current_step() and a further finalize(); definitions after start();
///   the calls of the run before it, except date(), current_step() and finalize(), which does
///   nothing then.
/// - Definitions (dimension() to field()) throw conflict if a name is taken, unknown_name, with a
///   suggestion, for a dimension or grid that is not defined, invalid_argument for names, lengths
///   and values that are impossible and for text that is not UTF-8, wrong_type for values of a
///   wrong type. start() reports all that depends on several definitions.
/// - Threads: one thread at a time uses an Output and its session.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/calendar.hpp"
#include "afterbay/decomposition.hpp"
#include "afterbay/export.h"
#include "afterbay/schema.hpp"
#include "afterbay/session.hpp"
#include "afterbay/types.hpp"

namespace afterbay {

/// The time of a model, and what a run continues.
struct AFTERBAY_API OutputOptions {
  Calendar calendar = {};                   ///< counts the dates of the run
  Date start = {};                          ///< when the run began: the first of its jobs, if it has several
  std::optional<Date> reference = {};       ///< reference of time axes: "days since ..."; unset: `start`
  Period step = {};                         ///< time step, in seconds or months: "30min", "1mo"
  std::optional<std::int64_t> member = {};  ///< {member} in names of files: number of an ensemble's member
  /// The state from which the run continues: the path of a file that finalize() or save() has
  /// written. Empty: the run begins.
  std::string resume = {};
};

/// Properties of a coordinate.
struct AFTERBAY_API CoordinateOptions {
  std::string units = {};          ///< UDUNITS; empty: none
  std::string standard_name = {};  ///< standard name of the CF conventions; empty: none
  std::string long_name = {};      ///< empty: none
  /// Further attributes: `axis`, `positive`, `bounds`. Other coordinates that they name, also those
  /// in `formula_terms`, `cell_measures`, `grid_mapping`, `mesh` and the attributes of a UGRID
  /// mesh, are written with them.
  std::vector<Attribute> attributes = {};
  Values bounds = {};  ///< bounds of a constant 1-D coordinate, two per value; empty: none
  /// For coordinates of a grid: a dimension with several values per point, which lie together in
  /// `data`: vertices of cells. Empty: one value per point.
  std::string vertices = {};
};

/// A field of the model.
struct AFTERBAY_API FieldOptions {
  std::string grid = {};                   ///< its horizontal grid; empty: the same values on all ranks
  std::vector<std::string> axes = {};      ///< dimensions before those of the grid, slowest first: levels
  Type type = Type::float32;               ///< type in `put`, and in files unless they say otherwise
  std::string units = {};                  ///< UDUNITS; empty: none
  std::string standard_name = {};          ///< standard name of the CF conventions; empty: none
  std::string long_name = {};              ///< empty: none
  Values fill = {};                        ///< marks missing values, one of `type`; empty: there are none
  std::vector<Attribute> attributes = {};  ///< further ones; `_FillValue` is `fill`
};

/// The points of a HEALPix grid: 12 nside^2 cells of equal area (Górski et al. 2005,
/// doi:10.1086/427976).
struct AFTERBAY_API HealpixGrid {
  std::uint64_t nside = 0;  ///< cells along an edge of a base pixel, 1 to 2^29
  /// Order of the points: `nested`, along a curve, for which nside is a power of two; otherwise
  /// along rings from north to south.
  bool nested = true;
};

/// The points of a reduced Gaussian grid: from north to south, at the roots of the Legendre
/// polynomial, and from 0 degrees eastwards.
struct AFTERBAY_API GaussianGrid {
  std::vector<std::uint32_t> points_of_latitudes;  ///< at most 32768 latitudes

  /// The octahedral grid O`number`: 20 points next to a pole, 4 more at each latitude towards the
  /// equator (as used by ECMWF since 2016).
  static GaussianGrid octahedral(std::uint32_t number) {
    GaussianGrid grid;
    for (std::uint32_t i = 0; i < number; ++i) grid.points_of_latitudes.push_back(20 + 4 * i);
    for (std::uint32_t i = number; i-- > 0;) grid.points_of_latitudes.push_back(20 + 4 * i);
    return grid;
  }
  friend bool operator==(const GaussianGrid&, const GaussianGrid&) = default;
};

/// The coordinates of a HEALPix or Gaussian grid, which are computed.
struct AFTERBAY_API ComputedCoordinates {
  std::string latitude = "lat";   ///< name; degrees
  std::string longitude = "lon";  ///< name; degrees, 0 to 360
  /// Also the corners of the cells: four per point, with the names of the coordinates and `_bnds`.
  bool bounds = false;
};

/// The described output of a session. Movable. A session may have one.
class AFTERBAY_API Output {
 public:
  /// Takes the session's description: the setting `output` and SessionOptions::output_text. Does
  /// not wait. Throws invalid_argument for an invalid date or step, bad_state on a server, after
  /// the end of the session, in a thread that must not call MPI, or if the session has an Output
  /// already.
  Output(Session& session, const OutputOptions& options);

  /// Defines a dimension, without a coordinate. Throws as all definitions do (see above).
  void dimension(const std::string& name, std::uint64_t length);
  /// Defines a dimension with its coordinate variable: `values` are the same on all ranks, numbers
  /// that increase or decrease. Throws as all definitions do; invalid_argument for values or bounds
  /// that cannot be those of a coordinate.
  void dimension(const std::string& name, const Values& values, const CoordinateOptions& options = {});
  /// Defines a grid: its dimensions, slowest first, and the decomposition of the session by which
  /// they are distributed. A Block or Map has as many lengths as the grid has dimensions; the first
  /// call that needs the points of the grid checks it, at the latest start(). Throws as all
  /// definitions do.
  void grid(const std::string& name, const std::vector<std::string>& dimensions,
            const std::string& decomposition);
  /// Defines a HEALPix grid, its dimension, and the coordinates of its points along that dimension:
  /// each rank computes those of its part of the decomposition. Fields of the grid get the
  /// attribute `grid_mapping`, unless they have one. It names the variable `name`, which has the
  /// attributes of CF-1.13 (`refinement_level`, `indexing_scheme`) and those that CDO reads
  /// (`healpix_nside`, `healpix_order`). Throws as all definitions do; invalid_argument for a size
  /// that no such grid has, or if the decomposition has another length, unknown_name for a
  /// decomposition that is not defined.
  void healpix_grid(const std::string& name, const std::string& dimension, const HealpixGrid& points,
                    const std::string& decomposition, const ComputedCoordinates& coordinates = {});
  /// Defines a reduced Gaussian grid, its dimension and the coordinates of its points, as
  /// healpix_grid does. There is no grid mapping. The edge between two cells of a latitude lies
  /// halfway between their longitudes. The edges between latitudes are placed so that the areas of
  /// the zones are proportional to the weights of Gaussian quadrature. Throws as healpix_grid does.
  void gaussian_grid(const std::string& name, const std::string& dimension, const GaussianGrid& points,
                     const std::string& decomposition, const ComputedCoordinates& coordinates = {});
  /// Defines an auxiliary coordinate with the same values on all ranks: of dimensions, or of a
  /// single value if there are none. Variables with these dimensions name it in their attribute
  /// `coordinates`, unless other attributes of the field do. A single value is written for fields
  /// that name it. Throws as all definitions do.
  void coordinate(const std::string& name, const std::vector<std::string>& dimensions, const Values& values,
                  const CoordinateOptions& options = {});
  /// Defines an auxiliary coordinate of a grid, such as a two-dimensional latitude or that of
  /// unstructured points: each rank gives its part, which is copied. Fields of the grid name it in
  /// `coordinates`, unless they name it in another attribute (`cell_measures`), or it has
  /// `vertices`. Throws as all definitions do; unknown_name also if the grid's decomposition is not
  /// defined, invalid_argument if it has other lengths, and for null data.
  template <class T>
  void grid_coordinate(const std::string& name, const std::string& grid, const T* data,
                       const CoordinateOptions& options = {}) {
    grid_coordinate_raw(name, grid, data, type_of<T>, options);
  }
  /// Defines a field. Throws as all definitions do; invalid_argument for the attribute
  /// `_FillValue`, instead of which `fill` is given.
  void field(const std::string& name, const FieldOptions& options);

  /// Ends the definitions and makes the plan. Every model rank calls it. Waits for all model ranks
  /// (see Waits). Throws conflict, with the ranks, if they have not given the same OutputOptions;
  /// and, with the places in the description, all that is wrong: fields that are not defined,
  /// periods that are not a multiple of the step, units that do not convert, a state of another
  /// description (invalid_argument, unknown_name, conflict, wrong_type); resources if a rank would
  /// need more than `output.memory`; exists for a file that exists; io, format and conflict for the
  /// state and the files with which the run continues; and as Session::start does.
  void start();
  /// Begins step `number`, and ends the one before. The first call is step(1), or step(0) for the
  /// state at the start; after resuming, the step after the last one of the saved state. Waits for
  /// room and files, and with reductions over grids for other ranks (see Waits). Throws
  /// invalid_argument if it goes backwards or leaves out a step; conflict for step 1 as the first
  /// one, if a file has `at_start`, for two files of the same name, of this session or of another
  /// one that runs, and if ranks have made different calls; bad_state if a field that the step
  /// before needed has not been put, and after finalize(); wrong_type for results that the type of
  /// the file cannot hold; timed_out with the rank that is behind; and as Collection::open,
  /// OutputFile::put and Session::epoch do.
  void step(std::int64_t number);
  /// Whether anything uses the current step's value of a field. If not, the model need not compute
  /// and put it. Does not wait. Throws unknown_name.
  [[nodiscard]] bool wants(std::string_view field) const;
  /// Hands over this rank's part of a field for the current step: `data` points to an array with
  /// the layout `memory` (dense by default) of the field's axes and the rank's part of its grid.
  /// Returns at once if nothing wants it; otherwise waits for room and files (see Waits). Throws
  /// unknown_name; wrong_type if T is not the field's type; invalid_argument for null data or an
  /// invalid layout; conflict if it was put in this step before; bad_state outside of a step;
  /// resources if a copy that the layout requires does not fit into `output.memory`; and as
  /// Collection::open and OutputFile::put do.
  template <class T>
  void put(std::string_view field, const T* data, const MemoryLayout& memory = {}) {
    put_raw(field, data, type_of<T>, memory);
  }

  /// The same for a section of this rank's part, in the indices of its array, for example one
  /// level; further calls hand over the others, in any order. `data` points to the values of the
  /// section, with the layout `memory`. What was handed over is copied; the field has been put when
  /// the last section has. Ranks may cut their parts differently, but must complete fields in the
  /// same order. Waits and throws as put does; conflict if sections overlap, invalid_argument for a
  /// section that leaves the part, resources if the copy does not fit into `output.memory`.
  template <class T>
  void put_section(std::string_view field, const Section& section, const T* data,
                   const MemoryLayout& memory = {}) {
    put_section_raw(field, section, data, type_of<T>, memory);
  }

  /// Writes the state of all periods that have begun to a new file, so that a later run can resume
  /// after the last step that has ended. Call it between the puts of one step and step() of the
  /// next one; it ends the step. The file is complete when the returned ticket is. Call
  /// Session::epoch after it, so that a crash cannot lose what the files contain at this moment.
  /// Waits for room and files, at first use as Session::start does, and with reductions over grids
  /// for all ranks to end the step (see Waits). Throws as step() does; conflict if a file of the
  /// output has the path.
  Ticket save(const std::string& path);
  /// Ends the last step, writes what the unfinished periods have so far (unless `partial: skip`),
  /// and closes the files. With a path the periods do not end: their state is saved instead, and a
  /// later run continues them and the files. Does nothing if called again, and before start().
  /// Waits and throws as save() does; conflict if a file that the run continues has records of an
  /// earlier run after its last one: this file is not published, the call waits until the others
  /// are, and the session's finalize() throws the same error.
  void finalize(const std::string& save_to = {});

  /// The date at the end of the current step; before the first step, that at which the run starts
  /// or resumes. Does not wait. Throws bad_state on an empty handle.
  [[nodiscard]] Date date() const;
  /// The number of the current step; after resuming and before step(), the last one of the saved
  /// state. Does not wait. Throws bad_state on an empty handle.
  [[nodiscard]] std::int64_t current_step() const;

  /// Like put, with the type as a value.
  void put_raw(std::string_view field, const void* data, Type type, const MemoryLayout& memory);
  /// Like put_section, with the type as a value.
  void put_section_raw(std::string_view field, const Section& section, const void* data, Type type,
                       const MemoryLayout& memory);
  /// Like grid_coordinate, with the type as a value.
  void grid_coordinate_raw(const std::string& name, const std::string& grid, const void* data, Type type,
                           const CoordinateOptions& options);

  /// An empty handle: every call throws bad_state.
  Output() noexcept;
  /// Leaves the other handle empty.
  Output(Output&&) noexcept;
  /// Leaves the other handle empty.
  Output& operator=(Output&&) noexcept;
  /// Without finalize(), after a step: the session's finalize() throws bad_state.
  ~Output();

  struct State;

 private:
  [[nodiscard]] State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace afterbay
