// SPDX-License-Identifier: Apache-2.0
// A ring of messages in shared memory: one writer, one reader, no locks, no system calls. Messages
// larger than a quarter of the ring are split, and the reader joins them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {

/// The writer's end.
class RingWriter {
 public:
  RingWriter(RingCursor& cursor, std::span<std::byte> ring);

  /// Writes as much of `message` from byte `from` on as fits, and publishes it; returns where to
  /// continue. The message is complete if message.size() is returned *and* `message_done()`.
  std::size_t write(std::span<const std::byte> message, std::size_t from);
  /// Whether the last `write` wrote the end of its message.
  [[nodiscard]] bool message_done() const noexcept { return done_; }

 private:
  bool has_room(std::uint64_t bytes);
  void put(std::span<const std::byte> part, std::uint32_t flags);

  RingCursor& cursor_;
  std::span<std::byte> ring_;
  std::uint64_t most_part_;  ///< maximum bytes per part
  std::uint64_t written_ = 0;
  std::uint64_t read_seen_ = 0;  ///< the reader has read at least up to here
  bool done_ = false;
};

/// The reader's end. After a read it rings `bell` if the writer has set `is_full`.
class RingReader {
 public:
  RingReader(RingCursor& cursor, std::span<std::byte> ring, std::atomic<std::uint32_t>& is_full,
             EventCount& bell);

  /// The oldest complete message, valid until `pop`.
  std::optional<std::span<const std::byte>> front();
  /// Whether `front` has found a message that is not popped.
  [[nodiscard]] bool has_front() const noexcept { return current_.has_value(); }
  void pop();

 private:
  void advance(std::uint64_t bytes);
  /// Reads the next part; true if `current_` is set or there is more to read.
  bool step();

  RingCursor& cursor_;
  std::span<std::byte> ring_;
  std::atomic<std::uint32_t>& is_full_;
  EventCount& bell_;
  std::uint64_t read_ = 0;
  std::uint64_t pending_ = 0;  ///< ring bytes of the message that `front` returned
  std::optional<std::span<const std::byte>> current_;
  std::vector<std::byte> assembly_;
};

}  // namespace afterbay::transport::shm
