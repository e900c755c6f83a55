// SPDX-License-Identifier: Apache-2.0
// Carrier: what takes the segments of one link towards their server and brings batches back. The link knows
// what stands in them, the carrier how they travel: by MPI, or through memory that a frontend shares.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "mpi/request.hpp"
#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {

class Carrier {
 public:
  virtual ~Carrier() = default;
  [[nodiscard]] virtual std::size_t segments() const = 0;
  /// Segments that may be under way before the first credit comes back.
  [[nodiscard]] virtual std::uint32_t credits() const = 0;
  /// Memory of a segment, of segment_capacity bytes; the link's until `send`, and again once `sent`. Only
  /// what is allocated may be used.
  [[nodiscard]] virtual std::byte* segment(std::size_t index) const = 0;
  /// Allocates the bytes from `from` up to `to` of a segment.
  virtual Result<void> allocate(std::size_t index, std::uint64_t from, std::uint64_t to) = 0;

  virtual Result<void> send(std::size_t index, std::uint64_t bytes) = 0;
  /// Whether the segment's memory may be used again. `eagerly`: the link waits for that.
  virtual Result<bool> sent(std::size_t index, bool eagerly) = 0;
  /// A header without items; one at a time.
  virtual Result<void> send_header(const SegmentHeader& header) = 0;
  /// Whether the last one has left, and all words.
  virtual Result<bool> header_sent() = 0;
  /// As make_word makes it.
  virtual Result<void> send_word(Bytes word) = 0;
  /// The next batch, valid until the next call.
  virtual Result<std::optional<std::span<const std::byte>>> next_batch() = 0;

  /// Whether a batch has begun to arrive, and moves on only when somebody looks.
  [[nodiscard]] virtual bool receiving() const { return false; }

  /// Sleeps until something may have changed; `back_off` for carriers that can only be polled.
  virtual void pause(mpi::BackOff& back_off, std::chrono::nanoseconds most, bool transferring) = 0;
  /// Whether anything can still be sent.
  [[nodiscard]] virtual bool usable() const = 0;
  /// The session is over, for all links of this rank.
  virtual void end() { leave(); }
  /// The last call of a link: nothing more is sent by it.
  virtual void leave() {}
  /// Fails when what carries has died.
  virtual Result<void> check_alive() { return {}; }
  /// ClientLink::stuck_between.
  virtual std::string stuck_between() { return ""; }
  /// ClientLink::never_heard of what carries; empty too if this end cannot know.
  [[nodiscard]] virtual std::string never_heard() const { return ""; }
  [[nodiscard]] virtual std::string name() const = 0;
};

}  // namespace afterbay::transport::network
