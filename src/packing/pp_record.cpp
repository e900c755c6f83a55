// SPDX-License-Identifier: Apache-2.0
#include "packing/pp_record.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "packing/big_endian.hpp"

namespace afterbay::packing {
namespace {

constexpr std::size_t most_record_bytes = std::numeric_limits<std::int32_t>::max();
constexpr auto float_missing = static_cast<float>(um_missing);
constexpr float not_packed = -99.0F;
constexpr std::int32_t integer_type = 2;
constexpr std::int32_t logical_type = 3;

bool has_integers(const PpHeader& header) {
  // Negative types are those of time series.
  const std::int32_t type = header[PpInteger::lbuser1];
  return type == integer_type || type == logical_type || type == -integer_type || type == -logical_type;
}

FieldShape shape_of(const PpHeader& header) {
  const auto count = [&](PpInteger word) { return static_cast<std::size_t>(std::max(0, header[word])); };
  return {count(PpInteger::lbrow), count(PpInteger::lbnpt)};
}

bool is_masked(PpPacking packing) { return packing == PpPacking::land || packing == PpPacking::sea; }

/// Whether a point of this packing is stored.
bool is_stored(PpPacking packing, std::uint8_t land) { return (land != 0) == (packing == PpPacking::land); }

template <class T>
class FieldEncoder {
 public:
  FieldEncoder(const PpHeader& header, std::span<const T> values, std::span<const std::uint32_t> extra,
               const PpEncoding& encoding)
      : header_(header), shape_(shape_of(header)), values_(values), extra_(extra), encoding_(encoding) {}

  Result<PpEncoded> encode_to(std::span<std::byte> to) {
    AFTERBAY_TRY(check(to.size()));
    return encode(to.data());
  }

 private:
  Result<> check(std::size_t room_bytes) const {
    if (shape_.rows * shape_.columns != values_.size() || values_.empty())
      return fail(ErrorCode::invalid_argument,
                  "the header has {} rows (LBROW) of {} points (LBNPT), but there are {} values", shape_.rows,
                  shape_.columns, values_.size());
    if (most_pp_bytes(shape_, extra_.size(), PpPacking::none) > most_record_bytes)
      return fail(
          ErrorCode::invalid_argument,
          "{} values are too many for a PP record, which has at most 2^31 - 1 bytes: divide the field",
          values_.size());
    if (has_integers(header_) && encoding_.packing == PpPacking::wgdos)
      return fail(ErrorCode::invalid_argument,
                  "integers and logical values (LBUSER1) cannot be packed by WGDOS: leave them unpacked");
    if (is_masked(encoding_.packing) && encoding_.land_mask.size() != values_.size())
      return fail(
          ErrorCode::invalid_argument,
          "packing by a land mask needs a mask of {} points, but it has {}: give the mask of the grid",
          values_.size(), encoding_.land_mask.size());
    const std::size_t most_bytes = most_pp_bytes(shape_, extra_.size(), encoding_.packing);
    if (room_bytes < most_bytes)
      return fail(ErrorCode::invalid_argument, "the field may need {} bytes, but there is room for {}",
                  most_bytes, room_bytes);
    return {};
  }

