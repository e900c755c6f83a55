// SPDX-License-Identifier: Apache-2.0
// The transport interface. A ClientLink is a model rank's end of its pair with one server; a
// ServerPort is a server's end of all its pairs. Both carry
//   * messages: ordered per pair, in both directions, bounded memory, any size (split if needed);
//   * data: pieces of frames, in order with the messages of the same rank;
//   * data of files that are read, to ranks that share no memory with the server, each with its
//     message; not in order with other messages.
// On a node (and between threads) the rank writes a piece directly into the server's frame buffer;
// between nodes it packs the piece and the server scatters it. The caller only sees whether its
// landing place is packed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"

namespace afterbay::transport {

using Bytes = std::vector<std::byte>;
using Millis = std::chrono::milliseconds;

/// A frame instance: the frame, its record, and its layout in the buffer.
struct FrameSlot {
  std::uint32_t frame = 0;  ///< number in the server's frame table
  std::uint64_t seq = 0;    ///< the collection's running number of (file, record)
  std::uint64_t bytes = 0;  ///< bytes of the frame
  std::uint64_t phase = 0;  ///< bytes to skip at the buffer's start (HandoverLayout::phase)
  std::uint64_t position =
      0;  ///< the rank's position in its own order of puts; equal for the same put on every rank
};

/// Where a rank writes its part of a piece.
struct Landing {
  std::byte* base = nullptr;  ///< not packed: start of the *frame*; packed: start of `packed_bytes`
  bool packed = false;
};

/// How many pages of a range are written.
enum class Writes { most_pages, some_pages };

/// Data that belong to a message from the server, in memory of the transport, which gets it back
/// when the last copy of `keeper` is destroyed.
struct ReceivedData {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keeper;
};

/// Data that a server sends with a message, as parts of its own memory.
struct OutgoingData {
  std::vector<std::span<const std::byte>> parts;
  std::shared_ptr<const void> keeper;  ///< owns the memory, as long as the transport may read it
  /// Called in the ingest thread, by the port, when the rank has received everything; not if the
  /// rank is lost.
  std::function<void()> sent;
};

/// When the server is notified of a message.
enum class Wake {
  no,          ///< not notified: it finds the message when it looks or is woken by something else
  with_flush,  ///< at this link's next flush, or when enough data are ready
  on_node,     ///< at once if memory is shared; else like with_flush: no message of its own
  now
};

/// How long room is kept that was reserved in advance.
enum class RoomFor {
  put,  ///< until the current put has filled it
  slot  ///< until the model commits it: other puts may come before
};

/// The blocks of a server's memory in which it has been announced what one piece of a plan writes,
/// so that this is done once per block rather than once per put. Used by one thread.
class AnnouncedBlocks {
 public:
  /// Notes a block; returns whether it was noted before, since `generation` was. Generations differ
  /// between servers.
  bool note(std::uint64_t generation, std::uint32_t block) {
    if (generation != generation_) {
      generation_ = generation;
      blocks_.assign(blocks_.size(), 0);
    }
    const std::size_t word = block / 64;
    if (word >= blocks_.size()) blocks_.resize(word + 1);
    const std::uint64_t bit = std::uint64_t{1} << block % 64;
    const bool noted = (blocks_[word] & bit) != 0;
    blocks_[word] |= bit;
    return noted;
  }

 private:
  std::uint64_t generation_ = 0;
  std::vector<std::uint64_t> blocks_;  ///< a bit per block
};

/// A part of a model rank's end that all threads of the rank may use at once: room in the server's
/// memory, and the count of what it holds. Requests of a rank's threads may come in any order;
/// those that are not the rank's oldest leave the memory that is reserved for the slowest rank.
class ThreadEnd {
 public:
  virtual ~ThreadEnd() = default;
  /// The position of the put that asks for room.
  enum class Turn {
    oldest,  ///< a put before which the rank has no incomplete one: may use reserved memory
    later,
    stalled  ///< has waited for half the deadline: may use all memory
  };
  class TurnNow {
   public:
    virtual ~TurnNow() = default;
    [[nodiscard]] virtual Turn turn() const = 0;
  };
  /// The start of the frame's data, which is allocated if necessary. `who` is asked before each
  /// attempt. Waits for at most `most`, then returns would_block with the reason; fails if the
  /// server has failed or died.
  virtual Result<std::byte*> reserve(const FrameSlot& slot, std::uint32_t piece, const TurnNow& who,
                                     Millis most) = 0;
  /// As ClientLink::is_announced.
  virtual bool is_announced(const std::byte* from, AnnouncedBlocks& known) = 0;
  /// As ClientLink::will_write.
  virtual void will_write(const std::byte* from, std::uint64_t bytes, Writes pages) = 0;
  /// As ClientLink::make_room for a slot.
  virtual Result<bool> make_room(std::span<const FrameSlot> slots) = 0;
  /// Fails if the slots can never be made room for at once.
  [[nodiscard]] virtual Result<void> check_fits(std::span<const FrameSlot> slots) const = 0;
  /// The rank's part of a piece is complete. True: the frame is complete, and
  /// ClientLink::frame_is_complete must be called.
  virtual Result<bool> count(const FrameSlot& slot, std::uint32_t piece) = 0;
  /// States that the rank's threads will reserve nothing before `frame` of the put at `position`;
  /// one thread at a time, never falls.
  virtual void publish(std::uint64_t position, std::uint32_t frame) = 0;
  /// A value that changes whenever the server makes progress or memory becomes free; for deadlines.
  [[nodiscard]] virtual std::uint64_t progress() const = 0;
  /// Time that threads were blocked waiting for room, in sum.
  [[nodiscard]] virtual std::uint64_t waited_ns() const = 0;
};

/// A model rank's end. Used by one thread. Waits end by the policy's deadline: if the server made
/// no progress for that long, or died, the call fails and names the server and the operation.
class ClientLink {
 public:
  virtual ~ClientLink() = default;

