// SPDX-License-Identifier: Apache-2.0
#include "storage/input/chunk_filters.hpp"

#include <cstring>

#include "codec/deflate.hpp"
#include "codec/fletcher32.hpp"
#include "codec/shuffle.hpp"

namespace afterbay::storage {
namespace {

constexpr std::size_t checksum_room = 4;  ///< for one that was put before deflate

}  // namespace

Result<> ChunkFilters::decode(std::span<const std::byte> stored, std::uint32_t skipped,
                              std::span<std::byte> chunk, BufferPool& pool) const {
  std::vector<std::size_t> applied;
  std::size_t moving = 0;  // filters whose inverse writes elsewhere
  std::size_t summed = 0;  // checksums that are still in the bytes
  for (std::size_t i = 0; i < order.size(); ++i) {
    if ((skipped >> i & 1u) != 0) continue;
    applied.push_back(i);
    if (order[i] == ChunkFilter::fletcher32)
      ++summed;
    else
      ++moving;
  }
  BufferPool::Loan between;
  if (moving > 1) between = pool.borrow(chunk.size() + checksum_room);
  std::span<const std::byte> now = stored;
  for (; !applied.empty(); applied.pop_back()) {
    const ChunkFilter filter = order[applied.back()];
    if (filter == ChunkFilter::fletcher32) {
      AFTERBAY_TRY_ASSIGN(now, codec::check_fletcher32(now));
      --summed;
      continue;
    }
    // The last one writes into place; a checksum that is left then has no room there.
    const bool last = --moving == 0 && summed == 0;
    const std::size_t bytes = chunk.size() + summed * checksum_room;
    if (!last && between.bytes().size() < bytes) between = pool.borrow(bytes);
    const std::span<std::byte> to = last ? chunk : between.bytes().first(bytes);
    if (filter == ChunkFilter::deflate)
      AFTERBAY_TRY(codec::inflate(now, to));
    else
      AFTERBAY_TRY(codec::unshuffle(now, element_bytes, to));
    now = to;
  }
  if (now.data() == chunk.data()) return {};
  if (now.size() != chunk.size())
    return fail(ErrorCode::format, "a chunk of {} bytes where {} bytes are expected: the data are damaged",
                now.size(), chunk.size());
  std::memcpy(chunk.data(), now.data(), chunk.size());
  return {};
}

}  // namespace afterbay::storage
