// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/crc64.hpp"
#include "parsers.hpp"
#include "storage/epoch/epoch_log.hpp"

namespace afterbay::test {
namespace {

constexpr std::size_t magic_bytes = 18;     // "afterbay epochs N\n"
constexpr std::size_t identity_bytes = 32;  // identity of the part file, with a checksum behind it
/// Head of a record: its kind, the bytes of the head and the bytes of all; then a checksum.
constexpr std::size_t numbers_bytes = 16;
constexpr std::size_t checksum_bytes = 8;

/// Gives the head and all records the checksums that fit: otherwise reading would end at the first
/// damage.
void seal(std::vector<std::byte>& log) {
  const auto put = [&](std::size_t at, std::uint64_t sum) { std::memcpy(log.data() + at, &sum, sizeof sum); };
  const std::span<const std::byte> all(log);
  std::size_t at = magic_bytes;
  if (log.size() < at + identity_bytes + checksum_bytes) return;
  put(at + identity_bytes, crc64(all.subspan(at, identity_bytes)));
  for (at += identity_bytes + checksum_bytes; log.size() - at >= numbers_bytes + checksum_bytes;) {
    std::uint64_t size = 0;
    std::memcpy(&size, log.data() + at + numbers_bytes - sizeof size, sizeof size);
    const std::size_t begin = at + numbers_bytes + checksum_bytes;
    size = std::min<std::uint64_t>(size, log.size() - begin);
    put(at + numbers_bytes, crc64(all.subspan(begin, size), crc64(all.subspan(at, numbers_bytes))));
    at = begin + size;
  }
}

}  // namespace

void parse_epoch_log(Bytes bytes) {
  std::vector<std::byte> log(bytes.begin(), bytes.end());
  seal(log);
  static_cast<void>(storage::read_epoch_log(file_with(log, "fuzzed.nc.part.epochs").string()));
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_epoch_log);
