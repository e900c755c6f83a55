// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error. Expected failures are values; bugs are assertions.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "afterbay/error.hpp"

namespace afterbay {

template <class T = void>
using Result = tl::expected<T, Error>;

/// An Error with a message formatted as by fmt::format.
template <class... Args>
Error make_error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Error(code, fmt::format(format, std::forward<Args>(args)...));
}

/// The same, to be returned from a function that returns a Result.
template <class... Args>
tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(make_error(code, format, std::forward<Args>(args)...));
}

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace afterbay

/// Returns the Error of `expression` from the enclosing function, if it has one.
#define AFTERBAY_TRY(expression)                                       \
  do {                                                                 \
    if (auto afterbay_try_result = (expression); !afterbay_try_result) \
      return ::tl::unexpected(std::move(afterbay_try_result).error()); \
  } while (false)

#define AFTERBAY_CONCAT_(a, b) a##b
#define AFTERBAY_CONCAT(a, b) AFTERBAY_CONCAT_(a, b)
/// `AFTERBAY_TRY_ASSIGN(auto x, f())`: x is the value of f(), or the Error is returned.
#define AFTERBAY_TRY_ASSIGN(declaration, expression)                                      \
  auto AFTERBAY_CONCAT(afterbay_try_, __LINE__) = (expression);                           \
  if (!AFTERBAY_CONCAT(afterbay_try_, __LINE__))                                          \
    return ::tl::unexpected(std::move(AFTERBAY_CONCAT(afterbay_try_, __LINE__)).error()); \
  declaration = *std::move(AFTERBAY_CONCAT(afterbay_try_, __LINE__))
