// SPDX-License-Identifier: Apache-2.0
// Polynomials over GF(2) modulo the generator, as 64-bit numbers whose highest bit is the constant
// term. Sources: ECMA-182 (1992), annex B, for the generator; V. Gopal et al., "Fast CRC
// Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009, for the folding; M.
// E. Kounavis and F. L. Berry, "A Systematic Approach to Building High Performance Software-Based
// CRC Generators", 2005, for the tables.
#include "base/crc64.hpp"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace afterbay {
namespace {

constexpr std::uint64_t generator = 0xc96c5795d7870f42;
constexpr std::uint64_t one = std::uint64_t{1} << 63;

// Without branches, because the multiplied values are effectively random.
constexpr std::uint64_t times_x(std::uint64_t a) noexcept { return a >> 1 ^ (generator & (0 - (a & 1))); }

constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  for (; a != 0; a <<= 1, b = times_x(b)) sum ^= b & (0 - (a >> 63));
  return sum;
}

/// x to the power 2^n, for each bit n of a number of bits of the file.
constexpr auto powers = [] {
  std::array<std::uint64_t, 67> table{};
  table[0] = one >> 1;
  for (std::size_t n = 1; n < table.size(); ++n) table[n] = product(table[n - 1], table[n - 1]);
  return table;
}();

constexpr std::uint64_t x_to_bytes(std::uint64_t bytes) noexcept {
  std::uint64_t power = one;
  for (std::size_t n = 3; bytes != 0; ++n, bytes >>= 1)
    if ((bytes & 1) != 0) power = product(powers[n], power);
  return power;
}

/// tables[k][b]: the effect of byte b after k more bytes have followed.
constexpr auto tables = [] {
  std::array<std::array<std::uint64_t, 256>, 8> all{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    std::uint64_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = times_x(rest);
    all[0][byte] = rest;
  }
  for (std::size_t k = 1; k < all.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      all[k][byte] = all[k - 1][byte] >> 8 ^ all[0][all[k - 1][byte] & 0xff];
  return all;
}();

std::uint64_t by_tables(std::uint64_t state, std::span<const std::byte> bytes) noexcept {
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t next = 0;
    std::memcpy(&next, bytes.data(), sizeof next);
    if constexpr (std::endian::native == std::endian::big) next = __builtin_bswap64(next);
    state ^= next;
    std::uint64_t rest = 0;
    for (std::size_t k = 8; k-- > 0; state >>= 8) rest ^= tables[k][state & 0xff];
    state = rest;
  }
  for (const std::byte byte : bytes)
    state = state >> 8 ^ tables[0][(state ^ std::to_integer<unsigned>(byte)) & 0xff];
  return state;
}

#if defined(__x86_64__)

constexpr std::size_t lanes = 8;
constexpr std::size_t lane_bytes = 16;
constexpr std::size_t turn_bytes = lanes * lane_bytes;  ///< two cache lines
/// Prefetch distance, also across page boundaries, where the processor does not prefetch by itself:
/// half as fast again for data that are not in a cache.
constexpr std::size_t ahead_bytes = 2048;

/// Factors by which the two halves of 16 bytes are multiplied to move them that many bytes ahead.
/// The product of two such numbers is multiplied by x once more, hence one bit less.
constexpr std::array<std::uint64_t, 2> fold_factors(std::uint64_t bytes) noexcept {
  const auto bits_less_one = [](std::uint64_t some_bytes) {
    std::uint64_t power = x_to_bytes(some_bytes - 1);
    for (int bit = 0; bit < 7; ++bit) power = times_x(power);
    return power;
  };
  return {bits_less_one(bytes + 8), bits_less_one(bytes)};
}

__attribute__((target("pclmul,sse4.1"))) inline __m128i folded(__m128i value, __m128i factors) noexcept {
  return _mm_xor_si128(_mm_clmulepi64_si128(value, factors, 0x00),
                       _mm_clmulepi64_si128(value, factors, 0x11));
}

__attribute__((target("pclmul,sse4.1"))) inline __m128i loaded(const void* from) noexcept {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

/// Eight lanes of 16 bytes at a time, because the multiplier can process several at once.
__attribute__((target("pclmul,sse4.1"))) std::uint64_t by_folding(std::uint64_t state,
                                                                  std::span<const std::byte> bytes) noexcept {
  static constexpr auto turn_factors = fold_factors(turn_bytes);
  static constexpr auto lane_factors = fold_factors(lane_bytes);
  const __m128i by_turn = loaded(turn_factors.data());
  const __m128i by_lane = loaded(lane_factors.data());
  __m128i lane[lanes];
  for (std::size_t i = 0; i < lanes; ++i) lane[i] = loaded(bytes.data() + i * lane_bytes);
  lane[0] = _mm_xor_si128(lane[0], _mm_cvtsi64_si128(static_cast<long long>(state)));
  for (bytes = bytes.subspan(turn_bytes); bytes.size() >= turn_bytes; bytes = bytes.subspan(turn_bytes)) {
    __builtin_prefetch(bytes.data() + ahead_bytes);
    __builtin_prefetch(bytes.data() + ahead_bytes + turn_bytes / 2);
    for (std::size_t i = 0; i < lanes; ++i)
      lane[i] = _mm_xor_si128(folded(lane[i], by_turn), loaded(bytes.data() + i * lane_bytes));
  }
  __m128i rest = lane[0];
  for (std::size_t i = 1; i < lanes; ++i) rest = _mm_xor_si128(folded(rest, by_lane), lane[i]);
  std::array<std::byte, lane_bytes> last;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(last.data()), rest);
  return by_tables(by_tables(0, last), bytes);
}

bool can_fold() noexcept {
  static const bool can = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  return can;
}

#endif

}  // namespace

std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t before) noexcept {
#if defined(__x86_64__)
  if (bytes.size() >= 2 * turn_bytes && can_fold()) return ~by_folding(~before, bytes);
#endif
  return ~by_tables(~before, bytes);
}

std::uint64_t joined_crc64(std::uint64_t first, std::uint64_t second, std::uint64_t second_bytes) noexcept {
  return product(x_to_bytes(second_bytes), first) ^ second;
}

}  // namespace afterbay
