// SPDX-License-Identifier: Apache-2.0
// Fields files of the Unified Model: a fixed-length header, constants, a lookup of 64 words per
// field, and values, which begin at sectors. All words have 64 bits and are big-endian; addresses
// in the fixed-length header count words from 1. Source: Unified Model Documentation Paper F3,
// sections 1 to 4. Pure functions on memory, which any thread may call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "packing/big_endian.hpp"
#include "packing/field_values.hpp"
#include "packing/pp_header.hpp"

namespace afterbay::packing {

inline constexpr std::size_t lookup_words = pp_integers + pp_reals;
/// Values begin and end at multiples of it.
inline constexpr std::size_t sector_words = 512;
inline constexpr std::size_t sector_bytes = sector_words * wide_word_bytes;
inline constexpr std::size_t fixed_header_words = 256;
inline constexpr std::size_t fixed_header_bytes = fixed_header_words * wide_word_bytes;
/// Numbers of constants. Source: F3, appendix; the public library mule and its checks.
inline constexpr std::size_t integer_constants = 46;
inline constexpr std::size_t real_constants = 38;
inline constexpr std::size_t level_constants = 8;  ///< kinds of constants per level
inline constexpr std::size_t axis_constants = 2;   ///< kinds per row and per column
inline constexpr std::int64_t file_version = 20;   ///< version of the format
/// A missing integer of the fixed-length header and of constants.
inline constexpr std::int64_t um_missing_integer = -32768;

/// Words of the fixed-length header; the value is the word's number.
enum class FileWord : std::uint16_t {
  version = 1,        ///< version of the format: 20
  sub_model = 2,      ///< 1 atmosphere, 2 ocean, 4 wave
  vertical = 3,       ///< 1 hybrid, 2 sigma, 3 pressure, 4 depth, 5 hybrid height
  horizontal = 4,     ///< 0 the globe, 3 a part, 4 a part around the globe; + 100: a rotated pole
  dataset = 5,        ///< 3: a fields file
  run = 6,            ///< identifier
  experiment = 7,     ///< number
  calendar = 8,       ///< as in LBTIM
  staggering = 9,     ///< staggering of the grid: 3 New Dynamics, 6 ENDGame
  projection = 11,    ///< number
  model = 12,         ///< version of the Unified Model as in 1201
  first_time = 21,    ///< seven words: year to second, and the day of the year
  last_time = 28,     ///< seven words
  integers = 100,     ///< address of the integer constants; their number
  reals = 105,        ///< address of the real constants; their number
  levels = 110,       ///< constants of levels: address, levels, constants per level
  rows = 115,         ///< constants of rows: address, rows, constants per row
  columns = 120,      ///< constants of columns: address, columns, constants per column
  lookup = 150,       ///< address of the lookup
  entry_words = 151,  ///< words per entry of the lookup: 64
  entries = 152,      ///< number of them
  data = 160,         ///< address of the first values
  data_words = 161,   ///< words of all values
};

/// Plain data; missing integers at first.
class FixedHeader {
 public:
  FixedHeader() noexcept { words_.fill(um_missing_integer); }
  [[nodiscard]] std::int64_t operator[](FileWord word) const noexcept { return words_[index(word)]; }
  [[nodiscard]] std::int64_t& operator[](FileWord word) noexcept { return words_[index(word)]; }
  /// A word without a name here, counted from 1.
  void set(std::size_t number, std::int64_t value) noexcept { words_[number - 1] = value; }
  [[nodiscard]] std::int64_t get(std::size_t number) const noexcept { return words_[number - 1]; }

  void write(std::span<std::byte, fixed_header_bytes> to) const noexcept;
  static FixedHeader read(std::span<const std::byte, fixed_header_bytes> from) noexcept;

 private:
  static std::size_t index(FileWord word) noexcept { return static_cast<std::size_t>(word) - 1; }

  std::array<std::int64_t, fixed_header_words> words_{};
};

/// What a file says of its grid and levels before the lookup. Numbers that nobody knows are missing
/// ones.
struct FileConstants {
  FixedHeader header;
  std::array<std::int64_t, integer_constants> integers{};
  std::array<double, real_constants> reals{};
  /// Per kind of constant one value per level, row or column, all of the same length.
  std::vector<std::vector<double>> levels;
  std::vector<std::vector<double>> rows;     ///< empty: regular
  std::vector<std::vector<double>> columns;  ///< empty: regular

  FileConstants() noexcept;
};

/// The bytes of a file up to its lookup, which has room for `entries` entries; values begin in the
/// sector after it. The header has the addresses, but no version: readers refuse the file until it
/// is complete and has `file_version`.
std::vector<std::byte> front_of(FileConstants constants, std::uint64_t entries);

/// A field as Afterbay writes it: the values; zeros up to the end of a sector; and in the last 512
/// bytes of that sector the field's entry of the lookup, so that a file that was not finished
/// can be (`LBNREC` may leave these bytes out). In this copy LBEGIN is the number of words of the
/// whole message, so that it does not depend on its position.
std::size_t most_message_bytes(const FieldShape& shape, PpPacking packing) noexcept;

/// Writes a message to `to`, which has at least most_message_bytes bytes. `header` is what
/// describe_pp filled, without extra data; the words on the values are set here: LBLREC, LBNREC,
/// LBEGIN, LBPACK, BACC, BMDI, and LBROW and LBNPT of fields of land or sea points, which are 0
/// (F3). Fails as encode_values.
Result<PpEncoded> encode_message(PpHeader header, std::span<const float> values, const PpEncoding& encoding,
                                 std::span<std::byte> to);
Result<PpEncoded> encode_message(PpHeader header, std::span<const double> values, const PpEncoding& encoding,
                                 std::span<std::byte> to);

/// The copy of its entry in a message.
inline std::span<std::byte, lookup_bytes> entry_of(std::span<std::byte> message) noexcept {
  return message.last<lookup_bytes>();
}

/// A field of a file in memory; a view of its bytes.
struct FileField {
  PpHeader header;                  ///< LBEGIN only if it has 32 bits
  std::uint64_t begin = 0;          ///< byte of the file
  std::span<const std::byte> data;  ///< values

  /// By LBROW and LBNPT: 0 of land or sea points.
  [[nodiscard]] FieldShape shape() const noexcept { return shape_of(header); }
};

/// The fixed-length header of a file. Safe with any bytes: fails with format if they are not a
/// fields file of 64-bit words, or if the lookup is not in the file.
Result<FixedHeader> read_fixed_header(std::span<const std::byte> file);
/// The number of entries of the lookup, unused ones included.
std::uint64_t entries_of(const FixedHeader& header) noexcept;
/// Whether the entry is unused, as the UM leaves some of them.
bool is_unused(std::span<const std::byte> file, const FixedHeader& header, std::uint64_t entry);
/// The field of an entry that is used. Safe with any bytes: fails with format if its values are not
/// in the file.
Result<FileField> read_field(std::span<const std::byte> file, const FixedHeader& header, std::uint64_t entry);
/// Unpacks the values of a field, as decode_values.
Result<> decode_field(const FileField& field, std::span<double> values, double missing = um_missing,
                      std::span<const std::uint8_t> land_mask = {});

}  // namespace afterbay::packing
