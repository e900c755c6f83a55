// SPDX-License-Identifier: Apache-2.0
// BacklogWatch: notices that a server cannot keep up before the model does. A model puts in bursts, so what
// counts is the least backlog between two bursts: when it rises step after step, the memory will be full one
// day.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace afterbay::observe {

/// A server at one moment; bytes are totals since the start.
struct BacklogSample {
  double at_s = 0;
  std::uint64_t backlog_bytes = 0;
  std::uint64_t limit_bytes = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t steps = 0;
  double waited_s = 0;  ///< by all model ranks for room, together
  std::uint64_t ranks = 1;
  std::uint64_t records_refused = 0;  ///< so often, for want not of room but of places for records of a frame
  std::uint64_t most_records = 0;     ///< of a frame that may be in memory
};

class BacklogWatch {
 public:
  /// What is to be said, once when the backlog begins to grow and once when that is over; mostly nothing.
  std::optional<std::string> look(const BacklogSample& sample);
  /// Where it grows: seconds until the memory is full, 0 when it is; else nothing.
  [[nodiscard]] std::optional<double> model_waits_in_s() const noexcept { return model_waits_in_s_; }

 private:
  /// From one end of a step to another, at least a second.
  struct Window {
    BacklogSample first;
    BacklogSample last;
    std::uint64_t least_bytes = 0;
    std::uint64_t most_bytes = 0;
    double idle_s = 0;  ///< with next to nothing to write
  };
  [[nodiscard]] bool ends_window(const BacklogSample& sample) const;
  std::optional<std::string> judge();
  [[nodiscard]] bool grows() const;
  [[nodiscard]] bool model_waits() const;
  std::optional<std::string> begin(std::string text);
  std::optional<std::string> maybe_over();

  std::optional<Window> open_;
  std::vector<Window> windows_;  ///< the last ones, oldest first
  std::optional<double> model_waits_in_s_;
  bool said_ = false;  ///< and not yet that it is over
  std::uint64_t said_least_bytes_ = 0;
  double said_at_s_ = 0;
  double silent_until_s_ = 0;  ///< a backlog that comes and goes is not told of each time
  double next_silence_s_ = 60;
};

}  // namespace afterbay::observe
