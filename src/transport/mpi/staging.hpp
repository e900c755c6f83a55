// SPDX-License-Identifier: Apache-2.0
// Staging: a process's memory for segments on their way over MPI, shared by all of its links. A
// link takes a segment when it has something to send and gives it back once it has been sent:
// memory depends on what is in transit, not on the number of servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "transport/buffer_pool.hpp"
#include "transport/link.hpp"
#include "transport/shm/mapping.hpp"

namespace afterbay::transport::network {

/// The memory of a segment, lent to a link.
struct SegmentMemory {
  std::byte* data = nullptr;
  std::uint64_t capacity = 0;
  std::uint32_t number = 0;  ///< among all segments of the memory that it comes from
  bool large = false;        ///< can hold a whole frame
  std::uint64_t turn = 0;    ///< distinguishes it from the same memory lent at another time
};

/// What a link asks for.
struct SegmentRequest {
  std::uint64_t bytes = 0;  ///< bytes that the segment must hold
  bool prefers_large = false;
  std::size_t large_held = 0;  ///< number of large segments that the link has
  bool may_wait = false;       ///< the link asks again until it gets one
};

/// Lends a segment: a small one if that suffices and the link does not expect more, otherwise a
/// large one. `take_small` and `take_large(leave)` take a free one, if any; with `leave`, the link
/// has several large ones and leaves what other links need.
template <class TakeSmall, class TakeLarge>
std::optional<SegmentMemory> lend(const SegmentRequest& request, std::uint64_t small_bytes, bool shared,
                                  TakeSmall take_small, TakeLarge take_large) {
  constexpr std::size_t modest = 2;  // one that is sent while the other is filled
  const bool small_suffices = request.bytes <= small_bytes;
  if (small_suffices && !request.prefers_large)
    if (const auto small = take_small()) return small;
  if (const auto large = take_large(shared && request.large_held >= modest)) return large;
  return small_suffices ? take_small() : std::nullopt;
}

/// To how many bytes a segment is allocated if `bytes` are needed: at least twice as many as
/// before, so that few calls suffice.
std::uint64_t allocation_for(std::uint64_t bytes, std::uint64_t allocated, std::uint64_t capacity) noexcept;

/// Used by one thread.
class Staging {
 public:
  /// `links`: number of links that use it. Without `large` segments it is for messages only, in
  /// segments of at most LinkSizes::prompt_bytes.
  static Result<std::shared_ptr<Staging>> make(const LinkSizes& sizes, std::size_t links, bool large);

  /// The bytes of all segments; parameters as for `make`.
  static std::uint64_t most_bytes(const LinkSizes& sizes, std::size_t links, bool large) noexcept;

  /// Null: no such segment is free now. A link that has several large segments leaves the last free
  /// one to other links.
  std::optional<SegmentMemory> take(const SegmentRequest& request);
  void give_back(const SegmentMemory& segment);
  /// Allocates the first `bytes` of a segment. They stay allocated.
  Result<void> allocate(const SegmentMemory& segment, std::uint64_t bytes);

  /// Memory for the data messages that this process receives, shared by its links.
  [[nodiscard]] BufferPool& received() noexcept { return received_; }
  /// Three pieces of the usual size. A larger message is received if no other is.
  static constexpr std::uint64_t most_received_bytes = std::uint64_t{12} << 20;

  /// Size of the largest segments.
  [[nodiscard]] std::uint64_t capacity() const noexcept { return large_ != 0 ? large_bytes_ : small_bytes_; }
  /// Number of the largest segments.
  [[nodiscard]] std::size_t segments() const noexcept { return large_ != 0 ? large_ : small_; }
  /// Bytes that were allocated so far.
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;

 private:
  Staging() = default;
  [[nodiscard]] SegmentMemory segment(std::uint32_t number) const noexcept;
  std::optional<SegmentMemory> take_from(std::vector<std::uint32_t>& free);

  shm::Mapping memory_;
  std::uint64_t small_bytes_ = 0;
  std::uint64_t large_bytes_ = 0;
  std::uint32_t small_ = 0;  ///< number of small segments, which come first
  std::uint32_t large_ = 0;
  std::size_t links_ = 1;
  std::vector<std::uint32_t> free_small_;  ///< the last is taken first
  std::vector<std::uint32_t> free_large_;
  std::vector<std::uint64_t> allocated_;  ///< by segment: bytes from its begin
  BufferPool received_{most_received_bytes};
};

}  // namespace afterbay::transport::network
