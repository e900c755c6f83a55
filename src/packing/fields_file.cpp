// SPDX-License-Identifier: Apache-2.0
#include "packing/fields_file.hpp"

#include <algorithm>
#include <bit>

#include "base/rounding.hpp"

namespace afterbay::packing {
namespace {

constexpr std::int64_t unused_entry = -99;
constexpr std::int64_t fields_file = 3;

std::int64_t word_at(std::span<const std::byte> bytes, std::size_t number) {
  return static_cast<std::int64_t>(load_wide_word(bytes.data() + (number - 1) * wide_word_bytes));
}

/// A word after the one that gives an address: a length.
FileWord after(FileWord address, int words) {
  return static_cast<FileWord>(static_cast<int>(address) + words);
}

/// Words one after the other.
class Words {
 public:
  [[nodiscard]] std::int64_t next_address() const {
    return static_cast<std::int64_t>(bytes_.size() / wide_word_bytes) + 1;
  }
  void add(std::int64_t integer) { add_bits(static_cast<std::uint64_t>(integer)); }
  void add(double real) { add_bits(std::bit_cast<std::uint64_t>(real)); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void add_bits(std::uint64_t bits) {
    bytes_.resize(bytes_.size() + wide_word_bytes);
    store_wide_word(bytes_.data() + bytes_.size() - wide_word_bytes, bits);
  }
  std::vector<std::byte> bytes_;
};

void add_table(Words& words, FixedHeader& header, FileWord address,
               const std::vector<std::vector<double>>& kinds) {
  if (kinds.empty()) return;
  header[address] = words.next_address();
  header[after(address, 1)] = static_cast<std::int64_t>(kinds.front().size());
  header[after(address, 2)] = static_cast<std::int64_t>(kinds.size());
  for (const std::vector<double>& kind : kinds)
    for (const double value : kind) words.add(value);
}

/// Words of LBLREC: 32-bit reals are counted as such.
std::size_t record_words(PpPacking packing, std::size_t bytes) {
  const bool narrow =
      packing == PpPacking::bits32 || packing == PpPacking::land32 || packing == PpPacking::sea32;
  return narrow ? bytes / word_bytes : rounded_up(bytes, wide_word_bytes) / wide_word_bytes;
}

template <class T>
Result<PpEncoded> encode_sectors(PpHeader header, std::span<const T> values, const PpEncoding& encoding,
                                 std::span<std::byte> to) {
  const std::size_t most_bytes = most_message_bytes(shape_of(header), encoding.packing);
  if (to.size() < most_bytes)
    return fail(ErrorCode::invalid_argument, "the field may need {} bytes, but there is room for {}",
                most_bytes, to.size());
  AFTERBAY_TRY_ASSIGN(PpEncoded encoded, encode_values(header, values, encoding, wide_word_bytes, to));
  const std::size_t message_bytes = rounded_up(encoded.bytes + lookup_bytes, sector_bytes);
  std::fill(to.begin() + static_cast<std::ptrdiff_t>(encoded.bytes),
            to.begin() + static_cast<std::ptrdiff_t>(message_bytes), std::byte{});
  header[PpInteger::lblrec] = static_cast<std::int32_t>(record_words(encoding.packing, encoded.bytes));
  header[PpInteger::lbnrec] =
      static_cast<std::int32_t>(rounded_up(encoded.bytes, sector_bytes) / wide_word_bytes);
  header[PpInteger::lbegin] = static_cast<std::int32_t>(message_bytes / wide_word_bytes);
  header[PpInteger::lbext] = 0;
  if (is_masked(encoding.packing)) header[PpInteger::lbrow] = header[PpInteger::lbnpt] = 0;
  header.write_lookup(entry_of(to.first(message_bytes)));
  encoded.bytes = message_bytes;
  return encoded;
}

Result<> check_word(const FixedHeader& header, FileWord word, std::int64_t wanted, const char* what) {
  if (header[word] == wanted) return {};
  return fail(
      ErrorCode::format,
      "word {} of the fixed-length header ({}) is {}, but {} is expected: this is not a fields file of "
      "64-bit words, or it is damaged",
      static_cast<int>(word), what, header[word], wanted);
}

std::span<const std::byte> entry_bytes(std::span<const std::byte> file, const FixedHeader& header,
                                       std::uint64_t entry) {
  const auto begin = static_cast<std::size_t>(header[FileWord::lookup] - 1) * wide_word_bytes;
  return file.subspan(begin + entry * lookup_bytes, lookup_bytes);
}

}  // namespace

void FixedHeader::write(std::span<std::byte, fixed_header_bytes> to) const noexcept {
  for (std::size_t i = 0; i < words_.size(); ++i)
    store_wide_word(to.data() + i * wide_word_bytes, static_cast<std::uint64_t>(words_[i]));
}

FixedHeader FixedHeader::read(std::span<const std::byte, fixed_header_bytes> from) noexcept {
  FixedHeader header;
  for (std::size_t i = 0; i < header.words_.size(); ++i)
    header.words_[i] = static_cast<std::int64_t>(load_wide_word(from.data() + i * wide_word_bytes));
  return header;
}

FileConstants::FileConstants() noexcept {
  integers.fill(um_missing_integer);
  reals.fill(um_missing);
  header[FileWord::sub_model] = 1;
  header[FileWord::dataset] = fields_file;
  header[FileWord::staggering] = 3;
}

std::vector<std::byte> front_of(FileConstants constants, std::uint64_t entries) {
  FixedHeader& header = constants.header;
  header[FileWord::version] = 0;
  Words words;
  for (std::size_t i = 0; i < fixed_header_words; ++i) words.add(std::int64_t{0});
  header[FileWord::integers] = words.next_address();
  header[after(FileWord::integers, 1)] = integer_constants;
  for (const std::int64_t integer : constants.integers) words.add(integer);
  header[FileWord::reals] = words.next_address();
  header[after(FileWord::reals, 1)] = real_constants;
  for (const double real : constants.reals) words.add(real);
  add_table(words, header, FileWord::levels, constants.levels);
  add_table(words, header, FileWord::rows, constants.rows);
  add_table(words, header, FileWord::columns, constants.columns);
  header[FileWord::lookup] = words.next_address();
  header[FileWord::entry_words] = lookup_words;
  header[FileWord::entries] = static_cast<std::int64_t>(entries);
  const std::uint64_t lookup_end =
      static_cast<std::uint64_t>(words.next_address()) - 1 + entries * lookup_words;
  header[FileWord::data] = static_cast<std::int64_t>(rounded_up(lookup_end, sector_words)) + 1;
  header[FileWord::data_words] = 0;
  std::vector<std::byte> bytes = words.take();
  header.write(std::span(bytes).first<fixed_header_bytes>());
  return bytes;
}

std::size_t most_message_bytes(const FieldShape& shape, PpPacking packing) noexcept {
  return rounded_up(most_value_bytes(shape, packing, wide_word_bytes) + lookup_bytes, sector_bytes);
}

Result<PpEncoded> encode_message(PpHeader header, std::span<const float> values, const PpEncoding& encoding,
                                 std::span<std::byte> to) {
  return encode_sectors(header, values, encoding, to);
}

Result<PpEncoded> encode_message(PpHeader header, std::span<const double> values, const PpEncoding& encoding,
                                 std::span<std::byte> to) {
  return encode_sectors(header, values, encoding, to);
}

Result<FixedHeader> read_fixed_header(std::span<const std::byte> file) {
  if (file.size() < fixed_header_bytes)
    return fail(ErrorCode::format,
                "the file has {} bytes, but the fixed-length header of a fields file has {}: this is not a "
                "fields file, or it is cut off",
                file.size(), fixed_header_bytes);
  const FixedHeader header = FixedHeader::read(file.first<fixed_header_bytes>());
  AFTERBAY_TRY(check_word(header, FileWord::version, file_version, "the version of the format"));
  AFTERBAY_TRY(check_word(header, FileWord::dataset, fields_file, "the kind of file"));
  AFTERBAY_TRY(check_word(header, FileWord::entry_words, lookup_words, "words per entry of the lookup"));
  const auto file_words = static_cast<std::int64_t>(file.size() / wide_word_bytes);
  const std::int64_t lookup = header[FileWord::lookup];
  const std::int64_t entries = header[FileWord::entries];
  if (lookup >= 1 && entries >= 0 && lookup - 1 <= file_words &&
      entries <= (file_words - (lookup - 1)) / static_cast<std::int64_t>(lookup_words))
    return header;
  return fail(ErrorCode::format,
              "the lookup has {} entries from word {} on, but the file has {} words: it is damaged", entries,
              lookup, file_words);
}

std::uint64_t entries_of(const FixedHeader& header) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, header[FileWord::entries]));
}

