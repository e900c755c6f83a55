// SPDX-License-Identifier: Apache-2.0
// RelayLane: what a frontend keeps for a pair of model rank and server, in both directions.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "mpi/request.hpp"
#include "transport/mpi/lane_table.hpp"
#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {

/// A segment that is waiting or in transit.
struct RelayedSegment {
  const std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  std::optional<std::uint32_t> segment;  ///< number in the channel; none: `own`
  Bytes own;
  mpi::Request request;
};

struct RelayLane {
  // to the server
  std::list<RelayedSegment> waiting;
  std::list<RelayedSegment> sending;
  std::uint32_t credits = 0;    ///< credits of the server
  std::uint32_t forwarded = 0;  ///< number of segments, modulo 2^32
  std::uint32_t consumed = 0;   ///< number of these that the server has consumed
  /// A joined segment that counts (JointSegments::counts) and that the server has not consumed.
  struct Joined {
    std::uint32_t number = 0;  ///< among the forwarded ones
    std::uint32_t bytes = 0;
  };
  std::unique_ptr<std::list<Joined>> joined;  ///< made when there are some: most lanes never have any
  std::uint64_t order_sent = 0;
  std::list<SegmentHeader> headers;  ///< pings and last words, in transit to the server
  std::unique_ptr<SegmentHeader> header;
  mpi::Request header_request;
  std::list<Bytes> words;  ///< overtake waiting segments
  Bytes word;              ///< in transit to the server
  mpi::Request word_request;
  // back to the rank
  std::list<Bytes> batches;  ///< with messages
  std::uint32_t credits_due = 0;
  std::uint32_t flags_due = 0;
  std::uint64_t progress = 0;
  Bytes batch;
  mpi::Request batch_request;
  bool left = false;      ///< the rank has closed this link
  bool told_end = false;  ///< the server has been informed that the rank is gone

  /// Whether the lane must be visited again without a new event. The arrival of credits and the end
  /// of its rank or server are events, so that waiting for them is no reason.
  [[nodiscard]] bool has_work(bool server_there, bool rank_there) const;
  /// Whether nothing is left to send to the server, which knows that the rank is gone.
  [[nodiscard]] bool is_drained() const;
  /// Completes finished sends. Returns whether data are still in transit to the server.
  bool still_sending();
  /// MPI may still read what is in transit: it is left to MPI. Returns whether that includes memory
  /// of the channel.
  bool leave_behind();
};

using RelayLanes = LaneTable<RelayLane>;

}  // namespace afterbay::transport::network
