// SPDX-License-Identifier: Apache-2.0
// Messages over a stream socket, with a deadline.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace afterbay::storage {

enum class Transfer {
  done,
  closed,     ///< the other side has ended
  timed_out,  ///< the deadline has passed
  too_long    ///< the message is longer than most_message_bytes
};

using Deadline = std::chrono::steady_clock::time_point;

/// Blocks until everything is sent or received. Does not raise SIGPIPE.
Transfer send_bytes(int socket, std::span<const std::byte> bytes, Deadline deadline);
Transfer receive_bytes(int socket, std::span<std::byte> bytes, Deadline deadline);

/// A message preceded by its length. Memory for received messages is allocated as bytes arrive.
Transfer send_message(int socket, std::span<const std::byte> message, Deadline deadline);
Transfer receive_message(int socket, std::vector<std::byte>& message, Deadline deadline);

}  // namespace afterbay::storage
