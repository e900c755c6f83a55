// SPDX-License-Identifier: Apache-2.0
// EmulatedServer: a real I/O server with one end per model rank, in one process. Some or all of the
// ranks use its segment and may send messages; the others would send by MPI and are silent.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/ingest_thread.hpp"
#include "mpi/communicator.hpp"
#include "scale/emulation.hpp"
#include "server/server.hpp"
#include "session/state.hpp"
#include "transport/shm/client.hpp"
#include "transport/shm/port.hpp"
#include "wire/archive.hpp"

namespace bench {

class EmulatedServer {
 public:
  /// `near`: the number of ranks that use the segment, from the first. `servers`: of the session.
  EmulatedServer(std::size_t ranks, std::size_t near, std::size_t servers,
                 const afterbay::config::Config& config);

  [[nodiscard]] afterbay::server::Server& server() { return *server_; }
  [[nodiscard]] afterbay::transport::shm::Segment& segment() { return *segment_; }
  [[nodiscard]] const afterbay::transport::shm::Geometry& geometry() const { return segment_->geometry(); }

  /// The link of a rank that uses the segment, made at first use.
  afterbay::transport::ClientLink& link(std::size_t rank);
  template <class Message>
  void send(std::size_t rank, const Message& message) {
    send_encoded(rank, afterbay::wire::encode(message));
  }
  void send_encoded(std::size_t rank, std::span<const std::byte> message);
  /// Steps the server until there is no work; returns the processor time of this thread, in
  /// seconds.
  double work();
  /// Fails if the session has failed.
  void check();

 private:
  afterbay::Session::State state_;
  std::shared_ptr<const afterbay::mpi::Communicator> comm_;
  std::shared_ptr<afterbay::transport::shm::Segment> segment_;
  std::unique_ptr<afterbay::server::Server> server_;
  std::shared_ptr<afterbay::transport::RankLinks> rank_links_ =
      std::make_shared<afterbay::transport::RankLinks>();
  std::vector<std::unique_ptr<afterbay::transport::ClientLink>> links_;  ///< by rank
};

}  // namespace bench
