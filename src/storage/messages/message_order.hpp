// SPDX-License-Identifier: Apache-2.0
// MessageOrder: the order of the messages in a file, which is the same whichever message is encoded
// first.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "storage/messages/waiting_messages.hpp"

namespace afterbay::storage {

/// A message: first all of record 0, then of record 1; within a record by variable and slab. Fields
/// without records come last.
struct MessageKey {
  std::uint64_t record = 0;
  std::uint32_t number = 0;  ///< among the messages of a record
  friend auto operator<=>(const MessageKey&, const MessageKey&) = default;
};
inline constexpr std::uint64_t no_record = std::numeric_limits<std::uint64_t>::max();

/// A message gets its offset when all earlier ones have theirs, so that messages have no gaps. One
/// thread at a time.
class MessageOrder {
 public:
  struct Waiting {
    std::uint32_t variable = 0;
    std::uint64_t epochs = 0;  ///< number of the last epoch before it was put
    WaitingMessages::Kept kept;
    bool logged = false;    ///< an epoch log has it
    bool constant = false;  ///< it was not put: the schema has its values
  };
  struct Placed {
    MessageKey key;
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t epochs = 0;
    bool logged = false;
  };
  struct Turn {
    Placed place;
    Waiting message;
  };

  /// The first message begins at byte `begin_bytes` of the file.
  explicit MessageOrder(std::uint32_t messages_per_record, std::uint64_t begin_bytes = 0)
      : per_record_(messages_per_record), end_bytes_(begin_bytes) {}

  /// Fails to add, and returns false, if the message was added before.
  bool add(const MessageKey& key, Waiting message);
  /// Whether the message after the last placed one is waiting: then its key.
  [[nodiscard]] std::optional<MessageKey> next() const;
  /// Places the first waiting message, also if earlier ones are missing: only after `next`, or when
  /// no others will come. There must be one.
  Turn place_first();

  [[nodiscard]] std::uint64_t end_bytes() const noexcept { return end_bytes_; }
  /// The key after the last placed message.
  [[nodiscard]] const MessageKey& after_placed() const noexcept { return next_; }
  std::map<MessageKey, Waiting>& waiting() noexcept { return waiting_; }
  /// Placed messages from the last `forget_before` on, in order.
  std::vector<Placed>& placed() noexcept { return placed_; }
  void forget_before(const MessageKey& key);

 private:
  std::uint32_t per_record_;
  MessageKey next_;
  std::uint64_t end_bytes_ = 0;
  std::map<MessageKey, Waiting> waiting_;
  std::vector<Placed> placed_;
};

}  // namespace afterbay::storage
