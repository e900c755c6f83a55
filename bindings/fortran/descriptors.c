/* SPDX-License-Identifier: Apache-2.0
   Passes Fortran's arrays of any type, rank and layout, described by ISO_Fortran_binding.h
   descriptors, to the C interface. Fortran's order is reversed here: C's slowest dimension is
   Fortran's last. The Fortran side of these functions is in afterbay_c.f90. */
#include <ISO_Fortran_binding.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "afterbay/afterbay.h"

enum { max_rank = CFI_MAX_RANK + 1 }; /* text has one dimension more than its array */
enum { most_dimensions = 16 };        /* maximum length of lists in struct put_call */

/* The targets of afterbay_fortran_set, as in afterbay_schemas.f90 and afterbay_output_forms.f90. */
enum {
  schema_attribute = 0,
  schema_fill = 1,
  schema_constant = 2,
  changes_attribute = 3,
  changes_constant = 4,
  list_attribute = 5
};

/* The arguments of a put: c_put in afterbay_c.f90. Lists are in Fortran's order; a negative rank:
   absent. */
struct put_call {
  afterbay_output* output;     /* NULL: into a file */
  afterbay_endpoint* endpoint; /* NULL: the file's own put */
  afterbay_file* file;
  int64_t record;
  int may_wait;
  int offset_rank, start_rank, count_rank;
  int64_t offset[most_dimensions], start[most_dimensions], count[most_dimensions];
};

int afterbay_fortran_put(const char* variable, const struct put_call* call, const CFI_cdesc_t* data);
int afterbay_fortran_set(void* handle, int what, const char* variable, const char* name, int as_type,
                         const CFI_cdesc_t* values);
int afterbay_fortran_collect(int as_type, const CFI_cdesc_t* array, afterbay_values* values);
int afterbay_fortran_names(const CFI_cdesc_t* names, afterbay_values* values);
void afterbay_fortran_release(afterbay_values* values);
int afterbay_fortran_part(afterbay_slot* slot, int number, int type, CFI_cdesc_t* pointer);
int afterbay_fortran_get(afterbay_endpoint* endpoint, afterbay_input* input, const char* variable,
                         const afterbay_selection* what, int offset_rank, const int64_t* offset,
                         const CFI_cdesc_t* data);
int afterbay_fortran_get_numbers(afterbay_input* input, const char* variable, const char* name,
                                 const CFI_cdesc_t* values);

/* ---- Types ---- */

static int type_of(const CFI_cdesc_t* array) {
  const CFI_type_t type = array->type;
  if (type == CFI_type_char) return AFTERBAY_TEXT;
  if (type == CFI_type_float) return AFTERBAY_FLOAT32;
  if (type == CFI_type_double) return AFTERBAY_FLOAT64;
  if (type == CFI_type_int8_t) return AFTERBAY_INT8;
  if (type == CFI_type_int16_t) return AFTERBAY_INT16;
  if (type == CFI_type_int32_t) return AFTERBAY_INT32;
  if (type == CFI_type_int64_t) return AFTERBAY_INT64;
  return 0;
}

static int refuse_type(const char* variable) {
  return afterbay_error_set(AFTERBAY_WRONG_TYPE,
                            "arrays of this type and kind are not supported; use integer(1, 2, 4, 8), "
                            "real(4, 8) or default character",
                            variable);
}

static int refuse(int code, const char* variable, const char* message) {
  return afterbay_error_set(code, message, variable);
}

/* ---- put and get ---- */

struct layout {
  afterbay_memory memory;
  uint64_t shape[max_rank];
  uint64_t offset[max_rank];
  int64_t strides[max_rank];
};

/* Strides in elements and lengths, slowest first; false if they are not whole numbers of
   elements. */
static int describe(const CFI_cdesc_t* data, int type, struct layout* layout) {
  const int text = type == AFTERBAY_TEXT && data->elem_len > 1;
  const CFI_index_t element = text ? 1 : (CFI_index_t)data->elem_len;
  const int rank = data->rank;
  for (int i = 0; i < rank; ++i) {
    const CFI_dim_t* dim = &data->dim[rank - 1 - i];
    if (dim->extent < 0 || dim->sm % element != 0) return 0;
    layout->shape[i] = (uint64_t)dim->extent;
    layout->strides[i] = dim->sm / element;
  }
  if (text) {
    layout->shape[rank] = data->elem_len;
    layout->strides[rank] = 1;
  }
  layout->memory.rank = rank + text;
  layout->memory.shape = layout->shape;
  layout->memory.offset = NULL;
  layout->memory.strides = layout->strides;
  return 1;
}

