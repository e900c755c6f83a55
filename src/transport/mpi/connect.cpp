// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/connect.hpp"

#include <algorithm>
#include <climits>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/rounding.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/consult.hpp"
#include "transport/mpi/footprint.hpp"
#include "transport/mpi/mpi_carrier.hpp"
#include "transport/mpi/roster.hpp"
#include "transport/mpi/server.hpp"
#include "transport/relay/relay_carrier.hpp"
#include "transport/shm/client.hpp"
#include "transport/shm/peer.hpp"
#include "transport/shm/port.hpp"
#include "wire/archive.hpp"
#include "wire/data_fields.hpp"
#include "wire/message_list.hpp"

namespace afterbay::transport {
namespace {

using network::RankCard;
using network::Roster;

using SetUpMessages = wire::MessageList<wire::first_set_up, struct StepReport>;

/// The address of a rank's shared memory.
struct Address {
  std::int32_t rank = 0;
  std::uint64_t machine = 0;
  std::uint64_t rings = 0;  ///< rings of a server: see shm::Geometry
  std::string address;
  template <class A>
  void fields(A& a) {
    a(rank, machine, rings, address);
  }
};

/// The report of some ranks at the end of a set-up step.
struct StepReport {
  static constexpr wire::Kind kind = SetUpMessages::kind<StepReport>();
  std::optional<Error> error;  ///< error of the first rank that has one
  std::vector<Address> memory;

  template <class A>
  void fields(A& a) {
    a(error, memory);
  }
};

/// The set-up of one rank.
class SetUp {
 public:
  SetUp(mpi::Communicator comm, const ConnectOptions& options)
      : SetUp(std::make_shared<mpi::Communicator>(std::move(comm)), options) {}

  Result<Connection> run() {
    auto connection = set_up();
    if (!connection && connection.error().code == ErrorCode::timed_out)  // a late rank may still send
      for (const auto& comm : connection_.communicators) comm->leave_behind();
    return connection;
  }

