// SPDX-License-Identifier: Apache-2.0
// The numbers of the C interface for the enumerations of the C++ interface. They are equal, which
// is proved here, so that casts convert them. The switches have no default: the compiler names an
// enumerator that is missing.
#pragma once

#include "afterbay/afterbay.h"
#include "afterbay/calendar.hpp"
#include "afterbay/decomposition.hpp"
#include "afterbay/error.hpp"
#include "afterbay/types.hpp"

namespace afterbay::c {

inline constexpr int no_number = -1;  ///< for values that are not enumerators

constexpr int number_of(Type type) noexcept {
  switch (type) {
    case Type::int8: return AFTERBAY_INT8;
    case Type::text: return AFTERBAY_TEXT;
    case Type::int16: return AFTERBAY_INT16;
    case Type::int32: return AFTERBAY_INT32;
    case Type::float32: return AFTERBAY_FLOAT32;
    case Type::float64: return AFTERBAY_FLOAT64;
    case Type::uint8: return AFTERBAY_UINT8;
    case Type::uint16: return AFTERBAY_UINT16;
    case Type::uint32: return AFTERBAY_UINT32;
    case Type::int64: return AFTERBAY_INT64;
    case Type::uint64: return AFTERBAY_UINT64;
    case Type::string: return AFTERBAY_STRING;
  }
  return no_number;
}

constexpr int number_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::ok: return AFTERBAY_OK;
    case ErrorCode::invalid_argument: return AFTERBAY_INVALID_ARGUMENT;
    case ErrorCode::unknown_name: return AFTERBAY_UNKNOWN_NAME;
    case ErrorCode::wrong_type: return AFTERBAY_WRONG_TYPE;
    case ErrorCode::conflict: return AFTERBAY_CONFLICT;
    case ErrorCode::bad_state: return AFTERBAY_BAD_STATE;
    case ErrorCode::would_block: return AFTERBAY_WOULD_BLOCK;
    case ErrorCode::timed_out: return AFTERBAY_TIMED_OUT;
    case ErrorCode::peer_lost: return AFTERBAY_PEER_LOST;
    case ErrorCode::exists: return AFTERBAY_EXISTS;
    case ErrorCode::no_space: return AFTERBAY_NO_SPACE;
    case ErrorCode::io: return AFTERBAY_IO;
    case ErrorCode::format: return AFTERBAY_FORMAT;
    case ErrorCode::resources: return AFTERBAY_RESOURCES;
    case ErrorCode::mpi: return AFTERBAY_MPI;
    case ErrorCode::internal: return AFTERBAY_INTERNAL;
    case ErrorCode::stopped: return AFTERBAY_STOPPED;
  }
  return no_number;
}

constexpr int number_of(Order order) noexcept {
  switch (order) {
    case Order::row_major: return AFTERBAY_ROW_MAJOR;
    case Order::column_major: return AFTERBAY_COLUMN_MAJOR;
  }
  return no_number;
}

constexpr int number_of(Repeats repeats) noexcept {
  switch (repeats) {
    case Repeats::refuse: return AFTERBAY_REPEATS_REFUSED;
    case Repeats::first: return AFTERBAY_REPEATS_FIRST;
    case Repeats::last: return AFTERBAY_REPEATS_LAST;
  }
  return no_number;
}

constexpr int number_of(Multiple multiple) noexcept {
  switch (multiple) {
    case Multiple::no: return AFTERBAY_MULTIPLE_NO;
    case Multiple::yes: return AFTERBAY_MULTIPLE_YES;
    case Multiple::depends: return AFTERBAY_MULTIPLE_DEPENDS;
  }
  return no_number;
}

/// Whether each enumerator has the number of its C++ value.
template <class Enumeration>
consteval bool numbers_are_values() {
  for (int value = 0; value < 64; ++value)
    if (const int number = number_of(static_cast<Enumeration>(value)); number != no_number && number != value)
      return false;
  return true;
}
static_assert(numbers_are_values<Type>());
static_assert(numbers_are_values<ErrorCode>());
static_assert(numbers_are_values<Order>());
static_assert(numbers_are_values<Repeats>());
static_assert(numbers_are_values<Multiple>());

/// Whether the number is that of an enumerator.
template <class Enumeration>
constexpr bool is_number_of(int number) noexcept {
  return number != no_number && number_of(static_cast<Enumeration>(number)) == number;
}

}  // namespace afterbay::c
