// SPDX-License-Identifier: Apache-2.0
#include "session/greeting.hpp"

#include <mpi.h>

#include <algorithm>
#include <map>
#include <optional>

#include "config/agreement.hpp"
#include "config/session_name.hpp"
#include "config/slab_shares.hpp"
#include "journal/recorder.hpp"
#include "mpi/check.hpp"
#include "session/report.hpp"
#include "transport/mpi/consult.hpp"
#include "wire/collective_messages.hpp"
#include "wire/data_fields.hpp"

namespace afterbay::session {
namespace {

using transport::network::Manner;
using transport::network::Steps;

/// Used if the configuration is wrong.
constexpr std::chrono::milliseconds unknown_deadline{60'000};

/// The settings of a rank.
struct SettingsOf {
  std::int32_t rank = 0;
  std::vector<std::string> names;  ///< config::agreed_settings
  std::vector<std::string> values;
  template <class A>
  void fields(A& a) {
    a(rank, names, values);
  }
  [[nodiscard]] bool same(const SettingsOf& other) const {
    return names == other.names && values == other.values;
  }
  [[nodiscard]] std::vector<config::AgreedSetting> list() const {
    std::vector<config::AgreedSetting> settings;
    for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i)
      settings.push_back({names[i], values[i]});
    return settings;
  }
};

/// A name of the session that a rank gives.
struct NameOf {
  std::int32_t rank = 0;
  std::string name;
  template <class A>
  void fields(A& a) {
    a(rank, name);
  }
  [[nodiscard]] bool same(const NameOf& other) const { return name == other.name; }
};

/// Consecutive ranks that say the same.
struct Wishes {
  std::int32_t count = 1;
  Role role = Role::automatic;
  std::uint8_t fortran = 0;  ///< the caller's language
  std::int32_t node = 0;     ///< lowest rank on the ranks' node
  template <class A>
  void fields(A& a) {
    a(count, role, fortran, node);
  }
};

/// The greeting of a rank and all ranks below it. Only the first two different settings and names
/// are kept, because they suffice to find the first rank that differs from any other rank.
struct Greeting {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::greeting);
  std::optional<Error> error;  ///< error of the first rank that has one
  std::vector<SettingsOf> settings;
  std::vector<NameOf> named;        ///< by the setting
  std::vector<NameOf> first_model;  ///< by the program of the first rank that is no server
  NameOf first;                     ///< by the program of the first rank
  std::vector<Wishes> wishes;       ///< in rank order
  std::int32_t threads = 0;         ///< the lowest MPI thread level
  std::string run;                  ///< run of rank 0
  template <class A>
  void fields(A& a) {
    a(error, settings, named, first_model, first, wishes, threads, run);
  }
};

/// Consecutive ranks with the same role.
struct SameRole {
  std::int32_t count = 1;
  bool model = false;
  bool server = false;
  bool frontend = false;
  std::int32_t pool = 0;
  template <class A>
  void fields(A& a) {
    a(count, model, server, frontend, pool);
  }
};

/// Consecutive servers with equal shares of slabs.
struct SameShare {
  std::int32_t count = 1;
  std::uint64_t share = 0;  ///< 0 for all servers of a pool: equal
  template <class A>
  void fields(A& a) {
    a(count, share);
  }
};

/// The processes of a pool on a node.
struct PoolOnNode {
  std::int32_t servers = 0;
  std::int32_t frontends = 0;
  std::int32_t clients = 0;  ///< PoolLoad::clients
  template <class A>
  void fields(A& a) {
    a(servers, frontends, clients);
  }
};

/// What one rank needs to know beyond what all know.
struct OwnPart {
  std::vector<std::int32_t> frontends;  ///< RankRole::frontends
  std::int32_t node_ranks = 0;
  std::vector<PoolOnNode> node_pools;
  bool first_node = false;  ///< NodeLoad::has_first
  bool checks_node = false;
  template <class A>
  void fields(A& a) {
    a(frontends, node_ranks, node_pools, first_node, checks_node);
  }
};

struct AssignedRoles {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::assigned_roles);
  std::string session;
  std::string run;
  bool fortran = false;
  bool reports = true;            ///< Greeted::reports
  std::uint64_t model_nodes = 0;  ///< this and the next two as in Processes
  std::uint64_t least_models = 0;
  bool servers_started = false;
  std::vector<SameRole> roles;
  std::vector<SameShare> shares;  ///< shares of the servers, in rank order
  std::vector<OwnPart> parts;     ///< parts of the ranks to which this is sent, in rank order
  template <class A>
  void fields(A& a) {
    a(session, run, fortran, reports, model_nodes, least_models, servers_started, roles, shares, parts);
  }
};