static int add_offset(struct layout* layout, int rank, const int64_t* offset) {
  if (rank > layout->memory.rank) return 0;
  memset(layout->offset, 0, sizeof layout->offset);
  for (int i = 0; i < rank; ++i) {
    if (offset[i] < 0) return 0;
    layout->offset[layout->memory.rank - 1 - i] = (uint64_t)offset[i];
  }
  layout->memory.offset = layout->offset;
  return 1;
}

static int refuse_shape(const char* variable) {
  return refuse(
      AFTERBAY_INVALID_ARGUMENT, variable,
      "the array has no known shape (assumed size) or its strides are not whole numbers of elements; "
      "pass a section with upper bounds, or a copy");
}

static int refuse_offset(const char* variable) {
  return refuse(AFTERBAY_INVALID_ARGUMENT, variable,
                "`offset` must have one number, 0 or more, for each dimension of the array");
}

struct section {
  afterbay_section section;
  uint64_t start[max_rank];
  uint64_t count[max_rank];
};

/* The lengths of a section, slowest first: as given, or those of the array, and 1 in further
   dimensions. */
static int describe_section(const struct put_call* call, const struct layout* layout,
                            struct section* section) {
  const int rank = call->start_rank, array = layout->memory.rank;
  if (call->count_rank < 0 && (call->offset_rank >= 0 || array > rank)) return 0;
  for (int i = 0; i < rank; ++i) {
    const int from_fastest = rank - 1 - i;
    section->start[i] = (uint64_t)call->start[from_fastest];
    if (call->count_rank >= 0)
      section->count[i] = (uint64_t)call->count[from_fastest];
    else
      section->count[i] = from_fastest < array ? layout->shape[array - 1 - from_fastest] : 1;
  }
  section->section.rank = rank;
  section->section.start = section->start;
  section->section.count = section->count;
  return 1;
}

/* An array that lacks dimensions in which the section has length 1 gets them. The lengths of the
   others must match, from the fastest on; with an offset the slowest are those that are lacking. */
static int add_dimensions(const afterbay_section* section, struct layout* layout) {
  const int rank = section->rank, array = layout->memory.rank;
  struct layout all = *layout;
  int64_t stride = 1;
  if (array >= rank) return array == rank;
  int from = array - 1;
  for (int i = rank - 1; i >= 0; --i) {
    const int must_take = i == from;
    const int fits = from >= 0 && (layout->memory.offset != NULL || layout->shape[from] == section->count[i]);
    if (must_take || fits) {
      all.shape[i] = layout->shape[from];
      all.offset[i] = layout->offset[from];
      all.strides[i] = layout->strides[from];
      stride = all.strides[i] * (int64_t)all.shape[i];
      --from;
    } else if (section->count[i] == 1) {
      all.shape[i] = 1;
      all.offset[i] = 0;
      all.strides[i] = stride;
    } else {
      return 0;
    }
  }
  memcpy(layout->shape, all.shape, sizeof all.shape);
  memcpy(layout->offset, all.offset, sizeof all.offset);
  memcpy(layout->strides, all.strides, sizeof all.strides);
  layout->memory.rank = rank;
  return 1;
}

static int refuse_section(const char* variable, const struct put_call* call) {
  return refuse(
      AFTERBAY_INVALID_ARGUMENT, variable,
      call->count_rank < 0
          ? "a section without `count` has the lengths of the array, which has no more dimensions than "
            "`start`; with `offset`, give `count`"
          : "the array must have the dimensions of the section; only those of length 1 may be left out");
}

