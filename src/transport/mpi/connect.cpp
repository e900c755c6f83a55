// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/connect.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <string>
#include <utility>

#include "transport/mpi/client.hpp"
#include "transport/mpi/mpi_carrier.hpp"
#include "transport/mpi/roster.hpp"
#include "transport/mpi/server.hpp"
#include "transport/relay/relay_carrier.hpp"
#include "transport/shm/client.hpp"
#include "transport/shm/peer.hpp"
#include "transport/shm/port.hpp"
#include "wire/archive.hpp"
#include "wire/message_list.hpp"

namespace afterbay::transport {
namespace {

using network::Roster;

using SetUpMessages = wire::MessageList<wire::first_set_up, struct StepReport>;

/// A rank's report at the end of a set-up step: success, or an error.
struct StepReport {
  static constexpr wire::Kind kind = SetUpMessages::kind<StepReport>();
  std::int32_t code = 0;
  std::int32_t native = 0;
  std::string message;
  std::string segment;  ///< servers: address of the shared memory; empty: none

  template <class A>
  void fields(A& a) {
    a(code, native, message, segment);
  }
};

/// The set-up of one rank.
class SetUp {
 public:
  SetUp(mpi::Communicator comm, const ConnectOptions& options)
      : SetUp(std::make_shared<mpi::Communicator>(std::move(comm)), options) {}

  Result<Connection> run() {
    AFTERBAY_TRY_ASSIGN(roster_, Roster::exchange(*comm_, options_));
    if (options_.server_links) {  // to distinguish pairs of servers from those of model ranks
      AFTERBAY_TRY_ASSIGN(
          auto comm, mpi::Communicator::duplicate_of(options_.ranks, comm_->get(), options_.policy.deadline));
      connection_.communicators.push_back(std::make_shared<mpi::Communicator>(std::move(comm)));
      server_comm_ = connection_.communicators.back();
    }
    for (const int server : roster_.servers()) {  // the same on all ranks, and so are failures
      AFTERBAY_TRY_ASSIGN(const shm::Geometry geometry, make_geometry(server));
      if (server == rank()) geometry_ = geometry;
    }
    for (const int frontend : roster_.frontends()) AFTERBAY_TRY(check_frontend(frontend));
    Result<void> made = options_.server     ? make_server()
                        : options_.frontend ? make_frontend()
                                            : Result<void>();
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
    if (options_.frontend) connection_.relay = std::make_unique<network::Relay>(comm_, std::move(relay_));
    return std::move(connection_);
  }

 private:
  SetUp(std::shared_ptr<mpi::Communicator> comm, const ConnectOptions& options)
      : comm_(comm), options_(options) {
    connection_.communicators.push_back(std::move(comm));
  }

  [[nodiscard]] int rank() const { return comm_->rank(); }
  [[nodiscard]] std::string server_label(std::size_t index) const {
    return fmt::format("I/O server {} (rank {})", index, called(roster_.servers()[index]));
  }
  /// A rank as named in errors.
  [[nodiscard]] int called(int rank) const {
    return options_.ranks.empty() ? rank : options_.ranks[static_cast<std::size_t>(rank)];
  }

  /// Checks of a server's memory and of the sizes on any rank.
  Result<shm::Geometry> make_geometry(int server) const {
    if (network::segment_capacity(options_.sizes) > INT_MAX)
      return fail(ErrorCode::invalid_argument, "segment_bytes and block_bytes must be less than 2 GiB");
    const std::size_t servers = options_.server_links ? roster_.servers().size() : 0;
    LinkSizes sizes = options_.sizes;
    sizes.memory_bytes = roster_.card(server).memory_bytes;
    return shm::make_geometry(sizes, roster_.models().size() + servers);
  }

  /// Creates the memory for this server's segment; shared, with an open door, if model ranks will
  /// map it.
  Result<shm::Mapping> make_memory() {
    const auto maps_it = [&](int other) { return other != rank() && roster_.shares_memory(other, rank()); };
    const auto puts_into_it = [&](int model) {
      return !roster_.frontend_of(model, rank()) && maps_it(model);
    };
    const bool shared = std::ranges::any_of(roster_.models(), puts_into_it) ||
                        (options_.server_links && std::ranges::any_of(roster_.servers(), maps_it));
    if (!shared) return shm::Mapping::anonymous(geometry_.total_bytes);
    AFTERBAY_TRY_ASSIGN(shm::SharedMemory memory, shm::Mapping::create(geometry_.total_bytes));
    door_ = std::move(memory.door);
    return std::move(memory.mapping);
  }

