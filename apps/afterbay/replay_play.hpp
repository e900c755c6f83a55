// SPDX-License-Identifier: Apache-2.0
// Replays a file through a session, on every process of an MPI job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "model/format.hpp"
#include "replay_plan.hpp"

namespace afterbay::app {

struct ReplayRequest {
  std::string input;
  std::string output;
  std::string store{name_of(default_format)};
  int repeat = 1;                      ///< number of repetitions, each into its own file
  std::vector<std::string> arguments;  ///< --afterbay.*
};

/// The name of the file for repetition `turn`: OUTPUT itself for the first, then with the number
/// before the extension.
std::string output_name(const std::string& output, int turn);

struct Playback {
  std::vector<std::string> paths;  ///< paths of the files written; filled on model rank 0
  std::uint64_t records = 0;       ///< total over all files
  std::uint64_t bytes = 0;         ///< put by this rank
  double read_s = 0;
  double put_s = 0;
};

/// This model rank's part of the job, from the definitions to finalize. Throws Failure.
Playback play(Session& session, const NetcdfReader& input, Plan plan, const ReplayRequest& request);

}  // namespace afterbay::app
