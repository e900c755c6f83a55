// SPDX-License-Identifier: Apache-2.0
// Joint messages: small segments of several model ranks that a frontend sends to the same server in
// one message. A server with a hundred ranks behind a frontend receives a few messages per step
// instead of a hundred.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/request.hpp"
#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {

/// One segment in a joint message: its header is followed by the segment, padded.
struct JointHeader {
  std::uint64_t peer = 0;   ///< number of the model rank
  std::uint64_t bytes = 0;  ///< size of the segment
};

/// Maximum size of a joint message.
inline constexpr std::uint64_t most_joint_bytes = small_segment_bytes;

constexpr std::uint64_t joint_part_bytes(std::uint64_t segment_bytes) {
  return sizeof(JointHeader) + padded(segment_bytes);
}

struct JointPart {
  std::size_t peer = 0;
  std::span<const std::byte> segment;
};
/// The segments of a joint message, in order; nothing if it is invalid.
std::optional<std::vector<JointPart>> parts_of_joint(std::span<const std::byte> message);

/// The frontend's side. Used by one thread.
class JointSegments {
 public:
  static constexpr std::uint64_t usual_most_bytes = 64 * most_joint_bytes;
  /// `servers`: their ranks. `most_bytes`: memory of all messages that are prepared or in transit.
  /// `prompt_bytes`: LinkSizes::prompt_bytes of the pairs; longer segments are joined as far as the
  /// server allows.
  JointSegments(std::shared_ptr<const mpi::Communicator> comm, const std::vector<int>& servers,
                std::uint64_t most_bytes = usual_most_bytes, std::uint64_t prompt_bytes = most_joined_bytes);
  ~JointSegments();
  JointSegments(const JointSegments&) = delete;
  JointSegments& operator=(const JointSegments&) = delete;

  /// Copies the segment into the message that is being prepared for this server; false: it must be
  /// sent by itself, after `flush`. May send this message, and those for other servers if the
  /// memory is used up.
  Result<bool> add(std::size_t server, std::size_t peer, std::span<const std::byte> segment);
  /// Whether a joined segment of this length counts until the server has consumed it: see
  /// `consumed`.
  [[nodiscard]] bool counts(std::uint64_t segment_bytes) const noexcept {
    return segment_bytes > prompt_bytes_;
  }
  /// The server has returned the credit of a joined segment that counts.
  void consumed(std::size_t server, std::uint64_t segment_bytes) noexcept {
    shares_[server].used -= segment_bytes;
  }
  /// From now on segments that count may have this total length at the server: see JoinedMemory.
  void allow(std::size_t server, std::uint64_t bytes) noexcept { shares_[server].allowed = bytes; }
  /// Sends the message that is being prepared for this server, if any.
  Result<void> flush(std::size_t server);
  /// Sends all that are being prepared. Returns whether there were any.
  Result<bool> flush_all();
  /// The server is gone: what is prepared or in transit to it counts no longer.
  void drop(std::size_t server);
  /// Whether any are in transit.
  Result<bool> in_transit();
  /// The same, without a look at MPI.
  [[nodiscard]] bool any_in_transit() const noexcept { return !sent_.empty(); }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  /// The memory of messages that are prepared or in transit.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Sent {
    std::size_t server = 0;
    Bytes message;
    mpi::Request request;
    /// MPI may still read it.
    void leave_behind();
  };
  /// A share of a server's memory for joined segments that are not prompt, in bytes.
  struct Share {
    std::uint64_t allowed = 0;
    std::uint64_t used = 0;
  };
  /// Releases those that have been sent, among the `most` that were not looked at for longest.
  Result<void> look(std::size_t most);
  /// Whether the message that is being prepared for this server has memory for `size` bytes.
  Result<bool> reserve(std::size_t server, std::size_t size);

  std::shared_ptr<const mpi::Communicator> comm_;
  std::vector<int> ranks_;
  std::vector<Share> shares_;      ///< by server
  std::vector<Bytes> prepared_;    ///< by server
  std::deque<std::size_t> begun_;  ///< servers for which one is prepared, the earliest first
  std::deque<Sent> sent_;          ///< in transit; the next to look at first
  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t prompt_bytes_;
  std::uint64_t messages_ = 0;
};

