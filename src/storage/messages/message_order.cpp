// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/message_order.hpp"

#include <algorithm>
#include <utility>

namespace afterbay::storage {

bool MessageOrder::add(const MessageKey& key, Waiting message) {
  return key >= next_ && waiting_.try_emplace(key, std::move(message)).second;
}

std::optional<MessageKey> MessageOrder::next() const {
  if (waiting_.empty() || waiting_.begin()->first != next_) return std::nullopt;
  return next_;
}

MessageOrder::Turn MessageOrder::place_first() {
  const auto first = waiting_.begin();
  Turn turn{
      {first->first, end_bytes_, first->second.kept.size_bytes, first->second.epochs, first->second.logged},
      std::move(first->second)};
  next_ = first->first;
  waiting_.erase(first);
  if (++next_.number >= per_record_ && next_.record != no_record) next_ = {next_.record + 1, 0};
  end_bytes_ += turn.place.size_bytes;
  placed_.push_back(turn.place);
  return turn;
}

void MessageOrder::forget_before(const MessageKey& key) {
  placed_.erase(placed_.begin(), std::ranges::lower_bound(placed_, key, {}, &Placed::key));
}

}  // namespace afterbay::storage
