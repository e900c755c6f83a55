// SPDX-License-Identifier: Apache-2.0
// JointPuts: puts of one rank by several callers, each of which hands over its part at its own
// pace. The servers know nothing of it: they count ranks. Callers copy without a lock; the lock is
// held for the first part of a put, for the last part of a piece and of a put, and at the end of a
// step, never while data are copied or a thread waits.
//
// Order. All members of a rank's team, on all ranks, put the same records and variables in the same
// order. A put gets its place in the rank's order when its first part comes; memory that is short
// goes to the oldest put that lacks a part.
//
// Steps. A record ends on this rank when every member has ended the step in which it was begun.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "client/direct_puts.hpp"
#include "client/joint_put.hpp"
#include "client/joint_records.hpp"
#include "client/rank_puts.hpp"
#include "client/session_core.hpp"
#include "client/shared_links.hpp"
#include "client/team.hpp"
#include "observe/profile.hpp"

namespace afterbay::client {

class JointPuts {
 public:
  struct Limits {
    std::chrono::milliseconds deadline{60000};
    std::uint64_t memory_bytes = 64u << 20;  ///< limit for puts that go through the session's thread
  };

  /// `rank`: hands over what callers have collected. `sessions_work`: handles messages, tends to
  /// endpoints, and serves their reads; under the session's lock.
  JointPuts(SessionCore& core, RankPuts& puts, DirectPuts& rank, SharedLinks& links, const Limits& limits,
            observe::Profile& profile, std::function<Result<>()> sessions_work);

  // ---- the team. Any thread unless stated otherwise.

  /// From now on all puts of the rank are joint ones. Under the session's lock. `open`: the records
  /// that were begun in the current step; `ended_records`: see the function of this name.
  void start(std::vector<JointRecords::Open> open, std::map<const File*, std::uint64_t> ended_records);
  [[nodiscard]] bool started() const noexcept { return started_.load(std::memory_order_acquire); }
  /// Runs `task(Team&)` under the team's lock, which it must not hold for long.
  template <class Task>
  auto in_team(Task task) AFTERBAY_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return task(team_);
  }
  Result<> leave(Member& member);
  /// The step ends for this member; if it was the last, for the rank.
  Result<> end_step(Member& member);

  // ---- puts. Any thread; `member` is the caller.

  [[nodiscard]] SharedLinks& links() noexcept { return links_; }
  [[nodiscard]] const Limits& limits() const noexcept { return limits_; }
  [[nodiscard]] Result<> check_usable() const;
  /// The rank's whole part of a variable.
  Result<const PutPlan*> whole(const Collection& collection, std::uint32_t variable);
  struct Opened {
    JointPut* put = nullptr;
    std::uint64_t number = 0;  ///< number of the put
  };
  /// What a caller wants to put into.
  struct Wanted {
    File* file = nullptr;
    std::uint32_t variable = 0;
    std::uint64_t record = 0;
    std::uint64_t step = 0;
    bool fixed = false;
    bool has_no_values = false;     ///< a put that has ended already is returned as null
    bool has_begun_others = false;  ///< the caller owes sections of other puts, and must not wait for memory
    bool may_wait = true;           ///< otherwise would_block
  };
  /// Begins the put if it is not open; waits while too many records are open, or too much is
  /// collected for the session's thread.
  Result<Opened> open(const Member& member, const Wanted& wanted);
  /// See DirectPuts::begin and, with a variable, put_reduced. By the session, in its current step.
  /// Waits while too many records are open.
  Result<> announce(File& file, std::uint64_t record, std::uint64_t step,
                    std::optional<std::uint32_t> reduced = {});
  [[nodiscard]] transport::ThreadEnd& end_of(std::size_t server) const { return *links_.end(server); }
  /// Whether a piece of a put may use memory that is reserved for the slowest rank.
  class TurnOf final : public transport::ThreadEnd::TurnNow {
   public:
    TurnOf(const JointPuts& puts, const JointPut& put, std::size_t piece)
        : puts_(puts), put_(put), piece_(piece) {}
    /// It has waited for half the deadline.
    void stall() noexcept { stalled_ = true; }
    [[nodiscard]] transport::ThreadEnd::Turn turn() const override {
      if (stalled_) return transport::ThreadEnd::Turn::stalled;
      const bool first =
          puts_.oldest_.load(std::memory_order_acquire) == put_.number() && put_.first_missing() == piece_;
      return first ? transport::ThreadEnd::Turn::oldest : transport::ThreadEnd::Turn::later;
    }

