// SPDX-License-Identifier: Apache-2.0
// Trial: how fast one way of writing is on a directory. What `afterbay plan storage` measures.
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
  std::uint64_t block_bytes = std::uint64_t{4} << 20;  ///< of one write; a multiple of 4096
  bool direct = true;                                  ///< past the page cache (O_DIRECT)
  int writers = 1;                                     ///< threads that write at once
  bool separate = false;                               ///< a file each, instead of one for all
  std::optional<Stripes> stripes;                      ///< set by `lfs` before; unset: as the directory says
  bool operator==(const TrialSetup&) const = default;
};

struct TrialSize {
  std::uint64_t bytes = 0;  ///< of all writers together
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};

/// Writes that many bytes (less when `until` comes first: no write begins after it) in whole blocks, the
/// writers in turn, with one fsync a file at the end, and gives bytes per second, fsync included. The files
/// have no name from the moment they are open, so that nothing is left behind, even by a killed process.
/// Fails as the system does: no_space, io (EINVAL where O_DIRECT is refused), timed_out when the time was up
/// before the first block. `found_stripes`, if given and the setup has stripes, gets those that the file has.
Result<double> run_trial(const std::string& directory, const TrialSetup& setup, const TrialSize& size,
                         std::string* found_stripes = nullptr);

}  // namespace afterbay::storage