  /// Queues a message. Blocks only while the (bounded) queue is full.
  virtual Result<void> send(std::span<const std::byte> message, Wake wake) = 0;
  /// Sends a message that need not keep its place among earlier messages and data: it overtakes
  /// them, but no other such message. Waits only for the connection to the server.
  virtual Result<void> send_ahead(std::span<const std::byte> message) = 0;
  /// Sends everything that is queued (MPI); on a node, rings the doorbell if anything requires it.
  virtual Result<void> flush() = 0;

  /// Room for `packed_bytes` of this rank's part of piece `piece` (index in the frame). With
  /// may_wait=false it returns would_block instead of waiting. Fails if the server has failed.
  virtual Result<Landing> reserve(const FrameSlot& slot, std::uint32_t piece, std::uint64_t packed_bytes,
                                  bool may_wait) = 0;
  /// Whether nothing needs to be announced of what will be written to the landing place at `from`,
  /// because `known` has its block. Otherwise notes it there: the caller calls will_write for each
  /// of its parts.
  [[nodiscard]] virtual bool is_announced(const std::byte* /*from*/, AnnouncedBlocks& /*known*/) {
    return true;
  }
  /// The caller is about to write to pages of [from, from + bytes), a part of a landing place that
  /// is not packed. Makes the writes faster where they would fault page by page: now, if most pages
  /// are written, and in any case when the same part of another frame is written later.
  virtual void will_write(const std::byte* /*from*/, std::uint64_t /*bytes*/, Writes /*pages*/) {}
  /// Whether reserving all of `slots` (together `packed_bytes` of this rank's parts) would not wait
  /// now; if so, takes the room (frames stay allocated for the rank that puts first). For try_put
  /// and acquire. Room for a slot does not use the blocks that are reserved for the slowest rank,
  /// so that puts continue even if ranks hold slots.
  virtual Result<bool> make_room(std::span<const FrameSlot> slots, std::uint64_t packed_bytes,
                                 RoomFor use) = 0;
  /// Fails (resources) if make_room of `slots` can never succeed. Takes no room and does not change
  /// the link.
  [[nodiscard]] virtual Result<void> check_fits(std::span<const FrameSlot> slots) const = 0;
  /// The part that was reserved last for (slot, piece) is complete; the landing place must not be
  /// accessed again. A server on this node is notified at the next flush: waking it in the middle
  /// of a rank's puts would take cores from ranks that are still copying.
  virtual Result<void> commit(const FrameSlot& slot, std::uint32_t piece) = 0;
  /// What other threads of the rank may use while this thread uses the link; null: nothing, all
  /// data go through this thread.
  [[nodiscard]] virtual ThreadEnd* thread_end() { return nullptr; }
  /// After ThreadEnd::count said that the frame is complete: tells the server. Waits like `send`.
  virtual Result<void> frame_is_complete(const FrameSlot& /*slot*/) { return {}; }
  /// States that this rank will reserve nothing more before `position` (FrameSlot::position) on any
  /// link: when memory is short, ranks that are ahead wait for the slowest. Call it when a put
  /// begins (with its position) and when the whole put has ended (with the next position), also on
  /// ranks that hold nothing. The rank's other links, except those that rest, are updated when the
  /// rank waits or flushes.
  /// Cheap; never waits.
  virtual void set_position(std::uint64_t position) = 0;
  /// States that within the put at `position` this rank will reserve no frame before `frame` on
  /// this link. The rank's other links are not affected. A put to several servers processes its
  /// frames in the order of the layout, which is the same on all ranks, and calls this on each of
  /// its links before each frame. Cheap; never waits.
  virtual void advance(std::uint64_t position, std::uint32_t frame) = 0;
  /// Called when the rank has no open file of this server. Until its next put to this server, puts
  /// to other servers no longer update its position on this link. The server does not need it: puts
  /// to a server come in the same order on all ranks, so that a rank that waits for room there
  /// waits at most until this rank has made the same put. Ends when threads use `thread_end`:
  /// positions then go to all links.
  virtual void rest() {}
  /// Threads that use `thread_end` may reserve something for puts from `position` on: from now on
  /// this link states nothing beyond it, whatever it is told or reserves. `no_position`: they
  /// reserve nothing.
  static constexpr std::uint64_t no_position = ~std::uint64_t{0};
  virtual void hold(std::uint64_t /*position*/) {}

