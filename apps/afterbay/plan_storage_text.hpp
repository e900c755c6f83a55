// SPDX-License-Identifier: Apache-2.0
// The output of `afterbay plan storage`: YAML that `afterbay check` accepts, with the measurements
// as comments.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "storage/plan/sweep.hpp"
#include "storage/striping/file_system.hpp"

namespace afterbay::app {

struct PlanContext {
  std::string directory;
  storage::FileSystem file_system;
  std::string host;
  std::string date;
  double seconds = 0;   ///< duration of the measurement
  std::string targets;  ///< "of 6 OSTs", "number of OSTs not known"; empty: the file system has no
                        ///< OSTs
  /// The requested stripes, and those of the trial files.
  std::vector<std::pair<storage::Stripes, std::string>> stripes;
};

std::string plan_text(const PlanContext& context, const storage::Sweep& sweep,
                      const storage::StorageAdvice& advice);

}  // namespace afterbay::app
