// SPDX-License-Identifier: Apache-2.0
// What Lustre's command `lfs` is asked: to make a file with stripes, which ones a file has, and how many
// storage targets (OSTs) there are.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "storage/striping/stripes.hpp"

namespace afterbay::storage {

/// Makes an empty file. Blocks for at most the deadline, as the others here.
Result<> set_stripes(const std::string& path, const Stripes& stripes, std::chrono::milliseconds deadline);

/// Of a file: "stripe count 4, size 8MiB", by component if its layout has several; "stripes not known" if
/// `lfs getstripe` fails or does not say.
std::string found_stripes(const std::string& path, std::chrono::milliseconds deadline);

/// Of the file system of `directory`: "of 6 OSTs", "of 6 OSTs, 5 of them active"; "number of OSTs not known"
/// if `lfs osts` fails or does not say.
std::string found_targets(const std::string& directory, std::chrono::milliseconds deadline);

/// What stands in the output of `lfs getstripe`; empty: nothing.
std::vector<Stripes> parse_stripes(std::string_view output);

struct Targets {
  int all = 0;
  int active = 0;
  bool operator==(const Targets&) const = default;
};
/// What stands in the output of `lfs osts`.
Targets parse_targets(std::string_view output);

/// Asks once for each file system. Any thread.
class KnownTargets {
 public:
  std::string of(const std::string& directory, std::chrono::milliseconds deadline);

 private:
  Mutex mutex_;  ///< held while `lfs` runs: others would ask the same
  std::map<std::uint64_t, std::string> known_ AFTERBAY_GUARDED_BY(mutex_);  ///< by device
};

}  // namespace afterbay::storage
