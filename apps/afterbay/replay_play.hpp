// SPDX-License-Identifier: Apache-2.0
// Playing a file through a session, on every process of an MPI job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "replay_plan.hpp"

namespace afterbay::app {

struct ReplayRequest {
  std::string input;
  std::string output;
  std::string store = "netcdf4";
  int repeat = 1;                      ///< how often the input is played, each time into a file of its own
  std::vector<std::string> arguments;  ///< --afterbay.*
};

/// The name of the file of turn `turn`: OUTPUT itself for the first, then with the number before the suffix.
std::string output_name(const std::string& output, int turn);

struct Playback {
  std::vector<std::string> paths;  ///< of the files written; filled on model rank 0
  std::uint64_t records = 0;       ///< in all files together
  std::uint64_t bytes = 0;         ///< that this rank handed over
  double read_s = 0;
  double put_s = 0;
};

/// This model rank's part of the job, from definitions to finalize. Throws Failure.
Playback play(Session& session, const InputFile& input, Plan plan, const ReplayRequest& request);

}  // namespace afterbay::app