int afterbay_fortran_put(const char* variable, const struct put_call* call, const CFI_cdesc_t* data) {
  struct layout layout;
  struct section section;
  const int type = type_of(data);
  if (type == 0) return refuse_type(variable);
  if (!describe(data, type, &layout)) return refuse_shape(variable);
  memset(layout.offset, 0, sizeof layout.offset);
  if (call->offset_rank >= 0 && !add_offset(&layout, call->offset_rank, call->offset))
    return refuse_offset(variable);
  const afterbay_section* part = call->start_rank < 0 ? NULL : &section.section;
  if (part != NULL && (!describe_section(call, &layout, &section) || !add_dimensions(part, &layout)))
    return refuse_section(variable, call);
  if (call->output != NULL)
    return afterbay_output_put_section(call->output, variable, type, data->base_addr, &layout.memory, part);
  const uint64_t record = (uint64_t)call->record;
  if (call->endpoint != NULL)
    return (call->may_wait ? afterbay_endpoint_put : afterbay_endpoint_try_put)(
        call->endpoint, call->file, variable, record, type, data->base_addr, &layout.memory, part);
  if (part != NULL)
    return afterbay_file_put_section(call->file, variable, record, type, data->base_addr, &layout.memory,
                                     part);
  return (call->may_wait ? afterbay_file_put : afterbay_file_try_put)(call->file, variable, record, type,
                                                                      data->base_addr, &layout.memory);
}

/* Removes the slowest dimension, that of records, from a layout. */
static void drop_slowest(struct layout* layout) {
  ++layout->memory.shape;
  ++layout->memory.strides;
  --layout->memory.rank;
}

/* By an endpoint, or by the session (NULL). */
static int get(afterbay_endpoint* endpoint, afterbay_input* input, const char* variable,
               const afterbay_selection* what, int type, void* data, const afterbay_memory* memory) {
  return endpoint == NULL ? afterbay_input_get(input, variable, what, type, data, memory)
                          : afterbay_endpoint_get(endpoint, input, variable, what, type, data, memory);
}

/* One record at a time, so that the array may have any layout; the servers prefetch a few
   records ahead, unless an endpoint reads: only the session's thread can ask for that. */
static int get_records(afterbay_endpoint* endpoint, afterbay_input* input, const char* variable,
                       const afterbay_selection* what, int type, const CFI_cdesc_t* data,
                       const afterbay_memory* memory) {
  enum { most_ahead = 4 };
  afterbay_selection one = *what, ahead = *what;
  const CFI_index_t distance = data->dim[data->rank - 1].sm;
  one.records = ahead.records = 1;
  uint64_t asked = 0;
  for (uint64_t r = 0; r < what->records; ++r) {
    int code = AFTERBAY_OK;
    while (endpoint == NULL && code == AFTERBAY_OK && asked + 1 < what->records && asked < r + most_ahead) {
      ahead.record = what->record + ++asked;
      code = afterbay_input_prefetch(input, variable, &ahead);
    }
    one.record = what->record + r;
    char* to = data->base_addr == NULL ? NULL : (char*)data->base_addr + (CFI_index_t)r * distance;
    if (code == AFTERBAY_OK) code = get(endpoint, input, variable, &one, type, to, memory);
    if (code != AFTERBAY_OK) return code;
  }
  return AFTERBAY_OK;
}

/* what->records is 0: the array has one record; otherwise records are its last dimension. */
int afterbay_fortran_get(afterbay_endpoint* endpoint, afterbay_input* input, const char* variable,
                         const afterbay_selection* what, int offset_rank, const int64_t* offset,
                         const CFI_cdesc_t* data) {
  struct layout layout;
  const int type = type_of(data);
  if (type == 0) return refuse_type(variable);
  if (!describe(data, type, &layout)) return refuse_shape(variable);
  if (what->records != 0) {
    if (data->rank == 0 || (uint64_t)data->dim[data->rank - 1].extent != what->records)
      return refuse(AFTERBAY_INVALID_ARGUMENT, variable,
                    "with `records` the array has one more dimension, the last, of that length");
    drop_slowest(&layout);
  }
  if (offset_rank >= 0 && !add_offset(&layout, offset_rank, offset)) return refuse_offset(variable);
  return what->records == 0 ? get(endpoint, input, variable, what, type, data->base_addr, &layout.memory)
                            : get_records(endpoint, input, variable, what, type, data, &layout.memory);
}

/* ---- Values of attributes, fill values and constants ---- */

