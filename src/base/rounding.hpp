// SPDX-License-Identifier: Apache-2.0
// Integer quotients and multiples, rounded up.
#pragma once

#include <concepts>
#include <type_traits>

namespace afterbay {

/// The least integer that is not below number / by. `number` is not negative, `by` is positive, and
/// number + by - 1 fits the type.
template <std::integral T>
[[nodiscard]] constexpr T divided_up(T number, std::type_identity_t<T> by) noexcept {
  return (number + by - 1) / by;
}

/// The least multiple of `step` that is not below `number`; limits as above.
template <std::integral T>
[[nodiscard]] constexpr T rounded_up(T number, std::type_identity_t<T> step) noexcept {
  return divided_up(number, step) * step;
}

}  // namespace afterbay
