// SPDX-License-Identifier: Apache-2.0
// Trial: measures the speed of one way of writing in a directory, for `afterbay plan storage`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "storage/striping/stripes.hpp"

namespace afterbay::storage {

/// A way of writing.
struct TrialSetup {
  std::uint64_t block_bytes = std::uint64_t{4} << 20;  ///< bytes per write; a multiple of 4096
  bool direct = true;                                  ///< past the page cache (O_DIRECT)
  /// Number of threads that write concurrently.
  int writers = 1;
  /// One file per writer, instead of one for all.
  bool separate = false;
  std::optional<Stripes> stripes;  ///< set with `lfs` beforehand; unset: those of the directory
  bool operator==(const TrialSetup&) const = default;
};

struct TrialSize {
  std::uint64_t bytes = 0;  ///< total of all writers
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};

/// Writes that many bytes (fewer if `until` comes first: no write begins after it) in whole blocks,
/// the writers in turn, with one fsync per file at the end, and returns bytes per second, including
/// fsync. The files lose their names as soon as they are open, so that nothing is left behind, even
/// by a killed process. Fails with the system's errors: no_space, io (EINVAL if O_DIRECT is
/// refused), or timed_out if the time expired before the first block. `found_stripes`, if given and
/// the setup has stripes, receives the stripes of the file.
Result<double> run_trial(const std::string& directory, const TrialSetup& setup, const TrialSize& size,
                         std::string* found_stripes = nullptr);

}  // namespace afterbay::storage
