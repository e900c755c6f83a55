// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/file_checksum.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/crc64.hpp"
#include "storage/sealed.hpp"

namespace afterbay::storage {
namespace {

/// Neighbours are joined up to this size: larger parts would cost more to read again after an
/// overwrite.
constexpr std::uint64_t most_joined_bytes = 8u << 20;
constexpr std::uint64_t read_bytes = 1u << 20;
constexpr std::uint64_t no_layout = 0;  ///< sealed contents describe bytes, independent of the layout

}  // namespace

void FileChecksum::written(std::uint64_t offset, std::span<const std::byte> bytes) {
  written(offset, bytes.size(), crc64(bytes));
}

void FileChecksum::written(std::uint64_t offset, std::uint64_t size_bytes, std::uint64_t checksum) {
  if (size_bytes == 0) return;
  const MutexLock lock(mutex_);
  add(offset, {offset + size_bytes, checksum});
}

void FileChecksum::changed(std::uint64_t offset, std::uint64_t size_bytes) {
  if (size_bytes == 0) return;
  const MutexLock lock(mutex_);
  add(offset, {offset + size_bytes, std::nullopt});
}

void FileChecksum::cut(std::uint64_t size_bytes) {
  const MutexLock lock(mutex_);
  clear(size_bytes, std::numeric_limits<std::uint64_t>::max());
}

void FileChecksum::add(std::uint64_t begin, const Part& part) {
  clear(begin, part.end);
  const auto at = parts_.emplace(begin, part).first;
  join_next(at);
  if (at != parts_.begin()) join_next(std::prev(at));
}

/// Forgets what is known about these bytes; the remainder of a part that extends beyond them must
/// be read. Returns whether anything was known.
bool FileChecksum::clear(std::uint64_t begin, std::uint64_t end) {
  auto at = parts_.upper_bound(begin);
  if (at != parts_.begin() && std::prev(at)->second.end > begin) --at;
  bool any = false;
  while (at != parts_.end() && at->first < end) {
    const auto [first, part] = *at;
    at = parts_.erase(at);
    any = true;
    if (first < begin) parts_.emplace_hint(at, first, Part{begin, std::nullopt});
    if (part.end > end) parts_.emplace_hint(at, end, Part{part.end, std::nullopt});
  }
  return any;
}

/// Joins a part with the next one, if they are adjacent and joining is useful.
void FileChecksum::join_next(Parts::iterator part) {
  const auto next = std::next(part);
  if (next == parts_.end()) return;
  Part& it = part->second;
  const std::uint64_t next_bytes = next->second.end - next->first;
  if (it.end != next->first || it.checksum.has_value() != next->second.checksum.has_value()) return;
  if (it.checksum && it.end - part->first + next_bytes > most_joined_bytes) return;
  if (it.checksum) it.checksum = joined_crc64(*it.checksum, *next->second.checksum, next_bytes);
  it.end = next->second.end;
  parts_.erase(next);
}

Result<std::uint64_t> FileChecksum::finish(std::uint64_t size_bytes, const Read& read) const {
  const MutexLock lock(mutex_);
  std::uint64_t sum = crc64({});
  std::vector<std::byte> buffer;
  const auto read_until = [&](std::uint64_t from, std::uint64_t end) -> Result<> {
    for (; from < end; from += buffer.size()) {
      buffer.resize(std::min(read_bytes, end - from));
      AFTERBAY_TRY(read(from, buffer));
      sum = crc64(buffer, sum);
    }
    return {};
  };
  std::uint64_t done = 0;
  for (const auto& [begin, part] : parts_) {
    if (!part.checksum || part.end > size_bytes) continue;
    AFTERBAY_TRY(read_until(done, begin));
    sum = joined_crc64(sum, *part.checksum, part.end - begin);
    done = part.end;
  }
  AFTERBAY_TRY(read_until(done, size_bytes));
  return sum;
}

std::vector<std::byte> FileChecksum::sealed() const {
  const MutexLock lock(mutex_);
  SealedWriter writer(SealedKind::checksum, no_layout);
  writer.number(parts_.size());
  std::uint64_t end = 0;
  for (const auto& [begin, part] : parts_) {
    writer.number(begin - end);
    writer.number(part.end - begin);
    writer.number(part.checksum ? 1 : 0);
    if (part.checksum) writer.number(*part.checksum);
    end = part.end;
  }
  return std::move(writer).finish();
}

Result<> FileChecksum::take(std::span<const std::byte> sealed) {
  AFTERBAY_TRY_ASSIGN(SealedReader reader, SealedReader::open(sealed, SealedKind::checksum, no_layout));
  AFTERBAY_TRY_ASSIGN(const std::uint64_t count, reader.number());
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<Parts::value_type> taken;
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t gap, reader.number(most - end));
    AFTERBAY_TRY_ASSIGN(const std::uint64_t length, reader.number(most - end - gap));
    AFTERBAY_TRY_ASSIGN(const std::uint64_t known, reader.number(1));
    Part part{end + gap + length, std::nullopt};
    if (known == 1) {
      AFTERBAY_TRY_ASSIGN(part.checksum, reader.number());
    }
    if (length > 0) taken.emplace_back(end + gap, part);
    end = part.end;
  }
  AFTERBAY_TRY(reader.end());
  const MutexLock lock(mutex_);
  for (auto& [begin, part] : taken) {
    if (clear(begin, part.end)) part.checksum.reset();
    add(begin, part);
  }
  return {};
}

}  // namespace afterbay::storage
