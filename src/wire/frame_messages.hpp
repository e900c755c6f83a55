// SPDX-License-Identifier: Apache-2.0
// The transport's own messages. Kinds below 100 are the transport's, the session's begin at 100.
#pragma once

#include <cstdint>

#include "wire/archive.hpp"

namespace afterbay::wire {

inline constexpr std::uint32_t first_session_kind = 100;

/// The last contribution to a frame's instance has arrived. Comes in the stream of the rank that
/// made that contribution.
struct FrameReady {
  static constexpr Kind kind{1};
  std::uint32_t frame = 0;
  std::uint64_t seq = 0;

  template <class A>
  void fields(A& a) {
    a(frame, seq);
  }
};

}  // namespace afterbay::wire
