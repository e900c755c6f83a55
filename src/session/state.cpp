// SPDX-License-Identifier: Apache-2.0
#include "session/state.hpp"

#include <unistd.h>

#include "base/default_arithmetic.hpp"
#include "base/ingest_thread.hpp"
#include "base/rank_names.hpp"
#include "server/server.hpp"
#include "session/frontend.hpp"
#include "session/open_sessions.hpp"

namespace afterbay {
namespace {

constexpr std::size_t trace_events = 1u << 16;  ///< per process; older ones are dropped

/// Ranks end a session at nearly the same time.
constexpr std::chrono::milliseconds farewell{1000};
constexpr std::chrono::milliseconds early_end{3000};  ///< time for the others to learn of it
/// Time for calls of other threads to end in a session that has failed.
constexpr std::chrono::milliseconds others_call_ends{1000};
/// For processes that make the same mistake.
constexpr std::chrono::milliseconds end_together{200};

constexpr const char* destroyed = "its session was destroyed";
constexpr const char* without_finalize = " without session.finalize() before";
constexpr const char* without_serve = " without serve() before";

std::size_t events_kept(const config::Config& config) {
  return config.report.trace.empty() ? 0 : trace_events;
}

std::unique_ptr<observe::Timeline> timeline_kept(const config::Config& config, bool one_thread,
                                                 std::uint64_t began_ns) {
  constexpr double first_bin_s = 0.02;
  constexpr std::size_t most_bins = 400;
  return config.report.html.empty()
             ? nullptr
             : std::make_unique<observe::Timeline>(one_thread, first_bin_s, most_bins, began_ns);
}

bool profile_wanted(const config::Config& config) {
  return config.report.table != config::ReportTable::off || !config.report.json.empty() ||
         !config.report.trace.empty() || config.report.progress_ms.count() > 0 ||
         !config.report.html.empty() || !config.report.prometheus.empty() ||
         !config.statistics_directory().empty();
}

}  // namespace

Session::State::State(std::string session_name, std::unique_ptr<config::Config> configuration,
                      std::uint64_t began_ns)
    : name(std::move(session_name)),
      config(std::move(configuration)),
      model_profile(profile_wanted(*config), events_kept(*config), timeline_kept(*config, true, began_ns),
                    began_ns),
      server_profile(profile_wanted(*config), events_kept(*config), timeline_kept(*config, false, began_ns),
                     began_ns) {
  for (observe::Profile* const profile : {&model_profile, &server_profile})
    (void)profile->timer("open_session");  // listed first in the report
}

Session::State::~State() {
  if (model && !ended && !ended_early && (!group || group->usable())) {
    model->abandon(std::string(destroyed) + without_finalize);
    if (server && !host.joinable()) {
      while (server->step()) {
      }  // so that the other ranks learn of it
      server->leave();
    }
  } else if (!model && at_mpi_finalize && !served && process == ::getpid()) {
    (void)end_early(destroyed, nullptr);
  }
  release();
}

void Session::State::opened(std::uint64_t began_ns, std::int64_t server_number) {
  observe::Profile& profile = model ? model_profile : server_profile;
  if (observe::Timer* const timer = profile.timer("open_session")) timer->add(began_ns, now_ns());
  const config::ReportSettings& report = config->report;
  if (group && group->rank() == 0)
    for (const std::string& path : {report.json, report.trace, report.html})
      if (!path.empty()) report_files.expect(path);
  if (server && !report.html.empty()) report_files.expect(session::failure_page(*config, server_number));
}

Result<> Session::State::watch_for_end() {
  AFTERBAY_TRY_ASSIGN(at_mpi_finalize, mpi::FinalizeHook::set([this] {
                        end_early("MPI_Finalize was called", nullptr);
                        release();
                      }));
  session::OpenSessions::of_this_process().add(*this);
  process = ::getpid();
  return {};
}

bool Session::State::end_early(const std::string& event, const Error* cause) {
  if (ended || spare || (group && !group->usable())) return false;
  if (ended_early || serving) return true;
  ended_early = true;
  std::string reason = event;
  if (cause == nullptr) reason += model ? without_finalize : without_serve;
  return model ? end_model_early(reason, cause) : end_server_early(reason, cause);
}

bool Session::State::end_model_early(const std::string& reason, const Error* cause) {
  const std::optional<Error> before = cause != nullptr ? *cause : model->failure();
  model->abandon(reason, cause, true);
  bool reported = model->await_failure(early_end);
  if (server && !host.joinable()) {
    assert_role(ingest_thread);  // the hosting rank steps the server
    server->end_early(Error(ErrorCode::peer_lost, reason), early_end);
    reported = true;
  }
  if (reported) return true;
  const auto report = [&] {
    Logger({name, "model", model->identity().session_rank}, config->log)
        .error("{}{}{}", reason, before ? ", after: " : "", before ? before->text() : "");
  };
  const bool first = model->identity().model_rank == 0;
  if (first) report();
  if ((!group || !group->await_models(early_end)) && !first) report();
  return true;
}

/// Afterwards no thread enters the session any more.
bool Session::State::end_from_other_thread(const std::string& event,
                                           const Error& cause) AFTERBAY_NO_THREAD_SAFETY_ANALYSIS {
  if (!model || server || frontend) return false;  // the thread that opened it also steps the server
  client::SessionLock& lock = model->puts().joint().links().lock();
  model->puts().joint().stop(cause);  // ends the calls that wait for endpoints
  if (!lock.is_allowed_here()) return false;
  const auto until = std::chrono::steady_clock::now() + others_call_ends;
  const char* other = nullptr;
  while (!lock.enter("stop", other)) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    other = nullptr;
  }
  model->abandon(event, &cause, true);
  return model->await_failure(early_end);
}

