// SPDX-License-Identifier: Apache-2.0
// Deadlines, failures, and the end of a server.
#include <algorithm>

#include "server/server.hpp"

namespace afterbay::server {
namespace {

constexpr transport::Millis drain_sleep{2};

}  // namespace

/// Handles lost ranks and servers.
void Server::watch_links() {
  while (auto lost = port_->lost_peer()) {
    if (const auto server = fellows_.server_of(lost->peer)) {
      // It may have sent its farewell while this server was sending to it.
      if (fellows_.has_unread(*server)) break;
      fellows_.ended(*server);
      // A server that has received this server's farewell closes its link.
      const bool in_order = shutdown_.said_goodbye() && lost->ended;
      if (!failure_.happened() && !in_order) fail(std::move(lost->error), failure_.of_lost_server(*server));
      continue;
    }
    if (!failure_.happened())
      fail(diagnosis().name_unfinished(lost->error.at_rank(catalog_.session_rank(lost->peer)), lost->peer),
           Witness::all_servers);
    shutdown_.rank_ended(lost->peer);
  }
}

/// Handles lost ranks, and detects waits that nothing will end.
void Server::watch() {
  shutdown_.watch(now_ns());
  watch_links();
  const std::uint64_t now = now_ns();
  shutdown_.watch_ranks_that_gave_up(now);
  relieve();
  observe::peak(profile_.timers().backlog, port_->frames().peak_used_bytes());
  telemetry_.show_progress();
  load_.report();
  if (failure_.happened()) {
    if (deadlines_.is_stalled(now)) shutdown_.end_writing();  // the disk hangs
    shutdown_.watch_failed(now);
    finish_if_done();
    return;
  }
  memory_.watch();
  // Everything it then waits for has its own deadline.
  if (shutdown_.all_ranks_ended()) finish_if_done();
  const bool some_ended = shutdown_.ranks_ended() > 0 && !shutdown_.all_ranks_ended();
  const DeadlineWatch::Waits waits{
      .ranks_for_room = port_->waiting_for_room(),
      .overdue_ticket = tickets_.waited_longer(deadlines_.limit_ns(), now),
      .others = some_ended || tickets_.waiters() > 0 || !catalog_.still_to_come().empty() ||
                preparations_.holds_answer(),
      .writing = epochs_.noting() || files_.being_written(),
  };
  if (deadlines_.has_expired(waits, now)) fail(diagnosis().missed_deadline());
}

Diagnosis Server::diagnosis() {
  return Diagnosis({config_, catalog_, preparations_, records_, files_, tickets_, strings_, epochs_,
                    shutdown_, port_->frames()});
}

/// A rank ended without finalize. If it only forwards a failure, for example of another server,
/// this server fails too.
void Server::gave_up(std::size_t peer, wire::Abandon message) {
  if (!failure_.happened() && message.session_failed && message.cause) {
    const Witness witness = failure_.of_forwarded(message);
    fail(message.cause->add(fmt::format("model rank {} forwarded this error", peer)), witness);
    return shutdown_.rank_ended(peer);
  }
  shutdown_.rank_gave_up(peer, message.cause, std::move(message.reason), now_ns());
}

bool Server::catch_up() {
  bool did = true;
  while (did) {
    did = port_->pump();
    did = take_messages() || did;
    did = take_server_messages() || did;
  }
  return failure_.happened();
}

void Server::end_early(Error why, transport::Millis limit, bool reports) {
  const InTerms speaks(identity_.terms);
  if (finished()) return;
  if (!failure_.happened()) fail(std::move(why), reports ? Witness::this_server : Witness::reported);
  const std::uint64_t until = now_ns() + static_cast<std::uint64_t>(limit.count()) * 1'000'000;
  while (!finished() && now_ns() < until)
    if (!step()) wait(drain_sleep);
  leave();
}

/// The session cannot continue: every rank is told the reason. Files that all ranks have closed,
/// including by messages in transit, are still published; the others are not.
void Server::fail(Error error, Witness witness) {
  if (failure_.happened()) {
    logger_.debug("a later error: {}", error.text());
    return;
  }
  error = shutdown_.cause_of_failure(std::move(error), now_ns());
  space_.session_failed(error);
  const SessionFailure::Report report = failure_.record(std::move(error), witness);
  const Error& failed = *failure();
  shutdown_.session_failed(now_ns());
  logger_.write(report.here ? LogLevel::error : LogLevel::info, failed.text());
  const auto bytes = wire::encode(wire::Failed{failed, report.done});
  // Ranks that have finalized wait for their files to be published: they are also told.
  for (std::size_t p = 0; p < catalog_.ranks(); ++p) port_->send(p, bytes);
  port_->fail();
  fellows_.broadcast(wire::ServerFailed{failed, report.done});
  shared_.session_failed(failed);
  // After all others were told, because its disk may hang.
  journal_.failed(failed);
  tickets_.clear();
  epochs_.stop();
  triggers_.forget_epochs();
  files_.session_failed(failed.message);
}

Shutdown::Host Server::shutdown_host() {
  Shutdown::Host host;
  host.server = identity_.number;
  host.ranks = identity_.session_ranks.size();
  host.fail = [this](Error error) AFTERBAY_REQUIRES(ingest_thread) { fail(std::move(error)); };
  host.fail_for_rank = [this](Error error, std::size_t peer) AFTERBAY_REQUIRES(ingest_thread) {
    error.at_rank(catalog_.session_rank(peer));
    fail(diagnosis().name_unfinished(std::move(error), peer), Witness::all_servers);
  };
  host.forget_link = [this](std::size_t peer) AFTERBAY_REQUIRES(ingest_thread) { port_->forget(peer); };
  host.rank_ended = [this](std::size_t peer) AFTERBAY_REQUIRES(ingest_thread) { inputs_.forget(peer); };
  host.last_file = [this]() AFTERBAY_REQUIRES(ingest_thread) {
    return files_.all().empty() ? 0 : files_.all().rbegin()->first;
  };
  host.drained = [this](std::uint64_t last_file) AFTERBAY_REQUIRES(ingest_thread) {
    return std::ranges::none_of(files_.all(),
                                [last_file](const auto& entry) AFTERBAY_REQUIRES(ingest_thread) {
                                  return entry.first <= last_file && entry.second.closed_by > 0;
                                });
  };
  host.open_paths = [this]() AFTERBAY_REQUIRES(ingest_thread) {
    std::vector<std::string> paths;
    for (const auto& [id, file] : files_.all())
      if (file.ending != Ending::no_space) paths.push_back(file.path);
    return paths;
  };
  host.run_by_priority = [this]() AFTERBAY_REQUIRES(ingest_thread) { workers_.run_by_priority(); };
  host.cut_off_disk = [this]() AFTERBAY_REQUIRES(ingest_thread) { space_.cut_off(); };
  host.nothing_left = [this]() AFTERBAY_REQUIRES(ingest_thread) { return nothing_left(); };
  host.say_goodbye = [this]() AFTERBAY_REQUIRES(ingest_thread) { say_goodbye(); };
  host.sending = [this]() AFTERBAY_REQUIRES(ingest_thread) { return port_->sending(); };
  host.warn = [this](const std::string& text) AFTERBAY_REQUIRES(ingest_thread) { warn(text); };
  return host;
}

/// Whether everything that the end waits for is complete; continues with the rest.
bool Server::nothing_left() {
  files_.end_hopeless();
  for (const std::string& warning : epochs_.forget_unreachable()) warn(warning);
  if (!files_.all().empty()) return false;
  if (!epochs_.empty()) {
    epochs_.advance();
    return false;
  }
  if (triggers_.ended(now_ns(), deadlines_.limit_ns())) return true;
  port_->mark_progress();
  return false;
}

void Server::say_goodbye() {
  if (auto ended = journal_.ended(!failure_.happened()); !ended) fail(std::move(ended).error());
  const auto bye = wire::encode(wire::Bye{});
  for (std::size_t p = 0; p < catalog_.ranks() && !failure_.happened(); ++p) port_->send(p, bye);
  fellows_.broadcast(wire::Farewell{});
}

/// The last messages must have been received before the server stops moving them. The server does
/// not wait here: the rank that hosts an inline server receives its own messages.
void Server::finish_if_done() {
  if (!shutdown_.advance(now_ns())) return;
  observe::add(profile_.timers().messages, port_->messages());
  observe::peak(profile_.timers().backlog, port_->frames().peak_used_bytes());
  telemetry_.show_progress(true);
  telemetry_.sample();
}

void Server::leave() {
  const InTerms speaks(identity_.terms);
  shutdown_.report_ranks_that_gave_up();
  if (!failure_.happened() || shutdown_.said_goodbye()) return;
  shutdown_.give_up_ranks();
  finish_if_done();
}

}  // namespace afterbay::server
