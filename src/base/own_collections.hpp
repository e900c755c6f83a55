// SPDX-License-Identifier: Apache-2.0
// Names of the collections that the library defines itself.
#pragma once

#include <string_view>

namespace afterbay {

/// The collection of files with the state of described output.
inline constexpr std::string_view state_collection = "afterbay output state";
/// The same for states that are saved at epochs, and removed when newer ones are durable.
inline constexpr std::string_view epoch_state_collection = "afterbay output state at epochs";

/// Whether settings for all collections, `collections.*`, leave this one alone: the next job needs
/// its files as they are.
constexpr bool is_own_collection(std::string_view name) noexcept {
  return name == state_collection || name == epoch_state_collection;
}

}  // namespace afterbay