/// The problems that ranks found before the run.
struct Obstacles {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::obstacles);
  std::vector<Error> found;
  std::uint64_t more = 0;
  template <class A>
  void fields(A& a) {
    a(found, more);
  }
};

/// The lowest rank on this rank's node, real or declared.
Result<int> node_of(const mpi::Communicator& comm, const config::Config* config) {
  int lowest = comm.rank();
  MPI_Comm node = MPI_COMM_NULL;
  AFTERBAY_TRY(
      mpi::check(MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &node),
                 "MPI_Comm_split_type"));
  const int code = MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  AFTERBAY_TRY(mpi::check(code, "MPI_Bcast"));
  if (config != nullptr && config->network.nodes.size() == static_cast<std::size_t>(comm.size())) {
    lowest = 0;
    while (config->network.nodes[static_cast<std::size_t>(lowest)] !=
           config->network.nodes[static_cast<std::size_t>(comm.rank())])
      ++lowest;
  }
  return lowest;
}

/// Checks the session's name and (on rank 0) the paths of reports that may contain it.
std::optional<Error> check_names(config::Config config, const std::string& session, int rank) {
  if (auto named = config::name_session(config, session); !named) return std::move(named).error();
  if (rank != 0) return std::nullopt;
  if (auto writable = check_report_files(config); !writable) return std::move(writable).error();
  return std::nullopt;
}

Result<Greeting> own_greeting(const mpi::Communicator& comm, const Result<config::Config>& config,
                              const Arrival& arrival) {
  const int rank = comm.rank();
  Greeting mine;
  Wishes wish{1, arrival.role, static_cast<std::uint8_t>(arrival.fortran ? 1 : 0), 0};
  AFTERBAY_TRY_ASSIGN(wish.node, node_of(comm, config ? &*config : nullptr));
  mine.wishes.push_back(wish);
  int threads = MPI_THREAD_SINGLE;
  MPI_Query_thread(&threads);
  mine.threads = threads;
  if (rank == 0) mine.run = journal::new_run_id();
  SettingsOf settings{rank, {}, {}};
  std::string session;
  if (!config) {
    mine.error = config.error();
  } else {
    for (config::AgreedSetting& setting : config::agreed_settings(*config)) {
      settings.names.push_back(std::move(setting.name));
      settings.values.push_back(std::move(setting.value));
    }
    settings.names.emplace_back("the version of Afterbay");
    settings.values.emplace_back(AFTERBAY_VERSION);
    if (!config->network.nodes.empty() &&
        config->network.nodes.size() != static_cast<std::size_t>(comm.size()))
      mine.error = make_error(ErrorCode::conflict, "'nodes' declares {} ranks, the communicator has {}",
                              config->network.nodes.size(), comm.size());
    session = config::session_name(*config, arrival.name);
    if (!config->session.empty()) mine.named.push_back({rank, session});
    if (!mine.error) mine.error = check_names(*config, session, rank);
  }
  if (mine.error) mine.error->at_rank(rank);
  mine.settings.push_back(std::move(settings));
  mine.first = {rank, session};
  if (arrival.role != Role::server) mine.first_model.push_back(mine.first);
  return mine;
}

/// Keeps the first two different ones; those in `later` are of higher ranks.
template <class Said>
void keep_first_two(std::vector<Said>& kept, std::vector<Said> later) {
  for (Said& it : later)
    if (kept.empty() || (kept.size() == 1 && !kept.front().same(it))) kept.push_back(std::move(it));
}

void join_greetings(Greeting& mine, int, Greeting theirs) {
  if (!mine.error) mine.error = std::move(theirs.error);
  keep_first_two(mine.settings, std::move(theirs.settings));
  keep_first_two(mine.named, std::move(theirs.named));
  if (mine.first_model.empty()) mine.first_model = std::move(theirs.first_model);
  mine.threads = std::min(mine.threads, theirs.threads);
  for (const Wishes& it : theirs.wishes) {
    Wishes& last = mine.wishes.back();
    if (last.role == it.role && last.fortran == it.fortran && last.node == it.node)
      last.count += it.count;
    else
      mine.wishes.push_back(it);
  }
}

