// SPDX-License-Identifier: Apache-2.0
// The transport interface. A ClientLink is a model rank's end of its pair with one server; a
// ServerPort is a server's end of all its pairs. Both carry
//   * messages: ordered per pair, in both directions, bounded memory, any size (split if needed);
//   * data: pieces of frames, in order with the messages of the same rank.
// On a node (and between threads) the rank writes a piece straight into the server's frame
// buffer; between nodes it packs the piece and the server scatters it. The caller sees only
// whether its landing place is packed.
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

#include "base/result.hpp"

namespace afterbay::transport {

using Bytes = std::vector<std::byte>;
using Millis = std::chrono::milliseconds;

/// One instance of a frame: which one, of which record, and how it lies in its buffer.
struct FrameSlot {
  std::uint32_t frame = 0;  ///< number in the server's frame table
  std::uint64_t seq = 0;    ///< the collection's running number of (file, record)
  std::uint64_t bytes = 0;  ///< bytes of the frame
  std::uint64_t phase = 0;  ///< bytes to skip at the buffer's start (FileLayout::phase)
  std::uint64_t position =
      0;  ///< the rank's place in its own order of puts; equal for the same put on every rank
};

/// Where a rank writes its part of a piece.
struct Landing {
  std::byte* base = nullptr;  ///< not packed: start of the *frame*; packed: start of `packed_bytes`
  bool packed = false;
};

/// When the server is to learn of a message.
enum class Wake {
  no,          ///< when it looks by itself, or something else wakes it
  with_flush,  ///< at this link's next flush, or when enough data have become ready
  on_node,     ///< now where memory is shared; else as with_flush: no message of its own
  now
};

/// How long room is kept that is taken ahead.
enum class RoomFor {
  put,  ///< until the put that is under way has filled it
  slot  ///< until the model commits it: it does other puts before
};

/// A model rank's end. Used by one thread. Waits end by the policy's deadline: when the server
/// made no progress for so long, or died, the call fails naming server and operation.
class ClientLink {
 public:
  virtual ~ClientLink() = default;

  /// Queues a message. Blocks only while the (bounded) queue is full.
  virtual Result<void> send(std::span<const std::byte> message, Wake wake) = 0;
  /// A message that need not come after what was queued and put before: it overtakes that, and no other such
  /// message. Waits for nothing but the way to the server.
  virtual Result<void> send_ahead(std::span<const std::byte> message) = 0;
  /// Hands everything queued to the network (MPI); on a node rings the doorbell if something asked for it.
  virtual Result<void> flush() = 0;

  /// Room for `packed_bytes` of this rank's part of piece `piece` (index in the frame).
  /// With may_wait=false returns would_block instead of waiting. Fails when the server failed.
  virtual Result<Landing> reserve(const FrameSlot& slot, std::uint32_t piece, std::uint64_t packed_bytes,
                                  bool may_wait) = 0;
  /// Whether reserve of all of `slots` (together `packed_bytes` of this rank's parts) would not wait now;
  /// takes the room if so (frames stay allocated for whoever puts first). For try_put and acquire. Room for a
  /// slot leaves the blocks that are kept for the slowest rank, so that puts go on whoever holds slots.
  virtual Result<bool> make_room(std::span<const FrameSlot> slots, std::uint64_t packed_bytes,
                                 RoomFor use) = 0;
  /// Fails (resources) if make_room of `slots` can never succeed. Takes nothing; the link is as before.
  [[nodiscard]] virtual Result<void> check_fits(std::span<const FrameSlot> slots) const = 0;
  /// The part reserved last for (slot, piece) is complete; the landing must not be touched again. A server
  /// on this node hears of it with the next flush: a server that is woken in the middle of a rank's puts
  /// takes the cores from the ranks that are still copying.
  virtual Result<void> commit(const FrameSlot& slot, std::uint32_t piece) = 0;
  /// Says that this rank will reserve nothing more before `position` (FrameSlot::position) on any link:
  /// ranks ahead wait for the slowest when memory runs short. Call it when a put begins (with its position)
  /// and when the whole put has ended (with the next one), also where the rank holds nothing. The rank's
  /// other links hear of it when the rank waits or flushes. Cheap; never waits.
  virtual void set_position(std::uint64_t position) = 0;
  /// Says that within the put at `position` this rank will reserve no frame before `frame` on this link. The
  /// rank's other links are not concerned. A put that goes to several servers serves its frames in the order
  /// of the layout, which is the same on all ranks, and calls this on each of its links before each frame.
  /// Cheap; never waits.
  virtual void advance(std::uint64_t position, std::uint32_t frame) = 0;