/// A server's memory for joint messages while they are received: a number of them at a time,
/// whatever the number of frontends. The others stay with the frontends. Each becomes free when its
/// message has arrived: its segments are then copied into the memory of their ranks.
struct JointMemory {
  static constexpr std::size_t messages = 64;       ///< more are of no use
  static constexpr std::size_t least_messages = 2;  ///< one is received while another is delivered
  /// The memory if it may be about `bytes`.
  [[nodiscard]] static constexpr std::uint64_t bytes_of(std::uint64_t bytes) noexcept {
    const std::uint64_t fit = bytes / most_joint_bytes;
    return (fit < least_messages ? least_messages : fit > messages ? messages : fit) * most_joint_bytes;
  }
  /// `bytes`: LinkSizes::joint_bytes.
  explicit JointMemory(std::uint64_t bytes = messages * most_joint_bytes) noexcept
      : free(static_cast<std::size_t>(bytes / most_joint_bytes)) {}
  std::size_t free;
};

/// A server's memory for joined segments that are not prompt, divided among its frontends: what
/// each may have sent that the server has not consumed. Half of it is divided equally, the other
/// half goes to those that need more first, as frontends of ranks near the server do. Nothing is
/// ever taken back. Without a share, or if it is used up, frontends send such segments by
/// themselves. Used by one thread.
class JoinedMemory {
 public:
  static constexpr std::uint64_t unit_bytes = 1024;  ///< unit of shares
  static constexpr std::uint64_t first_bytes =
      2 * most_joined_bytes;  ///< size of a new share, if that much is free
  static constexpr std::uint64_t most_share_bytes = 4 * most_joint_bytes;
  explicit JoinedMemory(std::uint64_t bytes) : bytes_(bytes), free_(bytes / 2) {}
  void add_frontend() noexcept { ++frontends_; }
  /// A frontend with this share has sent a segment by itself that it could have joined with a
  /// larger share. Returns its new share, of up to twice the size.
  std::uint64_t raise(std::uint64_t share) noexcept;

 private:
  std::uint64_t bytes_;
  std::uint64_t free_;  ///< free part of the half that is not divided equally
  std::uint64_t frontends_ = 0;
};

/// The server's side: messages of one frontend stay in order behind a joint message that is being
/// received. Used by one thread.
class JointArrivals {
 public:
  /// Joint messages of one frontend that are received at a time.
  static constexpr std::size_t most_receiving = 4;
  explicit JointArrivals(JointMemory& memory) : memory_(memory) {}
  ~JointArrivals();
  JointArrivals(const JointArrivals&) = delete;
  JointArrivals& operator=(const JointArrivals&) = delete;

  /// A message that was found and is not received yet.
  struct Found {
    int tag = 0;
    std::size_t bytes = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
  };
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  /// Adds a segment after those that were added before.
  Result<void> add(Found found);
  /// Receives joint messages as far as there is memory, and calls joint(bytes) or single(found) for
  /// those that can be delivered.
  Result<void> deliver(const std::function<Result<void>(std::span<const std::byte>)>& joint,
                       const std::function<Result<void>(const Found&)>& single);

 private:
  struct Waiting {
    Found found;
    Bytes message;  ///< a joint one
    mpi::Request request;
    [[nodiscard]] bool is_found_only() const noexcept {
      return found.tag == joint_tag && found.message != MPI_MESSAGE_NULL;
    }
  };
  Result<void> begin_receives();

  JointMemory& memory_;
  std::deque<Waiting> waiting_;
  std::size_t receiving_ = 0;
};

}  // namespace afterbay::transport::network
