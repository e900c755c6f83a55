// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/connect.hpp"

#include <algorithm>
#include <climits>
#include <string>
#include <utility>

#include "transport/mpi/client.hpp"
#include "transport/mpi/roster.hpp"
#include "transport/mpi/server.hpp"
#include "transport/shm/client.hpp"
#include "transport/shm/peer.hpp"
#include "transport/shm/port.hpp"
#include "wire/archive.hpp"

namespace afterbay::transport {
namespace {

using network::Roster;

/// What a rank says at the end of a step of the set-up: that it succeeded, or why not.
struct StepReport {
  static constexpr wire::Kind kind{90};
  std::int32_t code = 0;
  std::int32_t native = 0;
  std::string message;
  std::string segment;  ///< servers: address of the shared memory; empty: none

  template <class A>
  void fields(A& a) {
    a(code, native, message, segment);
  }
};

/// One rank's way through the set-up.
class SetUp {
 public:
  SetUp(mpi::Communicator comm, const ConnectOptions& options)
      : SetUp(std::make_shared<mpi::Communicator>(std::move(comm)), options) {}

  Result<Connection> run() {
    AFTERBAY_TRY_ASSIGN(roster_, Roster::exchange(*comm_, options_));
    if (options_.server_links) {  // pairs of servers must not be mixed up with those of model ranks
      AFTERBAY_TRY_ASSIGN(auto comm, mpi::Communicator::duplicate(comm_->get(), options_.policy.deadline));
      connection_.communicators.push_back(std::make_shared<mpi::Communicator>(std::move(comm)));
      server_comm_ = connection_.communicators.back();
    }
    AFTERBAY_TRY_ASSIGN(geometry_, make_geometry());
    Result<void> made = options_.server ? make_server() : Result<void>();
    auto named = agree(made);
    Result<void> attached;
    if (named) {
      attached = attach();
      if (attached && talks_to_servers()) attached = attach_servers();
      attached = agree(attached);
    }
    door_ = {};
    if (!named) return fail(std::move(named).error());
    AFTERBAY_TRY(std::move(attached));
    connection_.port = std::move(port_);
    return std::move(connection_);
  }

 private:
  SetUp(std::shared_ptr<mpi::Communicator> comm, const ConnectOptions& options)
      : comm_(comm), options_(options) {
    connection_.communicators.push_back(std::move(comm));
  }

  [[nodiscard]] int rank() const { return comm_->rank(); }
  [[nodiscard]] std::string server_label(std::size_t index) const {
    return fmt::format("I/O server {} (rank {})", index, roster_.servers()[index]);
  }

  /// The same on all ranks, and so is its failure.
  Result<shm::Geometry> make_geometry() const {
    if (network::segment_capacity(options_.sizes) > INT_MAX)
      return fail(ErrorCode::invalid_argument, "segment_bytes and block_bytes must be less than 2 GiB");
    const std::size_t servers = options_.server_links ? roster_.servers().size() : 0;
    return shm::make_geometry(options_.sizes, roster_.models().size() + servers);
  }

  /// Memory for this server's segment; shared, with an open door, when model ranks will map it.
  Result<shm::Mapping> make_memory() {
    const auto maps_it = [&](int other) { return other != rank() && roster_.shares_memory(other, rank()); };
    const bool shared = std::ranges::any_of(roster_.models(), maps_it) ||
                        (options_.server_links && std::ranges::any_of(roster_.servers(), maps_it));
    if (!shared) return shm::Mapping::anonymous(geometry_.total_bytes);
    AFTERBAY_TRY_ASSIGN(shm::SharedMemory memory, shm::Mapping::create(geometry_.total_bytes));
    door_ = std::move(memory.door);
    return std::move(memory.mapping);
  }

  Result<void> make_server() {
    AFTERBAY_TRY_ASSIGN(shm::Mapping mapping, make_memory());
    mapping.populate();
    segment_ = std::make_shared<shm::Segment>(shm::Segment::format(std::move(mapping), geometry_));
    port_ = std::make_unique<shm::Port>(segment_);
    connection_.segment_bytes = geometry_.total_bytes;
    add_peers();
    return {};
  }

  void add_peers() {
    auto net = std::make_unique<network::MpiNetwork>(comm_);
    bool polled = false;
    for (std::size_t i = 0; i < roster_.models().size(); ++i) {
      const int model = roster_.models()[i];
      std::string label = fmt::format("model rank {} (rank {})", i, model);
      if (roster_.shares_memory(model, rank())) {
        port_->add(std::make_unique<shm::ShmPeer>(segment_, i, "shm", std::move(label)));
        continue;
      }
      auto peer = std::make_unique<network::MpiPeer>(
          comm_, *port_, segment_->header().progress,
          network::MpiPeerOptions{i, model, std::move(label), options_.sizes, options_.policy,
                                  roster_.watchable(model, rank())});
      net->add(model, *peer);
      port_->add(std::move(peer));
      polled = true;
    }
    if (polled) port_->add_network(std::move(net));
    if (options_.server_links) add_servers();
  }

  [[nodiscard]] bool talks_to_servers() const { return options_.server && options_.server_links; }

