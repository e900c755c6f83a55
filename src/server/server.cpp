// SPDX-License-Identifier: Apache-2.0
// The main loop and the end of a server.
#include "server/server.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/batch_thread.hpp"
#include "base/caller_terms.hpp"
#include "base/clock.hpp"

namespace afterbay::server {
namespace {

constexpr transport::Millis goodbye_sleep{2};
constexpr transport::Millis drain_sleep{2};

}  // namespace

Server::Server(ServerIdentity identity, const config::Config& config,
               std::unique_ptr<transport::ServerPort> port, FellowServers::Links fellows, Stores stores,
               std::size_t threads, observe::Profile& profile, Logger logger,
               std::unique_ptr<journal::Recorder> journal)
    : identity_(std::move(identity)),
      peers_(std::move(port), std::move(fellows), identity_.session_ranks.size()),
      space_(config, space_host(threads > 0)),
      definitions_(config, identity_, peers_, definitions_host(threads, journal != nullptr)),
      data_(config, identity_, data_host(threads > 0)),
      end_(config, identity_, end_host()),
      executor_([this] {
        peers_.port().mark_progress();
        peers_.port().wake();
      }),
      inputs_({config, peers_.port(), definitions_.catalog(), workers_, profile,
               [this](IngestFunction<void()> then) { executor_.post(std::move(then)); }}),
      observation_(config, identity_, peers_.frames(), std::move(logger), std::move(journal), profile,
                   threads, observation_host()),
      tasks_(config, identity_, std::move(stores), peers_.frames(), observation_, space_, threads,
             tasks_host()),
      workers_(threads) {
  peers_.port().set_scatter([this](std::size_t peer, const transport::FrameSlot& slot, std::uint32_t piece,
                                   std::span<const std::byte> packed, std::byte* frame)
                                AFTERBAY_REQUIRES(ingest_thread) {
                                  return definitions_.catalog().scatter(peer, slot, piece, packed, frame);
                                });
}

Server::~Server() {
  space_.stop();
  peers_.servers().end();  // receives messages meanwhile: all that handles them must still exist
}

// ---- the loop

Result<> Server::run() {
  const BatchThread beside_the_model;
  while (!finished()) {
    if (!step()) wait();
  }
  if (failure()) return afterbay::fail(*failure());
  return {};
}

bool Server::step() {
  if (finished()) return false;
  const InTerms speaks(identity_.terms);
  const Shutdown& shutdown = end_.shutdown();
  bool did = peers_.port().pump();
  did = take_messages() || did;
  did = take_server_messages() || did;
  did = workers_.run_one() || did;
  did = run_posted() || did;
  did = inputs_.advance() || did;
  if (did) relieve();
  if (did) data_.advance();
  if (did || shutdown.said_goodbye()) end_.advance();
  if (!did && !end_.failed() && !shutdown.said_goodbye()) did = peers_.frames().allocate_ahead();
  Telemetry& telemetry = observation_.telemetry();
  if (const std::uint64_t now = now_ns(); end_.watch_is_due(now)) {
    watch();
    telemetry.sample();
  } else if (did && telemetry.sample_is_due(now)) {
    telemetry.sample();
  }
  return did;
}

void Server::wait(transport::Millis most) {
  const observe::Timed timed(observation_.profile().timers().wait);
  peers_.port().wait(end_.shutdown().said_goodbye() ? std::min(most, goodbye_sleep) : most);
}

bool Server::run_posted() {
  const std::size_t ran = executor_.run();
  end_.add_activity(ran);
  return ran > 0;
}

void Server::task_done(FileTaskResult result) {
  executor_.post([this, result = std::move(result)]() AFTERBAY_REQUIRES(ingest_thread) mutable {
    // If a fellow server removed the file because the disk is full, its message arrived earlier.
    if (std::visit([](const auto& it) { return it.error.has_value(); }, result)) take_server_messages();
    if (auto done = data_.complete(std::move(result)); !done) fail(std::move(done).error());
  });
}

/// Called while ranks may be waiting for room.
void Server::relieve() {
  if (end_.failed()) return;
  data_.reducer().relieve();
  tasks_.memory().relieve();
}

/// Handles lost ranks, and detects waits that nothing will end.
void Server::watch() {
  end_.watch_peers();
  relieve();
  observation_.backlog(peers_.frames().peak_used_bytes());
  observation_.telemetry().show_progress();
  load_.report();
  if (!end_.failed()) tasks_.memory().watch();
  end_.watch_deadlines();
}

// ---- the end

bool Server::catch_up() {
  bool did = true;
  while (did) {
    did = peers_.port().pump();
    did = take_messages() || did;
    did = take_server_messages() || did;
  }
  return end_.failed();
}

void Server::end_early(Error why, transport::Millis limit, bool reports) {
  const InTerms speaks(identity_.terms);
  if (finished()) return;
  if (!end_.failed()) end_.fail(std::move(why), reports ? Witness::this_server : Witness::reported);
  const std::uint64_t until = now_ns() + static_cast<std::uint64_t>(limit.count()) * 1'000'000;
  while (!finished() && now_ns() < until)
    if (!step()) wait(drain_sleep);
  leave();
}

void Server::leave() {
  const InTerms speaks(identity_.terms);
  end_.leave();
}

void Server::tell_failure(const Error& failed, const SessionFailure::Report& report) {
  observation_.codecs().stop();
  space_.session_failed(failed);
  observation_.log().write(report.here ? LogLevel::error : LogLevel::info, failed.text());
  // Ranks that have finalized wait for their files to be published: they are also told.
  peers_.send_to_ranks(wire::SessionFailed{failed, report.done});
  peers_.port().fail();
  peers_.servers().broadcast(wire::ServerFailed{failed, report.done});
  data_.shared().session_failed(failed);
  // After all others were told, because its disk may hang.
  observation_.journal().failed(failed);
  observation_.triggers().forget_epochs();
  data_.session_failed(failed.message);
}

/// Whether everything that the end waits for is complete; continues with the rest.
bool Server::nothing_left() {
  if (!data_.finish()) return false;
  if (observation_.triggers().ended(now_ns(), end_.deadline_ns())) return true;
  peers_.port().mark_progress();
  return false;
}

void Server::say_goodbye() {
  if (auto ended = observation_.journal().ended(!end_.failed()); !ended) fail(std::move(ended).error());
  if (!end_.failed()) peers_.send_to_ranks(wire::Bye{});
  peers_.servers().broadcast(wire::Farewell{});
}

observe::ServerHistory Server::history() const {
  observe::ServerHistory history = observation_.telemetry().history();
  history.codecs = observation_.codecs().records();
  return history;
}

/// The last messages must have been received before the server stops moving them. The server does
/// not wait here: the rank that hosts an inline server receives its own messages.
void Server::note_finished() {
  observation_.codecs().stop();
  observe::add(observation_.profile().timers().messages, peers_.port().messages());
  observation_.backlog(peers_.frames().peak_used_bytes());
  observation_.profile().note_receive_memory(peers_.port().receive_peak_bytes());
  observation_.telemetry().show_progress(true);
  observation_.telemetry().sample();
}

}  // namespace afterbay::server
