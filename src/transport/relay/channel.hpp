// SPDX-License-Identifier: Apache-2.0
// The memory that a frontend shares with the model ranks of its node: per rank a ring of notes in
// each direction, a large segment and several small ones; and large segments that all ranks share.
// A rank fills a segment and leaves a note; the frontend sends the segment from this memory and
// then returns it. A rank's own segments are enough for it to make progress. No MPI on the rank's
// side. A mark per rank says that its ring has something to read: see shm/marks.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/futex.hpp"
#include "base/process_watch.hpp"
#include "transport/link.hpp"
#include "transport/mpi/staging.hpp"
#include "transport/mpi/stream.hpp"
#include "transport/shm/mapping.hpp"
#include "transport/shm/marks.hpp"
#include "transport/shm/ring.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::relay {

/// How the memory of a frontend is divided.
struct Shares {
  std::uint32_t small = 0;   ///< small segments of each rank
  std::uint32_t common = 0;  ///< large segments for all ranks, in addition to one per rank
};
/// For `ranks` model ranks and `servers` servers; fails (resources), with the calculation, if there
/// is not one large segment for each rank. `bytes` = 0: half as many common ones as ranks, and at
/// least 512 MiB.
Result<Shares> divide(std::uint64_t bytes, std::size_t ranks, std::size_t servers, const LinkSizes& sizes);

/// The part that a frontend shares with those of its clients that are on its node; the rest is for
/// segments that it receives from the others.
Shares shares_of_near(const Shares& shares, std::size_t near, std::size_t clients) noexcept;

/// The layout of the memory; a pure function of its fields, equal on both sides.
struct ChannelGeometry {
  std::uint32_t ranks = 0;    ///< ranks that share the memory
  std::uint32_t servers = 0;  ///< servers behind the frontend
  Shares shares;
  std::uint64_t segment_bytes = 0;  ///< between large segments
  std::uint64_t capacity = 0;       ///< size of a large segment
  std::uint64_t small_bytes = 0;    ///< size of a small segment
  std::uint64_t up_bytes = 0;       ///< per ring of notes from a rank
  std::uint64_t down_bytes = 0;     ///< per ring of batches to a rank

  /// Segments are numbered: the small ones of each rank, the large one of each rank, the common
  /// ones.
  [[nodiscard]] std::uint32_t small_segments() const noexcept { return ranks * shares.small; }
  [[nodiscard]] std::uint32_t first_common() const noexcept { return small_segments() + ranks; }
  [[nodiscard]] std::uint32_t segments() const noexcept { return first_common() + shares.common; }
  [[nodiscard]] std::uint64_t marks_at() const noexcept;
  [[nodiscard]] std::uint64_t pairs_at() const noexcept;
  [[nodiscard]] std::uint64_t states_at() const noexcept;
  [[nodiscard]] std::uint64_t rings_at() const noexcept;
  [[nodiscard]] std::uint64_t segments_at() const noexcept;
  [[nodiscard]] std::uint64_t total_bytes() const noexcept;
};

ChannelGeometry channel_geometry(std::size_t ranks, std::size_t servers, const Shares& shares,
                                 const LinkSizes& sizes);

struct ChannelHeader {
  ProcessId frontend;
  std::atomic<shm::Life> life{shm::Life::absent};
  alignas(64) std::atomic<std::uint64_t> turns{0};  ///< turns of the frontend's loop, several per second
  alignas(64) EventCount doorbell;                  ///< wakes the frontend
  std::atomic<std::uint32_t> wants_segment{0};      ///< the frontend waits for a common segment
};

struct RankSlot {
  alignas(64) std::atomic<shm::Life> life{shm::Life::absent};
  ProcessId process;
  EventCount bell;                           ///< wakes the rank
  std::atomic<std::uint32_t> up_is_full{0};  ///< the rank waits for room in its ring of notes
  std::atomic<std::uint32_t> down_is_full{0};
  std::atomic<std::uint32_t> wants_segment{0};  ///< the rank waits for a common segment
  shm::RingCursor up;
  shm::RingCursor down;
};

