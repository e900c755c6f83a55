// SPDX-License-Identifier: Apache-2.0
// Functions whose type says which thread may call them. A std::function hides the annotations of
// what it holds; these types keep them visible to clang's analysis.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include "base/ingest_thread.hpp"
#include "base/thread_safety.hpp"

namespace afterbay::server {

/// Whether it is a std::function, or a function of this file, that holds none.
template <class Function>
bool is_empty_function(const Function& function) {
  if constexpr (requires { function.operator bool(); })
    return !function.operator bool();
  else
    return false;
}

/// Only the ingest thread calls it.
template <class Signature>
class IngestFunction;

template <class R, class... Arguments>
class IngestFunction<R(Arguments...)> {
 public:
  IngestFunction() = default;
  template <class Function>
    requires(!std::same_as<Function, IngestFunction> && std::is_invocable_r_v<R, Function&, Arguments...>)
  IngestFunction(Function function) {
    if (!is_empty_function(function)) function_ = std::move(function);
  }

  R operator()(Arguments... arguments) const AFTERBAY_REQUIRES(ingest_thread) {
    return function_(std::forward<Arguments>(arguments)...);
  }
  explicit operator bool() const noexcept { return static_cast<bool>(function_); }

 private:
  std::function<R(Arguments...)> function_;
};

/// Any thread may call it: functions that require a role cannot be put into it.
template <class Signature>
class AnyThreadFunction;

template <class R, class... Arguments>
class AnyThreadFunction<R(Arguments...)> {
 public:
  AnyThreadFunction() = default;
  template <class Function>
    requires(!std::same_as<Function, AnyThreadFunction> && std::is_invocable_r_v<R, Function&, Arguments...>)
  AnyThreadFunction(Function function) {
    if (is_empty_function(function)) return;
    // The call is here, and not in std::function, so that clang sees what `function` requires.
    function_ = [function = std::move(function)](Arguments... arguments) mutable -> R {
      if constexpr (std::is_void_v<R>)
        function(std::forward<Arguments>(arguments)...);
      else
        return function(std::forward<Arguments>(arguments)...);
    };
  }

  R operator()(Arguments... arguments) const { return function_(std::forward<Arguments>(arguments)...); }
  explicit operator bool() const noexcept { return static_cast<bool>(function_); }

 private:
  std::function<R(Arguments...)> function_;
};

/// A task of a worker.
using WorkerTask = AnyThreadFunction<void()>;

}  // namespace afterbay::server
