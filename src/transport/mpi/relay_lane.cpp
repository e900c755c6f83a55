// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/relay_lane.hpp"

#include <algorithm>
#include <utility>

namespace afterbay::transport::network {

bool RelayLane::has_work(bool server_there, bool rank_there) const {
  if (!sending.empty() || header_request.active() || word_request.active() || batch_request.active())
    return true;
  if (server_there && (!headers.empty() || !words.empty() || (!waiting.empty() && credits > 0))) return true;
  return rank_there && (!batches.empty() || credits_due != 0 || flags_due != 0);
}

bool RelayLane::is_drained() const {
  return waiting.empty() && sending.empty() && headers.empty() && !header_request.active() && words.empty() &&
         !word_request.active() && told_end;
}

bool RelayLane::still_sending() {
  for (RelayedSegment& relayed : sending) (void)relayed.request.test();
  (void)header_request.test();
  (void)word_request.test();
  (void)batch_request.test();
  return header_request.active() || word_request.active() ||
         std::ranges::any_of(sending, [](RelayedSegment& relayed) { return relayed.request.active(); });
}

bool RelayLane::leave_behind() {
  bool channel = false;
  for (RelayedSegment& relayed : sending) {
    channel = channel || (relayed.request.active() && relayed.segment);
    if (relayed.request.active() && !relayed.segment) static_cast<void>(new Bytes(std::move(relayed.own)));
    relayed.request.abandon();
  }
  if (header_request.active()) static_cast<void>(header.release());
  header_request.abandon();
  if (word_request.active()) static_cast<void>(new Bytes(std::move(word)));
  word_request.abandon();
  if (batch_request.active()) static_cast<void>(new Bytes(std::move(batch)));
  batch_request.abandon();
  return channel;
}

}  // namespace afterbay::transport::network
