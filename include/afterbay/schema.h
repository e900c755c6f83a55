/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Types of values, and schemas, which say what files contain, for C; part of afterbay/afterbay.h,
   whose rules for errors, values and handles hold. */
#ifndef AFTERBAY_SCHEMA_H
#define AFTERBAY_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "afterbay/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct afterbay_schema afterbay_schema;   /**< dimensions, variables, attributes */
typedef struct afterbay_changes afterbay_changes; /**< changes to a schema for one file */

/* ---- Types and values --------------------------------------------------------------------- */

/** The atomic types of netCDF-4, and the C types of the elements in lists of values. */
enum afterbay_type {
  AFTERBAY_INT8 = 1,    /**< int8_t */
  AFTERBAY_TEXT = 2,    /**< char; NC_CHAR */
  AFTERBAY_INT16 = 3,   /**< int16_t */
  AFTERBAY_INT32 = 4,   /**< int32_t */
  AFTERBAY_FLOAT32 = 5, /**< float */
  AFTERBAY_FLOAT64 = 6, /**< double */
  AFTERBAY_UINT8 = 7,   /**< uint8_t */
  AFTERBAY_UINT16 = 8,  /**< uint16_t */
  AFTERBAY_UINT32 = 9,  /**< uint32_t */
  AFTERBAY_INT64 = 10,  /**< int64_t */
  AFTERBAY_UINT64 = 11, /**< uint64_t */
  AFTERBAY_STRING = 12  /**< const char*; NC_STRING */
};

/** Bytes per element in memory; 0 for AFTERBAY_STRING and for other numbers. */
AFTERBAY_API size_t afterbay_type_bytes(int type);

/* ---- Schema ------------------------------------------------------------------------------- */
/* Errors of all functions in this section: AFTERBAY_INVALID_ARGUMENT for NULL and for a negative
   rank, AFTERBAY_WRONG_TYPE for a `type` that is none of enum afterbay_type, AFTERBAY_UNKNOWN_NAME,
   with a suggestion for a mistyped name, for a `variable` that was not added. */

/** The length of a dimension that grows with the records. */
#define AFTERBAY_UNLIMITED 0

/** Creates an empty schema. afterbay_collection_define checks it against the rules of netCDF and
   of the format, and reports all problems at once. */
AFTERBAY_API int afterbay_schema_create(afterbay_schema** schema);
/** Releases the schema; a collection that was defined with it has its own copy. */
AFTERBAY_API void afterbay_schema_free(afterbay_schema* schema);

/** Adds a dimension; AFTERBAY_UNLIMITED: it grows with the records. */
AFTERBAY_API int afterbay_schema_add_dimension(afterbay_schema* schema, const char* name, uint64_t length);
/** Adds a variable with `rank` dimensions, slowest first; the unlimited one, if any, comes
   first. */
AFTERBAY_API int afterbay_schema_add_variable(afterbay_schema* schema, const char* name, int type, int rank,
                                              const char* const* dimensions);

/** Sets an attribute to `count` values of `type`. `variable` NULL: a global attribute. For
   AFTERBAY_TEXT `values` points to `count` characters, for AFTERBAY_STRING to `count` pointers. */
AFTERBAY_API int afterbay_schema_set_attribute(afterbay_schema* schema, const char* variable,
                                               const char* name, int type, size_t count, const void* values);
/** Sets an attribute to text that ends with NUL. */
AFTERBAY_API int afterbay_schema_set_text(afterbay_schema* schema, const char* variable, const char* name,
                                          const char* text);
/** Sets the fill value: one value of `type`, converted to the type of the variable. Default:
   netCDF's fill value for that type. */
AFTERBAY_API int afterbay_schema_set_fill(afterbay_schema* schema, const char* variable, int type,
                                          const void* value);
/** Sets the chunk lengths, one per dimension; the unit of the unlimited dimension is records.
   netCDF-4 only. Default: chosen from the setting `access`, see docs/how-to/chunks.md. */
AFTERBAY_API int afterbay_schema_set_chunk(afterbay_schema* schema, const char* variable, int rank,
                                           const uint64_t* lengths);
/** Sets zlib level 0 (off) to 9, with or without byte shuffle; netCDF-4 only. */
AFTERBAY_API int afterbay_schema_set_deflate(afterbay_schema* schema, const char* variable, int level,
                                             int shuffle);
/** Sets a filter by its name ("zstd", see docs/how-to/chunks.md): to a level, or with level 1 on
   for a filter without levels; 0 removes it; netCDF-4 only. Returns AFTERBAY_UNKNOWN_NAME, with a
   suggestion, if there is no such filter. Wrong levels, and filters that this build lacks, are
   reported by afterbay_collection_define. */
AFTERBAY_API int afterbay_schema_set_filter(afterbay_schema* schema, const char* variable, const char* filter,
                                            int level);
/** Packs a variable of type float32 or float64 as integers of packed_type ("int8", "int16",
   "int32", or "auto": the smallest of them that absolute_error allows) for numbers in [low, high],
   in the units of the file; readers unpack them with the attributes scale_factor and add_offset.
   The error is at most absolute_error; 0: as small as the type allows. Ranges and errors that the
   type cannot hold are refused when a collection is defined, and so are errors that are negative or
   not finite. See docs/how-to/which-codec.md. */