  /// The next message from the server, if any has arrived.
  virtual Result<std::optional<Bytes>> receive() = 0;
  /// Sleeps until something may have arrived from the server, at most `most`.
  virtual void wait(Millis most) = 0;
  /// A value that changes whenever the server does anything; for deadlines.
  [[nodiscard]] virtual std::uint64_t progress() const = 0;
  /// Fails when the server's process is gone.
  virtual Result<void> check_alive() = 0;

  /// What stands between this rank and the server and does nothing, as errors name it; empty: nothing. Takes
  /// a second to find out.
  virtual std::string stuck_between() { return ""; }
  /// The processes on the way to the server and the server, as far as nothing was heard of them since the
  /// session was opened, as errors name them; empty: the server was heard of, or never calls serve (inline).
  [[nodiscard]] virtual std::string never_heard() const { return ""; }

  /// From now on nothing waits longer than `most` for the server, which has not been heard of for long.
  virtual void hurry(Millis most) = 0;
  /// The session is over: nothing more is sent or received. What stands between rank and server may go.
  virtual void end() {}

  /// Called instead of sleeping while this link must wait (the inline topology runs its server there);
  /// returns whether it did something.
  virtual void set_idle(std::function<bool()> idle) = 0;
  [[nodiscard]] virtual std::string name() const = 0;  ///< "shm", "mpi", "relay", "thread"
  /// Whether what is put is packed here and put in its place by the server: no memory is shared with it.
  [[nodiscard]] virtual bool packs() const { return false; }
  [[nodiscard]] virtual std::uint64_t waited_ns() const = 0;  ///< total time blocked waiting for room
  [[nodiscard]] virtual std::uint64_t messages() const = 0;   ///< sent over the network or ring
};

/// What errors about a silent server add where something else is stuck (ClientLink::stuck_between).
inline std::string note_of_stuck(const std::string& between) {
  return between.empty() ? "" : " " + between + ", which passes data on, does nothing: is it stuck?";
}

/// What errors add about processes of which nothing was heard (ClientLink::never_heard).
inline std::string note_of_silence(const std::string& who) {
  return who.empty() ? ""
                     : " " + who +
                           " has never answered since the session was opened: its process has probably not "
                           "called serve()";
}

/// Which frames a server knows of: registered once per collection, before any rank may use them.
struct FrameDeclaration {
  std::uint64_t bytes = 0;              ///< frame bytes without phase
  std::vector<std::uint32_t> expected;  ///< contributions a piece needs; 0: nobody holds it
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
/// Thread-safe where said; otherwise used by the server's ingest thread.
class FramePool {
 public:
  virtual ~FramePool() = default;
  /// Registers frames; returns the number of the first. Fails (resources) when the table is full or
  /// a frame exceeds the largest block, with the arithmetic.
  virtual Result<std::uint32_t> declare(std::span<const FrameDeclaration> frames) = 0;
  /// The instance, made if need be; nullopt when no block is free or the slot's ring entry is still in use by
  /// an older instance. For ranks whose data come by messages.
  virtual std::optional<FrameView> acquire(const FrameSlot& slot) = 0;
  /// Counts one contribution to a piece; true when this completed the whole frame.
  virtual bool contribute(const FrameView& view, std::uint32_t piece) = 0;
  /// The instance if it exists.
  [[nodiscard]] virtual std::optional<FrameView> find(std::uint32_t frame, std::uint64_t seq) const = 0;
  [[nodiscard]] virtual PieceState state(const FrameView& view, std::uint32_t piece) const = 0;
  /// Gives the block back and wakes ranks that wait for room. Any thread.
  virtual void release(const FrameView& view) = 0;
  /// Allocates some of the memory that will be needed soon, so that no rank has to. For when there is nothing
  /// else to do: takes a few milliseconds. False: there was nothing to allocate.
  virtual bool allocate_ahead() = 0;
  /// Less than configured while the system refuses memory, see `memory_error`. Any thread.
  [[nodiscard]] virtual std::uint64_t capacity_bytes() const = 0;
  /// What is allocated so far, in use or not. Any thread.
  [[nodiscard]] virtual std::uint64_t allocated_bytes() const = 0;
  /// The error number with which the system refused memory, as long as blocks are missing for it; else 0.
  [[nodiscard]] virtual int memory_error() const = 0;
  /// Whether a rank that needs a block may have to wait for one. Any thread.
  [[nodiscard]] virtual bool is_short() const = 0;
  [[nodiscard]] virtual std::uint64_t used_bytes() const = 0;       ///< any thread
  [[nodiscard]] virtual std::uint64_t peak_used_bytes() const = 0;  ///< any thread
  /// How often a rank was refused because too many records of a frame were not yet written, whatever room
  /// there was. Any thread.
  [[nodiscard]] virtual std::uint64_t older_refusals() const = 0;
  /// So many records of any declared frame may be there at once, if memory allows.
  [[nodiscard]] virtual std::uint64_t most_instances() const = 0;
};

/// Scatters a packed contribution of model rank `peer` to its places in the frame, which begins at
/// `frame` (phase already skipped). False: the bytes make no sense.
using Scatter = std::function<bool(std::size_t peer, const FrameSlot& slot, std::uint32_t piece,
                                   std::span<const std::byte> packed, std::byte* frame)>;

/// A model rank that went away without ending its session.
struct LostPeer {
  std::size_t peer = 0;
  Error error;
  bool ended = false;  ///< it said so itself, though not in order; else it has died
};

/// A server's end of all its pairs. Used by the ingest thread, except `wake`.
class ServerPort {
 public:
  virtual ~ServerPort() = default;
  [[nodiscard]] virtual std::size_t peers() const = 0;  ///< model ranks, in model-rank order
  [[nodiscard]] virtual std::string transport_of(std::size_t peer) const = 0;