bool Session::State::end_server_early(const std::string& reason, const Error* cause) {
  assert_role(ingest_thread);  // nobody serves the session
  const auto has_said_so = [](const auto& it) AFTERBAY_REQUIRES(ingest_thread) {
    return !it || it->finished() || it->failure();
  };
  if (has_said_so(server) && has_said_so(frontend)) return true;
  const bool failed_before = server ? server->catch_up() : frontend->catch_up();
  const auto together = group ? group->ending_early(end_together) : session::Group::EndingEarly{};
  Error error = cause != nullptr ? *cause : Error(ErrorCode::bad_state, "");
  const std::string all =
      together.ranks.size() > 1 ? fmt::format(" ({})", name_ranks(together.ranks)) : std::string();
  error.message =
      cause != nullptr
          ? fmt::format("{}{}, after: {}", reason, all, cause->text())
          : fmt::format("{}{}: every process for which is_server() is true must call serve()", reason, all);
  if (group) error.at_rank(group->rank());
  const bool reports = together.reports && !failed_before;
  if (server) {
    server->end_early(std::move(error), early_end, reports);
  } else {
    error.add(fmt::format("the frontend (rank {}) no longer forwards data", error.rank));
    const Logger logger({name, "frontend", error.rank}, config->log);
    logger.write(reports ? LogLevel::error : LogLevel::info, error.text());
    frontend->end_early(error, early_end);
    frontend.reset();
  }
  return true;
}

void Session::State::release() {
  session::OpenSessions::of_this_process().remove(*this);
  at_mpi_finalize.reset();
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
  if (!ended && group) group->leave_behind();
}

storage::Store& Session::State::store(Format format) {
  const MutexLock lock(stores_mutex);
  auto& store = stores[format];
  if (!store) store = storage::make_store(format);
  return *store;
}

void Session::State::host_server(bool in_thread) {
  if (in_thread) {
    // Its error reaches the model ranks as a message.
    host = std::jthread([this] {
      assert_role(ingest_thread);
      const DefaultArithmetic arithmetic;
      (void)server->run();
    });
    return;
  }
  model->waits().add_idle([this] {
    assert_role(ingest_thread);  // the hosting rank steps the server
    const bool did = server->step();
    server->begin_answers();  // the rank may compute next
    return did;
  });
}

client::ModelSession& Session::State::model_side() {
  if (model) {
    set_terms(model->identity().terms);
    return *model;
  }
  throw Failure(Error(ErrorCode::bad_state, "this rank is an I/O server: it may only call serve()"));
}

Result<> Session::State::check_thread(const char* call) const {
  if (threads.allows_this_thread()) return {};
  return fail(mpi::wrong_thread(call, threads.name(), group ? group->rank() : 0));
}

void Session::State::destroyed_in_wrong_thread() const noexcept {
  if (ended || ended_early) return;
  const int rank = group ? group->rank() : 0;
  Logger({name, model ? "model" : "server", rank}, config->log)
      .error("{}", mpi::wrong_thread("destroying the session", threads.name(), rank).text());
}

void Session::State::bind_threads(bool may_use_mpi) {
  const bool bound = threads.is_main_only() && may_use_mpi;
  model->puts().joint().links().lock().set_rule(
      {.only = bound ? std::this_thread::get_id() : std::thread::id{}, .mpi_level = threads.name()});
}

session::ProcessReport Session::State::process_report() {
  session::ProcessReport mine;
  const auto add = [&](const observe::Profile& profile, const char* role) {
    mine.profiles.push_back(profile.snapshot(group->rank(), role));
    if (!config->report.trace.empty()) mine.traces.push_back(profile.trace(group->rank(), role));
    if (profile.timeline() != nullptr)
      mine.timelines.push_back(profile.timeline()->record(group->rank(), role));
  };
  if (model) add(model_profile, "model");
  if (server) add(server_profile, "server");
  if (frontend) add(server_profile, "frontend");
  if (model && model->identity().model_rank == 0)
    mine.collections = model->definitions().records_for_report();
  // The largest errors and what was measured of codecs are in the histories of servers.
  const bool reports_errors = config->report.table == config::ReportTable::on || !config->report.json.empty();
  if (server) {
    assert_role(ingest_thread);  // the server has ended, or this thread stepped it
    if (reports_errors || !config->report.html.empty() || server->tries_codecs())
      mine.servers.push_back(server->history());
  }
  if (frontend && !config->report.html.empty()) mine.frontends.push_back(frontend->history());
  mine.session = name;
  return mine;
}

Result<> Session::State::report() {
  if (!group || !joins_reports) return {};
  const InTerms speaks(terms);
  return session::report(process_report(), *config, *group, report_files);
}

void Session::State::report_failure(const Error& why) {
  if (!group) return;
  const InTerms speaks(terms);
  if (auto written = session::report_failure(process_report(), *config, why, report_files); !written)
    Logger({name, "server", group->rank()}, config->log).warning("{}", written.error().text());
}

}  // namespace afterbay
