// SPDX-License-Identifier: Apache-2.0
// Starts a session from a communicator: configuration, roles, connections. All ranks agree on every
// failure, so that none waits for a rank that gave up.
#include <mpi.h>

#include <csignal>

#include <algorithm>

#include "afterbay/mpi.hpp"
#include "base/caller_terms.hpp"
#include "base/ingest_thread.hpp"
#include "base/printable.hpp"
#include "config/agreement.hpp"
#include "config/reference.hpp"
#include "config/session_name.hpp"
#include "config/settings.hpp"
#include "journal/recorder.hpp"
#include "mpi/check.hpp"
#include "mpi/communicator.hpp"
#include "mpi/request.hpp"
#include "session/mpi_group.hpp"
#include "session/obstacles.hpp"
#include "session/open_sessions.hpp"
#include "session/report.hpp"
#include "session/roles.hpp"
#include "session/state.hpp"
#include "transport/mpi/connect.hpp"
#include "wire/data_fields.hpp"

namespace afterbay {
namespace {

/// Used if the configuration is wrong.
constexpr std::chrono::milliseconds unknown_deadline{60'000};

/// The first message that each rank sends to all others.
struct Greeting {
  static constexpr wire::Kind kind{201};
  std::optional<Error> error;
  Role role = Role::automatic;
  std::uint8_t fortran = 0;                ///< the caller's language
  int node = 0;                            ///< lowest rank on this rank's node
  std::string run;                         ///< the run's name in the journal, from rank 0
  std::string session;                     ///< its name, as far as this rank knows
  std::uint8_t is_named = 0;               ///< named by the setting, not only by the program
  std::vector<std::string> setting_names;  ///< config::agreed_settings
  std::vector<std::string> setting_values;
  template <class A>
  void fields(A& a) {
    a(error, role, fortran, node, run, session, is_named, setting_names, setting_values);
  }
};

/// The problems that a rank found before the run.
struct Obstacles {
  static constexpr wire::Kind kind{202};
  std::vector<Error> found;
  template <class A>
  void fields(A& a) {
    a(found);
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
  if (config != nullptr && config->nodes.size() == static_cast<std::size_t>(comm.size())) {
    lowest = 0;
    while (config->nodes[static_cast<std::size_t>(lowest)] !=
           config->nodes[static_cast<std::size_t>(comm.rank())])
      ++lowest;
  }
  return lowest;
}

std::vector<config::AgreedSetting> settings_of(const Greeting& greeting) {
  std::vector<config::AgreedSetting> settings;
  for (std::size_t i = 0; i < std::min(greeting.setting_names.size(), greeting.setting_values.size()); ++i)
    settings.push_back({greeting.setting_names[i], greeting.setting_values[i]});
  return settings;
}

/// The greetings of all ranks; fails with the first rank's error if a rank has an error or
/// different settings.
Result<std::vector<Greeting>> agree(const mpi::Communicator& comm, const Greeting& mine,
                                    std::chrono::milliseconds deadline) {
  AFTERBAY_TRY_ASSIGN(const auto bytes, comm.all_gather(wire::encode(mine), deadline));
  std::vector<Greeting> all;
  for (std::size_t r = 0; r < bytes.size(); ++r) {
    AFTERBAY_TRY_ASSIGN(Greeting one, wire::decode<Greeting>(bytes[r]));
    if (one.error) return fail(one.error->at_rank(static_cast<int>(r)));
    if (r > 0 && (one.setting_names != all[0].setting_names || one.setting_values != all[0].setting_values))
      return fail(
          make_error(ErrorCode::conflict,
                     "ranks have different settings: {}; give all ranks the same configuration",
                     config::first_difference(settings_of(all[0]), 0, settings_of(one), static_cast<int>(r)))
              .at_rank(static_cast<int>(r)));
    if (r > 0) {  // only once: rank 0 has the same ones, and there may be many ranks
      one.setting_names = {};
      one.setting_values = {};
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// The name that the setting gives; otherwise the name that the program of the first model rank
/// gives.
Result<std::string> common_name(const std::vector<Greeting>& all) {
  const auto is_named = [](const Greeting& it) { return it.is_named != 0; };
  const auto named = std::ranges::find_if(all, is_named);
  if (named == all.end()) {
    const auto model = std::ranges::find_if(all, [](const Greeting& it) { return it.role != Role::server; });
    return (model == all.end() ? all.front() : *model).session;
  }
  const auto other = std::find_if(
      named, all.end(), [&](const Greeting& it) { return is_named(it) && it.session != named->session; });
  if (other == all.end()) return named->session;
  return fail(
      ErrorCode::conflict,
      "ranks {} and {} have different settings: session is '{}' on the one and '{}' on the other; give "
      "all ranks of a session the same name",
      named - all.begin(), other - all.begin(), named->session, other->session);
}

transport::LinkSizes link_sizes(const config::Memory& memory) {
  transport::LinkSizes sizes;
  sizes.memory_bytes = memory.frame_bytes();
  sizes.block_bytes = memory.block_bytes;
  sizes.small_block_bytes = memory.small_block_bytes;
  sizes.small_share = memory.small_share;
  sizes.max_frames = static_cast<std::uint32_t>(memory.frames);
  sizes.ring_bytes = memory.ring_bytes;
  sizes.segment_bytes = memory.block_bytes;
  sizes.segments = static_cast<std::uint32_t>(memory.link_bytes / memory.block_bytes);
  sizes.receive_bytes = memory.receive_bytes;
  return sizes;
}

/// An inline server in a thread that uses MPI needs MPI_THREAD_MULTIPLE.
Result<> check_threads(const config::Config& config, const std::vector<Greeting>& all) {
  if (config.topology != config::Topology::inline_ || config.inline_mode != config::InlineMode::thread)
    return {};
  bool several = config.transport == config::Transport::mpi;
  for (const Greeting& one : all) several = several || one.node != all[0].node;
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (!several || provided == MPI_THREAD_MULTIPLE) return {};
  return fail(ErrorCode::conflict,
              "inline servers in a thread use MPI between nodes, which needs MPI_THREAD_MULTIPLE: "
              "initialise MPI "
              "with it, or set inline.mode to synchronous, or topology to dedicated");
}

/// `config`: the configuration of this rank's pool. `rank`: the rank in the session.
transport::ConnectOptions connect_options(const config::Config& config, int rank,
                                          const session::RankRole& role) {
  transport::ConnectOptions options;
  options.model = role.model;
  options.server = role.server;
  options.frontend = role.frontend;
  options.pool = role.pool;
  const bool frontend_set = config.origin("memory.frontend").source != config::Source::fallback;
  options.frontend_bytes = frontend_set ? config.memory.frontend_bytes : 0;
  if (!config.nodes.empty()) options.declared_node = config.nodes[static_cast<std::size_t>(rank)];
  options.transport = static_cast<transport::TransportChoice>(config.transport);
  options.sizes = link_sizes(config.memory);
  options.policy.deadline =
      // Servers and sessions detect failures first, and report more.
      config.deadline + config.deadline / 2;
  options.policy.first_answer = config.patience();
  return options;
}

class Starter {
 public:
  Starter(MPI_Comm parent, const SessionOptions& options) : parent_(parent), options_(options) {}

  Result<std::unique_ptr<Session::State>> start() {
    auto config = config::load({options_.settings, options_.config_file, std::nullopt, options_.arguments});
    AFTERBAY_TRY_ASSIGN(mpi::Communicator comm,
                        mpi::Communicator::duplicate(parent_, config ? config->deadline : unknown_deadline));
    if (auto greeted = greet(comm, config); !greeted) return failed_alike(comm, std::move(greeted).error());
    AFTERBAY_TRY(config::name_session(*config, session_));
    state_ = std::make_unique<Session::State>(session_, std::make_unique<config::Config>(std::move(*config)),
                                              began_ns_);
    rank_ = comm.rank();
    const session::RankRole role = roles_[static_cast<std::size_t>(rank_)];
    state_->spare = role.spare();
    if (auto checked = check_surroundings(comm); !checked)
      return failed_alike(comm, std::move(checked).error());
    AFTERBAY_TRY(leave_spares_out(comm));
    if (state_->spare) return std::move(state_);
    const std::vector<std::string> pools = state_->config->pools();
    state_->pool_config = std::make_unique<config::Config>(
        role.model ? *state_->config : state_->config->of_pool(pools[static_cast<std::size_t>(role.pool)]));
    transport::ConnectOptions connect = connect_options(*state_->pool_config, rank_, role);
    connect.comm = comm.get();
    connect.ranks = taking_part_;
    connect.server_links = state_->config->servers_talk();
    connect.frontends = routes();
    AFTERBAY_TRY_ASSIGN(transport::Connection connection, transport::connect(connect));
    state_->communicators = std::move(connection.communicators);
    AFTERBAY_TRY(make_group(std::move(comm), role));
    const auto first_model = std::ranges::find_if(roles_, &session::RankRole::model);
    state_->terms = terms_of(role.model ? rank_ : static_cast<int>(first_model - roles_.begin()));
    if (connection.relay) make_frontend(std::move(connection.relay));
    if (connection.port) make_server(std::move(connection.port), std::move(connection.server_links));
    if (role.model) make_model(std::move(connection.links));
    if (role.model && role.server)
      state_->host_server(state_->config->inline_mode == config::InlineMode::thread);
    AFTERBAY_TRY(state_->watch_for_end());
    state_->opened(began_ns_, state_->server ? number_of_server() : 0);
    return std::move(state_);
  }

  /// The name for messages: the name that the program gives until the name is known.
  [[nodiscard]] const std::string& session() const { return session_.empty() ? options_.name : session_; }

 private:
  /// Returns an error that all ranks get: if they stop, one of them reports it.
  static tl::unexpected<Error> failed_alike(mpi::Communicator& comm, Error error) {
    session::OpenSessions::of_this_process().keep_failed(std::move(comm), error.message);
    return fail(std::move(error));
  }

  /// Exchanges greetings and assigns a role to every rank; a failure is the same on all ranks.
  Result<> greet(const mpi::Communicator& comm, const Result<config::Config>& config) {
    Greeting mine;
    mine.role = options_.role;
    mine.fortran = options_.language == Language::fortran ? 1 : 0;
    if (comm.rank() == 0) mine.run = journal::new_run_id();
    AFTERBAY_TRY_ASSIGN(mine.node, node_of(comm, config ? &*config : nullptr));
    if (!config) {
      mine.error = config.error();
    } else {
      for (config::AgreedSetting& setting : config::agreed_settings(*config)) {
        mine.setting_names.push_back(std::move(setting.name));
        mine.setting_values.push_back(std::move(setting.value));
      }
      if (!config->nodes.empty() && config->nodes.size() != static_cast<std::size_t>(comm.size()))
        mine.error = make_error(ErrorCode::conflict, "'nodes' declares {} ranks, the communicator has {}",
                                config->nodes.size(), comm.size());
      mine.session = config::session_name(*config, options_.name);
      mine.is_named = config->session.empty() ? 0 : 1;
      if (!mine.error) mine.error = check_names(*config, mine.session, comm.rank());
    }
    AFTERBAY_TRY_ASSIGN(const std::vector<Greeting> all,
                        agree(comm, mine, config ? config->deadline : unknown_deadline));
    AFTERBAY_TRY(check_threads(*config, all));
    run_ = all.front().run;
    AFTERBAY_TRY_ASSIGN(session_, common_name(all));
    std::vector<Role> wishes;
    std::vector<int> nodes;
    for (const Greeting& one : all) {
      wishes.push_back(one.role);
      nodes.push_back(one.node);
      nodes_.push_back(one.node);
      fortran_.push_back(one.fortran != 0);
    }
    AFTERBAY_TRY_ASSIGN(roles_, session::assign_roles(wishes, nodes, *config));
    return {};
  }

  /// Checks the session's name and (on rank 0) the paths of reports that may contain it.
  static std::optional<Error> check_names(config::Config config, const std::string& session, int rank) {
    if (auto named = config::name_session(config, session); !named) return std::move(named).error();
    if (rank != 0) return std::nullopt;
    if (auto writable = session::check_report_files(config); !writable) return std::move(writable).error();
    return std::nullopt;
  }

  /// The number of this rank's server among all servers.
  [[nodiscard]] int number_of_server() const {
    return static_cast<int>(std::count_if(roles_.begin(), roles_.begin() + rank_,
                                          [](const session::RankRole& it) { return it.server; }));
  }

  /// Preflight checks: the first server of each node runs them; all ranks get the problems that any
  /// of them found.
  Result<> check_surroundings(const mpi::Communicator& comm) {
    const config::Config& config = *state_->config;
    if (config.checks == config::Checks::off) return {};
    const auto rank = static_cast<std::size_t>(comm.rank());
    session::NodeLoad load{.servers = 0, .ranks = 0, .network = config.transport == config::Transport::mpi};
    bool first = roles_[rank].server;
    for (std::size_t r = 0; r < roles_.size(); ++r) {
      if (nodes_[r] != nodes_[rank]) {
        load.network = true;
        continue;
      }
      ++load.ranks;
      load.servers += roles_[r].server ? 1 : 0;
      first = first && (!roles_[r].server || r >= rank);
    }
    Obstacles mine;
    if (first) mine.found = session::find_obstacles(config, load, session::this_system());
    AFTERBAY_TRY_ASSIGN(const auto all, comm.all_gather(wire::encode(mine), config.deadline));
    std::vector<Error> found;
    for (std::size_t r = 0; r < all.size(); ++r) {
      AFTERBAY_TRY_ASSIGN(Obstacles one, wire::decode<Obstacles>(all[r]));
      for (Error& error : one.found)
        if (std::ranges::find(found, error.message, &Error::message) == found.end())
          found.push_back(error.at_rank(static_cast<int>(r)));
    }
    auto joined = session::join_obstacles(found);
    if (!joined) return {};
    joined->add("found by the preflight checks; the setting 'checks' says whether the run continues");
    if (config.checks == config::Checks::refuse) return fail(std::move(*joined));
    if (comm.rank() == 0) Logger({session_, "model", 0}, config.log).warning("{}", joined->text());
    return {};
  }

  /// Continues without the spare ranks. Collective; `comm` then has the ranks `taking_part_`.
  Result<> leave_spares_out(mpi::Communicator& comm) {
    for (int r = 0; r < comm.size(); ++r)
      if (!roles_[static_cast<std::size_t>(r)].spare()) taking_part_.push_back(r);
    if (taking_part_.size() == roles_.size()) return {};
    MPI_Comm others = MPI_COMM_NULL;
    AFTERBAY_TRY(mpi::check(MPI_Comm_split(comm.get(), state_->spare ? MPI_UNDEFINED : 0, rank_, &others),
                            "MPI_Comm_split"));
    if (others == MPI_COMM_NULL) return {};
    auto smaller = mpi::Communicator::duplicate_of(taking_part_, others, state_->config->deadline);
    MPI_Comm_free(&others);
    if (!smaller) return fail(std::move(smaller).error());
    comm = std::move(*smaller);
    return {};
  }

  /// The frontends through which ranks send, in the numbering of `taking_part_`.
  [[nodiscard]] std::vector<std::vector<int>> routes() const {
    std::vector<int> number(roles_.size(), -1);
    for (std::size_t i = 0; i < taking_part_.size(); ++i)
      number[static_cast<std::size_t>(taking_part_[i])] = static_cast<int>(i);
    std::vector<std::vector<int>> by_pool(roles_.front().frontends.size());
    for (std::size_t p = 0; p < by_pool.size(); ++p)
      for (const int r : taking_part_) {
        const int frontend = roles_[static_cast<std::size_t>(r)].frontends[p];
        by_pool[p].push_back(frontend < 0 ? -1 : number[static_cast<std::size_t>(frontend)]);
      }
    return by_pool;
  }

  [[nodiscard]] Terms terms_of(int rank) const {
    return fortran_[static_cast<std::size_t>(rank)] ? Terms::fortran : Terms::c;
  }

  Result<> make_group(mpi::Communicator comm, const session::RankRole& role) {
    auto group = std::make_unique<session::MpiGroup>(std::move(comm), rank_, state_->config->deadline);
    std::vector<int> others;
    for (const int r : taking_part_)
      if (!roles_[static_cast<std::size_t>(r)].model) others.push_back(r);
    AFTERBAY_TRY(group->split(role.model, std::move(others)));
    state_->group = std::move(group);
    return {};
  }

  [[nodiscard]] std::unique_ptr<journal::Recorder> make_journal(const server::Identity& place) const {
    const config::Config& config = *state_->config;
    journal::Identity identity{run_, place.number, {}};
    identity.started.session = session_;
    identity.started.model_ranks = static_cast<std::int64_t>(place.session_ranks.size());
    identity.started.servers = std::ranges::count_if(roles_, &session::RankRole::server);
    identity.started.settings = config::given_settings(config);
    return std::make_unique<journal::Recorder>(
        journal::Where{config.journal.directory, config.journal.required}, std::move(identity),
        Logger({session_, "server", rank_}, config.log));
  }

  void make_server(std::unique_ptr<transport::ServerPort> port, server::FellowServers::Links fellows) {
    server::Identity place;
    place.session_rank = rank_;
    for (int r = 0; r < static_cast<int>(roles_.size()); ++r) {
      if (roles_[static_cast<std::size_t>(r)].model) place.session_ranks.push_back(r);
    }
    place.number = number_of_server();
    place.servers = static_cast<int>(std::ranges::count_if(roles_, &session::RankRole::server));
    place.session = session_;
    place.run = run_;
    place.terms = terms_of(place.session_ranks.front());
    const bool hosted = roles_[static_cast<std::size_t>(rank_)].model;
    const config::Config& config = *state_->pool_config;
    const auto threads = hosted ? 0 : static_cast<std::size_t>(config.writers);
    auto stores = [state = state_.get()](Format format) -> storage::Store& { return state->store(format); };
    auto journal = make_journal(place);
    state_->server = std::make_unique<server::Server>(
        std::move(place), config, std::move(port), std::move(fellows), stores, threads,
        state_->server_profile, Logger({session_, "server", rank_}, config.log), std::move(journal));
    catch_signals(hosted);
  }

  void make_frontend(std::unique_ptr<transport::network::Relay> relay) {
    session::FrontendPlace place;
    place.session_rank = rank_;
    place.frontends = static_cast<int>(std::ranges::count_if(roles_, &session::RankRole::frontend));
    place.number = static_cast<int>(std::count_if(roles_.begin(), roles_.begin() + rank_,
                                                  [](const session::RankRole& it) { return it.frontend; }));
    place.session = session_;
    place.run = run_;
    state_->frontend = std::make_unique<session::FrontendRun>(
        std::move(relay), std::move(place), *state_->config, state_->server_profile,
        Logger({session_, "frontend", rank_}, state_->config->log));
    catch_signals(false);
  }

  /// A frontend continues until the servers have informed its ranks.
  void catch_signals(bool hosted) {
    const config::Stop& stop = state_->config->stop;
    if (hosted && !stop.inline_too) return;
    std::vector<int> signals;
    if (stop.signals == config::StopSignals::term || stop.signals == config::StopSignals::both)
      signals.push_back(SIGTERM);
    if (stop.signals == config::StopSignals::usr1 || stop.signals == config::StopSignals::both)
      signals.push_back(SIGUSR1);
    if (signals.empty()) return;
    state_->stop_signals = std::make_unique<SignalCatcher>(std::move(signals));
    if (!state_->server) return;
    assert_role(ingest_thread);  // no other thread uses the server yet
    state_->server->stop_at([catcher = state_->stop_signals.get()] { return catcher->caught(); });
  }

  void make_model(client::ModelSession::Links links) {
    client::RankIdentity identity{rank_, 0, 0, {}, terms_of(rank_)};
    for (int r = 0; r < static_cast<int>(roles_.size()); ++r) {
      const session::RankRole& role = roles_[static_cast<std::size_t>(r)];
      if (role.server) identity.pool_of_server.push_back(static_cast<std::size_t>(role.pool));
      if (!role.model) continue;
      ++identity.model_size;
      if (r < rank_) ++identity.model_rank;
    }
    state_->model = std::make_shared<client::ModelSession>(
        identity, *state_->config, std::move(links), state_->model_profile,
        Logger({session_, "model", rank_}, state_->config->log));
    const bool inline_ = state_->config->topology == config::Topology::inline_;
    if (inline_ && state_->config->inline_mode == config::InlineMode::synchronous)
      state_->model->set_synchronous([group = state_->group.get()] { return group->arrive(); });
  }

  const std::uint64_t began_ns_ = now_ns();
  MPI_Comm parent_;
  const SessionOptions& options_;
  std::vector<session::RankRole> roles_;
  std::vector<int> nodes_;        ///< by rank: the lowest rank on the same node
  std::vector<bool> fortran_;     ///< by rank: whether Fortran opened the session
  std::vector<int> taking_part_;  ///< ranks that are not spare
  std::string run_;
  std::string session_;  ///< its name; empty: not known yet
  std::unique_ptr<Session::State> state_;
  int rank_ = 0;
};

}  // namespace

Session open_session(MPI_Comm comm, const SessionOptions& options) {
  if (!mpi::is_running())
    throw Failure(Error(ErrorCode::bad_state, "MPI is not running: call MPI_Init before open_session"));
  if (comm == MPI_COMM_NULL)
    throw Failure(Error(ErrorCode::invalid_argument,
                        "open_session needs a communicator, this rank gave MPI_COMM_NULL"));
  const InTerms speaks(options.language == Language::fortran ? Terms::fortran : Terms::c);
  Starter starter(comm, options);
  auto state = starter.start();
  if (!state)
    throw Failure(std::move(state).error().add("opening session '" + printable(starter.session()) + "'"));
  return Session(std::move(*state));
}

MPI_Comm model_comm(const Session& session) {
  const auto* group =
      dynamic_cast<const session::MpiGroup*>(const_cast<Session&>(session).state().group.get());
  return group == nullptr ? MPI_COMM_NULL : group->model_comm();
}

}  // namespace afterbay
