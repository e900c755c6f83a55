// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/ring.hpp"

#include <algorithm>
#include <cstring>

namespace afterbay::transport::shm {
namespace {

constexpr std::uint32_t more_follows = 1;   // the next part belongs to the same message
constexpr std::uint32_t skip_to_start = 2;  // no data from here to the end of the ring
constexpr std::size_t keep_assembly_bytes = 1u << 20;

struct PartHeader {
  std::uint32_t bytes;
  std::uint32_t flags;
};
static_assert(sizeof(PartHeader) == 8);

constexpr std::uint64_t ring_bytes_of(std::uint64_t payload) {
  return sizeof(PartHeader) + (payload + 7) / 8 * 8;
}

}  // namespace

RingWriter::RingWriter(RingCursor& cursor, std::span<std::byte> ring)
    : cursor_(cursor), ring_(ring), most_part_(ring.size() / 4 - sizeof(PartHeader)) {}

bool RingWriter::has_room(std::uint64_t bytes) {
  if (written_ + bytes - read_seen_ <= ring_.size()) return true;
  read_seen_ = cursor_.read.load(std::memory_order_seq_cst);
  return written_ + bytes - read_seen_ <= ring_.size();
}

void RingWriter::put(std::span<const std::byte> part, std::uint32_t flags) {
  const PartHeader header{static_cast<std::uint32_t>(part.size()), flags};
  std::byte* at = ring_.data() + written_ % ring_.size();
  std::memcpy(at, &header, sizeof header);
  if (!part.empty()) std::memcpy(at + sizeof header, part.data(), part.size());
  written_ += ring_bytes_of(part.size());
}

std::size_t RingWriter::write(std::span<const std::byte> message, std::size_t from) {
  done_ = false;
  do {
    const std::size_t bytes = std::min<std::size_t>(message.size() - from, most_part_);
    const std::uint64_t to_end = ring_.size() - written_ % ring_.size();
    const std::uint64_t skipped = ring_bytes_of(bytes) > to_end ? to_end : 0;
    if (!has_room(skipped + ring_bytes_of(bytes))) break;
    if (skipped != 0) {
      put({}, skip_to_start);
      written_ += skipped - sizeof(PartHeader);
    }
    done_ = from + bytes == message.size();
    put(message.subspan(from, bytes), done_ ? 0 : more_follows);
    from += bytes;
    cursor_.written.store(written_, std::memory_order_release);
  } while (!done_);
  return from;
}

RingReader::RingReader(RingCursor& cursor, std::span<std::byte> ring, std::atomic<std::uint32_t>& is_full,
                       EventCount& bell)
    : cursor_(cursor), ring_(ring), is_full_(is_full), bell_(bell) {}

void RingReader::advance(std::uint64_t bytes) {
  read_ += bytes;
  cursor_.read.store(read_, std::memory_order_seq_cst);
  if (is_full_.load(std::memory_order_seq_cst) != 0) bell_.ring();
}

bool RingReader::step() {
  if (cursor_.written.load(std::memory_order_acquire) == read_) return false;
  const std::uint64_t at = read_ % ring_.size();
  PartHeader header{};
  std::memcpy(&header, ring_.data() + at, sizeof header);
  if (header.flags == skip_to_start) {
    advance(ring_.size() - at);
    return true;
  }
  const std::span<const std::byte> part = ring_.subspan(at + sizeof header, header.bytes);
  if (header.flags != more_follows && assembly_.empty()) {
    current_ = part;
    pending_ = ring_bytes_of(header.bytes);
    return true;
  }
  assembly_.insert(assembly_.end(), part.begin(), part.end());
  advance(ring_bytes_of(header.bytes));
  if (header.flags != more_follows) current_ = assembly_;
  return true;
}

std::optional<std::span<const std::byte>> RingReader::front() {
  while (!current_ && step()) {
  }
  return current_;
}

void RingReader::pop() {
  if (!current_) return;
  if (pending_ != 0) advance(pending_);
  pending_ = 0;
  current_.reset();
  assembly_.clear();
  if (assembly_.capacity() > keep_assembly_bytes) assembly_.shrink_to_fit();
}

}  // namespace afterbay::transport::shm