  Result<void> make_server() {
    AFTERBAY_TRY_ASSIGN(shm::Mapping mapping, make_memory());
    AFTERBAY_TRY_ASSIGN(shm::Segment formatted, shm::Segment::format(std::move(mapping), geometry_));
    segment_ = std::make_shared<shm::Segment>(std::move(formatted));
    port_ = std::make_unique<shm::Port>(segment_);
    connection_.segment_bytes = geometry_.total_bytes;
    add_peers();
    return {};
  }

  [[nodiscard]] std::string model_label(std::size_t index) const {
    return fmt::format("model rank {} (rank {})", index, called(roster_.models()[index]));
  }
  [[nodiscard]] std::string frontend_label(int frontend) const {
    return fmt::format("the frontend at rank {}", called(frontend));
  }

  void add_peers() {
    auto net = std::make_unique<network::MpiNetwork>(comm_, options_.sizes);
    std::map<int, std::shared_ptr<network::Frontend>> frontends;
    bool polled = false;
    for (std::size_t i = 0; i < roster_.models().size(); ++i) {
      const int model = roster_.models()[i];
      std::string label = model_label(i);
      if (const auto via = roster_.frontend_of(model, rank())) {
        auto& frontend = frontends[*via];
        if (!frontend)
          frontend = std::make_shared<network::Frontend>(
              network::Frontend{frontend_label(*via), roster_.host(*via),
                                ProcessWatch(roster_.watchable(*via, rank())), options_.policy});
        auto peer = std::make_unique<network::MpiPeer>(
            comm_, *port_, segment_->header().progress,
            network::MpiPeerOptions{i, *via, std::move(label), options_.sizes, options_.policy,
                                    roster_.watchable(model, rank()), network::relay_tag(i), frontend});
        net->add(*via, i, *peer, frontend);
        port_->add(std::move(peer));
        polled = true;
        continue;
      }
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

  /// The other servers' ends, after those of the model ranks. They only send messages and never
  /// delay other ranks.
  void add_servers() {
    auto net = std::make_unique<network::MpiNetwork>(server_comm_, options_.sizes);
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
        AFTERBAY_TRY_ASSIGN(link, over_mpi(server_comm_, server_staging_, i, {.rank = servers[i]}, links));
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
      const int server = roster_.servers()[i];
      const auto via = roster_.frontend_of(rank(), server);
      AFTERBAY_TRY_ASSIGN(auto link, via ? reach(i, *via)
                                     : roster_.shares_memory(rank(), server)
                                         ? share(i, self, rank_links_)
                                         : over_mpi(comm_, staging_, i, {.rank = server}, rank_links_));
      connection_.links.push_back(std::move(link));
    }
    return {};
  }

  Result<std::unique_ptr<ClientLink>> share(std::size_t server, std::size_t self,
                                            const std::shared_ptr<RankLinks>& rank_links) {
    std::shared_ptr<shm::Segment> segment = segment_;
    if (roster_.servers()[server] != rank()) {
      AFTERBAY_TRY_ASSIGN(const shm::Geometry geometry, make_geometry(roster_.servers()[server]));
      AFTERBAY_TRY_ASSIGN(shm::Mapping mapping,
                          shm::Mapping::open(address_of(roster_.servers()[server]), geometry.total_bytes));
      AFTERBAY_TRY_ASSIGN(shm::Segment attached, shm::Segment::attach(std::move(mapping), geometry));
      segment = std::make_shared<shm::Segment>(std::move(attached));
    }
    AFTERBAY_TRY(segment->allocate_rings(self));
    return std::make_unique<shm::ShmClientLink>(
        std::move(segment), shm::ClientOptions{self, options_.policy, "shm", server_label(server), rank_links,
                                               dedicated(server)});
  }

  /// A carrier with this process's staging memory for links of that kind, which is made at first use.
  Result<std::unique_ptr<network::Carrier>> make_carrier(const std::shared_ptr<const mpi::Communicator>& comm,
                                                         std::shared_ptr<network::Staging>& staging,
                                                         network::MpiRoute route) const {
    const bool between_servers = &staging == &server_staging_;
    if (!staging) {
      AFTERBAY_TRY_ASSIGN(staging,
                          network::Staging::make(options_.sizes, roster_.servers().size(), !between_servers));
    }
    return std::make_unique<network::MpiCarrier>(comm, staging, options_.sizes.credits, std::move(route));
  }

  Result<std::unique_ptr<ClientLink>> over_mpi(const std::shared_ptr<const mpi::Communicator>& comm,
                                               std::shared_ptr<network::Staging>& staging, std::size_t server,
                                               network::MpiRoute route,
                                               const std::shared_ptr<RankLinks>& links) const {
    AFTERBAY_TRY_ASSIGN(auto carrier, make_carrier(comm, staging, std::move(route)));
    return link_by(std::move(carrier), server, "", dedicated(server), links);
  }

  /// The process of a server for ClientLink::never_heard; empty: it belongs to a model rank.
  [[nodiscard]] std::string dedicated(std::size_t server) const {
    const int at = roster_.servers()[server];
    return roster_.card(at).model != 0 ? "" : server_label(server) + " on host " + roster_.host(at);
  }

  std::unique_ptr<ClientLink> link_by(std::unique_ptr<network::Carrier> carrier, std::size_t server,
                                      const std::string& through, std::string dedicated,
                                      const std::shared_ptr<RankLinks>& links) const {
    return std::make_unique<network::MpiClientLink>(
        std::move(carrier),
        network::MpiClientOptions{server_label(server) + through, options_.sizes, options_.policy,
                                  roster_.watchable(roster_.servers()[server], rank()), links,
                                  std::move(dedicated)});
  }

  // ---- tiered: frontends between model ranks and servers

  /// The ranks and servers that a frontend connects; the same on all ranks.
  struct Behind {
    std::vector<std::size_t> clients;  ///< numbers of its model ranks
    std::vector<std::size_t> near;     ///< those of its model ranks that share memory with it
    std::vector<std::size_t> servers;  ///< numbers of its servers
    [[nodiscard]] std::size_t pairs() const { return clients.size() * servers.size(); }
  };

  [[nodiscard]] Behind behind(int frontend) const {
    Behind it;
    const auto& servers = roster_.servers();
    for (std::size_t s = 0; s < servers.size(); ++s)
      if (roster_.card(servers[s]).pool == roster_.card(frontend).pool) it.servers.push_back(s);
    if (it.servers.empty()) return it;
    for (std::size_t m = 0; m < roster_.models().size(); ++m) {
      const int model = roster_.models()[m];
      if (roster_.frontend_of(model, servers[it.servers.front()]) != frontend) continue;
      it.clients.push_back(m);
      if (roster_.shares_memory(model, frontend)) it.near.push_back(m);
    }
    return it;
  }

  [[nodiscard]] Result<relay::Shares> shares_at(int frontend) const {
    const Behind it = behind(frontend);
    return relay::divide(roster_.card(frontend).memory_bytes, it.clients.size(), it.servers.size(),
                         options_.sizes);
  }

  /// The part of a frontend's memory that it shares with its near ranks.
  [[nodiscard]] relay::ChannelGeometry channel_of(const Behind& it, relay::Shares shares) const {
    shares.common = static_cast<std::uint32_t>(shares.common * it.near.size() / it.clients.size());
    return relay::channel_geometry(it.near.size(), it.servers.size(), shares, options_.sizes);
  }

  [[nodiscard]] Result<void> check_frontend(int frontend) const {
    int* most = nullptr;
    int known = 0;
    MPI_Comm_get_attr(comm_->get(), MPI_TAG_UB, static_cast<void*>(&most), &known);
    const std::size_t tags = std::max(roster_.models().size(), roster_.servers().size());
    if (known != 0 && network::relay_tag(tags) > *most)
      return fail(ErrorCode::resources,
                  "this MPI has message tags up to {} only, and with frontends {} model ranks and {} servers "
                  "need more: "
                  "use the topology dedicated",
                  *most, roster_.models().size(), roster_.servers().size());
    if (auto shares = shares_at(frontend); !shares)
      return fail(std::move(shares).error().at_rank(called(frontend)).add(frontend_label(frontend)));
    return {};
  }

  Result<void> make_frontend() {
    const Behind it = behind(rank());
    AFTERBAY_TRY_ASSIGN(const relay::Shares shares, shares_at(rank()));
    relay_.far_common = shares.common;
    relay_.sizes = options_.sizes;
    relay_.policy = options_.policy;
    relay_.label = frontend_label(rank());
    for (const std::size_t m : it.clients) {
      const auto slot = std::ranges::find(it.near, m);
      relay_.clients.push_back({m, roster_.models()[m], model_label(m), std::nullopt});
      if (slot != it.near.end())
        relay_.clients.back().slot = static_cast<std::size_t>(slot - it.near.begin());
    }
    for (const std::size_t s : it.servers)
      relay_.servers.push_back({s, roster_.servers()[s], server_label(s),
                                roster_.watchable(roster_.servers()[s], rank()), dedicated(s)});
    if (it.near.empty()) return {};
    const relay::ChannelGeometry geometry = channel_of(it, shares);
    relay_.far_common -= geometry.shares.common;
    AFTERBAY_TRY_ASSIGN(shm::SharedMemory memory, shm::Mapping::create(geometry.total_bytes()));
    door_ = std::move(memory.door);
    AFTERBAY_TRY_ASSIGN(relay_.channel, relay::Channel::format(std::move(memory.mapping), geometry));
    return {};
  }

  /// The link to a server behind a frontend.
  Result<std::unique_ptr<ClientLink>> reach(std::size_t server, int frontend) {
    const Behind it = behind(frontend);
    const std::string through = fmt::format(", through {},", frontend_label(frontend));
    if (!roster_.shares_memory(rank(), frontend)) {
      AFTERBAY_TRY_ASSIGN(auto carrier, make_carrier(comm_, staging_,
                                                     {.rank = frontend,
                                                      .up_tag = network::relay_tag(server),
                                                      .down_tag = network::relay_tag(server),
                                                      .frontend = frontend_label(frontend),
                                                      .process = roster_.watchable(frontend, rank())}));
      // From here the two cannot be distinguished if one is silent.
      const std::string both = fmt::format("{}, or {} on host {} on the way there,", dedicated(server),
                                           frontend_label(frontend), roster_.host(frontend));
      return link_by(std::move(carrier), server, through, both, rank_links_);
    }
    auto& end = channels_[frontend];
    if (!end) {
      AFTERBAY_TRY_ASSIGN(const relay::Shares shares, shares_at(frontend));
      const relay::ChannelGeometry geometry = channel_of(it, shares);
      AFTERBAY_TRY_ASSIGN(shm::Mapping mapping,
                          shm::Mapping::open(address_of(frontend), geometry.total_bytes()));
      const auto& models = roster_.models();
      const auto self = static_cast<std::size_t>(std::ranges::find(models, rank()) - models.begin());
      const auto slot = static_cast<std::size_t>(std::ranges::find(it.near, self) - it.near.begin());
      end = std::make_shared<relay::ChannelEnd>(relay::Channel::attach(std::move(mapping), geometry), slot,
                                                frontend_label(frontend), roster_.host(frontend),
                                                options_.policy.deadline);
    }
    const auto behind_it =
        static_cast<std::size_t>(std::ranges::find(it.servers, server) - it.servers.begin());
    return link_by(std::make_unique<relay::RelayCarrier>(end, behind_it), server, through, dedicated(server),
                   rank_links_);
  }

  [[nodiscard]] const std::string& address_of(int rank) const {
    return addresses_[static_cast<std::size_t>(rank)];
  }

  /// Collective: fails on all ranks if `own` failed on one, naming the first such rank.
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
        return fail(make_error(static_cast<ErrorCode>(other.code), "rank {}: {}", called(static_cast<int>(i)),
                               other.message)
                        .with_native(other.native)
                        .at_rank(called(static_cast<int>(i)))
                        .add("while ranks and I/O servers were connected"));
      addresses_.push_back(std::move(other.segment));
    }
    return {};
  }

