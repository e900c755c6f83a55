// SPDX-License-Identifier: Apache-2.0
// Messages that the transport itself creates.
#pragma once

#include <cstdint>

#include "wire/archive.hpp"
#include "wire/message_list.hpp"

namespace afterbay::wire {

using FromTransport = MessageList<first_transport, struct FrameReady>;

/// The last contribution to a frame instance has arrived. Comes in the stream of the rank that made
/// that contribution.
struct FrameReady {
  static constexpr Kind kind = FromTransport::kind<FrameReady>();
  std::uint32_t frame = 0;
  std::uint64_t seq = 0;

  template <class A>
  void fields(A& a) {
    a(frame, seq);
  }
};

}  // namespace afterbay::wire
