// SPDX-License-Identifier: Apache-2.0
// ReplayJob: the processes of an MPI job that replay a file, from MPI_Init to MPI_Finalize.
#pragma once

#include <string>

#include "base/result.hpp"
#include "config/config.hpp"
#include "replay_play.hpp"

namespace afterbay::app {

class ReplayJob {
 public:
  /// Initializes MPI with the thread level that the configuration needs.
  explicit ReplayJob(const config::Config& config);

  /// Replays, or serves while others replay. On model rank 0 the result names the files written,
  /// after a summary was printed. Errors are returned on every process that they concern.
  Result<Playback> run(const ReplayRequest& request);

  [[nodiscard]] int rank() const { return world_rank_; }
  /// Whether this process should report the error of `run`: not if all processes have the same one.
  [[nodiscard]] bool speaks() const { return !found_by_all_ || world_rank_ == 0; }

  /// Finalizes MPI when all processes have come here; if some do not come within the deadline, ends
  /// the job with `code`.
  void leave(int code);

 private:
  Result<Playback> play_as_model(Session& session, const NetcdfReader& input, const ReplayRequest& request);
  [[nodiscard]] PlanRequest plan_request(const ReplayRequest& request, int model_ranks) const;
  void print_summary(const Plan& plan, const NetcdfReader& input, const ReplayRequest& request,
                     const Playback& playback, double seconds, int model_ranks) const;

  config::Config config_;
  int world_rank_ = 0;
  int world_size_ = 1;
  bool found_by_all_ = false;
};

}  // namespace afterbay::app