  std::shared_ptr<const mpi::Communicator> comm_;
  const ConnectOptions& options_;
  std::shared_ptr<const mpi::Communicator> server_comm_;  ///< used with server_links
  Roster roster_;
  shm::Geometry geometry_;
  shm::Door door_;                      ///< to the memory of this rank's server, during the set-up
  std::vector<std::string> addresses_;  ///< shared-memory addresses of all ranks; empty: none
  std::shared_ptr<shm::Segment> segment_;
  std::unique_ptr<shm::Port> port_;
  network::RelayOptions relay_;                                 ///< for a frontend
  std::map<int, std::shared_ptr<relay::ChannelEnd>> channels_;  ///< for a model rank, by frontend
  std::shared_ptr<network::Staging> staging_;                   ///< of all links to servers over MPI
  std::shared_ptr<network::Staging> server_staging_;            ///< of the links between servers
  std::shared_ptr<RankLinks> rank_links_ = std::make_shared<RankLinks>();
  Connection connection_;
};

}  // namespace

Result<Connection> connect(const ConnectOptions& options) {
  AFTERBAY_TRY_ASSIGN(auto comm,
                      mpi::Communicator::duplicate_of(options.ranks, options.comm, options.policy.deadline));
  return SetUp(std::move(comm), options).run();
}

}  // namespace afterbay::transport