  /// The next message from the server, if any has arrived.
  virtual Result<std::optional<Bytes>> receive() = 0;
  /// The data that came with the message that `receive` returned last; only once.
  [[nodiscard]] virtual ReceivedData take_data() { return {}; }
  /// Sleeps until something may have arrived from the server, for at most `most`.
  virtual void wait(Millis most) = 0;
  /// Whether messages that were sent reach the server only while this link is used.
  [[nodiscard]] virtual bool under_way() { return false; }
  /// A value that changes whenever the server makes progress; for deadlines.
  [[nodiscard]] virtual std::uint64_t progress() const = 0;
  /// Fails if the server's process has died.
  virtual Result<void> check_alive() = 0;

  /// The component between this rank and the server that makes no progress, as named in errors;
  /// empty: none. Takes up to a second to determine.
  virtual std::string stuck_between() { return ""; }
  /// The server, and the processes on the way to it, that have not answered since the session was
  /// opened, as named in errors; empty: the server has answered, or never calls serve (inline).
  [[nodiscard]] virtual std::string never_heard() const { return ""; }

  /// From now on, waits for the server end at `end_ns` (of now_ns): it has not answered for a long
  /// time.
  virtual void hurry(std::uint64_t end_ns) = 0;
  /// The session is over: nothing more is sent or received. Components between rank and server may
  /// end.
  virtual void end() {}

