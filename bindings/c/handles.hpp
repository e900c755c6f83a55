// SPDX-License-Identifier: Apache-2.0
// The contents of the handles of the C interface, and the conversion of exceptions to codes.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "afterbay/afterbay.h"
#include "afterbay/calendar.hpp"
#include "afterbay/endpoint_pool.hpp"
#include "afterbay/output.hpp"
#include "afterbay/schema.hpp"
#include "afterbay/session.hpp"

struct afterbay_options {
  afterbay::SessionOptions options;
};
struct afterbay_session {
  afterbay::Session session;
};
struct afterbay_schema {
  afterbay::Schema schema;
  /// Text that the C interface returns: NUL-terminated, with a list of pointers; by variable and
  /// attribute.
  struct Lent {
    std::string text;
    std::vector<const char*> pointers;
  };
  mutable std::map<std::pair<std::string, std::string>, Lent> lent = {};
};
struct afterbay_changes {
  afterbay::SchemaChanges changes;
};
struct afterbay_collection {
  afterbay::Collection collection;
};
struct afterbay_file {
  afterbay::OutputFile file;
};
struct afterbay_slot {
  afterbay::Slot slot;
};
struct afterbay_endpoint {
  afterbay::Endpoint endpoint;
};
struct afterbay_endpoint_pool {
  afterbay::EndpointPool pool;
};
struct afterbay_input {
  afterbay::InputFile input;
  afterbay_schema schema;
  std::vector<std::string> strings = {};  ///< returned by the last get_strings
  std::vector<const char*> pointers = {};
};
struct afterbay_output {
  afterbay::Output output;
};
struct afterbay_attributes {
  std::vector<afterbay::Attribute> list = {};
};
struct afterbay_calendar {
  std::optional<afterbay::Calendar> calendar;  ///< none: a Fortran variable that no calendar was assigned to
};

namespace afterbay::c {

/// Stores the exception being handled as this thread's last error and returns its code.
int keep_exception() noexcept;

/// Runs a function's body; an exception becomes the return code.
template <class Body>
int guarded(Body&& body) noexcept {
  try {
    body();
    return AFTERBAY_OK;
  } catch (...) {
    return keep_exception();
  }
}

[[noreturn]] void refuse(ErrorCode code, std::string message);
[[noreturn]] void refuse_null(const char* name);

/// The object behind a pointer argument, which must not be NULL; `name` is the name of the
/// parameter.
template <class T>
T& need(T* pointer, const char* name) {
  if (pointer == nullptr) refuse_null(name);
  return *pointer;
}

/// Text arguments: required, or optional (NULL: empty).
inline std::string_view text(const char* value, const char* name) { return &need(value, name); }
inline std::string_view text_or_empty(const char* value) { return value == nullptr ? "" : value; }

/// A required list argument of `count` elements.
template <class T>
std::vector<T> list(const T* values, std::size_t count, const char* name) {
  if (values == nullptr && count != 0) refuse_null(name);
  return std::vector<T>(values, values + count);
}

std::vector<std::string> strings(const char* const* values, std::size_t count, const char* name);

/// The number of dimensions, which must not be negative.
std::size_t rank_of(int rank);
/// One of enum afterbay_type.
Type type_from(int type);
/// `count` values of `type` in the form of the C interface.
Values values_from(int type, std::size_t count, const void* values);
/// The calendar of a handle; bad_state if it is empty.
const Calendar& calendar_of(const afterbay_calendar* handle);
/// Dates and periods in the form of one interface from that of the other; `name` is that of the
/// parameter.
Date date_from(const afterbay_date* date, const char* name);
afterbay_date c_date(const Date& from);
Period period_from(const afterbay_period* period, const char* name);
afterbay_period c_period(const Period& from);
/// Pointers to texts, which must outlive them.
std::vector<const char*> pointers_to(const std::vector<std::string>& texts);
/// The layout in this thread's own copy, whose memory is reused: a put allocates nothing. Valid
/// until the next call.
const MemoryLayout& layout_from(const afterbay_memory* memory);
/// The same for a section.
const Section& section_from(const afterbay_section* section);
/// What to read; NULL: all members zero.
Selection selection_from(const afterbay_selection* what);
/// A list of points, without `gaps` and `repeats`.
Map map_from(const afterbay_map& from);

}  // namespace afterbay::c
