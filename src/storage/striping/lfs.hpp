// SPDX-License-Identifier: Apache-2.0
// Uses Lustre's command `lfs` to create files with stripes, and to find the stripes of a file and
// the number of storage targets (OSTs).
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

/// Creates an empty file. Blocks at most until the deadline, like the other functions here.
Result<> set_stripes(const std::string& path, const Stripes& stripes, std::chrono::milliseconds deadline);

/// The stripes of a file: "stripe count 4, size 8MiB", by component if its layout has several;
/// "stripes not known" if `lfs getstripe` fails or does not report them.
std::string found_stripes(const std::string& path, std::chrono::milliseconds deadline);

/// The targets of the file system of `directory`: "of 6 OSTs", "of 6 OSTs, 5 of them active";
/// "number of OSTs not known" if `lfs osts` fails or does not report it.
std::string found_targets(const std::string& directory, std::chrono::milliseconds deadline);

/// The stripes in the output of `lfs getstripe`; empty if there are none.
std::vector<Stripes> parse_stripes(std::string_view output);

/// How many storage targets (OSTs) a file system has.
struct TargetCounts {
  int all = 0;
  int active = 0;
  bool operator==(const TargetCounts&) const = default;
};
/// The targets in the output of `lfs osts`.
TargetCounts parse_targets(std::string_view output);

/// Determines the targets once per file system. Any thread.
class KnownTargets {
 public:
  std::string of(const std::string& directory, std::chrono::milliseconds deadline);

 private:
  Mutex mutex_;  ///< held while `lfs` runs, so that others wait instead of running it again
  std::map<std::uint64_t, std::string> known_ AFTERBAY_GUARDED_BY(mutex_);  ///< by device
};

}  // namespace afterbay::storage