  /// Called instead of sleeping while this link must wait (the inline topology runs its server in
  /// it); returns whether it did any work.
  virtual void set_idle(std::function<bool()> idle) = 0;
  [[nodiscard]] virtual std::string name() const = 0;  ///< "shm", "mpi", "relay", "thread"
  /// Whether data are packed here and put in place by the server, because they share no memory.
  [[nodiscard]] virtual bool packs() const { return false; }
  [[nodiscard]] virtual std::uint64_t waited_ns() const = 0;  ///< total time blocked waiting for room
  [[nodiscard]] virtual std::uint64_t messages() const = 0;   ///< number sent over the network or
                                                              ///< ring
};

/// Text that errors about a silent server add if another component is stuck
/// (ClientLink::stuck_between).
inline std::string note_of_stuck(const std::string& between) {
  return between.empty() ? "" : " " + between + ", which forwards data, makes no progress: is it stuck?";
}

/// Text that errors add about processes that have never answered (ClientLink::never_heard).
inline std::string note_of_silence(const std::string& who) {
  return who.empty() ? ""
                     : " " + who +
                           " has never answered since the session was opened: its process has probably not "
                           "called serve()";
}

/// The frames that a server knows: registered once per collection, before any rank may use them.
struct FrameDeclaration {
  std::uint64_t bytes = 0;              ///< bytes of the frame, without phase
  std::vector<std::uint32_t> expected;  ///< contributions that a piece needs; 0: no rank holds it
};

/// A frame instance as the server sees it.
struct FrameView {
  std::uint32_t block = 0;
  std::uint32_t frame = 0;
  std::uint64_t seq = 0;
  std::span<std::byte> buffer;  ///< page aligned; data begins at the phase
};

enum class PieceState { untouched, partial, complete };

/// The server's buffers: blocks of a bounded memory, and the table (frame, seq) -> block.
/// Thread-safe where stated; otherwise used by the server's ingest thread.
class FramePool {
 public:
  virtual ~FramePool() = default;
  /// Registers frames and returns the number of the first one. Fails (resources), with the
  /// calculation, if the table is full or a frame exceeds the largest block.
  virtual Result<std::uint32_t> declare(std::span<const FrameDeclaration> frames)
      AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// The instance, created if necessary; nullopt if no block is free or the slot's ring entry is
  /// still in use by an older instance. For ranks whose data arrive in messages.
  virtual std::optional<FrameView> acquire(const FrameSlot& slot) AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Counts one contribution to a piece; true when this completed the whole frame.
  virtual bool contribute(const FrameView& view, std::uint32_t piece) AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// The instance, if it exists.
  [[nodiscard]] virtual std::optional<FrameView> find(std::uint32_t frame, std::uint64_t seq) const
      AFTERBAY_REQUIRES(ingest_thread) = 0;
  [[nodiscard]] virtual PieceState state(const FrameView& view, std::uint32_t piece) const
      AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Returns the block and wakes ranks that wait for room. Any thread.
  virtual void release(const FrameView& view) = 0;
  /// Allocates some of the memory that will be needed soon, so that ranks need not. To be called
  /// when idle: takes a few milliseconds. False: there was nothing to allocate.
  virtual bool allocate_ahead() AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Less than configured while the system refuses memory; see `memory_error`. Any thread.
  [[nodiscard]] virtual std::uint64_t capacity_bytes() const = 0;
  /// The memory allocated so far, in use or not. Any thread.
  [[nodiscard]] virtual std::uint64_t allocated_bytes() const = 0;
  /// The errno with which the system refused memory, while blocks are missing because of it;
  /// otherwise 0.
  [[nodiscard]] virtual int memory_error() const AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Whether a rank that needs a block may have to wait for one. Any thread.
  [[nodiscard]] virtual bool is_short() const = 0;
  [[nodiscard]] virtual std::uint64_t used_bytes() const = 0;       ///< any thread
  [[nodiscard]] virtual std::uint64_t peak_used_bytes() const = 0;  ///< any thread
  /// How often a rank was refused because too many records of a frame were not yet written,
  /// regardless of room. Any thread.
  [[nodiscard]] virtual std::uint64_t older_refusals() const = 0;
  /// The number of records of any declared frame that can exist at once, if memory allows.
  [[nodiscard]] virtual std::uint64_t most_instances() const AFTERBAY_REQUIRES(ingest_thread) = 0;
};

/// Scatters a packed contribution of model rank `peer` to its places in the frame, which begins at
/// `frame` (after the phase). False: the bytes are invalid.
using Scatter = std::function<bool(std::size_t peer, const FrameSlot& slot, std::uint32_t piece,
                                   std::span<const std::byte> packed, std::byte* frame)>;

/// A model rank that left without ending its session.
struct LostPeer {
  std::size_t peer = 0;
  Error error;
  bool ended = false;  ///< it reported this itself; otherwise it has died
};

/// A server's end of all its pairs. Used by the ingest thread unless stated otherwise.
class ServerPort {
 public:
  virtual ~ServerPort() = default;
  /// Model ranks, in model-rank order.
  [[nodiscard]] virtual std::size_t peers() const AFTERBAY_REQUIRES(ingest_thread) = 0;
  [[nodiscard]] virtual std::string transport_of(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread) = 0;