 private:
  Result<Connection> set_up() {
    AFTERBAY_TRY_ASSIGN(roster_, Roster::exchange(tree_, manner_, options_,
                                                  [this](const auto& all) { return check_sizes(all); }));
    if (options_.server_links) {  // to distinguish pairs of servers from those of model ranks
      AFTERBAY_TRY_ASSIGN(
          auto comm, mpi::Communicator::duplicate_of(options_.ranks, comm_->get(), options_.policy.deadline));
      connection_.communicators.push_back(std::make_shared<mpi::Communicator>(std::move(comm)));
      server_comm_ = connection_.communicators.back();
    }
    if (options_.server) {
      ringed_ = peers_with_rings();
      AFTERBAY_TRY_ASSIGN(geometry_, make_geometry(roster_.self(), roster_.models(), roster_.servers().size(),
                                                   ringed_.size()));
    }
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

  SetUp(std::shared_ptr<mpi::Communicator> comm, const ConnectOptions& options)
      : comm_(comm),
        options_(options),
        manner_{options.policy.deadline, "ranks and I/O servers were connected", &options.ranks},
        tree_(*comm_) {
    connection_.communicators.push_back(std::move(comm));
  }

  [[nodiscard]] int rank() const { return comm_->rank(); }
  [[nodiscard]] std::string server_label(std::size_t index) const {
    return fmt::format("I/O server {} (rank {})", index, called(roster_.servers()[index].rank));
  }
  /// A rank as named in errors.
  [[nodiscard]] int called(int rank) const { return manner_.called(rank); }

  /// Checks of a server's memory and of the sizes on any rank.
  Result<shm::Geometry> make_geometry(const RankCard& server, std::size_t models, std::size_t servers,
                                      std::size_t rings) const {
    if (network::segment_capacity(options_.sizes) > INT_MAX)
      return fail(ErrorCode::invalid_argument, "segment_bytes and block_bytes must be less than 2 GiB");
    LinkSizes sizes = options_.sizes;
    sizes.memory_bytes = server.memory_bytes;
    return shm::make_geometry(sizes, models + (options_.server_links ? servers : 0), rings);
  }

  /// Whether all servers and frontends can have their memory; on rank 0.
  [[nodiscard]] Result<void> check_sizes(const network::Company& all) const {
    for (const int server : all.servers())
      AFTERBAY_TRY(make_geometry(all.card(server), all.models().size(), all.servers().size(), 0));
    for (const int frontend : all.frontends()) AFTERBAY_TRY(check_frontend(all, frontend));
    return {};
  }

  /// Who sends to this server, or to any if it is none; then frontends do not count.
  [[nodiscard]] network::Senders senders() const {
    return {.models = roster_.models(),
            .relayed = roster_.relayed() != nullptr,
            .servers = options_.server_links ? roster_.servers().size() : 0};
  }
  /// Sizes of links between model ranks and servers, directly or through frontends.
  [[nodiscard]] LinkSizes sizes_to_servers() const { return network::shared_by(options_.sizes, senders()); }
  [[nodiscard]] LinkSizes sizes_between_servers() const {
    return network::shared_by_servers(options_.sizes, roster_.servers().size());
  }
  /// Number of model ranks that send to this server by MPI.
  [[nodiscard]] std::size_t far_models() const {
    const auto near = std::ranges::count_if(ringed_, [&](std::size_t it) { return it < roster_.models(); });
    return roster_.models() - static_cast<std::size_t>(near);
  }

  /// The peers of this server that use its segment: model ranks that put into it directly, and the
  /// servers on this node.
  [[nodiscard]] std::vector<std::size_t> peers_with_rings() const {
    const std::vector<std::int32_t> routes = roster_.routes();
    std::vector<std::size_t> peers;
    for (const network::NearModel& it : roster_.view().near)
      if (it.shares != 0 && (it.model >= routes.size() || routes[it.model] < 0)) peers.push_back(it.model);
    for (std::size_t i = 0; options_.server_links && i < roster_.servers().size(); ++i)
      if (roster_.shares_memory(roster_.servers()[i])) peers.push_back(roster_.models() + i);
    return peers;
  }

  /// Creates the memory for this server's segment; shared, with an open door, if others will map
  /// it.
  Result<shm::Mapping> make_memory() {
    const auto maps_it = [&](std::size_t peer) {
      return peer < roster_.models() ? roster_.model_rank(peer) != rank()
                                     : roster_.servers()[peer - roster_.models()].rank != rank();
    };
    if (std::ranges::none_of(ringed_, maps_it)) return shm::Mapping::anonymous(geometry_.total_bytes);
    AFTERBAY_TRY_ASSIGN(shm::SharedMemory memory, shm::Mapping::create(geometry_.total_bytes));
    door_ = std::move(memory.door);
    return std::move(memory.mapping);
  }

  Result<void> make_server() {
    const auto is_far = [&](const RankCard& it) { return !roster_.shares_memory(it); };
    const bool far_servers = options_.server_links && std::ranges::any_of(roster_.servers(), is_far);
    if (far_models() > 0 || far_servers)
      AFTERBAY_TRY(network::check_receive_bytes(options_.sizes, senders()));
    AFTERBAY_TRY_ASSIGN(shm::Mapping mapping, make_memory());
    AFTERBAY_TRY_ASSIGN(shm::Segment formatted, shm::Segment::format(std::move(mapping), geometry_));
    segment_ = std::make_shared<shm::Segment>(std::move(formatted));
    for (std::uint32_t ring = 0; ring < ringed_.size(); ++ring) segment_->give_ring(ringed_[ring], ring);
    port_ = std::make_unique<shm::Port>(segment_);
    connection_.segment_bytes = geometry_.total_bytes;
    add_peers();
    return {};
  }

  [[nodiscard]] std::string model_label(std::size_t index) const {
    return fmt::format("model rank {} (rank {})", index, called(roster_.model_rank(index)));
  }
  [[nodiscard]] std::string frontend_label(int frontend) const {
    return fmt::format("the frontend at rank {}", called(frontend));
  }

  void add_peers() {
    auto net = std::make_unique<network::MpiNetwork>(comm_, port_->pool(), sizes_to_servers(), far_models());
    std::map<int, std::shared_ptr<network::Frontend>> frontends;
    if (const network::PoolRoutes* const relayed = roster_.relayed())
      for (const RankCard& it : relayed->frontends)
        frontends[it.rank] = std::make_shared<network::Frontend>(network::Frontend{
            frontend_label(it.rank), it.host, ProcessWatch(roster_.watchable(it)), options_.policy});
    const std::vector<std::int32_t> routes = roster_.routes();
    const auto& near = roster_.view().near;
    std::size_t next_near = 0;
    bool polled = false;
    for (std::size_t i = 0; i < roster_.models(); ++i) {
      const int model = roster_.model_rank(i);
      const bool is_near = next_near < near.size() && near[next_near].model == i;
      const network::NearModel beside = is_near ? near[next_near++] : network::NearModel{};
      const ProcessId process{beside.pid, beside.pid_space};
      const PeerName name("model rank", i, called(model));
      if (i < routes.size() && routes[i] >= 0) {
        const int via = routes[i];
        auto peer = std::make_unique<network::MpiPeer>(
            comm_, *port_, segment_->header().progress,
            network::MpiPeerOptions{i, via, name, options_.sizes.reply_bytes, options_.policy, process,
                                    network::relay_tag(i), network::relay_data_tag(i), frontends[via]});
        net->add(via, i, *peer, frontends[via]);
        port_->add(std::move(peer));
        polled = true;
        continue;
      }
      if (beside.shares != 0) {
        port_->add(std::make_unique<shm::ShmPeer>(segment_, i, "shm", name.text()));
        continue;
      }
      auto peer = std::make_unique<network::MpiPeer>(
          comm_, *port_, segment_->header().progress,
          network::MpiPeerOptions{i, model, name, options_.sizes.reply_bytes, options_.policy, process});
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
    auto net = std::make_unique<network::MpiNetwork>(server_comm_, port_->pool(), sizes_between_servers(),
                                                     roster_.servers().size());
    bool polled = false;
    for (std::size_t i = 0; i < roster_.servers().size(); ++i) {
      const RankCard& server = roster_.servers()[i];
      const std::size_t peer = roster_.models() + i;
      port_->pool().publish(peer, shm::order_end);
      if (roster_.shares_memory(server)) {
        port_->add(std::make_unique<shm::ShmPeer>(segment_, peer, "shm", server_label(i)));
        continue;
      }
      auto end = std::make_unique<network::MpiPeer>(
          server_comm_, *port_, segment_->header().progress,
          network::MpiPeerOptions{peer, server.rank, PeerName("I/O server", i, called(server.rank)),
                                  options_.sizes.reply_bytes, options_.policy, roster_.watchable(server)});
      net->add(server.rank, *end);
      port_->add(std::move(end));
      polled = true;
    }
    if (polled) port_->add_network(std::move(net));
  }

  Result<void> attach_servers() {
    const auto& servers = roster_.servers();
    const auto self =
        static_cast<std::size_t>(std::ranges::find(servers, rank(), &RankCard::rank) - servers.begin());
    const auto links = std::make_shared<RankLinks>();
    for (std::size_t i = 0; i < servers.size(); ++i) {
      std::unique_ptr<ClientLink> link;
      if (servers[i].rank == rank()) {
      } else if (roster_.shares_memory(servers[i])) {
        AFTERBAY_TRY_ASSIGN(link, share(i, roster_.models() + self, links));
      } else {
        AFTERBAY_TRY_ASSIGN(link,
                            over_mpi(server_comm_, between_servers_, i, {.rank = servers[i].rank}, links));
      }
      connection_.server_links.push_back(std::move(link));
    }
    return {};
  }

  Result<void> attach() {
    if (!options_.model) return {};
    for (std::size_t i = 0; i < roster_.servers().size(); ++i) {
      const RankCard& server = roster_.servers()[i];
      const network::Via* const via = roster_.via(server.pool);
      AFTERBAY_TRY_ASSIGN(auto link,
                          via != nullptr ? reach(i, *via)
                          : roster_.shares_memory(server)
                              ? share(i, roster_.own_number(), rank_links_)
                              : over_mpi(comm_, to_servers_, i, {.rank = server.rank}, rank_links_));
      connection_.links.push_back(std::move(link));
    }
    return {};
  }

  Result<std::unique_ptr<ClientLink>> share(std::size_t server, std::size_t self,
                                            const std::shared_ptr<RankLinks>& rank_links) {
    std::shared_ptr<shm::Segment> segment = segment_;
    const RankCard& card = roster_.servers()[server];
    if (card.rank != rank()) {
      AFTERBAY_TRY_ASSIGN(const Address at, address_of(card.rank));
      AFTERBAY_TRY_ASSIGN(const shm::Geometry geometry,
                          make_geometry(card, roster_.models(), roster_.servers().size(), at.rings));
      AFTERBAY_TRY_ASSIGN(shm::Mapping mapping, shm::Mapping::open(at.address, geometry.total_bytes));
      AFTERBAY_TRY_ASSIGN(shm::Segment attached, shm::Segment::attach(std::move(mapping), geometry));
      segment = std::make_shared<shm::Segment>(std::move(attached));
    }
    if (!segment->has_ring(self))
      return fail(ErrorCode::internal, "{} has no rings for rank {}", server_label(server), called(rank()));
    AFTERBAY_TRY(segment->allocate_rings(self));
    return std::make_unique<shm::ShmClientLink>(
        std::move(segment), shm::ClientOptions{self, options_.policy, "shm", server_label(server), rank_links,
                                               dedicated(server)});
  }

  /// A carrier with what this process's links of that kind share, which is made at first use.
  Result<std::unique_ptr<network::Carrier>> make_carrier(const std::shared_ptr<const mpi::Communicator>& comm,
                                                         network::MpiShared& shared,
                                                         network::MpiRoute route) const {
    const bool between_servers = &shared == &between_servers_;
    const LinkSizes sizes = between_servers ? sizes_between_servers() : sizes_to_servers();
    if (!shared.staging) {
      AFTERBAY_TRY_ASSIGN(shared.staging,
                          network::Staging::make(sizes, roster_.servers().size(), !between_servers));
      shared.probes = std::make_shared<network::ProbeRound>(comm);
    }
    // A frontend has memory of its own for its ranks.
    const std::uint32_t credits = route.frontend.empty() ? sizes.credits : options_.sizes.credits;
    return std::make_unique<network::MpiCarrier>(comm, shared, credits, std::move(route));
  }

  Result<std::unique_ptr<ClientLink>> over_mpi(const std::shared_ptr<const mpi::Communicator>& comm,
                                               network::MpiShared& shared, std::size_t server,
                                               network::MpiRoute route,
                                               const std::shared_ptr<RankLinks>& links) const {
    AFTERBAY_TRY_ASSIGN(auto carrier, make_carrier(comm, shared, std::move(route)));
    return link_by(std::move(carrier), server, "", dedicated(server), links);
  }

  /// The process of a server for ClientLink::never_heard; empty: it belongs to a model rank.
  [[nodiscard]] std::string dedicated(std::size_t server) const {
    const RankCard& card = roster_.servers()[server];
    return card.model != 0 ? "" : server_label(server) + " on host " + card.host;
  }

  std::unique_ptr<ClientLink> link_by(std::unique_ptr<network::Carrier> carrier, std::size_t server,
                                      const std::string& through, std::string dedicated,
                                      const std::shared_ptr<RankLinks>& links) const {
    return std::make_unique<network::MpiClientLink>(
        std::move(carrier),
        network::MpiClientOptions{server_label(server) + through, sizes_to_servers(), options_.policy,
                                  roster_.watchable(roster_.servers()[server]), links, std::move(dedicated)});
  }

  // ---- tiered: frontends between model ranks and servers

  /// The numbers of the servers of a pool.
  [[nodiscard]] std::vector<std::size_t> servers_of(int pool) const {
    std::vector<std::size_t> numbers;
    for (std::size_t s = 0; s < roster_.servers().size(); ++s)
      if (roster_.servers()[s].pool == pool) numbers.push_back(s);
    return numbers;
  }

  [[nodiscard]] Result<relay::Shares> shares_at(const RankCard& frontend, std::size_t clients,
                                                std::size_t servers) const {
    return relay::divide(frontend.memory_bytes, clients, servers, options_.sizes);
  }

  /// The part of a frontend's memory that it shares with its near ranks.
  [[nodiscard]] relay::ChannelGeometry channel_of(std::size_t near, std::size_t clients, std::size_t servers,
                                                  const relay::Shares& shares) const {
    return relay::channel_geometry(near, servers, relay::shares_of_near(shares, near, clients),
                                   options_.sizes);
  }

  /// Called on rank 0.
  [[nodiscard]] Result<void> check_frontend(const network::Company& all, int frontend) const {
    int* most = nullptr;
    int known = 0;
    MPI_Comm_get_attr(comm_->get(), MPI_TAG_UB, static_cast<void*>(&most), &known);
    if (known != 0) AFTERBAY_TRY(check_tags(all.models().size(), all.servers().size(), *most));
    auto shares = shares_at(all.card(frontend), all.clients(frontend).size(), all.servers_behind(frontend));
    if (!shares)
      return fail(std::move(shares).error().at_rank(called(frontend)).add(frontend_label(frontend)));
    return {};
  }

  Result<void> make_frontend() {
    const std::vector<std::uint64_t>& near = roster_.view().near_clients;
    const std::size_t clients = roster_.view().clients.size();
    const std::vector<std::size_t> servers = servers_of(options_.pool);
    AFTERBAY_TRY_ASSIGN(const relay::Shares shares, shares_at(roster_.self(), clients, servers.size()));
    relay_.far_common = shares.common;
    relay_.sizes = sizes_to_servers();
    relay_.frontends = divided_up(roster_.models(), std::max<std::size_t>(clients, 1));
    relay_.policy = options_.policy;
    relay_.label = frontend_label(rank());
    for (const std::uint64_t m : roster_.view().clients) {
      const auto slot = std::ranges::find(near, m);
      relay_.clients.push_back({m, roster_.model_rank(m), model_label(m), std::nullopt});
      if (slot != near.end()) relay_.clients.back().slot = static_cast<std::size_t>(slot - near.begin());
    }
    for (const std::size_t s : servers)
      relay_.servers.push_back({s, roster_.servers()[s].rank, server_label(s),
                                roster_.watchable(roster_.servers()[s]), dedicated(s)});
    if (near.empty()) return {};
    const relay::ChannelGeometry geometry = channel_of(near.size(), clients, servers.size(), shares);
    relay_.far_common -= geometry.shares.common;
    AFTERBAY_TRY_ASSIGN(shm::SharedMemory memory, shm::Mapping::create(geometry.total_bytes()));
    door_ = std::move(memory.door);
    AFTERBAY_TRY_ASSIGN(relay_.channel, relay::Channel::format(std::move(memory.mapping), geometry));
    return {};
  }

  /// The link to a server behind a frontend.
  Result<std::unique_ptr<ClientLink>> reach(std::size_t server, const network::Via& via) {
    const RankCard& frontend = via.card;
    const std::vector<std::size_t> servers = servers_of(frontend.pool);
    const std::string label = frontend_label(frontend.rank);
    const std::string through = fmt::format(", through {},", label);
    if (!roster_.shares_memory(frontend)) {
      AFTERBAY_TRY_ASSIGN(auto carrier, make_carrier(comm_, to_servers_,
                                                     {.rank = frontend.rank,
                                                      .up_tag = network::relay_tag(server),
                                                      .down_tag = network::relay_tag(server),
                                                      .data_tag = network::relay_data_tag(server),
                                                      .frontend = label,
                                                      .process = roster_.watchable(frontend)}));
      // From here the two cannot be distinguished if one is silent.
      const std::string both =
          fmt::format("{}, or {} on host {} on the way there,", dedicated(server), label, frontend.host);
      return link_by(std::move(carrier), server, through, both, rank_links_);
    }
    auto& end = channels_[frontend.rank];
    if (!end) {
      AFTERBAY_TRY_ASSIGN(const relay::Shares shares, shares_at(frontend, via.clients, servers.size()));
      const relay::ChannelGeometry geometry = channel_of(via.near, via.clients, servers.size(), shares);
      AFTERBAY_TRY_ASSIGN(const Address at, address_of(frontend.rank));
      AFTERBAY_TRY_ASSIGN(shm::Mapping mapping, shm::Mapping::open(at.address, geometry.total_bytes()));
      end = std::make_shared<relay::ChannelEnd>(relay::Channel::attach(std::move(mapping), geometry),
                                                via.slot.value_or(0), label, frontend.host,
                                                options_.policy.deadline);
    }
    const auto behind_it = static_cast<std::size_t>(std::ranges::find(servers, server) - servers.begin());
    return link_by(std::make_unique<relay::RelayCarrier>(end, behind_it), server, through, dedicated(server),
                   rank_links_);
  }

  [[nodiscard]] Result<Address> address_of(int rank) const {
    const auto found = addresses_.find(rank);
    if (found != addresses_.end()) return found->second;
    return fail(
        ErrorCode::invalid_argument,
        "rank {} and rank {} are to share memory, but do not run on the same node (or run in different "
        "containers); use the transport `auto`",
        called(this->rank()), called(rank));
  }

  /// Collective: fails on all ranks if `own` failed on one, naming the first such rank. Ranks get
  /// the addresses of the memory on their machine.
  Result<void> agree(const Result<void>& own) {
    StepReport mine;
    if (!own) {
      mine.error = make_error(own.error().code, "rank {}: {}", called(rank()), own.error().message);
      mine.error->with_native(own.error().native).at_rank(called(rank()));
      mine.error->add("while ranks and I/O servers were connected");
    }
    if (door_.fd() >= 0)
      mine.memory.push_back({rank(), roster_.self().machine, ringed_.size(), door_.address()});
    network::Steps<StepReport, StepReport> steps;
    steps.join = [](StepReport& to, int, StepReport theirs) {
      if (!to.error) to.error = std::move(theirs.error);
      std::ranges::move(theirs.memory, std::back_inserter(to.memory));
    };
    steps.decide = [](StepReport all) -> Result<StepReport> {
      if (all.error) return fail(*std::move(all.error));
      return all;
    };
    steps.part = [this](int first, int, const StepReport& all) {
      const auto& children = tree_.branch().children;
      const auto child = static_cast<std::size_t>(std::ranges::find(children, first) - children.begin());
      StepReport part;
      for (const Address& it : all.memory)
        if (roster_.below_is_on(child, it.machine)) part.memory.push_back(it);
      return part;
    };
    AFTERBAY_TRY_ASSIGN(StepReport all, network::consult(tree_, manner_, std::move(mine), steps));
    addresses_.clear();
    for (Address& it : all.memory)
      if (it.machine == roster_.self().machine) addresses_.emplace(it.rank, std::move(it));
    return {};
  }

  std::shared_ptr<const mpi::Communicator> comm_;
  const ConnectOptions& options_;
  network::Manner manner_;
  mpi::Tree tree_;
  std::shared_ptr<const mpi::Communicator> server_comm_;  ///< used with server_links
  Roster roster_;
  shm::Geometry geometry_;
  std::vector<std::size_t> ringed_;   ///< see peers_with_rings
  shm::Door door_;                    ///< opens the memory of this rank's server during set-up
  std::map<int, Address> addresses_;  ///< addresses of shared memory on this machine, by rank
  std::shared_ptr<shm::Segment> segment_;
  std::unique_ptr<shm::Port> port_;
  network::RelayOptions relay_;                                 ///< for a frontend
  std::map<int, std::shared_ptr<relay::ChannelEnd>> channels_;  ///< for a model rank, by frontend
  network::MpiShared to_servers_;                               ///< for all links to servers over MPI
  network::MpiShared between_servers_;                          ///< for the links between servers
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
