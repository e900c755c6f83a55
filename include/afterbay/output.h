/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Described output for C; part of afterbay/afterbay.h, whose rules for errors, values and handles
   hold. A model puts its fields once, and a description says which files there are, how often they
   are written, and with which operations (docs/reference/description.md).

   @code
   afterbay_options_set(options, "output", "output.yaml");
   afterbay_session_open(MPI_COMM_WORLD, options, &session);  // servers: see afterbay.h
   afterbay_decomposition_define(session, "atm", 2, global, start, count, AFTERBAY_GAPS_REFUSED);
   const afterbay_output_options how = {.calendar = noleap, .start = &start_date, .step = &step};
   afterbay_output_open(session, &how, &output);
   afterbay_output_dimension_values(output, "lat", &latitudes, &degrees_north);
   afterbay_output_dimension_values(output, "lon", &longitudes, &degrees_east);
   afterbay_output_grid(output, "atm", 2, (const char*[]){"lat", "lon"}, "atm");
   const afterbay_field_options tas = {.grid = "atm", .type = AFTERBAY_FLOAT64, .units = "K"};
   afterbay_output_field(output, "tas", &tas);
   afterbay_output_start(output);
   for (int64_t n = 1; n <= steps; ++n) {
     afterbay_output_step(output, n);
     compute();
     afterbay_output_put(output, "tas", AFTERBAY_FLOAT64, temperature, NULL);
   }
   afterbay_output_finalize(output, NULL);
   afterbay_output_free(output);
   afterbay_session_finalize(session);
   @endcode

   Time: step n covers the time after `start + (n - 1) * step`, up to and including `start + n *
   step`. Values that are put in step n are those of its end. Step 0 is the state at the start of
   the run, before the first step; it is optional and only enters instants of files with `at_start`.

   Rules for every function:
   - Order: every model rank makes the same calls in the same order, with the same arguments except
     for data. All definitions come before afterbay_output_start.
   - Waits: afterbay_output_start waits for all model ranks, for the servers as
     afterbay_session_start does, and to read the state from which the run resumes and the files to
     which it appends. afterbay_output_put, _put_section, _step, _save and _finalize write records:
     they wait for room as afterbay_file_put does, as afterbay_collection_open does if a file
     begins, and, if the run continues that file, until the servers have opened and read it.
     afterbay_output_step, _save and _finalize also wait as afterbay_session_end_step and
     afterbay_file_close do, and, if the description reduces over dimensions of a grid, for other
     model ranks: _step for those that are more than two steps behind; _save, _finalize and the end
     of a step with an epoch of the description until all have ended the step.
     afterbay_output_save, and _finalize with a path, wait as afterbay_session_start does at first
     use. The other functions do not wait.
   - Errors: a call that is refused because of its arguments or its order leaves output and session
     usable; after an error in values (results that a type cannot hold) or files, end the run.
     AFTERBAY_BAD_STATE: every function after the end of the session, except afterbay_output_date,
     _current_step and a further _finalize; definitions after afterbay_output_start; the functions
     of the run before it, except _date, _current_step and _finalize, which does nothing then.
   - Threads: one thread at a time uses an output and its session. */
#ifndef AFTERBAY_OUTPUT_H
#define AFTERBAY_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "afterbay/calendar.h"
#include "afterbay/error.h"
#include "afterbay/export.h"
#include "afterbay/file.h"
#include "afterbay/schema.h"
#include "afterbay/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct afterbay_output afterbay_output;         /**< the described output of a session */
typedef struct afterbay_attributes afterbay_attributes; /**< further attributes of a field or coordinate */

/* ---- Values and attributes ---- */
/* Errors of all functions in this section: AFTERBAY_INVALID_ARGUMENT for NULL, AFTERBAY_WRONG_TYPE
   for a `type` that is none of enum afterbay_type. Any thread may call them, one at a time for the
   same list. */

/** A list of values: `count` of enum afterbay_type `type`. */
typedef struct afterbay_values {
  int type;         /**< enum afterbay_type */
  size_t count;     /**< 0: no values */
  const void* data; /**< characters for AFTERBAY_TEXT, pointers for AFTERBAY_STRING; NULL with count 0 */
} afterbay_values;

/** Creates an empty list of attributes. */
AFTERBAY_API int afterbay_attributes_create(afterbay_attributes** attributes);
/** Releases the list; fields and coordinates that were defined with it have copies. */
AFTERBAY_API void afterbay_attributes_free(afterbay_attributes* attributes);
/** Adds or replaces an attribute with `count` values of `type`, as afterbay_schema_set_attribute
   does. */
AFTERBAY_API int afterbay_attributes_set(afterbay_attributes* attributes, const char* name, int type,
                                         size_t count, const void* values);
