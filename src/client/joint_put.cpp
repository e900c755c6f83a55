// SPDX-License-Identifier: Apache-2.0
#include "client/joint_put.hpp"

namespace afterbay::client {

void JointPut::begin(std::uint64_t number, const PutKey& key, const Handover& handover, bool direct) {
  const PutPlan& whole = *handover.plan;
  const std::size_t bytes = size_of(whole.type);
  handover_ = handover;
  direct_ = direct;
  if (!direct && !whole.pieces.empty()) {
    buffered_bytes_ = handover.file->collection->variable(key.variable).mine.points() * bytes;
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffered_bytes_);
  }
  if (whole.pieces.size() > room_for_pieces_) {
    room_for_pieces_ = whole.pieces.size();
    missing_ = std::make_unique<std::atomic<std::uint64_t>[]>(room_for_pieces_);
  }
  for (std::size_t i = 0; i < whole.pieces.size(); ++i)
    missing_[i].store(whole.pieces[i].packed_bytes / bytes, std::memory_order_relaxed);
  all_values_ = whole.packed_bytes / bytes;
  missing_values_.store(all_values_, std::memory_order_relaxed);
  first_missing_.store(0, std::memory_order_relaxed);
  const bool packs = handover.file->collection->processing().packing(key.variable) != nullptr;
  largest_error_.store(packs ? 0 : -1, std::memory_order_relaxed);
  contributed_.store(false, std::memory_order_relaxed);
  for (auto& some : members_) some.store(0, std::memory_order_relaxed);
  passed_ = ranges_before(handover);
  lent_ = 0;
  complete_ = false;
  // Released: whoever reads one of these names sees that the put before has ended.
  file_.store(key.file, std::memory_order_release);
  variable_.store(key.variable, std::memory_order_release);
  record_.store(key.record, std::memory_order_release);
  step_.store(key.step, std::memory_order_release);
  number_.store(number, std::memory_order_release);
}

std::uint64_t JointPut::number_if(const PutKey& key) const noexcept {
  const std::uint64_t number = number_.load(std::memory_order_acquire);
  if (number == 0) return 0;
  if (file_.load(std::memory_order_acquire) != key.file ||
      variable_.load(std::memory_order_acquire) != key.variable ||
      record_.load(std::memory_order_acquire) != key.record ||
      step_.load(std::memory_order_acquire) != key.step)
    return 0;
  // Another put has another number: the names read between are those of this one.
  return number_.load(std::memory_order_acquire) == number ? number : 0;
}

}  // namespace afterbay::client
