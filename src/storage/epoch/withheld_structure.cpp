// SPDX-License-Identifier: Apache-2.0
#include "storage/epoch/withheld_structure.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "storage/block_writer/block_writer.hpp"

namespace afterbay::storage {
namespace {

/// Damaged logs may contain positions beyond the last possible byte.
std::uint64_t end_of(std::uint64_t offset, std::uint64_t size_bytes) {
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  return size_bytes > last - offset ? last : offset + size_bytes;
}

}  // namespace

/// Makes a part begin at `offset`, if one extends across it.
void WithheldStructure::split(std::uint64_t offset) {
  const auto after = parts_.upper_bound(offset);
  if (after == parts_.begin()) return;
  const auto before = std::prev(after);
  const std::uint64_t first = offset - before->first;
  if (first == 0 || first >= before->second.size_bytes) return;
  parts_.emplace_hint(after, offset, Part{before->second.size_bytes - first, before->second.at + first});
  before->second.size_bytes = first;
}

void WithheldStructure::put(std::uint64_t offset, std::uint64_t size_bytes, std::uint64_t at) {
  if (size_bytes == 0) return;
  drop(offset, size_bytes);
  parts_.emplace(offset, Part{size_bytes, at});
}

void WithheldStructure::drop(std::uint64_t offset, std::uint64_t size_bytes) {
  const std::uint64_t end = end_of(offset, size_bytes);
  split(offset);
  split(end);
  parts_.erase(parts_.lower_bound(offset), parts_.lower_bound(end));
}

Result<> WithheldStructure::read(std::uint64_t offset, std::span<std::byte> bytes, const ReadLog& log) const {
  auto part = parts_.upper_bound(offset);
  if (part != parts_.begin()) --part;
  for (; part != parts_.end() && part->first < end_of(offset, bytes.size()); ++part) {
    const std::uint64_t begin = std::max(offset, part->first);
    const std::uint64_t end =
        std::min(end_of(offset, bytes.size()), end_of(part->first, part->second.size_bytes));
    if (begin >= end) continue;
    AFTERBAY_TRY(log(part->second.at + (begin - part->first), bytes.subspan(begin - offset, end - begin)));
  }
  return {};
}

Result<> WithheldStructure::settle(std::uint64_t cut, const ReadLog& log, BlockWriter& file) {
  std::vector<std::byte> bytes;
  for (auto part = parts_.begin(); part != parts_.end();) {
    if (part->second.at >= cut) {
      ++part;
      continue;
    }
    bytes.resize(part->second.size_bytes);
    AFTERBAY_TRY(log(part->second.at, bytes));
    AFTERBAY_TRY(file.write_structure(part->first, bytes));
    part = parts_.erase(part);
  }
  return {};
}

std::uint64_t WithheldStructure::end() const noexcept {
  return parts_.empty() ? 0 : end_of(parts_.rbegin()->first, parts_.rbegin()->second.size_bytes);
}

void ByteRanges::add(std::uint64_t offset, std::uint64_t size_bytes) {
  std::uint64_t end = offset + size_bytes;
  auto at = ends_.upper_bound(offset);
  if (at != ends_.begin() && std::prev(at)->second >= offset) --at;
  while (at != ends_.end() && at->first <= end) {
    offset = std::min(offset, at->first);
    end = std::max(end, at->second);
    at = ends_.erase(at);
  }
  ends_.emplace_hint(at, offset, end);
}

void ByteRanges::remove(std::uint64_t offset, std::uint64_t size_bytes) {
  const std::uint64_t end = offset + size_bytes;
  auto at = ends_.upper_bound(offset);
  if (at != ends_.begin()) --at;
  while (at != ends_.end() && at->first < end) {
    const auto [its_begin, its_end] = *at;
    if (its_end <= offset) {
      ++at;
      continue;
    }
    at = ends_.erase(at);
    if (its_begin < offset) ends_.emplace(its_begin, offset);
    if (its_end > end) ends_.emplace(end, its_end);
  }
}

ByteRanges::Gaps ByteRanges::gaps(std::uint64_t offset, std::uint64_t size_bytes) const {
  Gaps found;
  const std::uint64_t end = offset + size_bytes;
  auto at = ends_.upper_bound(offset);
  if (at != ends_.begin() && std::prev(at)->second > offset) --at;
  for (; offset < end && at != ends_.end() && at->first < end; ++at) {
    if (offset < at->first) found.emplace_back(offset, at->first);
    offset = std::max(offset, at->second);
  }
  if (offset < end) found.emplace_back(offset, end);
  return found;
}

bool ByteRanges::overlaps(std::uint64_t offset, std::uint64_t size_bytes) const {
  const auto after = ends_.lower_bound(offset + size_bytes);
  return after != ends_.begin() && std::prev(after)->second > offset;
}

}  // namespace afterbay::storage
