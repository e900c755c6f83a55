// SPDX-License-Identifier: Apache-2.0
// MessageList: the messages of one direction. The kind of a message is its position in the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "wire/archive.hpp"

namespace afterbay::wire {

// The first kind of each list. Kinds only have to agree between the processes of one run. Messages
// that have their own collective call are listed in collective_messages.hpp. Smaller numbers are
// for tests.
inline constexpr std::uint32_t first_collective = 500;
inline constexpr std::uint32_t first_transport = 1000;
inline constexpr std::uint32_t first_set_up = 1100;
inline constexpr std::uint32_t first_from_model = 1200;
inline constexpr std::uint32_t first_to_model = 1300;
inline constexpr std::uint32_t first_between_servers = 1400;
inline constexpr std::uint32_t first_to_reader = 1500;
inline constexpr std::uint32_t first_from_reader = 1600;
inline constexpr std::uint32_t most_messages = 100;  ///< per direction

template <std::uint32_t First, class... Messages>
struct MessageList {
  static_assert(sizeof...(Messages) <= most_messages, "the kinds of two directions would overlap");

  /// Message may be an incomplete type. A message that is missing, or in the list twice, does not
  /// compile.
  template <class Message>
  static constexpr Kind kind() {
    static_assert((0U + ... + std::is_same_v<Message, Messages>) == 1,
                  "a message must be in the list of its direction, once");
    std::uint32_t place = 0;
    (void)((std::is_same_v<Message, Messages> || (++place, false)) || ...);
    return Kind{First + place};
  }

  static constexpr std::size_t count = sizeof...(Messages);
  /// Whether `kind` belongs to this direction.
  static constexpr bool has(Kind kind) {
    return static_cast<std::uint32_t>(kind) - First < sizeof...(Messages);
  }
};

}  // namespace afterbay::wire