/// The first rank's error, or different settings.
Result<> check_agreement(const Greeting& all) {
  const bool differ = all.settings.size() > 1;
  if (all.error && (!differ || all.error->rank <= all.settings[1].rank)) return fail(*all.error);
  if (!differ) return {};
  const SettingsOf &one = all.settings[0], &other = all.settings[1];
  return fail(make_error(ErrorCode::conflict,
                         "ranks have different settings: {}; give all ranks the same configuration",
                         config::first_difference(one.list(), one.rank, other.list(), other.rank))
                  .at_rank(other.rank));
}

/// The name that the setting gives; otherwise the name that the program of the first model rank
/// gives.
Result<std::string> common_name(const Greeting& all) {
  if (all.named.empty()) return all.first_model.empty() ? all.first.name : all.first_model.front().name;
  if (all.named.size() == 1) return all.named.front().name;
  const NameOf &one = all.named[0], &other = all.named[1];
  return fail(
      ErrorCode::conflict,
      "ranks {} and {} have different settings: session is '{}' on the one and '{}' on the other; give "
      "all ranks of a session the same name",
      one.rank, other.rank, one.name, other.name);
}

/// An inline server in a thread that uses MPI needs MPI_THREAD_MULTIPLE.
Result<> check_threads(const config::Config& config, const Greeting& all) {
  if (config.servers.topology != config::Topology::inline_ ||
      config.servers.inline_mode != config::InlineMode::thread)
    return {};
  const bool several =
      config.network.transport == config::Transport::mpi ||
      std::ranges::any_of(all.wishes, [&](const Wishes& it) { return it.node != all.wishes[0].node; });
  if (!several || all.threads == MPI_THREAD_MULTIPLE) return {};
  return fail(ErrorCode::conflict,
              "inline servers in a thread use MPI between nodes, which needs MPI_THREAD_MULTIPLE: "
              "initialise MPI "
              "with it, or set inline.mode to synchronous, or topology to dedicated");
}

void add_role(std::vector<SameRole>& roles, const RankRole& role) {
  const SameRole it{1, role.model, role.server, role.frontend, role.pool};
  if (!roles.empty()) {
    SameRole& last = roles.back();
    if (last.model == it.model && last.server == it.server && last.frontend == it.frontend &&
        last.pool == it.pool) {
      ++last.count;
      return;
    }
  }
  roles.push_back(it);
}

std::vector<SameShare> shares_of(const std::vector<RankRole>& roles, const std::vector<int>& nodes) {
  std::vector<int> models;
  struct Pool {
    std::vector<int> nodes;  ///< nodes of its servers
    std::vector<std::uint64_t> shares;
    std::size_t next = 0;
  };
  std::map<int, Pool> pools;
  for (std::size_t r = 0; r < roles.size(); ++r) {
    if (roles[r].model) models.push_back(nodes[r]);
    if (roles[r].server) pools[roles[r].pool].nodes.push_back(nodes[r]);
  }
  for (auto& [number, pool] : pools) pool.shares = config::slab_shares(models, pool.nodes);
  std::vector<SameShare> same;
  for (const RankRole& role : roles) {
    if (!role.server) continue;
    Pool& pool = pools[role.pool];
    const std::uint64_t share = pool.shares.empty() ? 0 : pool.shares[pool.next++];
    if (same.empty() || same.back().share != share)
      same.push_back({1, share});
    else
      ++same.back().count;
  }
  return same;
}