bool is_unused(std::span<const std::byte> file, const FixedHeader& header, std::uint64_t entry) {
  return word_at(entry_bytes(file, header, entry), static_cast<std::size_t>(PpInteger::lbyr)) == unused_entry;
}

Result<FileField> read_field(std::span<const std::byte> file, const FixedHeader& header,
                             std::uint64_t entry) {
  const std::span<const std::byte> bytes = entry_bytes(file, header, entry);
  const auto begin = static_cast<std::uint64_t>(word_at(bytes, static_cast<std::size_t>(PpInteger::lbegin)));
  const auto words = static_cast<std::uint64_t>(word_at(bytes, static_cast<std::size_t>(PpInteger::lbnrec)));
  const std::uint64_t file_words = file.size() / wide_word_bytes;
  if (begin > file_words || words > file_words - begin)
    return fail(
        ErrorCode::format,
        "entry {} (from 0) of the lookup: values are {} words from word {} on (LBNREC, LBEGIN), but the "
        "file has {}: it is damaged or cut off",
        entry, words, begin, file_words);
  FileField field;
  field.header = PpHeader::read_lookup(bytes.first<lookup_bytes>());
  field.begin = begin * wide_word_bytes;
  field.data = file.subspan(field.begin, words * wide_word_bytes);
  return field;
}

Result<> decode_field(const FileField& field, std::span<double> values, double missing,
                      std::span<const std::uint8_t> land_mask) {
  return decode_values(field.header, field.data, wide_word_bytes, values, missing, land_mask);
}

}  // namespace afterbay::packing
