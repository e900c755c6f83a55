// SPDX-License-Identifier: Apache-2.0
// The role of the thread that receives messages and steps a server. State that belongs to it is
// marked AFTERBAY_GUARDED_BY(ingest_thread), functions that use such state
// AFTERBAY_REQUIRES(ingest_thread); workers and other threads use neither.
//
// A process may have several servers, each with its ingest thread: the role does not say which one.
// A server shares no state of its ingest thread with another server.
#pragma once

#include "base/thread_safety.hpp"

namespace afterbay {

inline constexpr ThreadRole ingest_thread{};

}  // namespace afterbay
