// SPDX-License-Identifier: Apache-2.0
// Timeline: what a process spent its time on, in bounded memory. The run is divided into a few
// hundred intervals, which grow with it; each records the time per activity.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/thread_safety.hpp"

namespace afterbay::observe {

enum class Lane : std::uint8_t {
  // model ranks
  put,     ///< copying in put
  room,    ///< waiting for room in a server
  files,   ///< waiting until data are written: wait, flush, end_step
  end,     ///< finalize
  read,    ///< get and similar calls; on a server: reading
  define,  ///< definitions at the start
  open,    ///< open_session; also on servers
  // servers
  ingest,
  write,
  publish,
  create,
};
inline constexpr std::size_t lane_count = 11;
inline constexpr Lane no_lane{255};

/// The lane of a timer, from its name and that of its root; no_lane for parts of other timers.
Lane lane_of(std::string_view root, std::string_view name, std::size_t depth);

struct TimelineRecord {
  std::int32_t rank = 0;    ///< in the session's communicator
  std::string role;         ///< "model", "server"
  double started_at_s = 0;  ///< time of day
  double elapsed_s = 0;
  double bin_s = 0;           ///< length of an interval
  std::vector<float> busy_s;  ///< lane_count numbers per interval; sum over threads
  template <class A>
  void fields(A& a) {
    a(rank, role, started_at_s, elapsed_s, bin_s, busy_s);
  }
  [[nodiscard]] std::size_t bins() const noexcept { return busy_s.size() / lane_count; }
  [[nodiscard]] double total_s(Lane lane) const noexcept;
};

class Timeline {
 public:
  /// `exclusive`: nested spans of one thread; the time of an inner span is not part of the outer
  /// one. Otherwise spans of any threads are added up. `start_ns`: the beginning of the run, now or
  /// earlier.
  explicit Timeline(bool exclusive, double first_bin_s = 0.02, std::size_t most_bins = 400,
                    std::uint64_t start_ns = now_ns());

  /// A span that ended now or earlier; with `exclusive` in the order of their ends. Any thread.
  void add(Lane lane, std::uint64_t start_ns, std::uint64_t end_ns) noexcept;
  [[nodiscard]] TimelineRecord record(std::int32_t rank, std::string role) const;

 private:
  struct Span {
    std::uint64_t start_ns = 0, end_ns = 0;
  };
  void fill(Lane lane, std::uint64_t start_ns, std::uint64_t end_ns) AFTERBAY_REQUIRES(mutex_);
  void widen() AFTERBAY_REQUIRES(mutex_);

  bool exclusive_;
  std::size_t most_bins_;
  std::uint64_t start_ns_;
  double started_at_s_;
  mutable Mutex mutex_;
  std::uint64_t bin_ns_ AFTERBAY_GUARDED_BY(mutex_);
  std::vector<std::array<float, lane_count>> bins_ AFTERBAY_GUARDED_BY(mutex_);
  std::vector<Span> recent_ AFTERBAY_GUARDED_BY(mutex_);  ///< outermost spans so far, oldest first
};

/// The same over another time axis: `bins` intervals of `bin_s`, starting at `from_s` (time of
/// day).
std::vector<std::array<double, lane_count>> resampled(const TimelineRecord& record, double from_s,
                                                      double bin_s, std::size_t bins);

}  // namespace afterbay::observe
