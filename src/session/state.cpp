// SPDX-License-Identifier: Apache-2.0
#include "session/state.hpp"

namespace afterbay {
namespace {

constexpr std::size_t trace_events = 1u << 16;  ///< of one process; older ones are dropped

constexpr std::chrono::milliseconds farewell{1000};  ///< ranks end a session at nearly the same time

std::size_t events_kept(const config::Config& config) {
  return config.report.trace.empty() ? 0 : trace_events;
}

std::unique_ptr<observe::Timeline> timeline_kept(const config::Config& config, bool one_thread) {
  return config.report.html.empty() ? nullptr : std::make_unique<observe::Timeline>(one_thread);
}

bool profile_wanted(const config::Config& config) {
  return config.report.table != config::ReportTable::off || !config.report.json.empty() ||
         !config.report.trace.empty() || config.report.progress_ms.count() > 0 ||
         !config.report.html.empty() || !config.report.prometheus.empty() ||
         !config.statistics_directory().empty();
}

}  // namespace

Session::State::State(std::string session_name, std::unique_ptr<config::Config> configuration)
    : name(std::move(session_name)),
      config(std::move(configuration)),
      model_profile(profile_wanted(*config), events_kept(*config), timeline_kept(*config, true)),
      server_profile(profile_wanted(*config), events_kept(*config), timeline_kept(*config, false)) {}

Session::State::~State() {
  if (model && !ended && (!group || group->usable())) {
    model->abandon("its session was destroyed without finalize");
    if (server && !host.joinable()) {
      while (server->step()) {
      }  // so that the other ranks learn of it
      server->leave();
    }
  }
  release();
}

void Session::State::release() {
  if (model) model->release_links();
  if (host.joinable()) host.join();
  server.reset();
  frontend.reset();
  for (const auto& communicator : communicators) {
    if (ended)
      communicator->take_leave(farewell);
    else
      communicator->leave_behind();
  }
  communicators.clear();
}

storage::Store& Session::State::store(Format format) {
  const MutexLock lock(stores_mutex);
  auto& store = stores[format];
  if (!store) store = storage::make_store(format);
  return *store;
}

void Session::State::host_server(bool in_thread) {
  if (in_thread) {
    host = std::jthread([this] { (void)server->run(); });  // its error reaches the model ranks as a message
    return;
  }
  model->set_idle([this] { return server->step(); });
}

client::ModelSession& Session::State::model_side() {
  if (model) return *model;
  throw Failure(Error(ErrorCode::bad_state, "this rank is an I/O server: it may only call serve()"));
}

session::Account Session::State::account() {
  session::Account mine;
  const auto add = [&](const observe::Profile& profile, const char* role) {
    mine.profiles.push_back(profile.snapshot(group->rank(), role));
    if (!config->report.trace.empty()) mine.traces.push_back(profile.trace(group->rank(), role));
    if (profile.timeline() != nullptr)
      mine.timelines.push_back(profile.timeline()->record(group->rank(), role));
  };
  if (model) add(model_profile, "model");
  if (server) add(server_profile, "server");
  if (frontend) add(server_profile, "frontend");
  if (model && model->place().model_rank == 0) mine.collections = model->account();
  if (server && !config->report.html.empty()) mine.servers.push_back(server->history());
  if (frontend && !config->report.html.empty()) mine.frontends.push_back(frontend->history());
  mine.session = name;
  return mine;
}

Result<> Session::State::report() {
  if (!group) return {};
  return session::report(account(), *config, *group);
}

void Session::State::report_failure(const Error& why) {
  if (!group) return;
  if (auto written = session::report_failure(account(), *config, why); !written)
    Logger({name, "server", group->rank()}, config->log).warning("{}", written.error().text());
}

}  // namespace afterbay