  Result<PpEncoded> encode(std::byte* to) {
    PpEncoded encoded;
    std::byte* const data = to + word_bytes + pp_header_bytes + 2 * word_bytes;
    std::size_t data_bytes = 0;
    if (encoding_.packing == PpPacking::wgdos) {
      const WgdosOptions options{encoding_.accuracy, encoding_.missing, encoding_.verify};
      auto packed = wgdos_pack(values_, shape_, options, {data, most_wgdos_bytes(shape_)});
      if (!packed) return fail(std::move(packed).error());
      data_bytes = packed->bytes;
      encoded.missing = packed->missing;
      encoded.largest_error = packed->largest_error;
      encoded.most_bits = packed->most_bits;
    } else {
      AFTERBAY_TRY_ASSIGN(data_bytes, encode_values(data, encoded));
    }
    for (std::size_t i = 0; i < extra_.size(); ++i) store_word(data + data_bytes + i * word_bytes, extra_[i]);
    data_bytes += extra_.size() * word_bytes;

    header_[PpInteger::lbpack] = static_cast<std::int32_t>(encoding_.packing);
    header_[PpInteger::lblrec] = static_cast<std::int32_t>(data_bytes / word_bytes);
    header_[PpInteger::lbext] = static_cast<std::int32_t>(extra_.size());
    header_[PpReal::bacc] =
        encoding_.packing == PpPacking::wgdos ? static_cast<float>(encoding_.accuracy) : not_packed;
    header_[PpReal::bmdi] = float_missing;
    store_word(to, pp_header_bytes);
    header_.write(std::span<std::byte, pp_header_bytes>(to + word_bytes, pp_header_bytes));
    store_word(to + word_bytes + pp_header_bytes, pp_header_bytes);
    store_word(data - word_bytes, static_cast<std::uint32_t>(data_bytes));
    store_word(data + data_bytes, static_cast<std::uint32_t>(data_bytes));
    encoded.bytes = static_cast<std::size_t>(data - to) + data_bytes + word_bytes;
    return encoded;
  }

  Result<std::size_t> encode_values(std::byte* to, PpEncoded& encoded) const {
    const bool masked = is_masked(encoding_.packing);
    const bool integers = has_integers(header_);
    const auto missing = static_cast<T>(encoding_.missing);
    const bool nan_is_missing = missing != missing;
    std::byte* next = to;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (masked && !is_stored(encoding_.packing, encoding_.land_mask[i])) continue;
      const T value = values_[i];
      const bool gone = value == missing || (value != value && nan_is_missing);
      const float stored = gone ? float_missing : static_cast<float>(value);
      encoded.missing += gone ? 1 : 0;
      if (!gone && stored == float_missing) return fail_missing(i);
      if (std::isinf(stored) && !std::isinf(value)) return fail_range(i, "float32");
      if (!gone && stored == stored && !std::isinf(stored))
        encoded.largest_error = std::max(encoded.largest_error,
                                         std::abs(static_cast<double>(stored) - static_cast<double>(value)));
      std::uint32_t word = std::bit_cast<std::uint32_t>(stored);
      if (integers) {
        const auto wide = static_cast<double>(gone ? static_cast<T>(um_missing) : value);
        if (!(std::abs(wide) <= 2147483647.0) || std::trunc(wide) != wide)
          return fail_range(i, "a 32-bit integer");
        word = static_cast<std::uint32_t>(static_cast<std::int32_t>(wide));
      }
      store_word(next, word);
      next += word_bytes;
    }
    return static_cast<std::size_t>(next - to);
  }

  std::string place(std::size_t i) const {
    return fmt::format("row {}, column {} (from 0): the value {}", i / shape_.columns, i % shape_.columns,
                       values_[i]);
  }
  tl::unexpected<Error> fail_missing(std::size_t i) const {
    return fail(ErrorCode::invalid_argument,
                "{} is the missing value of PP files (BMDI): if it is missing, give it as the missing value",
                place(i));
  }
  tl::unexpected<Error> fail_range(std::size_t i, const char* type) const {
    return fail(ErrorCode::invalid_argument, "{} is not in the range of {}, which the file stores", place(i),
                type);
  }

