// SPDX-License-Identifier: Apache-2.0
#include "packing/field_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "packing/big_endian.hpp"

namespace afterbay::packing {
namespace {

constexpr double not_packed = -99;
constexpr std::int32_t integer_type = 2;
constexpr std::int32_t logical_type = 3;

bool has_integers(const PpHeader& header) {
  // Negative types are those of time series.
  const std::int32_t type = header[PpInteger::lbuser1];
  return type == integer_type || type == logical_type || type == -integer_type || type == -logical_type;
}

/// The last digit of LBPACK is the packing of values; the two before it are land or sea points.
constexpr std::int32_t kinds_of_values = 10;

bool has_32_bits(PpPacking packing) {
  return static_cast<std::int32_t>(packing) % kinds_of_values == static_cast<std::int32_t>(PpPacking::bits32);
}

bool is_land(PpPacking packing) { return packing == PpPacking::land || packing == PpPacking::land32; }

/// Whether a point of this packing is stored.
bool is_stored(PpPacking packing, std::uint8_t land) { return (land != 0) == is_land(packing); }

/// Bytes of a value that is not packed by WGDOS.
std::size_t value_bytes(PpPacking packing, std::size_t word_size) {
  return has_32_bits(packing) ? word_bytes : word_size;
}

void store_value(std::byte* to, double real, bool wide) {
  if (wide) return store_wide_word(to, std::bit_cast<std::uint64_t>(real));
  store_word(to, std::bit_cast<std::uint32_t>(static_cast<float>(real)));
}

void store_value(std::byte* to, std::int64_t integer, bool wide) {
  if (wide) return store_wide_word(to, static_cast<std::uint64_t>(integer));
  store_word(to, static_cast<std::uint32_t>(integer));
}

template <class T>
class ValueEncoder {
 public:
  ValueEncoder(const PpHeader& header, std::span<const T> values, const PpEncoding& encoding,
               std::size_t word_size)
      : shape_(shape_of(header)),
        integers_(has_integers(header)),
        values_(values),
        encoding_(encoding),
        word_size_(word_size),
        wide_(value_bytes(encoding.packing, word_size) == wide_word_bytes) {}

  Result<PpEncoded> encode_to(std::span<std::byte> to) const {
    AFTERBAY_TRY(check(to.size()));
    if (encoding_.packing != PpPacking::wgdos)
      return integers_ ? integers_to(to.data()) : reals_to(to.data());
    const WgdosOptions options{encoding_.accuracy, encoding_.missing, encoding_.verify};
    AFTERBAY_TRY_ASSIGN(const PackedField packed,
                        wgdos_pack(values_, shape_, options, to.first(most_wgdos_bytes(shape_))));
    return PpEncoded{packed.bytes, packed.missing, packed.largest_error, packed.most_bits, packed.constant};
  }

 private:
  Result<> check(std::size_t room_bytes) const {
    if (shape_.rows * shape_.columns != values_.size() || values_.empty())
      return fail(ErrorCode::invalid_argument,
                  "the header has {} rows (LBROW) of {} points (LBNPT), but there are {} values", shape_.rows,
                  shape_.columns, values_.size());
    if (integers_ && encoding_.packing == PpPacking::wgdos)
      return fail(ErrorCode::invalid_argument,
                  "integers and logical values (LBUSER1) cannot be packed by WGDOS: leave them unpacked");
    if (integers_ && has_32_bits(encoding_.packing))
      return fail(ErrorCode::invalid_argument,
                  "integers and logical values (LBUSER1) cannot be packed to 32 bits: leave them unpacked");
    if (is_masked(encoding_.packing) && encoding_.land_mask.size() != values_.size())
      return fail(
          ErrorCode::invalid_argument,
          "packing by a land mask needs a mask of {} points, but it has {}: give the mask of the grid",
          values_.size(), encoding_.land_mask.size());
    if (is_masked(encoding_.packing) && !encoding_.drops_others) AFTERBAY_TRY(check_others());
    const std::size_t most_bytes = most_value_bytes(shape_, encoding_.packing, word_size_);
    if (room_bytes < most_bytes)
      return fail(ErrorCode::invalid_argument, "the field may need {} bytes, but there is room for {}",
                  most_bytes, room_bytes);
    return {};
  }

  /// Values at points that are not stored would be lost.
  Result<> check_others() const {
    const auto missing = static_cast<T>(encoding_.missing);
    std::size_t lost = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const T value = values_[i];
      if (!leaves_out(i) || value == missing || value != value) continue;
      if (lost++ == 0) first = i;
    }
    if (lost == 0) return {};
    const char* const points = is_land(encoding_.packing) ? "land" : "sea";
    return fail(ErrorCode::invalid_argument,
                "{} is not missing, but lies at no {} point of the mask and would be lost ({} such values): "
                "correct the mask (PP_mask), give the missing value there, or let PP_outside_mask be 'drop'",
                place(first), points, lost);
  }

