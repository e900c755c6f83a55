// SPDX-License-Identifier: Apache-2.0
#include "packing/pp_record.hpp"

#include <limits>
#include <string>

#include "packing/big_endian.hpp"

namespace afterbay::packing {
namespace {

constexpr std::size_t most_record_bytes = std::numeric_limits<std::int32_t>::max();

template <class T>
Result<PpEncoded> encode_record(PpHeader header, std::span<const T> values,
                                std::span<const std::uint32_t> extra, const PpEncoding& encoding,
                                std::span<std::byte> to) {
  const FieldShape shape = shape_of(header);
  if (most_pp_bytes(shape, extra.size(), PpPacking::none) > most_record_bytes)
    return fail(ErrorCode::invalid_argument,
                "{} values are too many for a PP record, which has at most 2^31 - 1 bytes: divide the field",
                values.size());
  if (encoding.packing == PpPacking::bits32 || encoding.packing == PpPacking::land32 ||
      encoding.packing == PpPacking::sea32)
    return fail(ErrorCode::invalid_argument,
                "PP files have words of 32 bits, so that values are not packed to 32 bits: give no packing");
  const std::size_t most_bytes = most_pp_bytes(shape, extra.size(), encoding.packing);
  if (to.size() < most_bytes)
    return fail(ErrorCode::invalid_argument, "the field may need {} bytes, but there is room for {}",
                most_bytes, to.size());
  std::byte* const data = to.data() + word_bytes + pp_header_bytes + 2 * word_bytes;
  AFTERBAY_TRY_ASSIGN(PpEncoded encoded,
                      encode_values(header, values, encoding, word_bytes,
                                    std::span(data, most_value_bytes(shape, encoding.packing, word_bytes))));
  std::size_t data_bytes = encoded.bytes;
  for (const std::uint32_t word : extra) {
    store_word(data + data_bytes, word);
    data_bytes += word_bytes;
  }
  header[PpInteger::lblrec] = static_cast<std::int32_t>(data_bytes / word_bytes);
  header[PpInteger::lbext] = static_cast<std::int32_t>(extra.size());
  store_word(to.data(), pp_header_bytes);
  header.write(std::span<std::byte, pp_header_bytes>(to.data() + word_bytes, pp_header_bytes));
  store_word(to.data() + word_bytes + pp_header_bytes, pp_header_bytes);
  store_word(data - word_bytes, static_cast<std::uint32_t>(data_bytes));
  store_word(data + data_bytes, static_cast<std::uint32_t>(data_bytes));
  encoded.bytes = static_cast<std::size_t>(data - to.data()) + data_bytes + word_bytes;
  return encoded;
}

/// A Fortran record at `begin`: its bytes without the two words of its length.
Result<std::span<const std::byte>> record_at(std::span<const std::byte> file, std::size_t begin,
                                             const char* what) {
  const auto damaged = [&](const std::string& problem) {
    return fail(ErrorCode::format, "byte {}: {} of a PP field {}: this is not a PP file, or it is damaged",
                begin, what, problem);
  };
  if (begin > file.size() || file.size() - begin < 2 * word_bytes) return damaged("is cut off");
  const std::size_t length = load_word(file.data() + begin);
  if (length > file.size() - begin - 2 * word_bytes)
    return damaged(
        fmt::format("has {} bytes, but {} are left", length, file.size() - begin - 2 * word_bytes));
  const std::size_t after = load_word(file.data() + begin + word_bytes + length);
  if (after != length)
    return damaged(fmt::format("has {} bytes by its beginning, but {} by its end", length, after));
  return file.subspan(begin + word_bytes, length);
}

}  // namespace

Result<PpEncoded> encode_pp(const PpHeader& header, std::span<const float> values,
                            std::span<const std::uint32_t> extra, const PpEncoding& encoding,
                            std::span<std::byte> to) {
  return encode_record(header, values, extra, encoding, to);
}

Result<PpEncoded> encode_pp(const PpHeader& header, std::span<const double> values,
                            std::span<const std::uint32_t> extra, const PpEncoding& encoding,
                            std::span<std::byte> to) {
  return encode_record(header, values, extra, encoding, to);
}

std::size_t most_pp_bytes(const FieldShape& shape, std::size_t extra_words, PpPacking packing) noexcept {
  return 4 * word_bytes + pp_header_bytes + most_value_bytes(shape, packing, word_bytes) +
         extra_words * word_bytes;
}

FieldShape PpField::shape() const noexcept { return shape_of(header); }

Result<PpField> read_pp(std::span<const std::byte> file, std::size_t begin) {
  AFTERBAY_TRY_ASSIGN(const auto words, record_at(file, begin, "the header"));
  if (words.size() != pp_header_bytes)
    return fail(ErrorCode::format,
                "byte {}: the header of a PP field has {} bytes, but {} are expected: this is not a PP file "
                "of 32-bit words, or it is damaged",
                begin, words.size(), pp_header_bytes);
  PpField field;
  field.header = PpHeader::read(words.first<pp_header_bytes>());
  const std::size_t data_begin = begin + pp_header_bytes + 2 * word_bytes;
  AFTERBAY_TRY_ASSIGN(field.data, record_at(file, data_begin, "the data record"));
  field.end = data_begin + field.data.size() + 2 * word_bytes;
  const std::int32_t extra = field.header[PpInteger::lbext];
  if (extra < 0 || static_cast<std::size_t>(extra) * word_bytes > field.data.size())
    return fail(
        ErrorCode::format,
        "byte {}: a PP field has {} words of extra data (LBEXT), but its data record has {} bytes: damaged",
        begin, extra, field.data.size());
  const std::size_t extra_bytes = static_cast<std::size_t>(extra) * word_bytes;
  field.extra = field.data.last(extra_bytes);
  field.data = field.data.first(field.data.size() - extra_bytes);
  return field;
}

Result<> decode_pp(const PpField& field, std::span<float> values, double missing,
                   std::span<const std::uint8_t> land_mask) {
  return decode_values(field.header, field.data, word_bytes, values, missing, land_mask);
}

}  // namespace afterbay::packing
