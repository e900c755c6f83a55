// SPDX-License-Identifier: Apache-2.0
// JointPut: a variable of a record that several callers of one rank hand over. What each of them
// contributes is counted in values: the callers' parts do not overlap, so that the count is
// complete exactly when all values are there.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "client/handover.hpp"

namespace afterbay::client {

/// What names a put: a variable of a record, in one step.
struct PutKey {
  const File* file = nullptr;
  std::uint32_t variable = 0;
  std::uint64_t record = 0;
  std::uint64_t step = 0;
  friend bool operator==(const PutKey&, const PutKey&) = default;
};

/// Objects are reused and never freed before the session ends. A caller that still owes a part of
/// an open put may use it without a lock: it cannot end before.
class JointPut {
 public:
  /// Begins a put in an object that nobody uses. Under the lock of JointPuts.
  void begin(std::uint64_t number, const PutKey& key, const Handover& handover, bool direct);
  /// Ends the put; nobody may use the object any longer. Under the lock of JointPuts.
  void end() noexcept {
    number_.store(0, std::memory_order_release);
    buffer_.reset();
    buffered_bytes_ = 0;
  }
  /// Whether it is an open put of that name. Any thread.
  [[nodiscard]] bool is(const PutKey& key) const noexcept { return number_if(key) != 0; }
  /// Its number if it is; otherwise 0.
  [[nodiscard]] std::uint64_t number_if(const PutKey& key) const noexcept;
  /// Puts of a rank are numbered in the order in which they begin; 0: not open.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_.load(std::memory_order_acquire); }

