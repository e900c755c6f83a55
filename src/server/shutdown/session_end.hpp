// SPDX-License-Identifier: Apache-2.0
// SessionEnd: decides that the session ends, and why: all ranks have finalized, a process is lost,
// a rank gave up, ranks contradict each other, a deadline has passed, or a signal arrived. The
// first failure is recorded and told once. Used by the ingest thread, except check_time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/ingest_thread.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "server/deadlines/deadline_watch.hpp"
#include "server/failure/session_failure.hpp"
#include "server/peers.hpp"
#include "server/server_identity.hpp"
#include "server/shutdown/shutdown.hpp"
#include "server/thread_functions.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::server {

class SessionEnd {
 public:
  struct Host {
    /// Its `server`, `ranks`, `fail` and `fail_for_rank` are not read.
    Shutdown::Host shutdown;
    /// See Peers::next_lost.
    IngestFunction<std::optional<Peers::Lost>()> next_lost;
    /// Whether the servers of the session exchange messages.
    IngestFunction<bool()> linked;
    /// Names the rank, and the file and variable that it left incomplete.
    IngestFunction<Error(Error, std::size_t peer)> name_unfinished;
    /// Names what the ranks wait for.
    IngestFunction<Error()> missed_deadline;
    /// What ranks and workers wait for, without ranks that have not ended.
    IngestFunction<DeadlineWatch::Waits(std::uint64_t now_ns)> waits;
    /// The ranks contradict each other: files that not all of them have closed cannot become
    /// complete.
    IngestFunction<void()> end_unclosed;
    /// The session has failed: tells the ranks, the other servers and the rest of this one. Called
    /// once.
    IngestFunction<void(const Error&, const SessionFailure::Report&)> failed;
    /// Logs an error after the first one.
    IngestFunction<void(const Error&)> later_error;
    /// The server has finished. Called once.
    IngestFunction<void()> finished;
  };

  SessionEnd(const config::Config& config, const ServerIdentity& identity, Host host);

  // Failures.
  [[nodiscard]] const std::optional<Error>& failure() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return failure_.error();
  }
  [[nodiscard]] bool failed() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return failure_.happened(); }
  /// The session cannot continue: every rank is told the reason. Files that all ranks have closed,
  /// including by messages in transit, are still published; the others are not. Later errors are
  /// only logged.
  void fail(Error error, Witness witness = Witness::this_server) AFTERBAY_REQUIRES(ingest_thread);
  /// A model rank sent something wrong, or ranks contradict each other. Nothing that is incomplete
  /// now can become complete.
  void fail_by_contradiction(Error error) AFTERBAY_REQUIRES(ingest_thread);
  /// Another server has failed.
  void fail_like(std::size_t server, wire::ServerFailed message) AFTERBAY_REQUIRES(ingest_thread);
  /// Whether messages of ranks can be trusted: see SessionFailure::ranks_consistent.
  [[nodiscard]] bool ranks_consistent() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return failure_.ranks_consistent();
  }

  // Model ranks.
  void rank_ended(std::size_t peer) AFTERBAY_REQUIRES(ingest_thread) { shutdown_.rank_ended(peer); }
  /// A rank ended without finalize. If it only forwards a failure, for example of another server,
  /// this server fails too.
  void gave_up(std::size_t peer, wire::Abandon message) AFTERBAY_REQUIRES(ingest_thread);
  /// The rank that hosts this server leaves after a failure.
  void leave() AFTERBAY_REQUIRES(ingest_thread);

  // Deadlines.
  /// Messages have arrived, or workers have reported.
  void add_activity(std::size_t count) noexcept AFTERBAY_REQUIRES(ingest_thread) {
    deadlines_.add_activity(count);
  }
  /// Returns true at intervals of 250 ms: then call `watch_peers` and `watch_deadlines`.
  [[nodiscard]] bool watch_is_due(std::uint64_t now_ns) noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return deadlines_.is_due(now_ns);
  }
  /// Checks for signals, and for ranks and servers that are lost or gave up.
  void watch_peers() AFTERBAY_REQUIRES(ingest_thread);
  /// Ends waits that nothing else will end.
  void watch_deadlines() AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return deadlines_.limit_ns();
  }

  // The end.
  [[nodiscard]] const Shutdown& shutdown() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return shutdown_;
  }
  /// See Shutdown::stop_at.
  void stop_at(std::function<int()> signal) AFTERBAY_REQUIRES(ingest_thread) {
    shutdown_.stop_at(std::move(signal));
  }
  /// Finishes if nothing is left to do. Does not wait.
  void advance() AFTERBAY_REQUIRES(ingest_thread);
  /// Fails if there is no time left to write the file. Any thread.
  [[nodiscard]] Result<> check_time(const std::string& path) const { return shutdown_.check_time(path); }

 private:
  [[nodiscard]] Shutdown::Host shutdown_host(const ServerIdentity& identity);
  void watch_links() AFTERBAY_REQUIRES(ingest_thread);

  Host host_;
  SessionFailure failure_ AFTERBAY_GUARDED_BY(ingest_thread);
  Shutdown shutdown_;
  DeadlineWatch deadlines_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