static size_t element_count(const CFI_cdesc_t* array) {
  size_t count = 1;
  for (int i = 0; i < array->rank; ++i) count *= (size_t)array->dim[i].extent;
  return count;
}

/* The address of element `index`, in Fortran's order. */
static char* element(const CFI_cdesc_t* array, size_t index) {
  char* address = array->base_addr;
  for (int i = 0; i < array->rank; ++i) {
    const size_t extent = (size_t)array->dim[i].extent;
    address += (CFI_index_t)(index % extent) * array->dim[i].sm;
    index /= extent;
  }
  return address;
}

static size_t trimmed(const char* text, size_t length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return length;
}

static int64_t integer_at(int type, const void* address) {
  int8_t i1;
  int16_t i2;
  int32_t i4;
  int64_t i8;
  switch (type) {
    case AFTERBAY_INT8: memcpy(&i1, address, sizeof i1); return i1;
    case AFTERBAY_INT16: memcpy(&i2, address, sizeof i2); return i2;
    case AFTERBAY_INT32: memcpy(&i4, address, sizeof i4); return i4;
    default: memcpy(&i8, address, sizeof i8); return i8;
  }
}

static double real_at(int type, const void* address) {
  float r4;
  double r8;
  if (type == AFTERBAY_FLOAT64) {
    memcpy(&r8, address, sizeof r8);
    return r8;
  }
  if (type != AFTERBAY_FLOAT32) return (double)integer_at(type, address);
  memcpy(&r4, address, sizeof r4);
  return r4;
}

static int is_real(int type) { return type == AFTERBAY_FLOAT32 || type == AFTERBAY_FLOAT64; }

/* Whether `value` fits the integer `type`. */
static int fits(int64_t value, int type) {
  const size_t bytes = afterbay_type_bytes(type);
  switch (type) {
    case AFTERBAY_UINT64: return value >= 0;
    case AFTERBAY_INT64: return 1;
    case AFTERBAY_UINT8:
    case AFTERBAY_UINT16:
    case AFTERBAY_UINT32: return value >= 0 && value < (int64_t)1 << (8 * bytes);
    default: return value >= -((int64_t)1 << (8 * bytes - 1)) && value < (int64_t)1 << (8 * bytes - 1);
  }
}

/* Converts one value to another numeric type, into `to`; false if it does not fit. */
static int convert(int from, const void* address, int type, void* to) {
  if (is_real(type)) {
    const double value = real_at(from, address);
    const float narrow = (float)value;
    memcpy(to, type == AFTERBAY_FLOAT64 ? (const void*)&value : (const void*)&narrow,
           afterbay_type_bytes(type));
    return 1;
  }
  if (is_real(from)) return 0;
  const int64_t value = integer_at(from, address);
  const uint8_t u1 = (uint8_t)value;
  const uint16_t u2 = (uint16_t)value;
  const uint32_t u4 = (uint32_t)value;
  const size_t bytes = afterbay_type_bytes(type);
  const void* source = bytes == 1   ? (const void*)&u1
                       : bytes == 2 ? (const void*)&u2
                       : bytes == 4 ? (const void*)&u4
                                    : &value;
  memcpy(to, source, bytes);
  return fits(value, type);
}

struct values {
  int type;
  size_t count;
  void* data;
};

/* Texts one after another, each NUL-terminated, after the pointers to them. */
static int collect_strings(const CFI_cdesc_t* array, struct values* values) {
  values->type = AFTERBAY_STRING;
  values->count = element_count(array);
  const size_t table = values->count * sizeof(char*);
  values->data = malloc(table + values->count * (array->elem_len + 1) + 1);
  if (values->data == NULL) return AFTERBAY_RESOURCES;
  char** pointers = values->data;
  char* next = (char*)values->data + table;
  for (size_t i = 0; i < values->count; ++i) {
    const char* text = element(array, i);
    const size_t length = trimmed(text, array->elem_len);
    pointers[i] = memcpy(next, text, length);
    next[length] = '\0';
    next += length + 1;
  }
  return AFTERBAY_OK;
}

