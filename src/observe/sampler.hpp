// SPDX-License-Identifier: Apache-2.0
// Sampler: processes the states that a server reports: the statistics page, the Prometheus file and
// the series for the report. A separate thread writes the files, so that a disk that hangs does not
// delay the server.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "base/thread_safety.hpp"
#include "observe/prometheus_file.hpp"
#include "observe/server_series.hpp"
#include "observe/server_state.hpp"
#include "observe/statistics_page.hpp"

namespace afterbay::observe {

class Sampler {
 public:
  struct Options {
    std::string directory;  ///< directory of the statistics page; empty: none
    std::chrono::milliseconds interval{1000};
    std::string prometheus;  ///< path; empty: none
  };

  Sampler(Options options, Logger logger);
  /// Writes the latest state.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Called by the server's ingest thread, at any rate; cheap, never waits for a disk. Files are
  /// created when there is something to report, so that a session without any work leaves none.
  /// `model_has_defined`: an idle server is reported too.
  void offer(ServerState state, bool model_has_defined = false);
  [[nodiscard]] std::vector<SeriesPoint> series() const;

 private:
  struct Totals {
    double at_s = 0;
    std::uint64_t in = 0, out = 0, written = 0;
  };
  void run(const std::stop_token& stop);
  void write(ServerState state, bool last);
  void add_rates(ServerState& state);
  void warn_once(const Error& error);

  Options options_;
  Logger logger_;
  mutable Mutex mutex_;
  std::condition_variable_any stopped_;
  ServerState state_ AFTERBAY_GUARDED_BY(mutex_);
  std::uint64_t offered_ns_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  ServerSeries series_ AFTERBAY_GUARDED_BY(mutex_);

  // ---- used by the thread
  std::unique_ptr<StatisticsPage> page_;
  std::deque<Totals> recent_;
  PrometheusFile prometheus_;
  std::uint64_t next_prometheus_ns_ = 0;
  bool warned_ = false;
  std::jthread thread_;  ///< last: uses all members above; started with the first work
};

}  // namespace afterbay::observe