  /// The other servers' ends, after those of the model ranks. They hold nobody up: they only send messages.
  void add_servers() {
    auto net = std::make_unique<network::MpiNetwork>(server_comm_);
    bool polled = false;
    for (std::size_t i = 0; i < roster_.servers().size(); ++i) {
      const int server = roster_.servers()[i];
      const std::size_t peer = roster_.models().size() + i;
      port_->pool().publish(peer, shm::order_end);
      if (server == rank() || roster_.shares_memory(server, rank())) {
        port_->add(std::make_unique<shm::ShmPeer>(segment_, peer, "shm", server_label(i)));
        continue;
      }
      auto end = std::make_unique<network::MpiPeer>(
          server_comm_, *port_, segment_->header().progress,
          network::MpiPeerOptions{peer, server, server_label(i), options_.sizes, options_.policy,
                                  roster_.watchable(server, rank())});
      net->add(server, *end);
      port_->add(std::move(end));
      polled = true;
    }
    if (polled) port_->add_network(std::move(net));
  }

  Result<void> attach_servers() {
    const auto& servers = roster_.servers();
    const auto self = static_cast<std::size_t>(std::ranges::find(servers, rank()) - servers.begin());
    const auto links = std::make_shared<RankLinks>();
    for (std::size_t i = 0; i < servers.size(); ++i) {
      std::unique_ptr<ClientLink> link;
      if (servers[i] == rank()) {
      } else if (roster_.shares_memory(rank(), servers[i])) {
        AFTERBAY_TRY_ASSIGN(link, share(i, roster_.models().size() + self, links));
      } else {
        AFTERBAY_TRY_ASSIGN(
            link, network::MpiClientLink::make(server_comm_,
                                               {servers[i], server_label(i), options_.sizes, options_.policy,
                                                roster_.watchable(servers[i], rank()), links}));
      }
      connection_.server_links.push_back(std::move(link));
    }
    return {};
  }

  Result<void> attach() {
    if (!options_.model) return {};
    const auto& models = roster_.models();
    const auto self = static_cast<std::size_t>(std::ranges::find(models, rank()) - models.begin());
    for (std::size_t i = 0; i < roster_.servers().size(); ++i) {
      AFTERBAY_TRY_ASSIGN(auto link, roster_.shares_memory(rank(), roster_.servers()[i])
                                         ? share(i, self, rank_links_)
                                         : dial(i));
      connection_.links.push_back(std::move(link));
    }
    return {};
  }

  Result<std::unique_ptr<ClientLink>> share(std::size_t server, std::size_t self,
                                            const std::shared_ptr<RankLinks>& rank_links) {
    std::shared_ptr<shm::Segment> segment = segment_;
    if (roster_.servers()[server] != rank()) {
      AFTERBAY_TRY_ASSIGN(shm::Mapping mapping,
                          shm::Mapping::open(addresses_[server], geometry_.total_bytes));
      mapping.populate();
      AFTERBAY_TRY_ASSIGN(shm::Segment attached, shm::Segment::attach(std::move(mapping), geometry_));
      segment = std::make_shared<shm::Segment>(std::move(attached));
    }
    return std::make_unique<shm::ShmClientLink>(
        std::move(segment),
        shm::ClientOptions{self, options_.policy, "shm", server_label(server), rank_links});
  }

  Result<std::unique_ptr<ClientLink>> dial(std::size_t server) {
    const int at = roster_.servers()[server];
    return network::MpiClientLink::make(comm_, {at, server_label(server), options_.sizes, options_.policy,
                                                roster_.watchable(at, rank()), rank_links_});
  }

  /// Collective: fails on all ranks when `own` failed on one, naming the first that did.
  Result<void> agree(const Result<void>& own) {
    StepReport report;
    if (!own)
      report = {static_cast<std::int32_t>(own.error().code), own.error().native, own.error().message, {}};
    if (door_.fd() >= 0) report.segment = door_.address();
    AFTERBAY_TRY_ASSIGN(const auto all, comm_->all_gather(wire::encode(report), options_.policy.deadline));
    addresses_.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
      AFTERBAY_TRY_ASSIGN(StepReport other, wire::decode<StepReport>(all[i]));
      if (other.code != 0)
        return fail(make_error(static_cast<ErrorCode>(other.code), "rank {}: {}", i, other.message)
                        .with_native(other.native)
                        .at_rank(static_cast<int>(i))
                        .add("while ranks and I/O servers were connected"));
      if (roster_.card(static_cast<int>(i)).server != 0) addresses_.push_back(std::move(other.segment));
    }
    return {};
  }

  std::shared_ptr<const mpi::Communicator> comm_;
  const ConnectOptions& options_;
  std::shared_ptr<const mpi::Communicator> server_comm_;  ///< with server_links
  Roster roster_;
  shm::Geometry geometry_;
  shm::Door door_;                      ///< to the memory of this rank's server, during the set-up
  std::vector<std::string> addresses_;  ///< of all servers' memory
  std::shared_ptr<shm::Segment> segment_;
  std::unique_ptr<shm::Port> port_;
  std::shared_ptr<RankLinks> rank_links_ = std::make_shared<RankLinks>();
  Connection connection_;
};

}  // namespace

Result<Connection> connect(const ConnectOptions& options) {
  AFTERBAY_TRY_ASSIGN(auto comm, mpi::Communicator::duplicate(options.comm, options.policy.deadline));
  return SetUp(std::move(comm), options).run();
}

}  // namespace afterbay::transport
