// SPDX-License-Identifier: Apache-2.0
// EmulatedServer: a real I/O server with one end per model rank, in one process. Some or all of the
// ranks use its segment; the others are ends of the network. All of them may send messages.
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
#include "transport/mpi/server.hpp"
#include "transport/shm/client.hpp"
#include "transport/shm/port.hpp"
#include "wire/archive.hpp"

namespace bench {

class EmulatedServer {
 public:
  /// How the ranks and servers of the session are connected with it.
  struct Links {
    bool relayed = false;  ///< model ranks that do not use the segment send through frontends
    bool fellows = false;  ///< servers exchange messages: it has an end and a link per other server
  };
  /// `near`: the number of ranks that use the segment, from the first. `servers`: of the session;
  /// this is the first one.
  EmulatedServer(std::size_t ranks, std::size_t near, std::size_t servers,
                 const afterbay::config::Config& config, Links links);
  EmulatedServer(std::size_t ranks, std::size_t near, std::size_t servers,
                 const afterbay::config::Config& config)
      : EmulatedServer(ranks, near, servers, config, Links()) {}

  [[nodiscard]] afterbay::server::Server& server() { return *server_; }
  [[nodiscard]] afterbay::transport::shm::Segment& segment() { return *segment_; }
  [[nodiscard]] const afterbay::transport::shm::Geometry& geometry() const { return segment_->geometry(); }
  /// Memory of blocks, which is part of memory.server.
  [[nodiscard]] std::uint64_t block_bytes() const { return port_->pool().allocated_bytes(); }

  /// The link of a rank that uses the segment, made at first use.
  afterbay::transport::ClientLink& link(std::size_t rank);
  template <class Message>
  void send(std::size_t rank, const Message& message) {
    send_encoded(rank, afterbay::wire::encode(message));
  }
  /// What a rank that does not use the segment sends is given to its end without MPI.
  void send_encoded(std::size_t rank, std::span<const std::byte> message);
  /// Steps the server until there is no work; returns the processor time of this thread, in
  /// seconds.
  double work();
  /// Takes what the server has sent to ranks on other nodes; returns the processor time that it
  /// took.
  double take_answers();
  /// From now on ranks on other nodes receive nothing.
  void let_ranks_compute() noexcept { ranks_compute_ = true; }
  /// How many ranks on other nodes have not received the server's last answer.
  [[nodiscard]] std::size_t pending_answers() const;
  /// A sign of life of a frontend. Returns the processor time that it took to send it.
  double ping(std::size_t frontend);
  /// Ranks per frontend.
  static constexpr std::size_t frontend_ranks = 100;
  /// Fails if the session has failed.
  void check();

 private:
  void add_model_ranks(std::size_t ranks, std::size_t near, const afterbay::transport::LinkSizes& sizes,
                       std::uint64_t deadline_ms);
  afterbay::server::FellowServers::Links add_fellows(std::size_t ranks, std::size_t near, std::size_t servers,
                                                     const afterbay::transport::LinkSizes& sizes);

  afterbay::Session::State state_;
  // One process is all ranks: what the server sends must not arrive at itself.
  using Comm = std::shared_ptr<const afterbay::mpi::Communicator>;
  Comm to_server_;    ///< only signs of life
  Comm from_server_;  ///< answers
  Comm to_fellows_;   ///< nobody receives
  Comm from_fellows_;
  bool relayed_ = false;
  bool ranks_compute_ = false;
  std::shared_ptr<afterbay::transport::shm::Segment> segment_;
  afterbay::transport::shm::Port* port_ = nullptr;           ///< owned by the server
  std::vector<afterbay::transport::network::MpiPeer*> far_;  ///< by rank; null: uses the segment
  std::unique_ptr<afterbay::transport::network::ReceiveMemory> arriving_;  ///< memory for what far ranks send
  std::unique_ptr<afterbay::server::Server> server_;
  std::shared_ptr<afterbay::transport::RankLinks> rank_links_ =
      std::make_shared<afterbay::transport::RankLinks>();
  std::vector<std::unique_ptr<afterbay::transport::ClientLink>> links_;  ///< by rank
};

}  // namespace bench
