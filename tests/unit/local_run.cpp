// SPDX-License-Identifier: Apache-2.0
#include "unit/local_run.hpp"

#include <map>
#include <memory>
#include <thread>

#include "server/server.hpp"
#include "session/state.hpp"
#include "storage/store.hpp"
#include "transport/thread/hub.hpp"

namespace afterbay::test {

/// The ranks of one run.
class LocalRun::Threads {
 public:
  explicit Threads(const LocalRun& run) : run_(run) {}

  std::vector<std::optional<Error>> run(const Model& model) {
    std::vector<std::optional<Error>> errors(static_cast<std::size_t>(run_.models_ + run_.servers_));
    std::vector<transport::ThreadHub> hubs;
    const std::unique_ptr<config::Config> sizes_from = config();
    rank_links_.clear();
    for (int r = 0; r < run_.models_ + run_.servers_; ++r)
      rank_links_.push_back(std::make_shared<transport::RankLinks>());  // one per rank, as over MPI
    for (int s = 0; s < run_.servers_; ++s) hubs.push_back(hub(*sizes_from, static_cast<std::size_t>(s)));
    {
      std::vector<std::jthread> threads;
      for (int s = 0; s < run_.servers_; ++s) {
        server::FellowServers::Links fellows;
        for (int other = 0; sizes_from->servers_talk() && other < run_.servers_; ++other)
          fellows.push_back(other == s ? nullptr
                                       : std::move(hubs[static_cast<std::size_t>(other)]
                                                       .clients[static_cast<std::size_t>(run_.models_ + s)]));
        threads.emplace_back([&, s, links = std::move(fellows)]() mutable {
          errors[static_cast<std::size_t>(run_.models_ + s)] =
              serve(std::move(hubs[static_cast<std::size_t>(s)].port), std::move(links), s);
        });
      }
      for (int r = 0; r < run_.models_; ++r) {
        client::ModelSession::Links links;
        for (auto& one : hubs) links.push_back(std::move(one.clients[static_cast<std::size_t>(r)]));
        for (std::size_t s = 0; s < run_.servers_of_one_thread; ++s) links[s]->set_idle([] { return false; });
        threads.emplace_back([&, r, mine = std::move(links)]() mutable {
          errors[static_cast<std::size_t>(r)] = play(model, r, std::move(mine));
        });
      }
    }
    return errors;
  }

 private:
  std::unique_ptr<config::Config> config(const Settings& more = {}) const {
    config::Sources sources;
    sources.environment.emplace();
    sources.settings = run_.settings_;
    sources.settings.insert(sources.settings.end(), more.begin(), more.end());
    // Keeps statistics pages out of the working directory.
    sources.settings.emplace(sources.settings.begin(), "statistics.directory", "off");
    sources.settings.emplace_back("report.table", "off");
    auto loaded = config::load(sources);
    if (!loaded) throw Failure(std::move(loaded).error());
    return std::make_unique<config::Config>(std::move(*loaded));
  }

  transport::ThreadHub hub(const config::Config& config, std::size_t server) const {
    transport::LinkSizes sizes;
    sizes.memory_bytes = config.memory.frame_bytes();
    sizes.block_bytes = config.memory.block_bytes;
    sizes.small_block_bytes = config.memory.small_block_bytes;
    sizes.small_share = config.memory.small_share;
    sizes.ring_bytes = config.memory.ring_bytes;
    const int servers = config.servers_talk() ? run_.servers_ : 0;
    auto made = transport::ThreadHub::make(static_cast<std::size_t>(run_.models_ + servers),
                                           {.sizes = sizes,
                                            .policy = {config.deadline},
                                            .server = server,
                                            .rank_links = rank_links_,
                                            .servers = static_cast<std::size_t>(servers)});
    if (!made) throw Failure(std::move(made).error());
    return std::move(*made);
  }

  std::optional<Error> serve(std::unique_ptr<transport::ServerPort> port,
                             server::FellowServers::Links fellows, int number) const {
    Session::State state("test", config());
    server::Identity place{number, run_.models_ + number, {}, run_.servers_};
    place.terms = run_.terms;
    place.slab_shares = run_.slab_shares;
    for (int r = 0; r < run_.models_; ++r) place.session_ranks.push_back(r);
    auto source =
        run_.stores ? run_.stores : [&](Format format) -> storage::Store& { return state.store(format); };
    const Logger logger({"test", "server", run_.models_ + number}, LogLevel::error);
    server::Server server(place, *state.config, std::move(port), std::move(fellows), source,
                          static_cast<std::size_t>(state.config->writing.writers), state.server_profile,
                          logger, journal(*state.config, number, logger));
    if (run_.stop_signal) server.stop_at(run_.stop_signal);
    if (auto served = server.run(); !served) return served.error();
    if (run_.at_end) run_.at_end(server.history());
    return std::nullopt;
  }

  /// Servers are assigned to the configured pools in order.
  static std::size_t pool_of(const config::Config& config, int server) {
    std::size_t pool = 0;
    for (const std::string& name : config.pools()) {
      server -= config.of_pool(name).servers.number;
      if (server < 0) break;
      ++pool;
    }
    return config.overrides.pools.empty() ? 0 : pool;
  }

  /// Used if a test names a directory.
  std::unique_ptr<journal::Recorder> journal(const config::Config& config, int number,
                                             const Logger& logger) const {
    if (config.origin("journal.directory").source == config::Source::fallback) return nullptr;
    journal::Identity identity{"run-1", number, {}};
    identity.started.session = "test";
    identity.started.servers = run_.servers_;
    return std::make_unique<journal::Recorder>(
        journal::Where{config.journal.directory, config.journal.required}, identity, logger);
  }

  std::optional<Error> play(const Model& model, int rank, client::ModelSession::Links links) const {
    auto state = std::make_unique<Session::State>(
        "test", config(run_.settings_of_rank ? run_.settings_of_rank(rank) : Settings()));
    client::RankIdentity identity{rank, rank, run_.models_, {}, run_.terms, run_.slab_shares};
    for (int s = 0; s < run_.servers_; ++s) identity.pool_of_server.push_back(pool_of(*state->config, s));
    state->model = std::make_shared<client::ModelSession>(std::move(identity), *state->config,
                                                          std::move(links), state->model_profile,
                                                          Logger({"test", "model", rank}, LogLevel::error));
    Session session(std::move(state));
    try {
      model(session, rank);
    } catch (const Failure& failure) {
      return failure.error();
    }
    return std::nullopt;
  }

  const LocalRun& run_;
  std::vector<std::shared_ptr<transport::RankLinks>> rank_links_;  ///< per rank, servers last
};

std::vector<std::optional<Error>> LocalRun::run(const Model& model) { return Threads(*this).run(model); }

}  // namespace afterbay::test