/// The state of a server that a rank can read at any time, besides batches with messages.
struct PairState {
  std::atomic<std::uint64_t> progress{0};
  std::atomic<std::uint32_t> flags{0};  ///< network::BatchHeader::Flags; the rank clears them
  std::atomic<std::uint32_t> changes{0};
};

/// The owner of a segment. Each time a rank takes a segment, its turn is another.
class SegmentState {
 public:
  /// A turn of a rank that has the segment; 0 is never one.
  using Turn = std::uint64_t;
  /// 0: another process has it.
  Turn take(std::size_t rank) noexcept {
    std::uint64_t seen = state_.load(std::memory_order_acquire);
    if ((seen & holder_mask) != 0) return 0;
    const std::uint64_t taken = seen + one_turn + rank + 1;
    return state_.compare_exchange_strong(seen, taken, std::memory_order_acq_rel) ? taken : 0;
  }
  [[nodiscard]] bool is_free() const noexcept {
    return (state_.load(std::memory_order_acquire) & holder_mask) == 0;
  }
  [[nodiscard]] bool is_held(Turn turn) const noexcept {
    return state_.load(std::memory_order_acquire) == turn;
  }
  [[nodiscard]] bool is_held_by(std::size_t rank) const noexcept {
    return (state_.load(std::memory_order_acquire) & holder_mask) == rank + 1;
  }
  /// Called by the holder, or by the frontend on its behalf.
  void free() noexcept { state_.fetch_and(~holder_mask, std::memory_order_acq_rel); }
  /// Ends this turn. Returns false if it had ended before: another process may have the segment.
  bool free(Turn turn) noexcept {
    Turn seen = turn;
    return state_.compare_exchange_strong(seen, turn & ~holder_mask, std::memory_order_acq_rel);
  }

 private:
  static constexpr std::uint64_t one_turn = std::uint64_t{1} << 32;
  static constexpr std::uint64_t holder_mask = one_turn - 1;
  std::atomic<std::uint64_t> state_{0};
};

/// A rank's note in its ring; the message of a word follows it.
struct Note {
  std::uint32_t server = 0;   ///< behind the frontend
  std::uint32_t segment = 0;  ///< its number; header_only: none
  std::uint64_t bytes = 0;
  network::SegmentHeader header;  ///< for header_only
  static constexpr std::uint32_t header_only = ~std::uint32_t{0};
};

/// Before each message in a rank's ring of answers.
struct Answer {
  enum class Kind : std::uint32_t {
    batch,    ///< a batch follows
    data,     ///< a data message follows
    segment,  ///< a data message is in a segment, which the rank returns
  };
  Kind kind = Kind::batch;
  std::uint32_t server = 0;  ///< behind the frontend
  std::uint32_t segment = 0;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;  ///< size of the data message
  SegmentState::Turn turn = 0;
};

/// The memory as typed parts, for both sides.
class Channel {
 public:
  /// Makes a channel in a new mapping. Allocates everything except the segments, which ranks
  /// allocate when they use them.
  static Result<std::shared_ptr<Channel>> format(shm::Mapping mapping, const ChannelGeometry& geometry);
  static std::shared_ptr<Channel> attach(shm::Mapping mapping, const ChannelGeometry& geometry);

  [[nodiscard]] const ChannelGeometry& geometry() const noexcept { return geometry_; }
  [[nodiscard]] ChannelHeader& header() const noexcept { return *header_; }
  [[nodiscard]] RankSlot& slot(std::size_t rank) const noexcept { return slots_[rank]; }
  /// Set by a rank after it has written to its ring, before it rings the doorbell.
  [[nodiscard]] shm::Marks marks() const noexcept { return {marks_, geometry_.ranks}; }
  [[nodiscard]] PairState& pair(std::size_t rank, std::size_t server) const noexcept {
    return pairs_[rank * geometry_.servers + server];
  }
  [[nodiscard]] SegmentState& state(std::uint32_t segment) const noexcept { return states_[segment]; }
  [[nodiscard]] network::SegmentMemory segment(std::uint32_t number) const noexcept;
  /// Whether the rank may use the segment; numbers from a rank are not trusted.
  [[nodiscard]] bool may_use(std::size_t rank, std::uint32_t number) const noexcept;
  /// Allocates the bytes [from, to) of a segment.
  Result<void> allocate(const network::SegmentMemory& segment, std::uint64_t from, std::uint64_t to) {
    return mapping_.allocate(
        {{static_cast<std::uint64_t>(segment.data - mapping_.data()) + from, to - from}});
  }
  /// By the frontend: the segment that the rank had is free. Wakes the rank, and those that wait
  /// for a common segment.
  void give_back(std::uint32_t number, std::size_t rank) const noexcept;
  /// The same for a segment whose state says already that it is free.
  void announce_free(std::uint32_t number, std::size_t rank) const noexcept;
  [[nodiscard]] std::span<std::byte> up_ring(std::size_t rank) const noexcept;
  [[nodiscard]] std::span<std::byte> down_ring(std::size_t rank) const noexcept;