  /// Appends the peers in [first, last) that may have a message, in ascending order. A peer remains
  /// one of them until `peek` finds nothing. A peer that is not among them has no message that was
  /// sent before the last `wait` ended.
  virtual void ready(std::size_t first, std::size_t last, std::vector<std::size_t>& peers)
      AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// The oldest unread message of `peer`, valid until pop(peer); nothing if there is none.
  virtual std::optional<std::span<const std::byte>> peek(std::size_t peer)
      AFTERBAY_REQUIRES(ingest_thread) = 0;
  virtual void pop(std::size_t peer) AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Queues a message to a peer; never blocks (messages that do not fit are kept and sent by
  /// `pump`).
  virtual void send(std::size_t peer, std::span<const std::byte> message)
      AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Begins to send a message with data, without a copy, to a peer that shares no memory with the
  /// server (transport "mpi"). The caller bounds what is in transit: nothing is queued.
  virtual void send_data(std::size_t peer, std::span<const std::byte> message, OutgoingData data)
      AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Makes the transport progress (MPI progress, kept messages). True: did something.
  virtual bool pump() AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Begins to send messages that `pump` would send later: for a caller that may not call it soon.
  virtual void begin_messages() AFTERBAY_REQUIRES(ingest_thread) {}
  /// Whether messages are waiting to be received by a rank, or for room; `pump` sends them.
  [[nodiscard]] virtual bool sending() const AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Sleeps until a doorbell, `wake`, or `most` has passed (MPI pairs: bounded back-off).
  virtual void wait(Millis most) AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Wakes `wait`. Any thread.
  virtual void wake() = 0;
  /// A peer whose process is gone and that was not `forgotten` (ended cleanly), with the available
  /// information. Checks all peers that are known to have failed or ended, and up to 1024 others
  /// per call, in turn.
  virtual std::optional<LostPeer> lost_peer() AFTERBAY_REQUIRES(ingest_thread) = 0;
  virtual void forget(std::size_t peer) AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// From now on, waits for room (reserve, send) fail with bad_state at once, also those in
  /// progress; the reason follows as an ordinary message.
  virtual void fail() AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Shows waiting ranks that the server is alive and working. Any thread.
  virtual void mark_progress() = 0;
  /// The number of model ranks that wait for room now, as far as the transport knows.
  [[nodiscard]] virtual std::size_t waiting_for_room() const AFTERBAY_REQUIRES(ingest_thread) = 0;
  virtual FramePool& frames() = 0;  ///< any thread
  /// Must be set before the first packed contribution can arrive (peers whose transport is "mpi").
  virtual void set_scatter(Scatter scatter) AFTERBAY_REQUIRES(ingest_thread) = 0;
  [[nodiscard]] virtual std::uint64_t messages() const AFTERBAY_REQUIRES(ingest_thread) = 0;
  /// Most memory that data from MPI have taken at a time until they were in frames.
  [[nodiscard]] virtual std::uint64_t receive_peak_bytes() const AFTERBAY_REQUIRES(ingest_thread) = 0;
};

/// Sizes that both ends of a link must agree on, from the configuration.
struct LinkSizes {
  static constexpr std::uint32_t least_instances = 64;  ///< per frame, if `instances` is 0
  static constexpr std::uint64_t places_share = 64;     ///< see `instances`
  std::uint64_t memory_bytes = 512u << 20;       ///< all blocks of one server, less the pages for phases
  std::uint64_t block_bytes = 4u << 20;          ///< bytes of a frame in a large block, which has one
                                                 ///< more page for the phase
  std::uint64_t small_block_bytes = 256u << 10;  ///< the same for small blocks
  double small_share = 1.0 / 8;                  ///< part of memory_bytes cut into small blocks
  std::uint64_t ring_bytes = 256u << 10;         ///< model -> server messages, per rank
  std::uint64_t reply_bytes = 64u << 10;         ///< server -> model messages, per rank
  /// Instances of one frame at a time, a power of two. 0: as many as there are blocks that can hold
  /// the frame, so that records in flight are bounded only by the memory. The table of all
  /// instances takes at most memory_bytes / places_share, in addition to least_instances entries
  /// per frame; if that is not enough, frames declared later get fewer.
  std::uint32_t instances = 0;
  std::uint32_t max_frames = 1u << 16;      ///< frames of all collections
  std::uint64_t segment_bytes = 4u << 20;   ///< MPI: one large staging segment
  std::uint32_t segments = 8;               ///< MPI: large staging segments of a rank, for all servers
  std::uint32_t credits = 4;                ///< MPI: segments of a pair that the server has not consumed yet
  std::uint64_t receive_bytes = 96u << 20;  ///< MPI: of a server, for all that it receives
  /// MPI: a server receives segments of at most this size as soon as they arrive, in memory that it
  /// keeps for their rank; longer ones stay with their sender until it has memory. See
  /// network::shared_by.
  std::uint64_t prompt_bytes = 64u << 10;
  /// MPI: of a server, for segments that frontends join although they are not prompt, part of
  /// `receive_bytes`; 0: frontends join prompt segments only. See network::shared_by.
  std::uint64_t joined_bytes = 0;
  /// MPI: of a server, for joint messages of frontends while they are received, part of
  /// `receive_bytes`; 0: there are no frontends. See network::shared_by.
  std::uint64_t joint_bytes = 0;
  /// MPI: of a server, for messages of other servers, part of `receive_bytes`; 0: they exchange
  /// none. See network::shared_by.
  std::uint64_t between_bytes = 0;
};

struct WaitPolicy {
  Millis deadline{60000};
  /// Deadline for the first answer of a server or frontend; `deadline` if that is less.
  Millis first_answer{60000};
  std::uint64_t end_ns = ~std::uint64_t{0};  ///< no wait ends later; see ClientLink::hurry

  [[nodiscard]] Millis patience(bool heard) const {
    const Millis most = heard ? deadline : std::min(deadline, first_answer);
    if (end_ns == ~std::uint64_t{0}) return most;
    const std::uint64_t now = now_ns();
    return std::min(most, Millis(end_ns > now ? (end_ns - now) / 1'000'000 : 0));
  }
};

}  // namespace afterbay::transport