/** Adds or replaces an attribute with text that ends with NUL. */
AFTERBAY_API int afterbay_attributes_set_text(afterbay_attributes* attributes, const char* name,
                                              const char* text);

/* ---- Opening ---- */

/** The time of a model, and what a run continues. Set unused members to zero. */
typedef struct afterbay_output_options {
  const afterbay_calendar* calendar; /**< counts the dates of the run; NULL: standard */
  const afterbay_date* start;     /**< when the run began: the first of its jobs, if it has several; needed */
  const afterbay_date* reference; /**< reference of time axes: "days since ..."; NULL: `start` */
  const afterbay_period* step;    /**< time step, in seconds or months: "30min", "1mo"; needed */
  int has_member;                 /**< 1: `member` is set */
  int64_t member;                 /**< {member} in names of files: number of an ensemble's member */
  /** The state from which the run continues: the path of a file that afterbay_output_finalize or
      _save has written. NULL: the run begins. */
  const char* resume;
} afterbay_output_options;

/** Opens the described output of a session, which takes its description from the setting `output`
    and from afterbay_options_set_output_text. A session may have one. Does not wait.
    AFTERBAY_INVALID_ARGUMENT for an invalid date or step, AFTERBAY_BAD_STATE on a server, after the
    end of the session, in a thread that must not call MPI, or if it has an output already. */
AFTERBAY_API int afterbay_output_open(afterbay_session* session, const afterbay_output_options* options,
                                      afterbay_output** output);
/** Releases the output. Without afterbay_output_finalize, after a step,
   afterbay_session_finalize fails. */
AFTERBAY_API void afterbay_output_free(afterbay_output* output);

/* ---- Definitions ---- */
/* Errors of all functions in this section: AFTERBAY_CONFLICT if a name is taken,
   AFTERBAY_UNKNOWN_NAME, with a suggestion, for a dimension or grid that is not defined,
   AFTERBAY_INVALID_ARGUMENT for names, lengths and values that are impossible, AFTERBAY_WRONG_TYPE
   for values of a wrong type. afterbay_output_start reports all that depends on several
   definitions. */

/** Properties of a coordinate. Set unused members to zero. */
typedef struct afterbay_coordinate_options {
  const char* units;         /**< UDUNITS; NULL: none */
  const char* standard_name; /**< standard name of the CF conventions; NULL: none */
  const char* long_name;     /**< NULL: none */
  /** Further attributes: `axis`, `positive`, `bounds`; NULL: none. Other coordinates that they
      name, also those in `formula_terms`, `cell_measures`, `grid_mapping`, `mesh` and the
      attributes of a UGRID mesh, are written with them. */
  const afterbay_attributes* attributes;
  afterbay_values bounds; /**< bounds of a constant 1-D coordinate, two per value; count 0: none */
  /** For coordinates of a grid: a dimension with several values per point, which lie together in
      `data`: vertices of cells. NULL: one value per point. */
  const char* vertices;
} afterbay_coordinate_options;

/** A field of the model. Set unused members to zero. */
typedef struct afterbay_field_options {
  const char* grid;        /**< its horizontal grid; NULL: the same values on all ranks */
  int axis_count;          /**< length of `axes` */
  const char* const* axes; /**< dimensions before those of the grid, slowest first: levels */
  /** The type of the values that are put, and in files unless they say otherwise: one of enum
      afterbay_type; 0: AFTERBAY_FLOAT32. */
  int type;
  const char* units;                     /**< UDUNITS; NULL: none */
  const char* standard_name;             /**< standard name of the CF conventions; NULL: none */
  const char* long_name;                 /**< NULL: none */
  afterbay_values fill;                  /**< marks missing values, one of `type`; count 0: there are none */
  const afterbay_attributes* attributes; /**< further ones; NULL: none */
} afterbay_field_options;

/** Defines a dimension, without a coordinate. */
AFTERBAY_API int afterbay_output_dimension(afterbay_output* output, const char* name, uint64_t length);
/** Defines a dimension with its coordinate variable: `values` are the same on all ranks, numbers
    that increase or decrease. `options` NULL: all members zero. AFTERBAY_INVALID_ARGUMENT for
    values or bounds that cannot be those of a coordinate. */
AFTERBAY_API int afterbay_output_dimension_values(afterbay_output* output, const char* name,
                                                  const afterbay_values* values,
                                                  const afterbay_coordinate_options* options);
/** Defines a grid: its `rank` dimensions, slowest first, and the decomposition of the session by
    which they are distributed. A block or map has as many lengths as the grid has dimensions; the
    first call that needs the points of the grid checks it, at the latest afterbay_output_start. */
AFTERBAY_API int afterbay_output_grid(afterbay_output* output, const char* name, int rank,
                                      const char* const* dimensions, const char* decomposition);
