// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/staging.hpp"

#include <algorithm>
#include <numeric>

#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::size_t most_small_segments = 256;
constexpr std::uint64_t least_allocated_bytes = 64u << 10;

/// Numbers that end with `first`: the last of a list is taken first.
std::vector<std::uint32_t> descending(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.rbegin(), numbers.rend(), first);
  return numbers;
}

std::size_t small_segments_for(std::size_t links) noexcept {
  return std::min(2 * std::max<std::size_t>(links, 1), most_small_segments);
}

/// Messages between servers must be prompt.
std::uint64_t small_bytes_for(const LinkSizes& sizes, bool large) noexcept {
  return large ? small_segment_bytes : std::min(small_segment_bytes, sizes.prompt_bytes);
}

}  // namespace

std::uint64_t allocation_for(std::uint64_t bytes, std::uint64_t allocated, std::uint64_t capacity) noexcept {
  return std::min(std::max({bytes, 2 * allocated, least_allocated_bytes}), capacity);
}

Result<std::shared_ptr<Staging>> Staging::make(const LinkSizes& sizes, std::size_t links, bool large) {
  const std::shared_ptr<Staging> made(new Staging);
  made->links_ = std::max<std::size_t>(links, 1);
  made->small_bytes_ = small_bytes_for(sizes, large);
  made->small_ = static_cast<std::uint32_t>(small_segments_for(made->links_));
  made->large_bytes_ = segment_capacity(sizes);
  made->large_ = large ? sizes.segments : 0;
  AFTERBAY_TRY_ASSIGN(made->memory_, shm::Mapping::anonymous(made->small_ * made->small_bytes_ +
                                                             made->large_ * made->large_bytes_));
  made->free_small_ = descending(0, made->small_);
  made->free_large_ = descending(made->small_, made->large_);
  made->allocated_.resize(made->small_ + made->large_);
  return made;
}

std::uint64_t Staging::most_bytes(const LinkSizes& sizes, std::size_t links, bool large) noexcept {
  return small_segments_for(links) * small_bytes_for(sizes, large) +
         (large ? sizes.segments * segment_capacity(sizes) : 0);
}

SegmentMemory Staging::segment(std::uint32_t number) const noexcept {
  if (number < small_) return {memory_.data() + number * small_bytes_, small_bytes_, number, false, 0};
  const std::uint64_t at = small_ * small_bytes_ + (number - small_) * large_bytes_;
  return {memory_.data() + at, large_bytes_, number, true, 0};
}

std::optional<SegmentMemory> Staging::take_from(std::vector<std::uint32_t>& free) {
  if (free.empty()) return std::nullopt;
  const std::uint32_t number = free.back();
  free.pop_back();
  return segment(number);
}

std::optional<SegmentMemory> Staging::take(const SegmentRequest& request) {
  return lend(
      request, small_bytes_, links_ > 1, [this] { return take_from(free_small_); },
      [&](bool leave) -> std::optional<SegmentMemory> {
        if (request.bytes > large_bytes_ || free_large_.size() <= (leave ? 1U : 0U)) return std::nullopt;
        return take_from(free_large_);
      });
}

void Staging::give_back(const SegmentMemory& segment) {
  (segment.large ? free_large_ : free_small_).push_back(segment.number);
}

Result<void> Staging::allocate(const SegmentMemory& segment, std::uint64_t bytes) {
  std::uint64_t& allocated = allocated_[segment.number];
  if (bytes <= allocated) return {};
  const std::uint64_t to = allocation_for(bytes, allocated, segment.capacity);
  const auto at = static_cast<std::uint64_t>(segment.data - memory_.data());
  AFTERBAY_TRY(memory_.allocate({{at + allocated, to - allocated}}));
  allocated = to;
  return {};
}

std::uint64_t Staging::allocated_bytes() const noexcept {
  return std::accumulate(allocated_.begin(), allocated_.end(), std::uint64_t{0});
}

}  // namespace afterbay::transport::network
