// SPDX-License-Identifier: Apache-2.0
// DeadlineWatch: detects whether this server makes progress, and whether ranks have waited for
// longer than the setting `deadline` for something that will not happen. Used by the ingest thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "base/ingest_thread.hpp"

namespace afterbay::server {

class DeadlineWatch {
 public:
  explicit DeadlineWatch(std::chrono::milliseconds deadline) : stall_(deadline, 0) {}

  /// Messages have arrived, or workers have reported.
  void add_activity(std::size_t count) noexcept AFTERBAY_REQUIRES(ingest_thread) { activity_ += count; }
  /// Returns true at intervals of 250 ms: then links and deadlines are to be checked.
  [[nodiscard]] bool is_due(std::uint64_t now_ns) noexcept AFTERBAY_REQUIRES(ingest_thread);
  /// The deadline in nanoseconds.
  [[nodiscard]] std::uint64_t limit_ns() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return stall_.limit_ns();
  }

  /// Whether there was no activity for as long as the deadline.
  [[nodiscard]] bool is_stalled(std::uint64_t now_ns) noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return stall_.expired_at(activity_, now_ns);
  }

  /// What is waited for.
  struct Waits {
    std::size_t ranks_for_room = 0;  ///< number of ranks that wait for room in the server's memory
    bool overdue_ticket = false;     ///< a rank has waited for an answer for longer than the deadline
    bool others = false;             ///< ranks wait for something else
    bool writing = false;            ///< the disk is being waited for, which has its own deadline
  };
  /// Whether nothing will end a wait. Called periodically. Full memory alone is no reason: a rank
  /// may compute for a long time before it completes the frames in it.
  [[nodiscard]] bool has_expired(const Waits& waits, std::uint64_t now_ns) noexcept
      AFTERBAY_REQUIRES(ingest_thread);

 private:
  bool waited_for_room(std::size_t ranks, std::uint64_t now_ns) noexcept AFTERBAY_REQUIRES(ingest_thread);

  std::uint64_t activity_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  StallClock stall_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::uint64_t next_ns_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::optional<std::uint64_t> room_awaited_since_ns_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
