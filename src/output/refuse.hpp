// SPDX-License-Identifier: Apache-2.0
// Errors of this folder: it stands on the public interface, and throws Failure as that does.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "describe/node.hpp"

namespace afterbay::output {

template <class... Args>
[[noreturn]] void refuse(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(make_error(code, format, std::forward<Args>(args)...));
}

/// The same at a place in the description.
template <class... Args>
[[noreturn]] void refuse_at(const describe::Position& at, ErrorCode code, fmt::format_string<Args...> format,
                            Args&&... args) {
  throw Failure(Error(code, at.text() + ": " + fmt::format(format, std::forward<Args>(args)...)));
}

template <class T>
T must(Result<T> result) {
  if (!result) throw Failure(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace afterbay::output