/** The computed coordinates of a HEALPix or Gaussian grid. Set unused members to zero. */
typedef struct afterbay_computed_coordinates {
  const char* latitude;  /**< name; degrees; NULL: "lat" */
  const char* longitude; /**< name; degrees, 0 to 360; NULL: "lon" */
  /** 1: also the corners of the cells: four per point, with the names of the coordinates and
      `_bnds`. */
  int bounds;
} afterbay_computed_coordinates;

/** Defines a HEALPix grid (Górski et al. 2005, doi:10.1086/427976), its dimension, and the
    coordinates of its 12 nside^2 points along that dimension: each rank computes those of its part
    of the decomposition. `nested` 1: points along a curve, for which `nside` is a power of two; 0:
    along rings from north to south. `coordinates` NULL: all members zero. Fields of the grid get
    the attribute `grid_mapping`, unless they have one. It names the variable `name`, which has the
    attributes of CF-1.13 (`refinement_level`, `indexing_scheme`) and those that CDO reads
    (`healpix_nside`, `healpix_order`). AFTERBAY_INVALID_ARGUMENT for a size that no such grid has,
    or if the decomposition has another length, AFTERBAY_UNKNOWN_NAME for a decomposition that is
    not defined. */
AFTERBAY_API int afterbay_output_healpix_grid(afterbay_output* output, const char* name,
                                              const char* dimension, uint64_t nside, int nested,
                                              const char* decomposition,
                                              const afterbay_computed_coordinates* coordinates);
/** Defines a reduced Gaussian grid, its dimension and the coordinates of its points, as
    afterbay_output_healpix_grid does. `latitudes` is the number of latitudes, which lie at the
    roots of the Legendre polynomial, from north to south. `points_of_latitudes` has the number of
    points of each, from 0 degrees eastwards. ECMWF's octahedral grid ON has 16 + 4 i points at
    latitude i of N, counted from the pole. There is no grid mapping. The edge between two cells of
    a latitude lies halfway between their longitudes. The edges between latitudes are placed so that
    the areas of the zones are proportional to the weights of Gaussian quadrature. Fails as
    afterbay_output_healpix_grid does. */
AFTERBAY_API int afterbay_output_gaussian_grid(afterbay_output* output, const char* name,
                                               const char* dimension, int latitudes,
                                               const uint32_t* points_of_latitudes, const char* decomposition,
                                               const afterbay_computed_coordinates* coordinates);
/** Defines an auxiliary coordinate with the same values on all ranks: of `rank` dimensions, slowest
    first, or of a single value if `rank` is 0. Variables with these dimensions name it in their
    attribute `coordinates`, unless other attributes of the field do. A single value is written for
    fields that name it. */
AFTERBAY_API int afterbay_output_coordinate(afterbay_output* output, const char* name, int rank,
                                            const char* const* dimensions, const afterbay_values* values,
                                            const afterbay_coordinate_options* options);
/** Defines an auxiliary coordinate of a grid, such as a two-dimensional latitude or that of
    unstructured points: each rank gives its part, dense, which is copied. A rank that holds nothing
    may pass NULL for `data`. Fields of the grid name it in `coordinates`, unless they name it in
    another attribute (`cell_measures`), or it has `vertices`. AFTERBAY_UNKNOWN_NAME also if the
    grid's decomposition is not defined, AFTERBAY_INVALID_ARGUMENT if it has other lengths. */
AFTERBAY_API int afterbay_output_grid_coordinate(afterbay_output* output, const char* name, const char* grid,
                                                 int type, const void* data,
                                                 const afterbay_coordinate_options* options);
/** Defines a field. `options` NULL: all members zero. AFTERBAY_INVALID_ARGUMENT for the attribute
    `_FillValue`, instead of which `fill` is given. */
AFTERBAY_API int afterbay_output_field(afterbay_output* output, const char* name,
                                       const afterbay_field_options* options);

/* ---- The run ---- */

/** Ends the definitions and makes the plan. Every model rank calls it. Waits for all model ranks
    (see Waits). The error has, with the places in the description, all that is wrong: fields that
    are not defined, periods that are not a multiple of the step, units that do not convert, a state
    of another description: AFTERBAY_INVALID_ARGUMENT, AFTERBAY_UNKNOWN_NAME, AFTERBAY_CONFLICT,
    AFTERBAY_WRONG_TYPE. AFTERBAY_RESOURCES if a rank would need more than `output.memory`;
    AFTERBAY_EXISTS for a file that exists; AFTERBAY_IO, AFTERBAY_FORMAT and AFTERBAY_CONFLICT for
    the state and the files with which the run continues. Fails as afterbay_session_start does. */
