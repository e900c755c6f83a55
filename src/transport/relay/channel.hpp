// SPDX-License-Identifier: Apache-2.0
// The memory that a frontend shares with the model ranks of its node: per rank a ring of notes in
// each direction, and per pair of rank and server a few segments. The rank fills a segment and
// leaves a note; the frontend sends the segment from this memory and then returns it. No MPI on the
// rank's side.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/futex.hpp"
#include "base/process_watch.hpp"
#include "transport/link.hpp"
#include "transport/mpi/stream.hpp"
#include "transport/shm/mapping.hpp"
#include "transport/shm/ring.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::relay {

/// The layout of the memory; a pure function of its fields, equal on both sides.
struct ChannelGeometry {
  std::uint32_t ranks = 0;     ///< that share the memory
  std::uint32_t servers = 0;   ///< behind the frontend
  std::uint32_t segments = 0;  ///< per pair
  std::uint64_t segment_bytes = 0;
  std::uint64_t up_bytes = 0;    ///< per ring of notes from a rank
  std::uint64_t down_bytes = 0;  ///< per ring of batches to a rank

  [[nodiscard]] std::uint64_t pairs_at() const noexcept;
  [[nodiscard]] std::uint64_t busy_at() const noexcept;
  [[nodiscard]] std::uint64_t rings_at() const noexcept;
  [[nodiscard]] std::uint64_t segments_at() const noexcept;
  [[nodiscard]] std::uint64_t total_bytes() const noexcept;
};

/// Distributes the memory of one frontend over `pairs` of ranks and servers; fails (resources),
/// with the calculation, if a pair would get less than two segments.
Result<std::uint32_t> segments_of_a_pair(std::uint64_t memory_bytes, std::size_t pairs,
                                         const LinkSizes& sizes);
ChannelGeometry channel_geometry(std::size_t ranks, std::size_t servers, std::uint32_t segments,
                                 const LinkSizes& sizes);

struct ChannelHeader {
  ProcessId frontend;
  std::atomic<shm::Life> life{shm::Life::absent};
  alignas(64) std::atomic<std::uint64_t> turns{0};  ///< of the frontend's loop, several per second
  alignas(64) EventCount doorbell;                  ///< wakes the frontend
};

struct RankSlot {
  alignas(64) std::atomic<shm::Life> life{shm::Life::absent};
  ProcessId process;
  EventCount bell;  ///< wakes the rank
  std::atomic<std::uint32_t> up_is_full{0};
  std::atomic<std::uint32_t> down_is_full{0};
  shm::RingCursor up;
  shm::RingCursor down;
};

/// The state of a server that a rank can read at any time, besides batches with messages.
struct PairState {
  std::atomic<std::uint64_t> progress{0};
  std::atomic<std::uint32_t> flags{0};  ///< network::BatchHeader::Flags; the rank clears them
  std::atomic<std::uint32_t> changes{0};
};

/// A rank's note in its ring; the message of a word follows it.
struct Note {
  std::uint32_t server = 0;   ///< behind the frontend
  std::uint32_t segment = 0;  ///< header_only: none
  std::uint64_t bytes = 0;
  network::SegmentHeader header;  ///< for header_only
  static constexpr std::uint32_t header_only = ~std::uint32_t{0};
};

/// The memory as typed parts, for both sides.
class Channel {
 public:
  /// In a new mapping. Allocates everything except the segments, which ranks allocate when they use
  /// them.
  static Result<std::shared_ptr<Channel>> format(shm::Mapping mapping, const ChannelGeometry& geometry);
  static std::shared_ptr<Channel> attach(shm::Mapping mapping, const ChannelGeometry& geometry);

  [[nodiscard]] const ChannelGeometry& geometry() const noexcept { return geometry_; }
  [[nodiscard]] ChannelHeader& header() const noexcept { return *header_; }
  [[nodiscard]] RankSlot& slot(std::size_t rank) const noexcept { return slots_[rank]; }
  /// 1 from the rank's note until the frontend has sent the segment.
  [[nodiscard]] std::atomic<std::uint32_t>& busy(std::size_t rank, std::size_t server,
                                                 std::size_t segment) const noexcept {
    return busy_[number(rank, server, segment)];
  }
  [[nodiscard]] PairState& pair(std::size_t rank, std::size_t server) const noexcept {
    return pairs_[rank * geometry_.servers + server];
  }
  [[nodiscard]] std::byte* segment(std::size_t rank, std::size_t server, std::size_t segment) const noexcept {
    return mapping_.data() + geometry_.segments_at() +
           number(rank, server, segment) * geometry_.segment_bytes;
  }
  /// The bytes [from, to) of a segment.
  Result<void> allocate(std::size_t rank, std::size_t server, std::size_t segment, std::uint64_t from,
                        std::uint64_t to) {
    const std::uint64_t begin =
        geometry_.segments_at() + number(rank, server, segment) * geometry_.segment_bytes;
    return mapping_.allocate({{begin + from, to - from}});
  }
  [[nodiscard]] std::span<std::byte> up_ring(std::size_t rank) const noexcept;
  [[nodiscard]] std::span<std::byte> down_ring(std::size_t rank) const noexcept;

 private:
  Channel(shm::Mapping mapping, const ChannelGeometry& geometry);
  [[nodiscard]] std::size_t number(std::size_t rank, std::size_t server, std::size_t segment) const noexcept {
    return (rank * geometry_.servers + server) * geometry_.segments + segment;
  }

  shm::Mapping mapping_;
  ChannelGeometry geometry_;
  ChannelHeader* header_ = nullptr;
  RankSlot* slots_ = nullptr;
  PairState* pairs_ = nullptr;
  std::atomic<std::uint32_t>* busy_ = nullptr;
};

/// A rank's end, shared by its links to the servers behind the frontend. Used by the rank's thread.
class ChannelEnd {
 public:
  /// Marks the rank as present. `frontend`: as named in errors; `host`: its host; `deadline`: for
  /// its ring to be read.
  ChannelEnd(std::shared_ptr<Channel> channel, std::size_t rank, std::string frontend, std::string host,
             Millis deadline);
  /// Marks the rank as ended.
  ~ChannelEnd();
  ChannelEnd(const ChannelEnd&) = delete;
  ChannelEnd& operator=(const ChannelEnd&) = delete;

  [[nodiscard]] Channel& channel() const noexcept { return *channel_; }
  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  /// Waits only while the ring is full of words.
  Result<void> leave(const Note& note, std::span<const std::byte> message = {});
  [[nodiscard]] bool is_free(std::size_t server, std::size_t segment) const noexcept {
    return channel_->busy(rank_, server, segment).load(std::memory_order_acquire) == 0;
  }
  /// The next batch from a server.
  std::optional<Bytes> next(std::size_t server);
  void sleep(std::chrono::nanoseconds most);
  Result<void> check_alive();
  /// The frontend's name if it was active before but has made no progress for a second.
  [[nodiscard]] std::string stuck() const;
  /// The frontend's name and host if it has never been active.
  [[nodiscard]] std::string never_began() const;
  /// Marks the rank as ended.
  void end();

 private:
  void collect();

  std::shared_ptr<Channel> channel_;
  std::size_t rank_;
  std::string frontend_;
  std::string host_;
  Millis deadline_;
  RankSlot& slot_;
  shm::RingWriter up_;
  shm::RingReader down_;
  Bytes note_;
  std::vector<std::deque<Bytes>> arrived_;  ///< by server
  ProcessWatch process_;
  std::uint32_t bell_seen_ = 0;
};

}  // namespace afterbay::transport::relay
