// SPDX-License-Identifier: Apache-2.0
#include "storage/input/chunk_filters.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/deflate.hpp"
#include "codec/fletcher32.hpp"
#include "codec/shuffle.hpp"

namespace afterbay::storage {
namespace {

constexpr std::size_t checksum_bytes = 4;

/// The filters that were applied, in that order.
std::vector<ChunkFilter> applied_filters(const std::vector<ChunkFilter>& order, std::uint32_t skipped) {
  std::vector<ChunkFilter> applied;
  for (std::size_t i = 0; i < order.size(); ++i)
    if ((skipped >> i & 1u) == 0) applied.push_back(order[i]);
  return applied;
}

}  // namespace

Result<> ChunkFilters::decode(std::span<const std::byte> stored, std::uint32_t skipped,
                              std::span<std::byte> chunk, BufferPool& pool) const {
  std::vector<ChunkFilter> left = applied_filters(order, skipped);
  BufferPool::Loan source;  // what `now` lies in, when it is not `stored`
  std::span<const std::byte> now = stored;
  while (!left.empty()) {
    const ChunkFilter filter = left.back();
    left.pop_back();
    if (filter == ChunkFilter::fletcher32) {
      AFTERBAY_TRY_ASSIGN(now, codec::check_fletcher32(now));
      continue;
    }
    // What is last goes into place; a checksum that is left within has no room there.
    const bool summed = std::find(left.begin(), left.end(), ChunkFilter::fletcher32) != left.end();
    const std::size_t bytes = chunk.size() + (summed ? checksum_bytes : 0);
    BufferPool::Loan target;
    if (!left.empty()) target = pool.borrow(bytes);
    const std::span<std::byte> to = left.empty() ? chunk : target.bytes().first(bytes);
    if (filter == ChunkFilter::deflate)
      AFTERBAY_TRY(codec::inflate(now, to));
    else
      AFTERBAY_TRY(codec::unshuffle(now, element_bytes, to));
    now = to;
    source = std::move(target);
  }
  if (now.data() == chunk.data()) return {};
  if (now.size() != chunk.size())
    return fail(ErrorCode::format, "a chunk of {} bytes where {} bytes are expected: the data are damaged",
                now.size(), chunk.size());
  std::memcpy(chunk.data(), now.data(), chunk.size());
  return {};
}

}  // namespace afterbay::storage
