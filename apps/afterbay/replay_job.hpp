// SPDX-License-Identifier: Apache-2.0
// ReplayJob: the processes of an MPI job that play a file, from MPI_Init to MPI_Finalize.
#pragma once

#include <string>

#include "base/result.hpp"
#include "config/config.hpp"
#include "replay_play.hpp"

namespace afterbay::app {

class ReplayJob {
 public:
  /// Starts MPI at the thread level that the configuration needs.
  explicit ReplayJob(const config::Config& config);

  /// Plays, or serves while others play. On model rank 0 the result names the files written, after a
  /// summary was printed. Errors come out on every process that they concern.
  Result<Playback> run(const ReplayRequest& request);

  [[nodiscard]] int rank() const { return world_rank_; }
  /// Whether this process should report the error of `run`: not if all have found the same one.
  [[nodiscard]] bool speaks() const { return !found_by_all_ || world_rank_ == 0; }

  /// Ends MPI when all processes have come here; those that do not come within the deadline are
  /// ended with `code`.
  void leave(int code);

 private:
  Result<Playback> play_as_model(Session& session, const InputFile& input, const ReplayRequest& request);
  [[nodiscard]] PlanRequest plan_request(const ReplayRequest& request, int model_ranks) const;
  void print_summary(const Plan& plan, const InputFile& input, const ReplayRequest& request,
                     const Playback& playback, double seconds, int model_ranks) const;

  config::Config config_;
  int world_rank_ = 0;
  int world_size_ = 1;
  bool found_by_all_ = false;
};

}  // namespace afterbay::app
