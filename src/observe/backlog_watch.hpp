// SPDX-License-Identifier: Apache-2.0
// BacklogWatch: notices that a server cannot keep up before the model has to wait. A model writes
// in bursts, so it looks at the lowest backlog between two bursts: if it rises step after step, the
// memory will eventually be full.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace afterbay::observe {

/// The state of a server at one moment; bytes are totals since the start.
struct BacklogSample {
  double at_s = 0;
  std::uint64_t backlog_bytes = 0;
  std::uint64_t limit_bytes = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t steps = 0;
  double waited_s = 0;  ///< total time that model ranks waited for room
  std::uint64_t ranks = 1;
  std::uint64_t records_refused = 0;  ///< refusals because of too many unwritten records of a
                                      ///< frame, not for lack of room
  std::uint64_t most_records = 0;     ///< maximum records of a frame in memory
};

class BacklogWatch {
 public:
  /// At most one warning per episode, when the backlog begins to grow, and one message when it is
  /// over; usually nullopt.
  std::optional<std::string> look(const BacklogSample& sample);
  /// If the backlog grows: seconds until the memory is full, 0 if it is; otherwise nothing.
  [[nodiscard]] std::optional<double> model_waits_in_s() const noexcept { return model_waits_in_s_; }

 private:
  /// The time between two ends of a step, at least a second.
  struct Window {
    BacklogSample first;
    BacklogSample last;
    std::uint64_t least_bytes = 0;
    std::uint64_t most_bytes = 0;
    double idle_s = 0;  ///< time with almost nothing to write
  };
  [[nodiscard]] bool ends_window(const BacklogSample& sample) const;
  std::optional<std::string> judge();
  [[nodiscard]] bool grows() const;
  [[nodiscard]] bool model_waits() const;
  std::optional<std::string> begin(std::string text);
  std::optional<std::string> maybe_over();

  std::optional<Window> open_;
  std::vector<Window> windows_;  ///< the latest windows, oldest first
  std::optional<double> model_waits_in_s_;
  bool said_ = false;  ///< warned, and the episode is not over yet
  std::uint64_t said_least_bytes_ = 0;
  double said_at_s_ = 0;
  double silent_until_s_ = 0;  ///< avoids repeated warnings about a backlog that comes and goes
  double next_silence_s_ = 60;
};

}  // namespace afterbay::observe