AFTERBAY_API int afterbay_output_start(afterbay_output* output);
/** Begins step `number`, and ends the one before. The first call has the number 1, or 0 for the
    state at the start; after resuming, the number after the last step of the saved state. Waits for
    room and files, and with reductions over grids for other ranks (see Waits).
    AFTERBAY_INVALID_ARGUMENT if it goes backwards or leaves out a step; AFTERBAY_CONFLICT for
    number 1 as the first one, if a file has `at_start`, for two files of the same name, of this
    session or of another one that runs, and if ranks have made different calls; AFTERBAY_BAD_STATE
    if a field that the step before needed has not been put, and after afterbay_output_finalize;
    AFTERBAY_WRONG_TYPE for results that the type of the file cannot hold; AFTERBAY_TIMED_OUT with
    the rank that is behind. Fails as
    afterbay_collection_open, afterbay_file_put and afterbay_session_epoch do. */
AFTERBAY_API int afterbay_output_step(afterbay_output* output, int64_t number);
/** *wanted = 1: the current step's value of a field is used; 0: nothing uses it, and the model need
    not compute and put it. Does not wait. AFTERBAY_UNKNOWN_NAME. */
AFTERBAY_API int afterbay_output_wants(const afterbay_output* output, const char* field, int* wanted);
/** Hands over this rank's part of a field for the current step: `data` points to an array of `type`
    with the layout `memory` (NULL: dense) of the field's axes and the rank's part of its grid.
    Returns at once if nothing wants the field; otherwise waits for room and files (see Waits). A
    rank that holds nothing may pass NULL for `data`. AFTERBAY_UNKNOWN_NAME; AFTERBAY_WRONG_TYPE if
    `type` is not the field's; AFTERBAY_INVALID_ARGUMENT for NULL or an invalid layout;
    AFTERBAY_CONFLICT if it was put in this step before; AFTERBAY_BAD_STATE outside of a step;
    AFTERBAY_RESOURCES if a copy that the layout requires does not fit into `output.memory`. Fails
    as afterbay_collection_open and afterbay_file_put do. */
AFTERBAY_API int afterbay_output_put(afterbay_output* output, const char* field, int type, const void* data,
                                     const afterbay_memory* memory);
/** The same for a section of this rank's part, in the indices of its array, for example one level;
    further calls hand over the others, in any order. `data` points to the values of the section,
    with the layout `memory`. What was handed over is copied; the field has been put when the last
    section has. Ranks may cut their parts differently, but must complete fields in the same order.
    `section` NULL: the whole part. Waits and fails as afterbay_output_put does; AFTERBAY_CONFLICT
    if sections overlap, AFTERBAY_INVALID_ARGUMENT for a section that leaves the part,
    AFTERBAY_RESOURCES if the copy does not fit into `output.memory`. */
AFTERBAY_API int afterbay_output_put_section(afterbay_output* output, const char* field, int type,
                                             const void* data, const afterbay_memory* memory,
                                             const afterbay_section* section);
/** Writes the state of all periods that have begun to a new file, so that a later run can resume
    after the last step that has ended. Call it between the puts of one step and
    afterbay_output_step of the next one; it ends the step. The file is complete when `ticket`,
    which may be NULL, is. Call afterbay_session_epoch after it, so that a crash cannot lose what
    the files contain at this moment. Waits for room and files, at first use as
    afterbay_session_start does, and with reductions over grids for all ranks to end the step (see
    Waits). Fails as afterbay_output_step does; AFTERBAY_CONFLICT if a file of the output has the
    path. */
AFTERBAY_API int afterbay_output_save(afterbay_output* output, const char* path, afterbay_ticket* ticket);
/** Ends the last step, writes what the unfinished periods have so far (unless `partial: skip`), and
    closes the files. With a path the periods do not end: their state is saved there instead, and a
    later run continues them and the files. `save_to` NULL: no path. Does nothing if called again,
    and before afterbay_output_start. Waits as afterbay_output_save does (see Waits). Fails as
    afterbay_output_save does; AFTERBAY_CONFLICT if a file that the run continues has records of an
    earlier run after its last one: this file is not published, the call waits until the others are,
    and afterbay_session_finalize fails with the same error. */
AFTERBAY_API int afterbay_output_finalize(afterbay_output* output, const char* save_to);

/** Returns the date at the end of the current step; before the first step, that at which the run
    starts or resumes. Does not wait; fails only with AFTERBAY_INVALID_ARGUMENT, for NULL. */
AFTERBAY_API int afterbay_output_date(const afterbay_output* output, afterbay_date* date);
/** Returns the number of the current step; after resuming and before afterbay_output_step, the last
    one of the saved state. Does not wait; fails only with AFTERBAY_INVALID_ARGUMENT, for NULL. */
AFTERBAY_API int afterbay_output_current_step(const afterbay_output* output, int64_t* number);

#ifdef __cplusplus
}
#endif

#endif
