// SPDX-License-Identifier: Apache-2.0
#include "scale/emulated_server.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "session/link_sizes.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/mpi_carrier.hpp"
#include "transport/mpi/staging.hpp"
#include "transport/shm/peer.hpp"

namespace bench {

using namespace afterbay;
namespace network = transport::network;

namespace {

std::shared_ptr<const mpi::Communicator> alone(const config::Config& config) {
  return std::make_shared<const mpi::Communicator>(
      must(mpi::Communicator::duplicate(MPI_COMM_SELF, config.deadline)));
}

/// Segments that are given to an end without MPI are small; the server consumes them at once.
transport::LinkSizes sizes_of_arriving() {
  transport::LinkSizes sizes;
  sizes.prompt_bytes = 0;
  sizes.joined_bytes = std::uint64_t{1} << 30;
  return sizes;
}

}  // namespace

EmulatedServer::EmulatedServer(std::size_t ranks, std::size_t near, std::size_t servers,
                               const config::Config& config, Links with)
    : state_("scale", std::make_unique<config::Config>(config)),
      to_server_(alone(config)),
      from_server_(alone(config)),
      to_fellows_(alone(config)),
      from_fellows_(alone(config)),
      relayed_(with.relayed),
      far_(ranks),
      arriving_(std::make_unique<network::ReceiveMemory>(sizes_of_arriving(), 1)),
      links_(near) {
  const transport::LinkSizes given = session::link_sizes(config.memory);
  const transport::LinkSizes sizes = network::shared_by(
      given, {.models = ranks, .relayed = with.relayed, .servers = with.fellows ? servers : 0});
  const std::size_t peers = ranks + (with.fellows ? servers : 0);
  const std::size_t rings = near + (with.fellows ? 1 : 0);
  const auto geometry = must(transport::shm::make_geometry(sizes, peers, rings));
  segment_ = std::make_shared<transport::shm::Segment>(must(transport::shm::Segment::format(
      must(transport::shm::Mapping::anonymous(geometry.total_bytes)), geometry)));
  for (std::uint32_t i = 0; i < near; ++i) segment_->give_ring(i, i);
  // A huge page would hold the rings of six ranks, most of which are hardly used here.
  std::byte* const base = segment_->mapping().data() + geometry.rings_at;
  ::madvise(base, geometry.frames_at - geometry.rings_at, MADV_NOHUGEPAGE);
  auto port = std::make_unique<transport::shm::Port>(segment_);
  port_ = port.get();
  add_model_ranks(ranks, near, sizes, static_cast<std::uint64_t>(config.deadline.count()));
  server::FellowServers::Links fellows;
  if (with.fellows) fellows = add_fellows(ranks, near, servers, given);
  server::ServerIdentity identity;
  identity.servers = static_cast<int>(servers);
  identity.session_rank = static_cast<int>(ranks);
  identity.session_ranks.resize(ranks);
  std::iota(identity.session_ranks.begin(), identity.session_ranks.end(), 0);
  server_ = std::make_unique<server::Server>(
      std::move(identity), *state_.config, std::move(port), std::move(fellows),
      [this](Format format) -> storage::Store& { return state_.store(format); }, 1, state_.server_profile,
      Logger({"scale", "server", static_cast<int>(ranks)}, LogLevel::error));
}

void EmulatedServer::add_model_ranks(std::size_t ranks, std::size_t near, const transport::LinkSizes& sizes,
                                     std::uint64_t deadline_ms) {
  const transport::Millis deadline(deadline_ms);
  const transport::WaitPolicy policy{deadline, deadline};
  auto net = std::make_unique<network::MpiNetwork>(to_server_, port_->pool(), sizes, ranks - near);
  const auto frontend =
      std::make_shared<network::Frontend>(network::Frontend{"the frontend", "node", ProcessWatch(), policy});
  for (std::size_t i = 0; i < ranks; ++i) {
    const transport::PeerName name("model rank", i, static_cast<int>(i));
    if (i < near) {
      port_->add(std::make_unique<transport::shm::ShmPeer>(segment_, i, "shm", name.text()));
      continue;
    }
    network::MpiPeerOptions options{
        .peer = i, .name = name, .reply_bytes = sizes.reply_bytes, .policy = policy, .process = {}};
    if (relayed_) {
      options.down_tag = network::relay_tag(i);
      options.data_tag = network::relay_data_tag(i);
      options.frontend = frontend;
    }
    auto peer = std::make_unique<network::MpiPeer>(from_server_, *port_, segment_->header().progress,
                                                   std::move(options));
    far_[i] = peer.get();
    if (relayed_)
      net->add(0, i, *peer, frontend);
    else
      net->add(static_cast<int>(i), *peer);
    port_->add(std::move(peer));
  }
  if (near < ranks) port_->add_network(std::move(net));
}

/// All others are on other nodes, and silent.
server::FellowServers::Links EmulatedServer::add_fellows(std::size_t ranks, std::size_t near,
                                                         std::size_t servers,
                                                         const transport::LinkSizes& given) {
  const transport::LinkSizes sizes = network::shared_by_servers(given, servers);
  auto net = std::make_unique<network::MpiNetwork>(from_fellows_, port_->pool(), sizes, servers);
  const network::MpiShared shared{must(network::Staging::make(sizes, servers, false)),
                                  std::make_shared<network::ProbeRound>(to_fellows_)};
  const auto links_of_server = std::make_shared<transport::RankLinks>();
  server::FellowServers::Links links;
  for (std::size_t s = 0; s < servers; ++s) {
    const std::size_t peer = ranks + s;
    const transport::PeerName name("I/O server", s, static_cast<int>(ranks + s));
    port_->pool().publish(peer, transport::shm::order_end);
    if (s == 0) {  // itself
      segment_->give_ring(peer, static_cast<std::uint32_t>(near));
      port_->add(std::make_unique<transport::shm::ShmPeer>(segment_, peer, "shm", name.text()));
      links.push_back(nullptr);
      continue;
    }
    auto end = std::make_unique<network::MpiPeer>(
        from_fellows_, *port_, segment_->header().progress,
        network::MpiPeerOptions{
            .peer = peer, .name = name, .reply_bytes = sizes.reply_bytes, .policy = {}, .process = {}});
    net->add(static_cast<int>(s), *end);
    port_->add(std::move(end));
    links.push_back(std::make_unique<network::MpiClientLink>(
        std::make_unique<network::MpiCarrier>(to_fellows_, shared, sizes.credits,
                                              network::MpiRoute{.rank = 0}),
        network::MpiClientOptions{.server = name.text(),
                                  .sizes = sizes,
                                  .rank_links = links_of_server,
                                  .dedicated = fmt::format("{} on host node{}", name.text(), s)}));
  }
  port_->add_network(std::move(net));
  return links;
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
  if (far_[rank] == nullptr) {
    transport::ClientLink& to = link(rank);
    // What does not fit into the ring waits until the server has read.
    to.set_idle([this] {
      assert_role(ingest_thread);
      return server_->step();
    });
    return must(to.send(message, transport::Wake::no));
  }
  transport::Bytes segment(network::alignment + network::item_bytes(message.size()));
  const network::SegmentHeader header{network::SegmentKind::data, 0, segment.size() - network::alignment, 0};
  std::memcpy(segment.data(), &header, sizeof header);
  const network::ItemHeader item{network::ItemKind::message, 0, message.size(), {}};
  std::memcpy(segment.data() + network::alignment, &item, sizeof item);
  if (!message.empty()) std::memcpy(segment.data() + 2 * network::alignment, message.data(), message.size());
  must(far_[rank]->take(segment, *arriving_));
}

double EmulatedServer::work() {
  assert_role(ingest_thread);
  double used = 0;
  for (bool did = true; did;) {
    const double begin = thread_cpu_s();
    did = server_->step();
    used += thread_cpu_s() - begin;
    if (did && !ranks_compute_) take_answers();
  }
  return used;
}

double EmulatedServer::take_answers() {
  const double begin = thread_cpu_s();
  for (;;) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, from_server_->get(), &found, &message, &status);
    if (found == 0) return thread_cpu_s() - begin;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    transport::Bytes buffer(static_cast<std::size_t>(bytes));
    MPI_Mrecv(buffer.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  }
}

std::size_t EmulatedServer::pending_answers() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      far_, [](const network::MpiPeer* end) { return end != nullptr && end->sending(); }));
}

double EmulatedServer::ping(std::size_t frontend) {
  const double begin = thread_cpu_s();
  const network::SegmentHeader header{network::SegmentKind::ping, 0, 0, 0};
  MPI_Send(&header, static_cast<int>(sizeof header), MPI_BYTE, 0,
           network::relay_tag(std::min(frontend * frontend_ranks, far_.size() - 1)), to_server_->get());
  return thread_cpu_s() - begin;
}

void EmulatedServer::check() {
  assert_role(ingest_thread);
  if (server_->failure()) throw Failure(*server_->failure());
}

}  // namespace bench
