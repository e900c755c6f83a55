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
#include "config/reference.hpp"
#include "config/session_name.hpp"
#include "config/settings.hpp"
#include "journal/recorder.hpp"
#include "mpi/check.hpp"
#include "mpi/communicator.hpp"
#include "mpi/request.hpp"
#include "mpi/thread_level.hpp"
#include "mpi/tree.hpp"
#include "server/server.hpp"
#include "session/described_output.hpp"
#include "session/frontend.hpp"
#include "session/greeting.hpp"
#include "session/link_sizes.hpp"
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

/// `config`: the configuration of this rank's pool. `rank`: the rank in the session.
transport::ConnectOptions connect_options(const config::Config& config, int rank,
                                          const session::RankRole& role) {
  transport::ConnectOptions options;
  options.model = role.model;
  options.server = role.server;
  options.frontend = role.frontend;
  options.pool = role.pool;
  options.frontend_bytes = session::frontend_bytes(config);
  if (!config.network.nodes.empty())
    options.declared_node = config.network.nodes[static_cast<std::size_t>(rank)];
  options.transport = config.network.transport;
  options.sizes = session::link_sizes(config.memory);
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
    session::DescribedOutput described(options_.output_text);
    auto config = config::load({options_.settings, options_.config_file, std::nullopt, options_.arguments,
                                [&](config::Config& it) { return described.read(it); }});
    AFTERBAY_TRY_ASSIGN(mpi::Communicator comm,
                        mpi::Communicator::duplicate(parent_, config ? config->deadline : unknown_deadline));
    mpi::Tree tree(comm);
    const bool fortran = options_.language == Language::fortran;
    auto greeted = session::greet(tree, comm, config, {options_.role, fortran, options_.name});
    if (!greeted) return failed_alike(comm, std::move(greeted).error());
    greeted_ = *std::move(greeted);
    AFTERBAY_TRY(config::name_session(*config, greeted_.session));
    state_ = std::make_unique<Session::State>(
        greeted_.session, std::make_unique<config::Config>(std::move(*config)), began_ns_);
    state_->threads = mpi::ThreadLevel::of_this_process();
    if (described.description() != nullptr) state_->output.description = described.description();
    rank_ = comm.rank();
    ranks_ = static_cast<std::size_t>(comm.size());
    const session::RankRole& role = greeted_.role;
    state_->spare = role.spare();
    state_->joins_reports = greeted_.reports;
    if (auto checked = check_surroundings(tree); !checked)
      return failed_alike(comm, std::move(checked).error());
    AFTERBAY_TRY(leave_spares_out(comm));
    if (state_->spare) return std::move(state_);
    const std::vector<std::string> pools = state_->config->pools();
    state_->pool_config = std::make_unique<config::Config>(
        role.model ? *state_->config : state_->config->of_pool(pools[static_cast<std::size_t>(role.pool)]));
    transport::ConnectOptions connect = connect_options(*state_->pool_config, rank_, role);
    connect.comm = comm.get();
    if (has_spares()) connect.ranks = cast().taking_part;
    connect.server_links = state_->config->servers_talk();
    connect.frontends = routes();
    AFTERBAY_TRY_ASSIGN(transport::Connection connection, transport::connect(connect));
    state_->communicators = std::move(connection.communicators);
    AFTERBAY_TRY(make_group(std::move(comm), role));
    state_->terms = role.model ? own_terms() : terms_of_models();
    if (connection.relay) make_frontend(std::move(connection.relay));
    if (connection.port) make_server(std::move(connection.port), std::move(connection.server_links));
    if (role.model) make_model(std::move(connection.links));
    if (role.model && role.server)
      state_->host_server(state_->config->servers.inline_mode == config::InlineMode::thread);
    AFTERBAY_TRY(state_->watch_for_end());
    state_->opened(began_ns_, state_->server ? cast().number_of(rank_) : 0);
    return std::move(state_);
  }

  /// The name for messages: the name that the program gives until the name is known.
  [[nodiscard]] const std::string& session() const {
    return greeted_.session.empty() ? options_.name : greeted_.session;
  }

 private:
  /// Returns an error that all ranks get: if they stop, one of them reports it.
  static tl::unexpected<Error> failed_alike(mpi::Communicator& comm, Error error) {
    if (error.code == ErrorCode::timed_out) comm.leave_behind();  // a late rank may still send
    session::OpenSessions::of_this_process().keep_failed(std::move(comm), error.message);
    return fail(std::move(error));
  }

  [[nodiscard]] const session::Cast& cast() const { return greeted_.cast; }
  [[nodiscard]] bool has_spares() const { return cast().taking_part.size() < ranks_; }

  /// Preflight checks: one rank of each node runs them; all ranks get the problems that any
  /// of them found.
  Result<> check_surroundings(mpi::Tree& tree) {
    const config::Config& config = *state_->config;
    if (config.checks == config::Checks::off) return {};
    std::vector<Error> mine;
    session::NodeLoad load = greeted_.load;
    load.network = load.network || config.network.transport == config::Transport::mpi;
    if (greeted_.checks_node) mine = session::find_obstacles(config, load, session::this_system());
    AFTERBAY_TRY_ASSIGN(const std::vector<Error> found,
                        session::share_obstacles(tree, config.deadline, std::move(mine)));
    auto joined = session::join_obstacles(found);
    if (!joined) return {};
    joined->add("found by the preflight checks; the setting 'checks' says whether the run continues");
    if (config.checks == config::Checks::refuse) return fail(std::move(*joined));
    if (tree.rank() == 0) Logger({greeted_.session, "model", 0}, config.log).warning("{}", joined->text());
    return {};
  }

  /// Continues without the spare ranks. Collective; `comm` then has the ranks that take part.
  Result<> leave_spares_out(mpi::Communicator& comm) {
    if (!has_spares()) return {};
    MPI_Comm others = MPI_COMM_NULL;
    AFTERBAY_TRY(mpi::check(MPI_Comm_split(comm.get(), state_->spare ? MPI_UNDEFINED : 0, rank_, &others),
                            "MPI_Comm_split"));
    if (others == MPI_COMM_NULL) return {};
    auto smaller = mpi::Communicator::duplicate_of(cast().taking_part, others, state_->config->deadline);
    MPI_Comm_free(&others);
    if (!smaller) return fail(std::move(smaller).error());
    comm = std::move(*smaller);
    return {};
  }

  /// The frontends through which this rank sends, by pool, in the numbering of the ranks that take
  /// part.
  [[nodiscard]] std::vector<int> routes() const {
    std::vector<int> routes;
    for (const int frontend : greeted_.role.frontends)
      routes.push_back(frontend < 0 ? -1 : static_cast<int>(*cast().taking_part.index_of(frontend)));
    return routes;
  }

  [[nodiscard]] Terms own_terms() const {
    return options_.language == Language::fortran ? Terms::fortran : Terms::c;
  }
  [[nodiscard]] Terms terms_of_models() const { return greeted_.fortran ? Terms::fortran : Terms::c; }

  Result<> make_group(mpi::Communicator comm, const session::RankRole& role) {
    auto group = std::make_unique<session::MpiGroup>(std::move(comm), rank_, state_->config->deadline);
    AFTERBAY_TRY(
        group->split(role.model, cast().models, role.model ? std::vector<int>() : cast().others.ranks()));
    state_->group = std::move(group);
    return {};
  }

  [[nodiscard]] std::unique_ptr<journal::Recorder> make_journal(const server::Identity& identity) const {
    const config::Config& config = *state_->config;
    journal::Identity recorded{greeted_.run, identity.number, {}};
    recorded.started.session = greeted_.session;
    recorded.started.model_ranks = static_cast<std::int64_t>(identity.session_ranks.size());
    recorded.started.servers = static_cast<std::int64_t>(cast().servers.size());
    recorded.started.settings = config::given_settings(config);
    return std::make_unique<journal::Recorder>(
        journal::Where{config.journal.directory, config.journal.required}, std::move(recorded),
        Logger({greeted_.session, "server", rank_}, config.log));
  }

  void make_server(std::unique_ptr<transport::ServerPort> port, server::FellowServers::Links fellows) {
    server::Identity identity;
    identity.session_rank = rank_;
    identity.session_ranks = cast().models.ranks();
    identity.number = cast().number_of(rank_);
    identity.servers = static_cast<int>(cast().servers.size());
    identity.session = greeted_.session;
    identity.run = greeted_.run;
    identity.terms = terms_of_models();
    identity.slab_shares = cast().slab_shares;
    const bool hosted = greeted_.role.model;
    const config::Config& config = *state_->pool_config;
    const auto threads = hosted ? 0 : static_cast<std::size_t>(config.writing.writers);
    auto stores = [state = state_.get()](Format format) -> storage::Store& { return state->store(format); };
    auto journal = make_journal(identity);
    state_->server = std::make_unique<server::Server>(
        std::move(identity), config, std::move(port), std::move(fellows), stores, threads,
        state_->server_profile, Logger({greeted_.session, "server", rank_}, config.log), std::move(journal));
    catch_signals(hosted);
  }

  void make_frontend(std::unique_ptr<transport::network::Relay> relay) {
    session::FrontendIdentity identity;
    identity.session_rank = rank_;
    identity.frontends = static_cast<int>(cast().frontends.size());
    identity.number = static_cast<int>(cast().frontends.index_of(rank_).value_or(0));
    identity.session = greeted_.session;
    identity.run = greeted_.run;
    state_->frontend = std::make_unique<session::FrontendRun>(
        std::move(relay), std::move(identity), *state_->config, state_->server_profile,
        Logger({greeted_.session, "frontend", rank_}, state_->config->log));
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
    client::RankIdentity identity{rank_,
                                  static_cast<int>(cast().models.index_of(rank_).value_or(0)),
                                  static_cast<int>(cast().models.size()),
                                  cast().pool_of_server,
                                  own_terms(),
                                  cast().slab_shares};
    state_->servers = links.size();
    const bool over_mpi = std::ranges::any_of(links, [](const auto& link) { return link->name() == "mpi"; });
    state_->model = std::make_shared<client::ModelSession>(
        identity, *state_->config, std::move(links), state_->model_profile,
        Logger({greeted_.session, "model", rank_}, state_->config->log));
    const bool inline_ = state_->config->servers.topology == config::Topology::inline_;
    const bool synchronous =
        inline_ && state_->config->servers.inline_mode == config::InlineMode::synchronous;
    if (synchronous)
      state_->model->set_synchronous([group = state_->group.get()] { return group->arrive(); });
    state_->bind_threads(over_mpi || synchronous);
  }

  const std::uint64_t began_ns_ = now_ns();
  MPI_Comm parent_;
  const SessionOptions& options_;
  session::Greeted greeted_;
  std::unique_ptr<Session::State> state_;
  int rank_ = 0;
  std::size_t ranks_ = 0;
};

void check_thread(MPI_Comm comm) {
  const auto threads = mpi::ThreadLevel::of_this_process();
  if (threads.allows_this_thread()) return;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);  // reads the communicator only
  throw Failure(mpi::wrong_thread("open_session", threads.name(), rank));
}

}  // namespace

Session open_session(MPI_Comm comm, const SessionOptions& options) {
  if (!mpi::is_running())
    throw Failure(Error(ErrorCode::bad_state, "MPI is not running: call MPI_Init before open_session"));
  if (comm == MPI_COMM_NULL)
    throw Failure(Error(ErrorCode::invalid_argument,
                        "open_session needs a communicator, this rank gave MPI_COMM_NULL"));
  const InTerms speaks(options.language == Language::fortran ? Terms::fortran : Terms::c);
  check_thread(comm);
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
