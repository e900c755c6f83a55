// SPDX-License-Identifier: Apache-2.0
// MessageEncoder: what a format of messages adds to the store of messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "afterbay/calendar.hpp"
#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"

namespace afterbay::storage {

/// The values of one field on one slab.
struct Slab {
  std::uint32_t variable = 0;  ///< index in the schema
  /// Index of the slab in the field's dimensions before those of the slab, in C order, without the
  /// unlimited one: 0 for the first level.
  std::uint64_t number = 0;
  std::uint64_t record = 0;  ///< for errors
  /// Values of the variable's type, in the byte order of the machine, at any address.
  std::span<const std::byte> values;
};

/// The time of a record.
struct MessageTime {
  Date date;
  Date begin;  ///< begin of the interval, if the record has one
  Date end;
  bool interval = false;
  std::optional<Date> reference;  ///< reference time of the forecast, if records have one
};

/// An encoded slab.
struct Message {
  std::vector<std::byte> bytes;
  /// The values could not be packed as the variable says, and are stored as they are.
  bool unpacked = false;
  /// The largest difference between a value and what readers get; negative: values are not packed.
  double largest_error = -1;
};

/// What a file begins with.
struct MessageFront {
  std::vector<std::byte> bytes;
  std::uint64_t end_bytes = 0;  ///< where the first message begins, at least the size of `bytes`
};

/// Makes the messages of one file. Any thread may call any function at any time.
class MessageEncoder {
 public:
  virtual ~MessageEncoder() = default;
  /// The same at every call. The file gets it at its end, and by recovery: MessageTraits::seal.
  [[nodiscard]] virtual MessageFront front() const { return {}; }
  /// A complete message, but for its time. Fails if the format cannot hold the values, and names
  /// the variable and the record.
  virtual Result<Message> encode(const Slab& slab) = 0;
  /// Enters the time into a message of `encode`, whose size stays the same.
  virtual Result<> stamp(std::span<std::byte> message, std::uint32_t variable, const MessageTime& time) = 0;
};

/// Makes the encoder of a file, and finds everything that can be found without values. Fails with
/// the name of the variable.
using MakeMessageEncoder = std::function<Result<std::unique_ptr<MessageEncoder>>(
    const Schema& schema, const model::FileLayout& layout)>;

}  // namespace afterbay::storage
