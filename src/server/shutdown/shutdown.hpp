// SPDX-License-Identifier: Apache-2.0
// Shutdown: the end of a server: model ranks that have ended, ranks that gave up, a signal that
// asks the run to stop, the wait for the last messages, and the deadlines of all these. Phases:
//   running        until all model ranks have ended, or no longer count, and no work is left;
//   said_goodbye   until the last messages have been sent;
//   finished.
// If a signal asks the run to stop, the files that the ranks have closed are published first, and
// then the ranks are told: a model that is told at once could end the job while it writes restart
// files. Used by the ingest thread, except check_time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "server/thread_functions.hpp"

namespace afterbay::server {

class Shutdown {
 public:
  struct Host {
    std::int64_t server = 0;  ///< number of this server
    std::size_t ranks = 0;    ///< model ranks
    /// Ends the session; calls `session_failed`. `peer`: the rank that failed.
    IngestFunction<void(Error)> fail;
    IngestFunction<void(Error, std::size_t peer)> fail_for_rank;
    /// The transport no longer receives from the rank.
    IngestFunction<void(std::size_t peer)> forget_link;
    /// The rank has ended: its outstanding requests are removed.
    IngestFunction<void(std::size_t peer)> rank_ended;
    /// Number of the last opened file; 0: none is open.
    IngestFunction<std::uint64_t()> last_file;
    /// Whether no file up to this number remains that a rank had closed.
    IngestFunction<bool(std::uint64_t last_file)> drained;
    /// Paths of open files that were not given up.
    IngestFunction<std::vector<std::string>()> open_paths;
    /// From now on, tasks of workers run by priority.
    IngestFunction<void()> run_by_priority;
    /// From now on, calls to the disk that have not begun fail.
    IngestFunction<void()> cut_off_disk;
    /// Whether files, epochs and triggers have ended; continues with the rest.
    IngestFunction<bool()> nothing_left;
    /// Tells ranks and servers that no more messages will follow. May end the session.
    IngestFunction<void()> say_goodbye;
    /// Whether messages remain to be sent.
    IngestFunction<bool()> sending;
    IngestFunction<void(const std::string&)> warn;
  };

  Shutdown(const config::Config& config, Host host);

  // Model ranks.
  void rank_ended(std::size_t peer) AFTERBAY_REQUIRES(ingest_thread);
  /// A rank ended without finalize. Waits briefly for other ranks that make the same mistake, to
  /// report one failure.
  void rank_gave_up(std::size_t peer, const std::optional<Error>& cause, std::string reason,
                    std::uint64_t now_ns) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool has_ended(std::size_t peer) const AFTERBAY_REQUIRES(ingest_thread) {
    return ended_[peer];
  }
  [[nodiscard]] std::size_t ranks_ended() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return ended_count_;
  }
  [[nodiscard]] bool all_ranks_ended() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return ended_count_ >= host_.ranks;
  }
  /// Stops waiting for ranks that have not ended.
  void give_up_ranks() noexcept AFTERBAY_REQUIRES(ingest_thread) { ended_count_ = host_.ranks; }
  /// Reports the ranks that have given up so far, if any.
  void report_ranks_that_gave_up() AFTERBAY_REQUIRES(ingest_thread);

  // Stop of the run.
  /// `signal` is called periodically and returns the signal that asks the run to stop, or 0.
  void stop_at(std::function<int()> signal) AFTERBAY_REQUIRES(ingest_thread) { signal_ = std::move(signal); }
  /// The error with which the session ends: adapts it if this server or another was asked to stop.
  [[nodiscard]] Error cause_of_failure(Error error, std::uint64_t now_ns) AFTERBAY_REQUIRES(ingest_thread);
  void session_failed(std::uint64_t now_ns) AFTERBAY_REQUIRES(ingest_thread);
  /// Remaining data are not written any more.
  void end_writing() AFTERBAY_REQUIRES(ingest_thread);
  /// Fails if there is no time left to write the file. Any thread.
  [[nodiscard]] Result<> check_time(const std::string& path) const;

  /// Called periodically: checks for signals and expired deadlines.
  void watch(std::uint64_t now_ns) AFTERBAY_REQUIRES(ingest_thread);
  void watch_ranks_that_gave_up(std::uint64_t now_ns) AFTERBAY_REQUIRES(ingest_thread);
  /// After a failure: stops waiting for ranks that have not ended once the deadline has passed.
  void watch_failed(std::uint64_t now_ns) AFTERBAY_REQUIRES(ingest_thread);
  /// Enters the next phase if its conditions are met. Does not wait. Returns true if the server has
  /// just finished.
  [[nodiscard]] bool advance(std::uint64_t now_ns) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] bool said_goodbye() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return phase_ != Phase::running;
  }
  [[nodiscard]] bool finished() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return phase_ == Phase::finished;
  }

 private:
  enum class Phase { running, said_goodbye, finished };
  struct Stop {
    std::string why;
    std::uint64_t until_ns = 0;
    std::uint64_t grace_ns = 0;
    std::uint64_t last_file = 0;  ///< the last open file when the stop began
  };
  /// Ranks that gave up one after the other, with the error of the first one, reported once as one
  /// failure.
  struct GaveUp {
    Error error;
    std::string reason;
    std::vector<std::size_t> peers;
    std::uint64_t since_ns = 0;
  };
  void begin_stop(const char* why, std::uint64_t now_ns) AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] Error stop_error() const AFTERBAY_REQUIRES(ingest_thread);

  const config::Config& config_;
  Host host_;
  const std::uint64_t deadline_ns_;
  std::vector<bool> ended_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< by model rank: finalized, gave up or lost
  std::size_t ended_count_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::optional<GaveUp> gave_up_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::function<int()> signal_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::optional<Stop> stop_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::atomic<bool> out_of_time_{false};
  std::optional<std::uint64_t> failed_at_ns_ AFTERBAY_GUARDED_BY(ingest_thread);
  Phase phase_ AFTERBAY_GUARDED_BY(ingest_thread) = Phase::running;
  std::uint64_t goodbye_until_ns_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
};

}  // namespace afterbay::server