 private:
  Channel(shm::Mapping mapping, const ChannelGeometry& geometry);
  shm::Mapping mapping_;
  ChannelGeometry geometry_;
  ChannelHeader* header_ = nullptr;
  RankSlot* slots_ = nullptr;
  std::atomic<std::uint64_t>* marks_ = nullptr;
  PairState* pairs_ = nullptr;
  SegmentState* states_ = nullptr;
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
  /// Waits only while the ring is full of words: until the frontend has read, at most the deadline.
  Result<void> leave(const Note& note, std::span<const std::byte> message = {});
  /// As Carrier::take, give_back and allocate. A rank that has several segments in transit and may
  /// wait gets one that it has used before, if one comes back soon: to allocate a new one takes
  /// longer than to send one.
  std::optional<network::SegmentMemory> take(const network::SegmentRequest& request);
  void give_back(const network::SegmentMemory& segment);
  Result<void> allocate(const network::SegmentMemory& segment, std::uint64_t bytes);
  /// Whether it has refused a segment that would be new.
  [[nodiscard]] bool awaits_used() const noexcept { return awaits_used_ns_ != 0; }
  /// Whether the frontend has returned the segment.
  [[nodiscard]] bool returned(const network::SegmentMemory& segment) const noexcept {
    return !channel_->state(segment.number).is_held(segment.turn);
  }
  /// The next batch from a server.
  std::optional<Bytes> next(std::size_t server);
  /// The next data message from a server.
  std::optional<ReceivedData> next_data(std::size_t server);
  void sleep(std::chrono::nanoseconds most);
  Result<void> check_alive();
  /// The frontend's name if it was active before but has made no progress for a second.
  [[nodiscard]] std::string stuck() const;
  /// The frontend's name and host if it has never been active.
  [[nodiscard]] std::string never_began() const;
  /// Marks the rank as ended.
  void end();

 private:
  void ring_doorbell() noexcept;
  Result<void> write_rest(std::size_t written);
  void collect();
  void take_answer(const Answer& answer, std::span<const std::byte> rest);
  std::optional<network::SegmentMemory> take_one(std::uint32_t first, std::uint32_t count);
  std::optional<network::SegmentMemory> take_large(const network::SegmentRequest& request, bool leaves_own);
  std::optional<network::SegmentMemory> take_used(const network::SegmentRequest& request);
  bool waits_for_used(const network::SegmentRequest& request);

  std::shared_ptr<Channel> channel_;
  std::size_t rank_;
  std::string frontend_;
  std::string host_;
  Millis deadline_;
  RankSlot& slot_;
  shm::RingWriter up_;
  shm::RingReader down_;
  Bytes note_;
  std::vector<std::list<Bytes>> arrived_;      ///< by server
  std::vector<std::list<ReceivedData>> data_;  ///< by server
  std::vector<std::uint64_t> allocated_;       ///< by segment: bytes that are mapped here
  std::uint64_t awaits_used_ns_ = 0;  ///< since when it waits for a segment that it has used; 0: it does not
  unsigned new_without_wait_ = 0;     ///< segments that it takes for the first time without such a wait
  ProcessWatch process_;
  std::uint32_t bell_seen_ = 0;
};

}  // namespace afterbay::transport::relay