   private:
    const JointPuts& puts_;
    const JointPut& put_;
    std::size_t piece_;
    bool stalled_ = false;
  };
  /// `values` were written to a piece of the frame, which `whole` describes.
  Result<> deliver_to_piece(JointPut& put, std::size_t piece, std::uint64_t values);
  /// Whether the caller's thread is the one that uses the session. While it waits, nobody else does
  /// the session's work: it must call `work`.
  [[nodiscard]] bool has_sessions_thread() const noexcept { return links_.lock().is_callers_thread(); }
  Result<> work();
  /// A part of a put is complete, all its pieces having been delivered.
  Result<> deliver(JointPut& put, std::uint64_t values);
  /// Values for which there is room, and which will be delivered later; negative: they no longer
  /// are.
  void lend(JointPut& put, std::int64_t values);
  /// A failure in an endpoint's thread ends the session.
  Error fail_with(Error error);

  // ---- under the session's lock

  /// Sends what was handed over, if that does not need the session's thread. Called after
  /// everything that adds messages.
  void send();
  /// In the session's thread: sends, and forwards what was collected for it.
  Result<> tend();
  /// Waits until every member has ended the steps that the session has ended, and `closing` (unless
  /// null) has no open put; then closes that file. Also ends the records of the current step if no
  /// endpoint was ever opened on this rank, or none is open and this is the `last` call. `call`:
  /// for errors.
  Result<> settle(const char* call, File* closing = nullptr, bool last = false);
  /// One more than the last record of the file that has ended on this rank.
  [[nodiscard]] std::uint64_t ended_records(const File& file) const;
  /// The session is over: calls of endpoints fail.
  void stop(const Error& error) noexcept;
  /// After `stop`, before the links are destroyed: waits until no endpoint is in a call; false: in
  /// vain.
  [[nodiscard]] bool await_idle() noexcept;
  /// Adds what is not complete to an error. `of_server`: it is a server's error about this rank;
  /// then also the endpoints that have a part of the variable, or have begun records of the file.
  void add_work(Error& error, bool of_server = false) const;

 private:
  JointPut* begin(const PutKey& key, const Handover& handover) AFTERBAY_REQUIRES(mutex_);
  Result<> finish(JointPut& put) AFTERBAY_REQUIRES(mutex_);
  [[nodiscard]] bool may_end(const JointRecords::Open& record, std::uint64_t step) const
      AFTERBAY_REQUIRES(mutex_);
  void pass_pieces(JointPut& put) AFTERBAY_REQUIRES(mutex_);
  void publish(JointPut& put) AFTERBAY_REQUIRES(mutex_);
  Error fail_with_locked(Error error) AFTERBAY_REQUIRES(mutex_);
  void remove(JointPut& put) AFTERBAY_REQUIRES(mutex_);
  void find_oldest() AFTERBAY_REQUIRES(mutex_);
  Result<> end_steps() AFTERBAY_REQUIRES(mutex_);
  [[nodiscard]] std::string incomplete(const File* file) const AFTERBAY_REQUIRES(mutex_);
  void moved() noexcept;
  Result<> deliver_messages();
  Result<> forward();
  Result<> check_late();

  SessionCore& core_;
  RankPuts& puts_;
  DirectPuts& rank_;
  Limits limits_;
  std::function<Result<>()> sessions_work_;
  observe::Counter* bytes_;
  SharedLinks& links_;
  OpenPuts quick_;
  std::atomic<bool> started_{false};
  std::atomic<bool> failed_{false};
  std::atomic<std::uint64_t> oldest_{0};  ///< number of the oldest direct put that lacks room for a part
  std::atomic<int> waiters_{0};
  std::atomic<std::uint64_t> moves_{0};  ///< changes whenever a member makes progress

  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Error> failure_ AFTERBAY_GUARDED_BY(mutex_);
  Team team_ AFTERBAY_GUARDED_BY(mutex_);
  JointRecords records_ AFTERBAY_GUARDED_BY(mutex_);
  std::map<std::uint64_t, JointPut*> open_ AFTERBAY_GUARDED_BY(mutex_);  ///< by number
  /// Set while the session is ahead of its endpoints; counts their progress.
  std::optional<StallClock> late_since_ AFTERBAY_GUARDED_BY(mutex_);
  std::uint64_t last_number_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  std::uint64_t buffered_bytes_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  struct {
    std::deque<JointPut> all;
    std::vector<JointPut*> free;
  } objects_ AFTERBAY_GUARDED_BY(mutex_);
  std::map<const Collection*, std::unique_ptr<PutPlans>> whole_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::client