AFTERBAY_API int afterbay_schema_set_packing(afterbay_schema* schema, const char* variable,
                                             const char* packed_type, double low, double high,
                                             double absolute_error);
/** Sets the variable's decomposition. A block covers the trailing dimensions of the variable. A
   map covers the trailing dimensions if they have its lengths, else the only other dimensions
   that have them. Default: every rank holds the whole variable. */
AFTERBAY_API int afterbay_schema_set_decomposition(afterbay_schema* schema, const char* variable,
                                                   const char* decomposition);
/** Sets values that are written once when a file is created (coordinates): `count` values of the
   variable's type. Such a variable is never put. */
AFTERBAY_API int afterbay_schema_set_constant(afterbay_schema* schema, const char* variable, int type,
                                              size_t count, const void* values);

/* ---- What is in a schema ------------------------------------------------------------------ */

/* For schemas that the caller created and for those of input files (afterbay_input_schema).
   Names and values that these functions return are valid until the schema is changed or freed.
   If a function has several output arguments, those that are not needed may be NULL.
   Errors of all functions in this section: AFTERBAY_INVALID_ARGUMENT for NULL and for an invalid
   index, AFTERBAY_UNKNOWN_NAME, with a suggestion, for a variable, dimension or attribute that does
   not exist. */

/** Returns the length of a dimension; AFTERBAY_UNLIMITED if it grows with the records. */
AFTERBAY_API int afterbay_schema_get_dimension(const afterbay_schema* schema, const char* dimension,
                                               uint64_t* length);
/** Returns the number of variables. */
AFTERBAY_API int afterbay_schema_variable_count(const afterbay_schema* schema, size_t* count);
/** Returns the name of variable number `index`, counted from 0. */
AFTERBAY_API int afterbay_schema_get_variable_name(const afterbay_schema* schema, size_t index,
                                                   const char** name);
/** *there = 1: the schema has this variable; 0: it does not, which is not an error. */
AFTERBAY_API int afterbay_schema_has_variable(const afterbay_schema* schema, const char* variable,
                                              int* there);
/** `type`: one of enum afterbay_type. `rank`: the number of dimensions, including the unlimited
   one. */
AFTERBAY_API int afterbay_schema_get_variable(const afterbay_schema* schema, const char* variable, int* type,
                                              int* rank);
/** Returns dimension number `index` of the variable, counted from 0, slowest first. */
AFTERBAY_API int afterbay_schema_get_variable_dimension(const afterbay_schema* schema, const char* variable,
                                                        int index, const char** name, uint64_t* length);

/** *there = 1: the attribute exists; 0: it does not. `variable` NULL: a global attribute, also
   in the functions below. "_FillValue" is an attribute of the variables that have one. */
AFTERBAY_API int afterbay_schema_has_attribute(const afterbay_schema* schema, const char* variable,
                                               const char* name, int* there);
/** Returns the values in the form that afterbay_schema_set_attribute takes; text is also
   NUL-terminated. */
AFTERBAY_API int afterbay_schema_get_attribute(const afterbay_schema* schema, const char* variable,
                                               const char* name, int* type, size_t* count,
                                               const void** values);
/** Returns text: AFTERBAY_TEXT, or a single AFTERBAY_STRING. AFTERBAY_WRONG_TYPE for others. */
AFTERBAY_API int afterbay_schema_get_text(const afterbay_schema* schema, const char* variable,
                                          const char* name, const char** text);
/** Copies numbers of any numeric type into an array of `count` elements of `type`.
   AFTERBAY_INVALID_ARGUMENT if `count` is not the number of the attribute's values,
   AFTERBAY_WRONG_TYPE if they or `type` are not numeric, or `type` cannot represent them. */
AFTERBAY_API int afterbay_schema_get_numbers(const afterbay_schema* schema, const char* variable,
                                             const char* name, int type, size_t count, void* values);

/* ---- Changes to a schema for one file ----------------------------------------------------- */
/* Errors of all functions in this section: AFTERBAY_INVALID_ARGUMENT for NULL, AFTERBAY_WRONG_TYPE
   for a `type` that is none of enum afterbay_type. afterbay_collection_open checks the rest. */

/** Creates an empty list of changes. */
AFTERBAY_API int afterbay_changes_create(afterbay_changes** changes);
/** Releases the changes; a file that was opened with them does not need them. */
AFTERBAY_API void afterbay_changes_free(afterbay_changes* changes);
/** Sets or replaces an attribute in one file. `variable` NULL: a global attribute. */
AFTERBAY_API int afterbay_changes_set_attribute(afterbay_changes* changes, const char* variable,
                                                const char* name, int type, size_t count, const void* values);
/** Sets or replaces an attribute with text that ends with NUL. */
AFTERBAY_API int afterbay_changes_set_text(afterbay_changes* changes, const char* variable, const char* name,
                                           const char* text);
/** Removes an attribute in one file. `variable` NULL: a global attribute. */
AFTERBAY_API int afterbay_changes_remove_attribute(afterbay_changes* changes, const char* variable,
                                                   const char* name);
/** Replaces constant values: as many as in the schema, converted to the type of the variable. */
AFTERBAY_API int afterbay_changes_set_constant(afterbay_changes* changes, const char* variable, int type,
                                               size_t count, const void* values);

#ifdef __cplusplus
}
#endif

#endif