  // By callers that owe a part, and under the lock.
  /// Its position is that of a direct put; others get theirs when they are forwarded.
  [[nodiscard]] const Handover& handover() const noexcept { return handover_; }
  [[nodiscard]] std::uint64_t step() const noexcept { return step_.load(std::memory_order_relaxed); }
  /// Data go straight into the servers' frames; otherwise into `rank_array`, and from there to the
  /// servers.
  [[nodiscard]] bool is_direct() const noexcept { return direct_; }
  /// The rank's whole part, dense, of the file's type. Callers write disjoint parts of it.
  [[nodiscard]] std::byte* rank_array() noexcept { return buffer_.get(); }
  [[nodiscard]] const std::byte* rank_array() const noexcept { return buffer_.get(); }
  [[nodiscard]] std::uint64_t buffered_bytes() const noexcept { return buffered_bytes_; }
  /// Counts values that were written to a piece; true if it has all of the rank's.
  [[nodiscard]] bool add_to_piece(std::size_t piece, std::uint64_t values) noexcept {
    return missing_[piece].fetch_sub(values, std::memory_order_acq_rel) == values;
  }
  [[nodiscard]] bool has_piece(std::size_t piece) const noexcept {
    return missing_[piece].load(std::memory_order_acquire) == 0;
  }
  /// Counts values that were handed over; true if the put has all of the rank's.
  [[nodiscard]] bool add(std::uint64_t values) noexcept {
    return missing_values_.fetch_sub(values, std::memory_order_acq_rel) == values;
  }
  [[nodiscard]] std::uint64_t missing_values() const noexcept {
    return missing_values_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t all_values() const noexcept { return all_values_; }
  /// Takes what a member's packing has measured; null: nothing. Before the values are counted.
  void note_error_of(const model::PackingRows* packing) noexcept {
    if (packing == nullptr) return;
    const double more = packing->take_largest_error();
    double known = largest_error_.load(std::memory_order_relaxed);
    while (known < more && !largest_error_.compare_exchange_weak(known, more, std::memory_order_relaxed)) {
    }
  }
  /// wire::Put::largest_error.
  [[nodiscard]] double largest_error() const noexcept {
    return largest_error_.load(std::memory_order_relaxed);
  }

  /// A member is about to hand over values, has acquired a slot for them, or takes part without
  /// values. A put that only refused calls have begun can be withdrawn.
  void note_contribution() noexcept { contributed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool has_contributions() const noexcept {
    return contributed_.load(std::memory_order_relaxed);
  }

  /// Notes that the member with this place (Member::place) has handed over all of its part. Members
  /// whose place is `most_noted` or above are not noted.
  void note_member(std::size_t place) noexcept {
    if (place < most_noted)
      members_[place / 64].fetch_or(std::uint64_t{1} << place % 64, std::memory_order_relaxed);
  }
  /// True only if it has; false if that is not known.
  [[nodiscard]] bool has_of(std::size_t place) const noexcept {
    return place < most_noted &&
           (members_[place / 64].load(std::memory_order_relaxed) >> place % 64 & 1) != 0;
  }
  /// Whether has_of says what a member has done.
  [[nodiscard]] static bool is_noted(std::size_t place) noexcept { return place < most_noted; }

  /// The first piece that lacks values, and how far the put has come on all links. Under the lock,
  /// except for reading `first_missing`.
  [[nodiscard]] std::size_t first_missing() const noexcept {
    return first_missing_.load(std::memory_order_relaxed);
  }
  void set_first_missing(std::size_t piece) noexcept {
    first_missing_.store(piece, std::memory_order_relaxed);
  }
  /// As client::advance_to, under the lock.
  template <class Publish>
  void advance_to(std::uint32_t frame, Publish&& publish) {
    client::advance_to(handover_, frame, passed_, std::forward<Publish>(publish));
  }
  /// Counts values of slots, whose room is taken already. Under the lock.
  void lend(std::int64_t values) noexcept { lent_ += static_cast<std::uint64_t>(values); }
  [[nodiscard]] std::uint64_t lent() const noexcept { return lent_; }
  /// All values are there: a put that is not direct waits to be forwarded. Under the lock.
  void set_complete() noexcept { complete_ = true; }
  [[nodiscard]] bool is_complete() const noexcept { return complete_; }

 private:
  static constexpr std::size_t most_noted = 1024;

  std::atomic<std::uint64_t> number_{0};
  std::atomic<const File*> file_{nullptr};
  std::atomic<std::uint32_t> variable_{0};
  std::atomic<std::uint64_t> record_{0};
  std::atomic<std::uint64_t> step_{0};
  Handover handover_;
  bool direct_ = true;
  std::unique_ptr<std::byte[]> buffer_;  ///< not filled: every value that counts is written
  std::uint64_t buffered_bytes_ = 0;
  std::unique_ptr<std::atomic<std::uint64_t>[]> missing_;  ///< values, by piece of the rank's plan
  std::size_t room_for_pieces_ = 0;
  std::uint64_t all_values_ = 0;
  std::atomic<std::uint64_t> missing_values_{0};
  std::atomic<std::size_t> first_missing_{0};
  std::atomic<double> largest_error_{-1};
  std::atomic<bool> contributed_{false};
  std::array<std::atomic<std::uint64_t>, most_noted / 64> members_{};
  std::size_t passed_ = 0;
  std::uint64_t lent_ = 0;
  bool complete_ = false;
};

/// Open puts by name, for lookups without a lock. A put may be missing from it.
class OpenPuts {
 public:
  /// The put and its number; null: ask under the lock.
  [[nodiscard]] std::pair<JointPut*, std::uint64_t> find(const PutKey& key) const noexcept {
    JointPut* const put = entry(key).load(std::memory_order_acquire);
    const std::uint64_t number = put == nullptr ? 0 : put->number_if(key);
    return number == 0 ? std::pair<JointPut*, std::uint64_t>{nullptr, 0} : std::pair{put, number};
  }
  void add(const PutKey& key, JointPut* put) noexcept { entry(key).store(put, std::memory_order_release); }

 private:
  static constexpr std::size_t size = 1024;
  [[nodiscard]] std::atomic<JointPut*>& entry(const PutKey& key) const noexcept {
    const std::uint64_t mixed =
        (key.file->id * 0x9e3779b97f4a7c15u + key.variable + key.record * 0xbf58476d1ce4e5b9u) ^ key.step
                                                                                                     << 7;
    return entries_[(mixed ^ mixed >> 29) % size];
  }
  mutable std::array<std::atomic<JointPut*>, size> entries_{};
};

}  // namespace afterbay::client
