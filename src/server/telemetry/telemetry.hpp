// SPDX-License-Identifier: Apache-2.0
// Telemetry: observability of a server during and after the run: the progress line, the statistics
// page, the Prometheus file, the series of the report, and warnings of a growing backlog. Used by
// the ingest thread, except ServerTotals::written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/ingest_thread.hpp"
#include "base/log.hpp"
#include "config/config.hpp"
#include "model/largest_error.hpp"
#include "observe/backlog_watch.hpp"
#include "observe/profile.hpp"
#include "observe/progress.hpp"
#include "observe/sampler.hpp"
#include "server/served_collection.hpp"
#include "server/server_identity.hpp"
#include "server/telemetry/server_totals.hpp"
#include "server/thread_functions.hpp"
#include "transport/link.hpp"

namespace afterbay::server {

class Telemetry {
 public:
  /// Data that only the rest of the server has.
  struct Host {
    /// Phase, files, tasks, ranks and bytes read of the server.
    IngestFunction<void(observe::ServerState&)> fill;
    /// Bytes that wait to be written outside the frame pool.
    IngestFunction<std::uint64_t()> other_backlog_bytes;
    /// Name, open files and lag of a collection.
    IngestFunction<void(std::uint32_t collection, observe::CollectionState&)> fill_collection;
    /// Logs a warning and records it in the journal, unless the run has ended.
    IngestFunction<void(std::string)> warn;
  };

  Telemetry(const config::Config& config, const ServerIdentity& identity, const transport::FramePool& frames,
            const Logger& logger, Host host);

  ServerTotals& totals() noexcept { return totals_; }
  [[nodiscard]] const ServerTotals& totals() const noexcept { return totals_; }
  /// The model has defined something: from now on, samples are published.
  void activate() noexcept AFTERBAY_REQUIRES(ingest_thread) { active_ = true; }
  /// A rank has ended its step number `step`.
  void step_ended(std::uint64_t step) AFTERBAY_REQUIRES(ingest_thread);
  /// `opened_ns`: the time at which the first rank opened it. `records`: number of records that the
  /// ranks handed over.
  void file_published(std::uint32_t collection, const std::string& collection_name, const std::string& path,
                      std::uint64_t opened_ns, std::uint64_t bytes, std::uint64_t records)
      AFTERBAY_REQUIRES(ingest_thread);
  /// For the report.
  void errors_published(const ServedCollection& collection, const model::LargestErrors& errors)
      AFTERBAY_REQUIRES(ingest_thread);

  /// Publishes the current state, and warns if the backlog begins to grow.
  void sample() AFTERBAY_REQUIRES(ingest_thread);
  /// Whether it is time for the next sample.
  [[nodiscard]] bool sample_is_due(std::uint64_t now_ns) const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return now_ns >= next_sample_ns_;
  }
  /// Prints a progress line to stderr if one is due (`report.progress`), or if it is the `last`.
  void show_progress(bool last = false) AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] observe::ServerHistory history() const AFTERBAY_REQUIRES(ingest_thread);

 private:
  [[nodiscard]] observe::ServerState state() AFTERBAY_REQUIRES(ingest_thread);

  const config::Config& config_;
  const ServerIdentity& identity_;
  const transport::FramePool& frames_;
  Host host_;
  ServerTotals totals_;
  /// A rank has defined decompositions or collections, on this server or another.
  bool active_ AFTERBAY_GUARDED_BY(ingest_thread) = false;
  std::uint64_t steps_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::uint64_t files_published_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  const std::uint64_t started_ns_ = now_ns();
  const double started_at_s_;
  const std::string host_name_;
  const std::int64_t pid_;
  std::vector<observe::ErrorRecord> errors_ AFTERBAY_GUARDED_BY(ingest_thread);
  observe::Progress shown_ AFTERBAY_GUARDED_BY(ingest_thread){};  ///< state at the last progress line
  std::uint64_t next_shown_ns_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  observe::BacklogWatch backlog_watch_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::uint64_t next_sample_ns_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  observe::Sampler sampler_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
