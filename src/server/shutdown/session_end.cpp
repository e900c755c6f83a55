// SPDX-License-Identifier: Apache-2.0
#include "server/shutdown/session_end.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/clock.hpp"

namespace afterbay::server {

SessionEnd::SessionEnd(const config::Config& config, const ServerIdentity& identity, Host host)
    : host_(std::move(host)),
      failure_(identity),
      shutdown_(config, shutdown_host(identity)),
      deadlines_(config.deadline) {}

Shutdown::Host SessionEnd::shutdown_host(const ServerIdentity& identity) {
  Shutdown::Host host = host_.shutdown;
  host.server = identity.number;
  host.ranks = identity.session_ranks.size();
  host.fail = [this](Error error) AFTERBAY_REQUIRES(ingest_thread) { fail(std::move(error)); };
  host.fail_for_rank = [this](Error error, std::size_t peer) AFTERBAY_REQUIRES(ingest_thread) {
    fail(host_.name_unfinished(std::move(error), peer), Witness::all_servers);
  };
  return host;
}

// ---- failures

void SessionEnd::fail(Error error, Witness witness) {
  if (failure_.happened()) return host_.later_error(error);
  error = shutdown_.cause_of_failure(std::move(error), now_ns());
  const SessionFailure::Report report = failure_.record(std::move(error), witness);
  shutdown_.session_failed(now_ns());
  host_.failed(*failure_.error(), report);
}

void SessionEnd::fail_by_contradiction(Error error) {
  failure_.ranks_contradict();
  host_.end_unclosed();
  fail(std::move(error), SessionFailure::of_wrong_message(host_.linked()));
}

void SessionEnd::fail_like(std::size_t server, wire::ServerFailed message) {
  if (failure_.happened()) return;
  const Witness witness = SessionFailure::of_failed(message);
  fail(std::move(message.error).add(fmt::format("I/O server {} forwarded this error", server)), witness);
}

// ---- model ranks

void SessionEnd::gave_up(std::size_t peer, wire::Abandon message) {
  if (!failure_.happened() && message.session_failed && message.cause) {
    const Witness witness = failure_.of_forwarded(message);
    fail(message.cause->add(fmt::format("model rank {} forwarded this error", peer)), witness);
    return shutdown_.rank_ended(peer);
  }
  shutdown_.rank_gave_up(peer, message.cause, std::move(message.reason), now_ns());
}

void SessionEnd::leave() {
  shutdown_.report_ranks_that_gave_up();
  if (!failure_.happened() || shutdown_.said_goodbye()) return;
  shutdown_.give_up_ranks();
  advance();
}

// ---- deadlines

void SessionEnd::watch_links() {
  while (auto lost = host_.next_lost()) {
    if (lost->is_server) {
      // A server that has received this server's farewell closes its link.
      const bool in_order = shutdown_.said_goodbye() && lost->ended;
      if (!failure_.happened() && !in_order)
        fail(std::move(lost->error), failure_.of_lost_server(lost->number));
      continue;
    }
    if (!failure_.happened())
      fail(host_.name_unfinished(std::move(lost->error), lost->number), Witness::all_servers);
    shutdown_.rank_ended(lost->number);
  }
}

void SessionEnd::watch_peers() {
  shutdown_.watch(now_ns());
  watch_links();
  shutdown_.watch_ranks_that_gave_up(now_ns());
}

void SessionEnd::watch_deadlines() {
  const std::uint64_t now = now_ns();
  if (failure_.happened()) {
    if (deadlines_.is_stalled(now)) shutdown_.end_writing();  // the disk hangs
    shutdown_.watch_failed(now);
    return advance();
  }
  // Everything it then waits for has its own deadline.
  if (shutdown_.all_ranks_ended()) advance();
  DeadlineWatch::Waits waits = host_.waits(now);
  waits.others = waits.others || (shutdown_.ranks_ended() > 0 && !shutdown_.all_ranks_ended());
  if (deadlines_.has_expired(waits, now)) fail(host_.missed_deadline());
}

void SessionEnd::advance() {
  if (shutdown_.advance(now_ns())) host_.finished();
}

}  // namespace afterbay::server
