// SPDX-License-Identifier: Apache-2.0
// How long to sleep between two looks at something that can only be polled.
#pragma once

#include <algorithm>
#include <chrono>

namespace afterbay {

/// An eighth of the time waited so far, within bounds: a wait costs few looks, and ends late by an eighth at
/// most. While data are under way, which move on only when somebody looks, the least for as long as a message
/// of some megabytes takes, then a 64th.
inline std::chrono::nanoseconds pause_between_looks(std::chrono::nanoseconds waited, bool transferring,
                                                    std::chrono::nanoseconds least,
                                                    std::chrono::nanoseconds most) noexcept {
  constexpr std::chrono::milliseconds brisk{100};
  if (transferring && waited < brisk) return least;
  return std::clamp(waited / (transferring ? 64 : 8), least, most);
}

}  // namespace afterbay