static int collect_text(const CFI_cdesc_t* array, int trim, struct values* values) {
  const size_t count = element_count(array);
  values->type = AFTERBAY_TEXT;
  values->count = count * array->elem_len;
  values->data = malloc(values->count + 1);
  if (values->data == NULL) return AFTERBAY_RESOURCES;
  for (size_t i = 0; i < count; ++i)
    memcpy((char*)values->data + i * array->elem_len, element(array, i), array->elem_len);
  if (trim) values->count = trimmed(values->data, values->count);
  return AFTERBAY_OK;
}

static int collect_numbers(const CFI_cdesc_t* array, int from, int as_type, struct values* values) {
  values->type = as_type == 0 ? from : as_type;
  values->count = element_count(array);
  const size_t bytes = afterbay_type_bytes(values->type);
  if (bytes == 0 || values->type == AFTERBAY_TEXT) return AFTERBAY_WRONG_TYPE;
  values->data = malloc(values->count * bytes + 1);
  if (values->data == NULL) return AFTERBAY_RESOURCES;
  for (size_t i = 0; i < values->count; ++i)
    if (!convert(from, element(array, i), values->type, (char*)values->data + i * bytes))
      return AFTERBAY_WRONG_TYPE;
  return AFTERBAY_OK;
}

/* A character array as an attribute is a list of strings, and a character scalar is text;
   constants and fill values are text unless the type is given. */
static int collect(const CFI_cdesc_t* array, int what, int as_type, struct values* values) {
  const int type = type_of(array);
  const int attribute = what == schema_attribute || what == changes_attribute || what == list_attribute;
  if (type == 0) return AFTERBAY_WRONG_TYPE;
  if (type != AFTERBAY_TEXT) return collect_numbers(array, type, as_type, values);
  if (as_type != 0 && as_type != AFTERBAY_TEXT && as_type != AFTERBAY_STRING) return AFTERBAY_WRONG_TYPE;
  if (as_type == AFTERBAY_STRING || (attribute && array->rank > 0 && as_type == 0))
    return collect_strings(array, values);
  return collect_text(array, attribute, values);
}

static int set(void* handle, int what, const char* variable, const char* name, const struct values* values) {
  const char* of = *variable == '\0' ? NULL : variable;
  switch (what) {
    case schema_attribute:
      return afterbay_schema_set_attribute(handle, of, name, values->type, values->count, values->data);
    case schema_fill:
      if (values->count != 1)
        return refuse(AFTERBAY_INVALID_ARGUMENT, variable,
                      "a fill value must be one value (one character for text)");
      return afterbay_schema_set_fill(handle, variable, values->type, values->data);
    case schema_constant:
      return afterbay_schema_set_constant(handle, variable, values->type, values->count, values->data);
    case changes_attribute:
      return afterbay_changes_set_attribute(handle, of, name, values->type, values->count, values->data);
    case list_attribute:
      return afterbay_attributes_set(handle, name, values->type, values->count, values->data);
    default:
      return afterbay_changes_set_constant(handle, variable, values->type, values->count, values->data);
  }
}

static int refuse_values(int code, const char* variable) {
  return refuse(code, variable,
                code == AFTERBAY_RESOURCES
                    ? "no memory"
                    : "the values cannot be converted to the requested type without loss");
}

int afterbay_fortran_set(void* handle, int what, const char* variable, const char* name, int as_type,
                         const CFI_cdesc_t* array) {
  struct values values = {0, 0, NULL};
  int code = collect(array, what, as_type, &values);
  code = code == AFTERBAY_OK ? set(handle, what, variable, name, &values) : refuse_values(code, variable);
  free(values.data);
  return code;
}

/* ---- Values and names of described output ---- */

static int give(int code, const struct values* from, afterbay_values* to) {
  to->type = from->type;
  to->count = from->count;
  to->data = from->data;
  return code == AFTERBAY_OK ? code : refuse_values(code, NULL);
}

/* Copies an array into a list in Fortran's order, as `as_type` (0: its own type); texts become
   strings. Whatever is returned, afterbay_fortran_release must be called. */
