// SPDX-License-Identifier: Apache-2.0
// The sentences of the HTML report, and the figures from which they are derived.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/html_page.hpp"

namespace afterbay::observe {

/// Seconds of model ranks are means over the ranks.
struct RunFigures {
  std::size_t model_ranks = 0;
  std::size_t servers = 0;
  double started_at_s = 0;  ///< start of the first process, time of day
  double elapsed_s = 0;
  double put_s = 0;
  double room_s = 0;
  double files_s = 0;
  double end_s = 0;
  double read_s = 0;
  double define_s = 0;
  double open_s = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t files = 0;
  double peak_share = 0;              ///< peak share of a server's memory: the maximum over servers
  std::uint64_t records_refused = 0;  ///< see ServerHistory
  std::uint64_t peak_bytes = 0;
  std::uint64_t limit_bytes = 0;
  std::int32_t peak_server = 0;
  double peak_at_s = 0;
  double busy_share = 0;  ///< share of the time in which the servers' workers were busy
  double disk_share = 0;  ///< share of their writing time spent on disk I/O
  double pack_share = 0;  ///< share of their writing time spent compressing

  /// The total time that a model rank spent in Afterbay.
  [[nodiscard]] double inside_s() const {
    return put_s + room_s + files_s + end_s + read_s + define_s + open_s;
  }
  [[nodiscard]] double share(double seconds) const { return elapsed_s > 0 ? seconds / elapsed_s : 0; }
};

RunFigures figures_of(const RunPage& page);

enum class RunGrade { kept_up, nearly, too_slow };

struct RunVerdict {
  RunGrade grade = RunGrade::kept_up;
  std::string headline;
  std::vector<std::string> details;  ///< sentences
};

RunVerdict verdict_of(const RunFigures& figures);

}  // namespace afterbay::observe
