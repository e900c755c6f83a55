// SPDX-License-Identifier: Apache-2.0
// Memory of described output on this rank: states of statistics, values of expressions, buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "observe/profile.hpp"
#include "output/plan.hpp"

namespace afterbay::output {

struct MemoryUse {
  std::string what;  ///< "statistics of 'tas' over 1mo"
  std::size_t bytes = 0;
};

/// The memory that the plan uses on this rank during the run: states in full, and buffers at their
/// largest. Excludes copies of arrays that are put in sections or with a layout. Files must have
/// been defined. `waiting`: LateSteps::waiting.
std::vector<MemoryUse> memory_of(const Plan& plan, std::size_t waiting);

/// Counts memory of this rank, and refuses what exceeds a limit.
class MemoryBudget {
 public:
  /// `limit`: bytes; 0: none. `counter`: of the report; may be null.
  MemoryBudget(std::uint64_t limit, observe::Counter* counter) : limit_(limit), counter_(counter) {}

  /// Adds what the plan needs. Collective over the model ranks if there is a limit: throws
  /// resources on all of them, naming the largest consumers of the rank that needs most, if it
  /// needs more.
  void take(Session& session, std::vector<MemoryUse> uses);
  /// Adds memory that is taken now, and kept until the end of the run. Throws resources if all
  /// together exceeds the limit; nothing is added then.
  void take(MemoryUse use);
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::uint64_t limit_;
  observe::Counter* counter_;
  std::int32_t rank_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<MemoryUse> uses_;
};

}  // namespace afterbay::output