  PpHeader header_;
  FieldShape shape_;
  std::span<const T> values_;
  std::span<const std::uint32_t> extra_;
  PpEncoding encoding_;
};

/// A Fortran record at `begin`: its bytes without the two words of its length.
Result<std::span<const std::byte>> record_at(std::span<const std::byte> file, std::size_t begin,
                                             const char* what) {
  const auto damaged = [&](const std::string& problem) {
    return fail(ErrorCode::format, "byte {}: {} of a PP field {}: this is no PP file, or it is damaged",
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

float stored_value(const std::byte* word, bool integers) {
  const std::uint32_t bits = load_word(word);
  return integers ? static_cast<float>(static_cast<std::int32_t>(bits)) : std::bit_cast<float>(bits);
}

}  // namespace

Result<PpEncoded> encode_pp(const PpHeader& header, std::span<const float> values,
                            std::span<const std::uint32_t> extra, const PpEncoding& encoding,
                            std::span<std::byte> to) {
  return FieldEncoder<float>(header, values, extra, encoding).encode_to(to);
}

Result<PpEncoded> encode_pp(const PpHeader& header, std::span<const double> values,
                            std::span<const std::uint32_t> extra, const PpEncoding& encoding,
                            std::span<std::byte> to) {
  return FieldEncoder<double>(header, values, extra, encoding).encode_to(to);
}

std::size_t most_pp_bytes(const FieldShape& shape, std::size_t extra_words, PpPacking packing) noexcept {
  const std::size_t values =
      packing == PpPacking::wgdos ? most_wgdos_bytes(shape) : shape.rows * shape.columns * word_bytes;
  return 4 * word_bytes + pp_header_bytes + values + extra_words * word_bytes;
}

FieldShape PpField::shape() const noexcept { return shape_of(header); }

Result<PpField> read_pp(std::span<const std::byte> file, std::size_t begin) {
  AFTERBAY_TRY_ASSIGN(const auto words, record_at(file, begin, "the header"));
  if (words.size() != pp_header_bytes)
    return fail(
        ErrorCode::format,
        "byte {}: the header of a PP field has {} bytes, but {} are expected: this is no PP file of 32-bit "
        "words, or it is damaged",
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
  const PpHeader& header = field.header;
  const std::int32_t lbpack = header[PpInteger::lbpack];
  const FieldShape shape = field.shape();
  if (values.size() != shape.rows * shape.columns)
    return fail(ErrorCode::invalid_argument,
                "the PP field has {} rows of {} points, but there is room for {} values", shape.rows,
                shape.columns, values.size());
  if (lbpack % 1000 == static_cast<std::int32_t>(PpPacking::wgdos)) {
    AFTERBAY_TRY_ASSIGN(const WgdosHeader packed, wgdos_header(field.data));
    if (packed.shape != shape)
      return fail(ErrorCode::format,
                  "the header has {} rows of {} points, but the packed data have {} of {}: damaged",
                  shape.rows, shape.columns, packed.shape.rows, packed.shape.columns);
    return wgdos_unpack(field.data, values, missing);
  }
  const auto packing = static_cast<PpPacking>(lbpack % 1000);
  const bool masked = is_masked(packing);
  if (!masked && lbpack % 1000 != 0 && lbpack % 1000 != 2)
    return fail(ErrorCode::format,
                "the packing of the PP field (LBPACK) is {}: 0, 1, 2, 120 and 220 can be unpacked", lbpack);
  if (masked && land_mask.size() != values.size())
    return fail(ErrorCode::invalid_argument,
                "the PP field is packed by a land mask (LBPACK {}): give a mask of {} points, this has {}",
                lbpack, values.size(), land_mask.size());
  std::size_t stored = values.size();
  if (masked)
    stored = static_cast<std::size_t>(std::count_if(
        land_mask.begin(), land_mask.end(), [&](std::uint8_t land) { return is_stored(packing, land); }));
  if (field.data.size() < stored * word_bytes)
    return fail(ErrorCode::format,
                "the PP field has {} values, but its data record has {} bytes: it is damaged", stored,
                field.data.size());
  const bool integers = has_integers(header);
  const float file_missing = header[PpReal::bmdi];
  const auto caller_missing = static_cast<float>(missing);
  const std::byte* next = field.data.data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (masked && !is_stored(packing, land_mask[i])) {
      values[i] = caller_missing;
      continue;
    }
    const float value = stored_value(next, integers);
    values[i] = value == file_missing ? caller_missing : value;
    next += word_bytes;
  }
  return {};
}

}  // namespace afterbay::packing