/// Decides the roles of all ranks, on rank 0.
Result<AssignedRoles> cast(const Greeting& all, const config::Config& config) {
  AssignedRoles assigned;
  assigned.run = all.run;
  assigned.reports = config.joins_ranks();
  AFTERBAY_TRY(check_threads(config, all));
  AFTERBAY_TRY_ASSIGN(assigned.session, common_name(all));
  std::vector<Role> wishes;
  std::vector<int> nodes;
  std::vector<bool> fortran;
  for (const Wishes& it : all.wishes) {
    wishes.insert(wishes.end(), static_cast<std::size_t>(it.count), it.role);
    nodes.insert(nodes.end(), static_cast<std::size_t>(it.count), it.node);
    fortran.insert(fortran.end(), static_cast<std::size_t>(it.count), it.fortran != 0);
  }
  AFTERBAY_TRY_ASSIGN(std::vector<RankRole> roles, assign_roles(wishes, nodes, config));
  struct Node {
    int ranks = 0;
    int servers = 0;
    std::size_t models = 0;
    std::vector<PoolOnNode> pools;
    std::size_t checks = 0;  ///< the first server, or the first rank if there is none
  };
  std::map<int, Node> by_node;
  const auto first = std::ranges::find(roles, false, &RankRole::spare);
  const int first_node = nodes[static_cast<std::size_t>(first - roles.begin())];
  for (std::size_t r = 0; r < roles.size(); ++r) {
    Node& node = by_node[nodes[r]];
    const bool takes_part = !roles[r].spare();
    node.pools.resize(config.pools().size());
    PoolOnNode& pool = node.pools[static_cast<std::size_t>(roles[r].pool)];
    if (takes_part && node.ranks++ == 0) node.checks = r;
    if (roles[r].model) ++node.models;
    if (roles[r].frontend) ++pool.frontends;
    if (roles[r].server) ++pool.servers;
    if (roles[r].server && node.servers++ == 0) node.checks = r;
    add_role(assigned.roles, roles[r]);
  }
  assigned.shares = shares_of(roles, nodes);
  Processes counted;
  for (const auto& [number, node] : by_node) counted.add_node(node.models);
  assigned.model_nodes = counted.model_nodes;
  assigned.least_models = counted.least_models;
  assigned.servers_started = std::ranges::find(wishes, Role::server) != wishes.end();
  std::map<int, int> clients;  // by frontend
  for (const RankRole& role : roles)
    for (const int frontend : role.frontends)
      if (frontend >= 0) ++clients[frontend];
  for (const auto& [frontend, count] : clients) {
    const auto r = static_cast<std::size_t>(frontend);
    PoolOnNode& pool = by_node[nodes[r]].pools[static_cast<std::size_t>(roles[r].pool)];
    pool.clients = std::max(pool.clients, count);
  }
  assigned.parts.reserve(roles.size());
  for (std::size_t r = 0; r < roles.size(); ++r) {
    const Node& node = by_node[nodes[r]];
    assigned.parts.push_back(
        {std::move(roles[r].frontends), node.ranks, node.pools, nodes[r] == first_node, node.checks == r});
  }
  const auto first_model = std::ranges::find_if(roles, &RankRole::model);
  assigned.fortran =
      first_model != roles.end() && fortran[static_cast<std::size_t>(first_model - roles.begin())];
  return assigned;
}

/// The load of this rank's node. `frontends`: number in the session, by pool.
NodeLoad load_of(const OwnPart& own, const AssignedRoles& assigned, const Cast& all,
                 const std::vector<std::size_t>& frontends) {
  NodeLoad load{.servers = 0, .ranks = own.node_ranks};
  load.has_first = own.first_node;
  load.network = static_cast<std::size_t>(own.node_ranks) < all.taking_part.size();
  load.job.ranks = all.taking_part.size();
  load.job.models = all.models.size();
  load.job.servers = all.servers.size();
  load.job.frontends = all.frontends.size();
  load.job.model_nodes = assigned.model_nodes;
  load.job.least_models = assigned.least_models;
  load.job.servers_started = assigned.servers_started;
  for (const PoolOnNode& it : own.node_pools) {
    const std::size_t number = load.pools.size();
    PoolLoad& pool = load.pools.emplace_back();
    pool = {it.servers, it.frontends, it.clients,
            static_cast<std::size_t>(std::ranges::count(all.pool_of_server, number)), frontends[number]};
    load.servers += pool.servers;
    load.frontends += pool.frontends;
    load.clients = std::max(load.clients, pool.clients);
  }
  return load;
}

