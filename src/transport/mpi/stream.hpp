// SPDX-License-Identifier: Apache-2.0
// The network protocol between a model rank and a server. To the server: segments, each a
// SegmentHeader and items; back: batches, each a BatchHeader and messages, and data messages, each
// a DataHeader, one message and its data. Both sides run on the same kind of machine, so structs
// are sent unchanged.
//
// A segment may be sent only with a credit. A rank begins with LinkSizes::credits, and the server
// returns one for each segment that it has consumed. Pings and words need no credit; a word is a
// message that is not ordered with the data. The length of a segment with items is a multiple of
// `alignment`, and the length of a ping or a word is not, so that a server can distinguish them
// before it receives one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "transport/link.hpp"

namespace afterbay::transport::network {

inline constexpr int up_tag = 1;
inline constexpr int down_tag = 2;
inline constexpr int data_tag = 3;
inline constexpr int joint_tag = 4;  ///< from a frontend: see JointSegments
/// The peer of data that pass through a frontend: the number of the model rank between frontend and
/// server, that of the server between rank and frontend.
inline constexpr int first_relay_tag = 16;
constexpr int relay_tag(std::size_t number) { return first_relay_tag + 2 * static_cast<int>(number); }
constexpr int relay_data_tag(std::size_t number) { return relay_tag(number) + 1; }
constexpr bool is_relay_data(int tag) { return tag > first_relay_tag && (tag - first_relay_tag) % 2 != 0; }
constexpr std::size_t number_of_relay_tag(int tag) {
  return static_cast<std::size_t>((tag - first_relay_tag) / 2);
}

enum class SegmentKind : std::uint32_t {
  data = 0x5EA1,
  ping = 0x5EA2,
  farewell = 0x5EA3,  ///< through a frontend: the rank has closed its link
  died = 0x5EA4,      ///< from a frontend: the rank's process is gone
  word = 0x5EA5,      ///< a message directly after the header, and perhaps a byte without meaning;
                      ///< the server takes it as soon as it arrives
};
/// Longer messages keep their place in the stream.
inline constexpr std::uint64_t most_word_bytes = std::uint64_t{16} << 10;

struct SegmentHeader {
  SegmentKind kind = SegmentKind::data;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;  ///< size of the items, or of a word's message
  std::uint64_t order = 0;  ///< after this segment the rank requests nothing before this position
};

enum class ItemKind : std::uint32_t {
  message = 1,       ///< the end of a message, or all of it
  part = 2,          ///< part of a message that continues in the next such item
  contribution = 3,  ///< a part of a piece
};

struct ItemHeader {
  ItemKind kind = ItemKind::message;
  std::uint32_t piece = 0;
  std::uint64_t bytes = 0;  ///< size of the payload, which follows and is padded
  FrameSlot slot;
};

/// Headers and payloads begin at multiples of this, so that packed data are aligned for all types.
inline constexpr std::uint64_t alignment = 64;
static_assert(sizeof(SegmentHeader) <= alignment && sizeof(ItemHeader) <= alignment);

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}
/// Whether a segment of this length has items.
constexpr bool holds_items(std::uint64_t segment_bytes) { return segment_bytes % alignment == 0; }
constexpr std::uint64_t item_bytes(std::uint64_t payload) { return alignment + padded(payload); }

/// Capacity of a small staging segment, for messages and small parts.
inline constexpr std::uint64_t small_segment_bytes = std::uint64_t{64} << 10;
/// Capacity of a large staging segment: at least one whole frame must fit.
constexpr std::uint64_t segment_capacity(const LinkSizes& sizes) {
  const std::uint64_t payload =
      sizes.segment_bytes > sizes.block_bytes ? sizes.segment_bytes : sizes.block_bytes;
  return alignment + item_bytes(payload);
}

/// Frontends do not join longer segments with others (joint_segments.hpp): for them a copy costs
/// more than a message.
inline constexpr std::uint64_t most_joined_bytes = std::uint64_t{8} << 10;

struct BatchHeader {
  enum Flags : std::uint32_t { pong = 1, failed = 2, ended = 4 };
  /// In the upper bits of the flags, for a frontend: see JoinedShare, in KiB; 0: as before.
  static constexpr std::uint32_t allowance_bits = 16;
  std::uint32_t credits = 0;  ///< number of credits returned
  std::uint32_t flags = 0;
  std::uint64_t progress = 0;  ///< counts the server's work
  std::uint64_t bytes = 0;     ///< size of the messages: each a u64 length and its bytes
};

/// Before the message, which is padded, and the data that belong to it. Data messages have a tag of
/// their own: batches overtake them, so that credits and signs of life do not wait for data.
struct DataHeader {
  std::uint64_t message_bytes = 0;
  std::uint64_t data_bytes = 0;
};
constexpr std::uint64_t data_begin(std::uint64_t message_bytes) {
  return padded(sizeof(DataHeader) + message_bytes);
}
/// All of a data message but the data.
inline Bytes make_data_head(std::span<const std::byte> message, std::uint64_t data_bytes) {
  const DataHeader header{message.size(), data_bytes};
  Bytes head(data_begin(message.size()));
  std::memcpy(head.data(), &header, sizeof header);
  if (!message.empty()) std::memcpy(head.data() + sizeof header, message.data(), message.size());
  return head;
}

/// `order`: the rank's latest promise.
inline Bytes make_word(std::span<const std::byte> message, std::uint64_t order) {
  const SegmentHeader header{SegmentKind::word, 0, message.size(), order};
  const std::uint64_t bytes = sizeof header + message.size();
  Bytes word(holds_items(bytes) ? bytes + 1 : bytes);
  std::memcpy(word.data(), &header, sizeof header);
  if (!message.empty()) std::memcpy(word.data() + sizeof header, message.data(), message.size());
  return word;
}

/// A segment with one message.
inline Bytes make_batch(BatchHeader header, std::span<const std::byte> message) {
  const std::uint64_t length = message.size();
  header.bytes = sizeof length + length;
  Bytes batch(sizeof header + header.bytes);
  std::memcpy(batch.data(), &header, sizeof header);
  std::memcpy(batch.data() + sizeof header, &length, sizeof length);
  if (length != 0) std::memcpy(batch.data() + sizeof header + sizeof length, message.data(), length);
  return batch;
}

template <class Header>
Header read_header(const std::byte* from) {
  Header header;
  std::memcpy(&header, from, sizeof header);
  return header;
}

/// The parts of a data message; nothing if it is invalid.
struct DataParts {
  std::span<const std::byte> message;
  std::span<const std::byte> data;
};
inline std::optional<DataParts> parts_of_data(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(DataHeader)) return std::nullopt;
  const auto header = read_header<DataHeader>(bytes.data());
  if (header.message_bytes > bytes.size() - sizeof(DataHeader)) return std::nullopt;
  const std::uint64_t begin = data_begin(header.message_bytes);
  if (begin > bytes.size() || bytes.size() - begin != header.data_bytes) return std::nullopt;
  return DataParts{bytes.subspan(sizeof header, header.message_bytes), bytes.subspan(begin)};
}

}  // namespace afterbay::transport::network
