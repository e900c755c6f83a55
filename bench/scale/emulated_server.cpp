// SPDX-License-Identifier: Apache-2.0
#include "scale/emulated_server.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <numeric>

#include "session/link_sizes.hpp"
#include "transport/mpi/server.hpp"
#include "transport/shm/peer.hpp"

namespace bench {

using namespace afterbay;

EmulatedServer::EmulatedServer(std::size_t ranks, std::size_t near, std::size_t servers,
                               const config::Config& config)
    : state_("scale", std::make_unique<config::Config>(config)),
      comm_(std::make_shared<const mpi::Communicator>(
          must(mpi::Communicator::duplicate(MPI_COMM_SELF, config.deadline)))),
      links_(near) {
  const transport::LinkSizes sizes = transport::network::shared_by(session::link_sizes(config.memory), ranks);
  const auto geometry = must(transport::shm::make_geometry(sizes, ranks, near));
  segment_ = std::make_shared<transport::shm::Segment>(must(transport::shm::Segment::format(
      must(transport::shm::Mapping::anonymous(geometry.total_bytes)), geometry)));
  for (std::uint32_t i = 0; i < near; ++i) segment_->give_ring(i, i);
  // A huge page would hold the rings of six ranks, most of which are hardly used here.
  std::byte* const rings = segment_->mapping().data() + geometry.rings_at;
  ::madvise(rings, geometry.frames_at - geometry.rings_at, MADV_NOHUGEPAGE);
  auto port = std::make_unique<transport::shm::Port>(segment_);
  auto network = std::make_unique<transport::network::MpiNetwork>(comm_, port->pool(), sizes, ranks - near);
  for (std::size_t i = 0; i < ranks; ++i) {
    std::string label = fmt::format("model rank {} (rank {})", i, i);
    if (i < near) {
      port->add(std::make_unique<transport::shm::ShmPeer>(segment_, i, "shm", std::move(label)));
      continue;
    }
    auto peer = std::make_unique<transport::network::MpiPeer>(
        comm_, *port, segment_->header().progress,
        transport::network::MpiPeerOptions{i, static_cast<int>(i), std::move(label), sizes.reply_bytes,
                                           transport::WaitPolicy{config.deadline, config.deadline},
                                           ProcessId{}});
    network->add(static_cast<int>(i), *peer);
    port->add(std::move(peer));
  }
  if (near < ranks) port->add_network(std::move(network));
  server::Identity identity;
  identity.servers = static_cast<int>(servers);
  identity.session_rank = static_cast<int>(ranks);
  identity.session_ranks.resize(ranks);
  std::iota(identity.session_ranks.begin(), identity.session_ranks.end(), 0);
  server_ = std::make_unique<server::Server>(
      std::move(identity), *state_.config, std::move(port), server::FellowServers::Links(),
      [this](Format format) -> storage::Store& { return state_.store(format); }, 1, state_.server_profile,
      Logger({"scale", "server", static_cast<int>(ranks)}, LogLevel::error));
}

transport::ClientLink& EmulatedServer::link(std::size_t rank) {
  auto& link = links_.at(rank);
  if (!link) {
    // Without Segment::allocate_rings: of the rings of many ranks only the pages in use should
    // exist.
    link = std::make_unique<transport::shm::ShmClientLink>(
        segment_, transport::shm::ClientOptions{rank, {}, "shm", "the I/O server", rank_links_, {}});
  }
  return *link;
}

void EmulatedServer::send_encoded(std::size_t rank, std::span<const std::byte> message) {
  transport::ClientLink& to = link(rank);
  // What does not fit into the ring waits until the server has read.
  to.set_idle([this] {
    assert_role(ingest_thread);
    return server_->step();
  });
  must(to.send(message, transport::Wake::no));
}

double EmulatedServer::work() {
  assert_role(ingest_thread);
  const double begin = thread_cpu_s();
  while (server_->step()) {
  }
  return thread_cpu_s() - begin;
}

void EmulatedServer::check() {
  assert_role(ingest_thread);
  if (server_->failure()) throw Failure(*server_->failure());
}

}  // namespace bench