int afterbay_fortran_collect(int as_type, const CFI_cdesc_t* array, afterbay_values* values) {
  struct values all = {0, 0, NULL};
  const int type = type_of(array);
  if (type == 0) return refuse_type(NULL);
  if (type == AFTERBAY_TEXT)
    return give(
        as_type == 0 || as_type == AFTERBAY_STRING ? collect_strings(array, &all) : AFTERBAY_WRONG_TYPE, &all,
        values);
  const int code = collect_numbers(array, type, as_type, &all);
  return give(code, &all, values);
}

/* The words of a text. */
static int collect_words(const CFI_cdesc_t* text, struct values* values) {
  const char* from = text->base_addr;
  const size_t length = trimmed(from, text->elem_len);
  const size_t table = (length / 2 + 1) * sizeof(char*);
  values->type = AFTERBAY_STRING;
  values->data = malloc(table + length + 1);
  if (values->data == NULL) return AFTERBAY_RESOURCES;
  char** pointers = values->data;
  char* words = (char*)values->data + table;
  for (size_t i = 0; i < length; ++i) {
    words[i] = from[i];
    if (from[i] == ' ')
      words[i] = '\0';
    else if (i == 0 || from[i - 1] == ' ')
      pointers[values->count++] = words + i;
  }
  words[length] = '\0';
  return AFTERBAY_OK;
}

/* Names of dimensions, an array or one text with blanks between them, slowest first. Whatever is
   returned, afterbay_fortran_release must be called. */
int afterbay_fortran_names(const CFI_cdesc_t* names, afterbay_values* values) {
  struct values all = {0, 0, NULL};
  const int code = names->rank == 0 ? collect_words(names, &all) : collect_strings(names, &all);
  char** pointers = all.data;
  for (size_t i = 0; code == AFTERBAY_OK && i < all.count / 2; ++i) {
    char* const name = pointers[i];
    pointers[i] = pointers[all.count - 1 - i];
    pointers[all.count - 1 - i] = name;
  }
  return give(code, &all, values);
}

void afterbay_fortran_release(afterbay_values* values) {
  free((void*)values->data);
  values->data = NULL;
  values->count = 0;
}

int afterbay_fortran_get_numbers(afterbay_input* input, const char* variable, const char* name,
                                 const CFI_cdesc_t* values) {
  const afterbay_schema* schema;
  const int type = type_of(values);
  const size_t count = element_count(values), bytes = values->elem_len;
  int code = afterbay_input_schema(input, &schema);
  if (code != AFTERBAY_OK) return code;
  if (type == 0 || type == AFTERBAY_TEXT) return refuse_type(variable);
  char* numbers = malloc(count * bytes + 1);
  if (numbers == NULL) return refuse(AFTERBAY_RESOURCES, variable, "no memory");
  code = afterbay_schema_get_numbers(schema, *variable == '\0' ? NULL : variable, name, type, count, numbers);
  for (size_t i = 0; code == AFTERBAY_OK && i < count; ++i)
    memcpy(element(values, i), numbers + i * bytes, bytes);
  free(numbers);
  return code;
}

/* ---- Slots ---- */

int afterbay_fortran_part(afterbay_slot* slot, int number, int type, CFI_cdesc_t* pointer) {
  afterbay_slot_part part;
  char message[160];
  if (number < 1) return refuse(AFTERBAY_INVALID_ARGUMENT, NULL, "parts are counted from 1");
  const int code = afterbay_slot_get_part(slot, (size_t)number - 1, &part);
  if (code != AFTERBAY_OK) return code;
  if (type_of(pointer) != type)
    return refuse(AFTERBAY_WRONG_TYPE, NULL, "the pointer's type is not the one given to acquire");
  if (pointer->rank != part.rank) {
    snprintf(message, sizeof message,
             "the pointer has %d dimensions, the variable %d without the record dimension",
             (int)pointer->rank, part.rank);
    return refuse(AFTERBAY_INVALID_ARGUMENT, NULL, message);
  }
  pointer->base_addr = part.data;
  for (int i = 0; i < part.rank; ++i) {
    CFI_dim_t* dim = &pointer->dim[part.rank - 1 - i];
    dim->lower_bound = (CFI_index_t)part.start[i] + 1;
    dim->extent = (CFI_index_t)part.count[i];
    dim->sm = (CFI_index_t)(part.strides[i] * (int64_t)pointer->elem_len);
  }
  return AFTERBAY_OK;
}
