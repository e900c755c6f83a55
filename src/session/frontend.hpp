// SPDX-License-Identifier: Apache-2.0
// The work of a frontend's process until its model ranks have ended.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "base/log.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "observe/profile.hpp"
#include "observe/records.hpp"
#include "observe/sampler.hpp"
#include "transport/mpi/relay.hpp"

namespace afterbay::session {

struct FrontendIdentity {
  int number = 0;        ///< number of this frontend in the session
  int frontends = 1;     ///< number of frontends in the session
  int session_rank = 0;  ///< rank of its process in the session
  std::string session;   ///< its name
  std::string run;       ///< the run's name in the journal
};

class FrontendRun {
 public:
  /// Adds its work and its waits to `profile`, which must outlive it.
  FrontendRun(std::unique_ptr<transport::network::Relay> relay, FrontendIdentity identity,
              const config::Config& config, observe::Profile& profile, const Logger& logger);

  /// Does the work that is due; returns false if there was none.
  bool step();
  /// Waits for work. The wait in the profile lasts until work is done, across several wake-ups.
  void wait(transport::Millis most);
  [[nodiscard]] bool finished() const { return relay_->finished(); }
  [[nodiscard]] const std::optional<Error>& failure() const { return relay_->failure(); }
  /// Before `serve`: whether a server has reported that the session failed. Forwards nothing.
  bool catch_up() { return relay_->hear_failure(); }
  /// Ends this process before the session: its servers and ranks are told the reason, which is
  /// already reported on stderr. Forwards their answers until the ranks have ended, for at most
  /// `limit`.
  void end_early(const Error& why, transport::Millis limit);
  /// After the end. Fails if the frontend failed.
  Result<> end();
  /// For the report, after the end. Its backlog is the data that the frontend held.
  [[nodiscard]] observe::ServerHistory history() const;

 private:
  using Relay = transport::network::Relay;
  struct Wait {
    Relay::Awaited reason;
    std::uint64_t start_ns = 0;
  };

  [[nodiscard]] observe::ServerState state_now(const char* phase) const;
  void end_wait(std::uint64_t now);

  std::unique_ptr<Relay> relay_;
  FrontendIdentity identity_;
  std::string host_;
  double started_at_s_;
  std::uint64_t started_ns_;
  std::uint64_t next_sample_ns_ = 0;
  observe::Sampler sampler_;
  observe::Profile& profile_;
  /// By Relay::Work; null: not recorded.
  std::array<observe::Timer*, Relay::works> work_timers_{};
  std::array<observe::Timer*, Relay::awaited> wait_timers_{};  ///< by Relay::Awaited; likewise
  std::optional<Wait> wait_;                                   ///< the current wait
};

}  // namespace afterbay::session
