// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "packing/big_endian.hpp"
#include "packing/ibm_float.hpp"
#include "packing/wgdos.hpp"
#include "packing/wgdos_rows.hpp"

namespace afterbay::packing {
namespace {

constexpr std::uint32_t top_bit = 0x80000000;

/// The first `count` bits of a word, from the highest; 1 to 32.
std::uint32_t first_bits(std::size_t count) { return ~0U << (32 - count); }

/// 32 bits from bit `begin` of a bitmap of so many words; beyond its end they are 0.
std::uint32_t bitmap_part(const std::byte* from, std::size_t begin, std::size_t words) {
  const std::size_t word = begin / 32;
  const auto shift = static_cast<unsigned>(begin % 32);
  const std::uint64_t high = load_word(from + word * word_bytes);
  const std::uint64_t low = word + 1 < words ? load_word(from + (word + 1) * word_bytes) : 0;
  return static_cast<std::uint32_t>((high << 32 | low) >> (32 - shift));
}

template <class T>
Result<> unpack_field(std::span<const std::byte> packed, std::span<T> values, double missing) {
  AFTERBAY_TRY_ASSIGN(const WgdosHeader header, wgdos_header(packed));
  const auto [rows, columns] = header.shape;
  if (values.size() != rows * columns)
    return fail(ErrorCode::invalid_argument,
                "the packed field has {} rows of {} columns, but there is room for {} values", rows, columns,
                values.size());
  RowUnpacker<T> unpacker(columns, header.accuracy, static_cast<T>(missing));
  const std::size_t words = header.bytes / word_bytes;
  std::size_t word = field_header_words;
  for (std::size_t row = 0; row < rows; ++row) {
    auto used =
        unpacker.unpack(packed.data() + word * word_bytes, words - word, values.data() + row * columns);
    if (!used)
      return fail(std::move(used.error().add(fmt::format("row {} (from 0) of a packed field", row))));
    word += *used;
  }
  return {};
}

}  // namespace

template <class T>
RowUnpacker<T>::RowUnpacker(std::size_t columns, int accuracy, T missing)
    : columns_(columns),
      scale_(std::ldexp(1.0, accuracy)),
      missing_(missing),
      integers_(whole_blocks(columns)),
      absent_((columns + 31) / 32),
      present_(columns) {}

template <class T>
Result<std::size_t> RowUnpacker<T>::unpack(const std::byte* from, std::size_t available, T* values) {
  if (available < row_header_words)
    return fail(ErrorCode::format, "the packed data end before the row: they are damaged or incomplete");
  const std::uint32_t head = load_word(from + word_bytes);
  const std::uint32_t flags = head >> 16;
  const Row row{.base = ibm_value(load_word(from)),
                .bits = flags & row_bits_mask,
                .maps = flags & ~row_bits_mask,
                .data = from + row_header_words * word_bytes,
                .words = head & 0xffff};
  if ((flags & ~row_flags) != 0)
    return fail(ErrorCode::format,
                "the flags of the row are {:#x}, but only {:#x} are defined: data are damaged", flags,
                row_flags);
  if (row.words > available - row_header_words)
    return fail(ErrorCode::format, "the row has {} words, but {} remain: the data are damaged or incomplete",
                row.words, available - row_header_words);
  AFTERBAY_TRY(check_range(row));
  AFTERBAY_TRY(row.maps == 0 ? unpack_all(row, values) : unpack_present(row, values));
  return row_header_words + row.words;
}

template <class T>
Result<> RowUnpacker<T>::check_range(const Row& row) const {
  if (stays_in_range<T>(row.base, scale_, row.bits)) return {};
  return fail(ErrorCode::format, "the base of the row is {:g}: values may exceed the range of float{}",
              row.base, sizeof(T) * 8);
}

template <class T>
Result<> RowUnpacker<T>::unpack_all(const Row& row, T* values) {
  if (row.bits == 0) {
    std::fill_n(values, columns_, static_cast<T>(row.base));
    return {};
  }
  const std::size_t needed = packed_integer_bytes(columns_, row.bits) / word_bytes;
  if (needed > row.words)
    return fail(ErrorCode::format, "{} values of {} bits need {} words, but the row has {}: data are damaged",
                columns_, row.bits, needed, row.words);
  unpack_integers(row.bits, row.data, columns_, integers_);
  kernels_.decode(integers_.data(), columns_, row.base, scale_, values);
  return {};
}

template <class T>
Result<> RowUnpacker<T>::unpack_present(const Row& row, T* values) {
  const std::size_t maps = static_cast<std::size_t>(std::popcount(row.maps));
  const std::size_t map_words = (maps * columns_ + 31) / 32;
  if (map_words > row.words)
    return fail(ErrorCode::format, "the bitmaps of the row need {} words, but it has {}: data are damaged",
                map_words, row.words);
  std::fill(absent_.begin(), absent_.end(), 0);
  std::size_t begin = 0;
  if ((row.maps & row_has_missing) != 0) apply_map(row.data, map_words, begin, 0, missing_, values);
  if ((row.maps & row_has_least) != 0)
    apply_map(row.data, map_words, begin, 0, static_cast<T>(row.base), values);
  if ((row.maps & row_has_zeros) != 0) apply_map(row.data, map_words, begin, ~0U, T{0}, values);

  std::size_t count = columns_;
  for (const std::uint32_t bits : absent_) count -= static_cast<std::size_t>(std::popcount(bits));
  if (row.bits == 0) {
    std::fill_n(present_.begin(), count, static_cast<T>(row.base));
  } else {
    const std::size_t needed = map_words + packed_integer_bytes(count, row.bits) / word_bytes;
    if (needed > row.words)
      return fail(ErrorCode::format,
                  "bitmaps and {} values of {} bits need {} words, but the row has {}: data are damaged",
                  count, row.bits, needed, row.words);
    unpack_integers(row.bits, row.data + map_words * word_bytes, count, integers_);
    kernels_.decode(integers_.data(), count, row.base, scale_, present_.data());
  }
  const T* next = present_.data();
  for (std::size_t group = 0; group < absent_.size(); ++group) {
    const std::size_t length = std::min<std::size_t>(32, columns_ - group * 32);
    std::uint32_t left = ~absent_[group] & first_bits(length);
    for (T* const to = values + group * 32; left != 0; left &= ~(top_bit >> std::countl_zero(left)))
      to[std::countl_zero(left)] = *next++;
  }
  return {};
}

/// Sets the points whose bit in the bitmap at `begin` differs from that in `inverted`.
template <class T>
void RowUnpacker<T>::apply_map(const std::byte* maps, std::size_t map_words, std::size_t& begin,
                               std::uint32_t inverted, T value, T* values) {
  for (std::size_t group = 0; group < absent_.size(); ++group) {
    const std::size_t length = std::min<std::size_t>(32, columns_ - group * 32);
    const std::uint32_t bits =
        (bitmap_part(maps, begin + group * 32, map_words) ^ inverted) & first_bits(length);
    absent_[group] |= bits;
    T* const to = values + group * 32;
    for (std::uint32_t left = bits; left != 0; left &= ~(top_bit >> std::countl_zero(left)))
      to[std::countl_zero(left)] = value;
  }
  begin += columns_;
}

template class RowUnpacker<float>;
template class RowUnpacker<double>;

Result<WgdosHeader> wgdos_header(std::span<const std::byte> packed) {
  if (packed.size() < field_header_words * word_bytes)
    return fail(ErrorCode::format, "{} bytes are too few for the header of a WGDOS field, which has {}",
                packed.size(), field_header_words * word_bytes);
  const std::uint32_t words = load_word(packed.data());
  const auto accuracy = static_cast<std::int32_t>(load_word(packed.data() + word_bytes));
  const std::uint32_t shape = load_word(packed.data() + 2 * word_bytes);
  if (words > packed.size() / word_bytes)
    return fail(ErrorCode::format, "the WGDOS field has {} words, but only {} are there: data are incomplete",
                words, packed.size() / word_bytes);
  const WgdosHeader header{words * word_bytes, accuracy, {shape & 0xffff, shape >> 16}};
  if (header.shape.rows == 0 || header.shape.columns == 0)
    return fail(ErrorCode::format, "the WGDOS field has {} rows and {} columns: its header is damaged",
                header.shape.rows, header.shape.columns);
  if (words < field_header_words + row_header_words * header.shape.rows)
    return fail(ErrorCode::format, "the WGDOS field has {} words, too few for {} rows: its header is damaged",
                words, header.shape.rows);
  if (accuracy < least_accuracy || accuracy > most_accuracy)
    return fail(
        ErrorCode::format,
        "the accuracy of the WGDOS field is 2^{}, but 2^{} to 2^{} is expected: its header is damaged",
        accuracy, least_accuracy, most_accuracy);
  return header;
}

Result<> wgdos_unpack(std::span<const std::byte> packed, std::span<float> values, double missing) {
  return unpack_field(packed, values, missing);
}

Result<> wgdos_unpack(std::span<const std::byte> packed, std::span<double> values, double missing) {
  return unpack_field(packed, values, missing);
}

}  // namespace afterbay::packing
