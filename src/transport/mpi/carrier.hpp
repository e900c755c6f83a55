// SPDX-License-Identifier: Apache-2.0
// Carrier: transports the segments of one link to their server and brings batches back. The link
// knows the contents, the carrier the medium: MPI, or memory that a frontend shares.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "mpi/request.hpp"
#include "transport/link.hpp"
#include "transport/mpi/staging.hpp"
#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {

class Carrier {
 public:
  virtual ~Carrier() = default;
  /// Number of segments that may be in transit before the first credit comes back.
  [[nodiscard]] virtual std::uint32_t credits() const = 0;
  /// Capacity of the largest segments, and their number.
  [[nodiscard]] virtual std::uint64_t capacity() const = 0;
  [[nodiscard]] virtual std::size_t segments() const = 0;
  /// The memory that segments are taken from: carriers that share it return the same.
  [[nodiscard]] virtual const void* memory() const = 0;
  /// A segment that belongs to the link until it has been sent or is given back; null: none is free
  /// now. Only allocated bytes may be used.
  virtual std::optional<SegmentMemory> take(const SegmentRequest& request) = 0;
  virtual void give_back(const SegmentMemory& segment) = 0;
  /// Allocates the first `bytes` of a segment.
  virtual Result<void> allocate(const SegmentMemory& segment, std::uint64_t bytes) = 0;

  virtual Result<void> send(const SegmentMemory& segment, std::uint64_t bytes) = 0;
  /// Whether the segment has been sent, and no longer belongs to the link. `eagerly`: the link
  /// waits for that.
  virtual Result<bool> sent(const SegmentMemory& segment, bool eagerly) = 0;
  /// Sends a header without items; one at a time.
  virtual Result<void> send_header(const SegmentHeader& header) = 0;
  /// Whether the last header and all words have been sent.
  virtual Result<bool> header_sent() = 0;
  /// Sends a word, in the form of make_word.
  virtual Result<void> send_word(Bytes word) = 0;
  /// The next batch, valid until the next call.
  virtual Result<std::optional<std::span<const std::byte>>> next_batch() = 0;
  /// The next data message, complete; see parts_of_data.
  virtual Result<std::optional<ReceivedData>> next_data() { return std::nullopt; }

  /// Whether a batch or data have begun to arrive, which only progress during a look.
  [[nodiscard]] virtual bool receiving() const { return false; }

  /// Sleeps until something may have changed; `back_off` is for carriers that can only be polled.
  virtual void pause(mpi::BackOff& back_off, std::chrono::nanoseconds most, bool transferring) = 0;
  /// Whether data can still be sent.
  [[nodiscard]] virtual bool usable() const = 0;
  /// The session is over for all links of this rank. May wait until `end_ns`, see `leave`.
  virtual void end(std::uint64_t end_ns) { leave(end_ns); }
  /// The last call of a link, which sends nothing more. May wait until `end_ns` (of now_ns); what
  /// can be sent at once is sent even if that is over.
  virtual void leave(std::uint64_t /*end_ns*/) {}
  /// Fails if the component that carries the segments has died.
  virtual Result<void> check_alive() { return {}; }
  /// ClientLink::stuck_between.
  virtual std::string stuck_between() { return ""; }
  /// ClientLink::never_heard for the carrying component; also empty if this end cannot know.
  [[nodiscard]] virtual std::string never_heard() const { return ""; }
  [[nodiscard]] virtual std::string name() const = 0;
  /// The setting that limits its memory, as named in errors.
  [[nodiscard]] virtual std::string setting() const = 0;
};

}  // namespace afterbay::transport::network
