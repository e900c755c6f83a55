// SPDX-License-Identifier: Apache-2.0
// What the process of a frontend does until its model ranks have ended.
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

struct FrontendPlace {
  int number = 0;        ///< of this frontend in the session
  int frontends = 1;     ///< of the session
  int session_rank = 0;  ///< of its process
  std::string session;   ///< its name
  std::string run;       ///< as the journal calls it
};

class FrontendRun {
 public:
  /// What it does and waits for goes into `profile`, which must outlive it.
  FrontendRun(std::unique_ptr<transport::network::Relay> relay, FrontendPlace place,
              const config::Config& config, observe::Profile& profile, const Logger& logger);

  /// Does what there is to do now; false when there was nothing.
  bool step();
  /// A wait lasts until something is done, whatever it wakes up for in between.
  void wait(transport::Millis most);
  [[nodiscard]] bool finished() const { return relay_->finished(); }
  [[nodiscard]] const std::optional<Error>& failure() const { return relay_->failure(); }
  /// Before `serve`: whether a server has said that the session has failed. Passes nothing on.
  bool catch_up() { return relay_->hear_failure(); }
  /// This process ends although the session has not: its servers and ranks learn why; it is reported on
  /// stderr already. Passes on what they say to that, until the ranks have ended, for `limit` at most.
  void end_early(const Error& why, transport::Millis limit);
  /// After the end. Fails with what went wrong.
  Result<> end();
  /// For the report, after the end: its backlog is what it held.
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
  FrontendPlace place_;
  std::string host_;
  double started_at_s_;
  std::uint64_t started_ns_;
  std::uint64_t next_sample_ns_ = 0;
  observe::Sampler sampler_;
  observe::Profile& profile_;
  std::array<observe::Timer*, Relay::works> work_timers_{};    ///< by Relay::Work; null: nobody wants to know
  std::array<observe::Timer*, Relay::awaited> wait_timers_{};  ///< by Relay::Awaited; likewise
  std::optional<Wait> wait_;                                   ///< under way
};

}  // namespace afterbay::session