  [[nodiscard]] bool leaves_out(std::size_t point) const {
    return is_masked(encoding_.packing) && !is_stored(encoding_.packing, encoding_.land_mask[point]);
  }

  Result<PpEncoded> reals_to(std::byte* to) const {
    const auto missing = static_cast<T>(encoding_.missing);
    const bool nan_is_missing = missing != missing;
    PpEncoded encoded;
    std::byte* next = to;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (leaves_out(i)) continue;
      const T value = values_[i];
      const bool gone = value == missing || (value != value && nan_is_missing);
      const double stored = gone    ? um_missing
                            : wide_ ? static_cast<double>(value)
                                    : static_cast<double>(static_cast<float>(value));
      encoded.missing += gone ? 1 : 0;
      if (!gone && stored == um_missing) return fail_missing(i);
      if (std::isinf(stored) && !std::isinf(value)) return fail_range(i, "float32");
      if (!gone && std::isfinite(stored))
        encoded.largest_error =
            std::max(encoded.largest_error, std::abs(stored - static_cast<double>(value)));
      store_value(next, stored, wide_);
      next += wide_ ? wide_word_bytes : word_bytes;
    }
    encoded.bytes = static_cast<std::size_t>(next - to);
    return encoded;
  }

  Result<PpEncoded> integers_to(std::byte* to) const {
    constexpr double most_wide = 9007199254740992.0;  // doubles hold all integers up to it
    const double least = wide_ ? -most_wide : std::numeric_limits<std::int32_t>::min();
    const double most = wide_ ? most_wide : std::numeric_limits<std::int32_t>::max();
    const auto missing = static_cast<T>(encoding_.missing);
    const bool nan_is_missing = missing != missing;
    PpEncoded encoded;
    std::byte* next = to;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (leaves_out(i)) continue;
      const T value = values_[i];
      const bool gone = value == missing || (value != value && nan_is_missing);
      const double number = gone ? um_missing : static_cast<double>(value);
      encoded.missing += gone ? 1 : 0;
      if (!gone && number == um_missing) return fail_missing(i);
      if (!(number >= least && number <= most) || std::trunc(number) != number)
        return fail_range(i, wide_ ? "a 64-bit integer" : "a 32-bit integer");
      store_value(next, static_cast<std::int64_t>(number), wide_);
      next += wide_ ? wide_word_bytes : word_bytes;
    }
    encoded.bytes = static_cast<std::size_t>(next - to);
    return encoded;
  }

  [[nodiscard]] std::string place(std::size_t i) const {
    return fmt::format("row {}, column {} (from 0): the value {}", i / shape_.columns, i % shape_.columns,
                       values_[i]);
  }
  tl::unexpected<Error> fail_missing(std::size_t i) const {
    return fail(ErrorCode::invalid_argument,
                "{} is the missing value of {} files (BMDI): if it is missing, give it as the missing value",
                place(i), word_size_ == wide_word_bytes ? "fields" : "PP");
  }
  tl::unexpected<Error> fail_range(std::size_t i, const char* type) const {
    return fail(ErrorCode::invalid_argument, "{} is not in the range of {}, which the file stores", place(i),
                type);
  }

  FieldShape shape_;
  bool integers_;
  std::span<const T> values_;
  PpEncoding encoding_;
  std::size_t word_size_;
  bool wide_;
};

template <class T>
Result<PpEncoded> encode_as(PpHeader& header, std::span<const T> values, const PpEncoding& encoding,
                            std::size_t word_size, std::span<std::byte> to) {
  auto encoded = ValueEncoder<T>(header, values, encoding, word_size).encode_to(to);
  if (!encoded) return encoded;
  header[PpInteger::lbpack] = static_cast<std::int32_t>(encoding.packing);
  header[PpReal::bacc] = encoding.packing == PpPacking::wgdos ? encoding.accuracy : not_packed;
  header[PpReal::bmdi] = um_missing;
  return encoded;
}

double stored_value(const std::byte* at, bool integers, bool wide) {
  if (wide) {
    const std::uint64_t bits = load_wide_word(at);
    return integers ? static_cast<double>(static_cast<std::int64_t>(bits)) : std::bit_cast<double>(bits);
  }
  const std::uint32_t bits = load_word(at);
  return integers ? static_cast<double>(static_cast<std::int32_t>(bits))
                  : static_cast<double>(std::bit_cast<float>(bits));
}

