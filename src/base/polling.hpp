// SPDX-License-Identifier: Apache-2.0
// How long to sleep between two looks at something that can only be polled.
#pragma once

#include <algorithm>
#include <chrono>

namespace afterbay {

/// An eighth of the time waited so far, within bounds: a wait costs few looks, and ends at most an
/// eighth late. While data are in transit, which only progress during a look: the minimum for about
/// as long as a message of some megabytes takes, then a 64th.
inline std::chrono::nanoseconds pause_between_looks(std::chrono::nanoseconds waited, bool transferring,
                                                    std::chrono::nanoseconds least,
                                                    std::chrono::nanoseconds most) noexcept {
  constexpr std::chrono::milliseconds brisk{100};
  if (transferring && waited < brisk) return least;
  return std::clamp(waited / (transferring ? 64 : 8), least, most);
}

}  // namespace afterbay