Greeted understood(AssignedRoles assigned, int rank) {
  Greeted greeted;
  const OwnPart& own = assigned.parts.front();
  std::vector<std::size_t> frontends(own.node_pools.size(), 0);
  greeted.session = std::move(assigned.session);
  greeted.run = std::move(assigned.run);
  greeted.fortran = assigned.fortran;
  greeted.reports = assigned.reports;
  int first = 0;
  for (const SameRole& it : assigned.roles) {
    const int last = first + it.count - 1;
    Cast& to = greeted.cast;
    if (it.model) to.models.add(first, last);
    if (it.frontend) to.frontends.add(first, last);
    if (it.frontend) frontends[static_cast<std::size_t>(it.pool)] += static_cast<std::size_t>(it.count);
    if (it.model || it.server || it.frontend) to.taking_part.add(first, last);
    if (!it.model && (it.server || it.frontend)) to.others.add(first, last);
    for (int r = first; it.server && r <= last; ++r) {
      to.servers.push_back(r);
      to.pool_of_server.push_back(static_cast<std::size_t>(it.pool));
    }
    if (first <= rank && rank <= last) greeted.role = {it.model, it.server, it.frontend, it.pool, {}};
    first = last + 1;
  }
  for (const SameShare& it : assigned.shares)
    greeted.cast.slab_shares.insert(greeted.cast.slab_shares.end(), static_cast<std::size_t>(it.count),
                                    it.share);
  greeted.role.frontends.assign(own.frontends.begin(), own.frontends.end());
  greeted.load = load_of(own, assigned, greeted.cast, frontends);
  greeted.checks_node = own.checks_node;
  return greeted;
}

constexpr std::size_t most_obstacles = 20;

void join_obstacles_of(Obstacles& mine, int, Obstacles theirs) {
  mine.more += theirs.more;
  for (Error& error : theirs.found) {
    if (std::ranges::find(mine.found, error.message, &Error::message) != mine.found.end()) continue;
    if (mine.found.size() < most_obstacles)
      mine.found.push_back(std::move(error));
    else
      ++mine.more;
  }
}

}  // namespace

int Cast::number_of(int server) const {
  return static_cast<int>(std::ranges::lower_bound(servers, server) - servers.begin());
}

Result<Greeted> greet(mpi::Tree& tree, const mpi::Communicator& comm, const Result<config::Config>& config,
                      const Arrival& arrival) {
  AFTERBAY_TRY_ASSIGN(Greeting mine, own_greeting(comm, config, arrival));
  Steps<Greeting, AssignedRoles> steps;
  steps.join = join_greetings;
  steps.decide = [&](const Greeting& all) -> Result<AssignedRoles> {
    AFTERBAY_TRY(check_agreement(all));
    return cast(all, *config);
  };
  steps.part = [first_here = tree.rank()](int first, int end, const AssignedRoles& assigned) {
    const auto begin = assigned.parts.begin() - first_here;
    return AssignedRoles{assigned.session,         assigned.run,
                         assigned.fortran,         assigned.reports,
                         assigned.model_nodes,     assigned.least_models,
                         assigned.servers_started, assigned.roles,
                         assigned.shares,          {begin + first, begin + end}};
  };
  const Manner manner{config ? config->deadline : unknown_deadline, "ranks agreed on settings and roles"};
  AFTERBAY_TRY_ASSIGN(AssignedRoles assigned, consult(tree, manner, std::move(mine), steps));
  if (assigned.parts.empty()) return fail(ErrorCode::internal, "rank 0 told rank {} no role", tree.rank());
  return understood(std::move(assigned), tree.rank());
}

Result<std::vector<Error>> share_obstacles(mpi::Tree& tree, std::chrono::milliseconds deadline,
                                           std::vector<Error> own) {
  for (Error& error : own) error.at_rank(tree.rank());
  Obstacles mine;
  join_obstacles_of(mine, tree.rank(), {std::move(own), 0});
  Steps<Obstacles, Obstacles> steps;
  steps.join = join_obstacles_of;
  steps.decide = [](Obstacles all) -> Result<Obstacles> {
    if (all.more > 0)
      all.found.push_back(
          make_error(ErrorCode::resources, "{} problems more were found on further ranks", all.more));
    return all;
  };
  AFTERBAY_TRY_ASSIGN(Obstacles all,
                      consult(tree, {deadline, "the preflight checks ran"}, std::move(mine), steps));
  return std::move(all.found);
}

}  // namespace afterbay::session