  /// The oldest unread message of `peer`, valid until pop(peer); nothing when there is none.
  virtual std::optional<std::span<const std::byte>> peek(std::size_t peer) = 0;
  virtual void pop(std::size_t peer) = 0;
  /// Queues a message to a peer; never blocks (what does not fit is kept and sent by `pump`).
  virtual void send(std::size_t peer, std::span<const std::byte> message) = 0;
  /// Moves what the transport must move by itself (MPI progress, kept messages). True: did something.
  virtual bool pump() = 0;
  /// Whether messages wait for a rank to take them, or for room; `pump` moves them.
  [[nodiscard]] virtual bool sending() const = 0;
  /// Sleeps until a doorbell, `wake`, or `most` has passed (MPI pairs: bounded back-off).
  virtual void wait(Millis most) = 0;
  /// Wakes `wait` from another thread (workers).
  virtual void wake() = 0;
  /// A peer whose process is gone and that was not `forgotten` (ended in order), with what is known of it.
  virtual std::optional<LostPeer> lost_peer() = 0;
  virtual void forget(std::size_t peer) = 0;
  /// From now on ranks that wait for room (reserve, send) fail with bad_state at once, also those that wait
  /// already; the reason follows them as an ordinary message.
  virtual void fail() = 0;
  /// Tells waiting ranks that the server lives and works. Any thread.
  virtual void mark_progress() = 0;
  /// Model ranks that wait for room now, as far as the transport tells.
  [[nodiscard]] virtual std::size_t waiting_for_room() const = 0;
  virtual FramePool& frames() = 0;
  /// Needed before the first packed contribution can come (peers whose transport is "mpi").
  virtual void set_scatter(Scatter scatter) = 0;
  [[nodiscard]] virtual std::uint64_t messages() const = 0;
};

/// Sizes that both ends of a link must agree on; from the configuration.
struct LinkSizes {
  static constexpr std::uint32_t least_instances = 64;  ///< of every frame, if `instances` is 0
  static constexpr std::uint64_t places_share = 64;     ///< see `instances`
  std::uint64_t memory_bytes = 512u << 20;  ///< all blocks of one server, less the pages for phases
  std::uint64_t block_bytes = 4u << 20;     ///< of a frame in a large block; a page more is for its phase
  std::uint64_t small_block_bytes = 256u << 10;  ///< likewise
  double small_share = 1.0 / 8;                  ///< part of memory_bytes cut into small blocks
  std::uint64_t ring_bytes = 256u << 10;         ///< model -> server messages of one rank
  std::uint64_t reply_bytes = 64u << 10;         ///< server -> model messages of one rank
  /// Instances of one frame at a time, a power of two. 0: as many as there are blocks that can hold the
  /// frame, so that records in flight are bounded by the memory alone. The table of all these places takes at
  /// most memory_bytes / places_share, besides least_instances places of each frame; where that is too
  /// little, frames that are declared get fewer.
  std::uint32_t instances = 0;
  std::uint32_t max_frames = 1u << 16;     ///< frames of all collections
  std::uint64_t segment_bytes = 4u << 20;  ///< MPI: one staging segment
  std::uint32_t segments = 2;              ///< MPI: staging segments a pair
};

struct WaitPolicy {
  Millis deadline{60000};
  /// Until a server or frontend is heard of for the first time; `deadline` if that is less.
  Millis first_answer{60000};

  [[nodiscard]] Millis patience(bool heard) const {
    return heard ? deadline : std::min(deadline, first_answer);
  }
};

}  // namespace afterbay::transport