/// LBPACK without the digit of the number format.
Result<PpPacking> packing_of(std::int32_t lbpack) {
  const auto packing = static_cast<PpPacking>(lbpack % 1000);
  switch (packing) {
    case PpPacking::none:
    case PpPacking::wgdos:
    case PpPacking::bits32:
    case PpPacking::land:
    case PpPacking::sea:
    case PpPacking::land32:
    case PpPacking::sea32: return packing;
  }
  return fail(ErrorCode::format,
              "the packing of the field (LBPACK) is {}: 0, 1, 2, 120, 122, 220 and 222 can be unpacked",
              lbpack);
}

template <class T>
Result<> decode_wgdos(const FieldShape& shape, std::span<const std::byte> data, std::span<T> values,
                      double missing) {
  AFTERBAY_TRY_ASSIGN(const WgdosHeader packed, wgdos_header(data));
  if (packed.shape == shape) return wgdos_unpack(data, values, missing);
  return fail(ErrorCode::format,
              "the header has {} rows of {} points, but the packed data have {} of {}: damaged", shape.rows,
              shape.columns, packed.shape.rows, packed.shape.columns);
}

template <class T>
Result<> decode_as(const PpHeader& header, std::span<const std::byte> data, std::size_t word_size,
                   std::span<T> values, double missing, std::span<const std::uint8_t> land_mask) {
  AFTERBAY_TRY_ASSIGN(const PpPacking packing, packing_of(header[PpInteger::lbpack]));
  const FieldShape shape = shape_of(header);
  const bool masked = is_masked(packing);
  const bool has_shape = !masked || shape.rows * shape.columns != 0;
  if (has_shape && values.size() != shape.rows * shape.columns)
    return fail(ErrorCode::invalid_argument,
                "the field has {} rows of {} points, but there is room for {} values", shape.rows,
                shape.columns, values.size());
  if (packing == PpPacking::wgdos) return decode_wgdos(shape, data, values, missing);
  if (masked && land_mask.size() != values.size())
    return fail(ErrorCode::invalid_argument,
                "the field is packed by a land mask (LBPACK {}): give a mask of {} points, this has {}",
                header[PpInteger::lbpack], values.size(), land_mask.size());
  std::size_t stored = values.size();
  if (masked)
    stored = static_cast<std::size_t>(
        std::ranges::count_if(land_mask, [&](std::uint8_t land) { return is_stored(packing, land); }));
  const std::size_t step = value_bytes(packing, word_size);
  if (data.size() / step < stored)
    return fail(ErrorCode::format, "the field has {} values, but its data have {} bytes: it is damaged",
                stored, data.size());
  const bool integers = has_integers(header);
  const double file_missing = header[PpReal::bmdi];
  const std::byte* next = data.data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (masked && !is_stored(packing, land_mask[i])) {
      values[i] = static_cast<T>(missing);
      continue;
    }
    const double value = stored_value(next, integers, step == wide_word_bytes);
    values[i] = static_cast<T>(value == file_missing ? missing : value);
    next += step;
  }
  return {};
}

}  // namespace

bool is_masked(PpPacking packing) noexcept {
  constexpr std::int32_t sea = 200;
  const std::int32_t points = static_cast<std::int32_t>(packing) / 100 * 100;
  return points == 100 || points == sea;
}

FieldShape shape_of(const PpHeader& header) noexcept {
  const auto count = [&](PpInteger word) { return static_cast<std::size_t>(std::max(0, header[word])); };
  return {count(PpInteger::lbrow), count(PpInteger::lbnpt)};
}

std::size_t most_value_bytes(const FieldShape& shape, PpPacking packing, std::size_t word_size) noexcept {
  return packing == PpPacking::wgdos ? most_wgdos_bytes(shape)
                                     : shape.rows * shape.columns * value_bytes(packing, word_size);
}

Result<PpEncoded> encode_values(PpHeader& header, std::span<const float> values, const PpEncoding& encoding,
                                std::size_t word_size, std::span<std::byte> to) {
  return encode_as(header, values, encoding, word_size, to);
}

Result<PpEncoded> encode_values(PpHeader& header, std::span<const double> values, const PpEncoding& encoding,
                                std::size_t word_size, std::span<std::byte> to) {
  return encode_as(header, values, encoding, word_size, to);
}

Result<> decode_values(const PpHeader& header, std::span<const std::byte> data, std::size_t word_size,
                       std::span<float> values, double missing, std::span<const std::uint8_t> land_mask) {
  return decode_as(header, data, word_size, values, missing, land_mask);
}

Result<> decode_values(const PpHeader& header, std::span<const std::byte> data, std::size_t word_size,
                       std::span<double> values, double missing, std::span<const std::uint8_t> land_mask) {
  return decode_as(header, data, word_size, values, missing, land_mask);
}

}  // namespace afterbay::packing
