// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "packing/big_endian.hpp"
#include "packing/ibm_float.hpp"
#include "packing/wgdos.hpp"
#include "packing/wgdos_rows.hpp"

namespace afterbay::packing {
namespace {

constexpr std::int64_t most_steps = std::numeric_limits<std::int32_t>::max();
/// Multiples of the scale are computed with up to this magnitude, 2^61.
constexpr double most_multiple = 2305843009213693952.0;
/// The largest single-precision number below 2^31.
constexpr double most_narrow = 2147483520.0;

/// Halves away from zero. |scaled| <= most_multiple.
std::int64_t nearest(double scaled) {
  constexpr double nearly_half = 0.5 - std::numeric_limits<double>::epsilon() / 4;
  return static_cast<std::int64_t>(scaled + std::copysign(nearly_half, scaled));
}

/// How a row is packed at an accuracy.
struct RowRange {
  IbmMultiple base;
  unsigned bits = 0;
  bool narrow = true;
};

/// nullopt: the row needs more than 31 bits per value, or decoders might exceed the range of T.
template <class T>
std::optional<RowRange> range_at(const RowScan& scan, int accuracy) {
  const double inverse = std::ldexp(1.0, -accuracy);
  const double most = std::max(std::abs(scan.least), std::abs(scan.largest)) * inverse;
  if (!(most < most_multiple)) return std::nullopt;
  RowRange range;
  range.narrow = most <= most_narrow;
  const auto exact = scan.least == scan.largest ? ibm_exactly(scan.least) : std::nullopt;
  if (exact) {
    // Without bits, decoders take the base itself.
    range.base = {*exact, nearest(scan.least * inverse)};
  } else {
    range.base = ibm_at_most(nearest(scan.least * inverse), accuracy);
    const std::int64_t steps = nearest(scan.largest * inverse) - range.base.multiple;
    if (steps > most_steps) return std::nullopt;
    range.bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(steps)));
  }
  if (!stays_in_range<T>(ibm_value(range.base.word), std::ldexp(1.0, accuracy), range.bits))
    return std::nullopt;
  return range;
}

/// Bits of bitmaps, one after the other, in words from the highest bit; the last word is filled
/// with ones.
class BitmapWriter {
 public:
  explicit BitmapWriter(std::byte* to) : to_(to) {}

  /// The bitmap of points i for which is_set(integers[i]).
  template <class IsSet>
  void append(std::span<const std::uint32_t> integers, IsSet is_set) {
    std::size_t i = 0;
    for (; i + 32 <= integers.size(); i += 32) {
      std::uint32_t bits = 0;
      for (std::size_t bit = 0; bit < 32; ++bit)
        bits |= static_cast<std::uint32_t>(is_set(integers[i + bit])) << (31 - bit);
      append_bits(bits, 32);
    }
    std::uint32_t rest = 0;
    const auto length = static_cast<unsigned>(integers.size() - i);
    for (; i < integers.size(); ++i) rest = rest << 1 | static_cast<std::uint32_t>(is_set(integers[i]));
    if (length > 0) append_bits(rest, length);
  }
  void finish() {
    if (filled_ > 0) append_bits(~0U >> filled_, 32 - filled_);
  }

 private:
  void append_bits(std::uint32_t bits, unsigned count) {
    pending_ = pending_ << count | bits;
    filled_ += count;
    if (filled_ < 32) return;
    filled_ -= 32;
    store_word(to_, static_cast<std::uint32_t>(pending_ >> filled_));
    to_ += word_bytes;
  }

  std::byte* to_;
  std::uint64_t pending_ = 0;
  unsigned filled_ = 0;  ///< bits of `pending_`, the lowest ones
};

template <class T>
class FieldPacker {
 public:
  FieldPacker(const FieldShape& shape, const WgdosOptions& options)
      : shape_(shape),
        options_(options),
        missing_(static_cast<T>(options.missing)),
        scale_(std::ldexp(1.0, options.accuracy)),
        integers_(whole_blocks(shape.columns)),
        decoded_(options.verify ? shape.columns : 0),
        unpacker_(options.verify ? shape.columns : 0, options.accuracy, std::numeric_limits<T>::quiet_NaN()) {
  }

  Result<PackedField> pack(std::span<const T> values, std::byte* to) {
    std::size_t words = field_header_words;
    for (row_ = 0; row_ < shape_.rows; ++row_) {
      values_ = values.subspan(row_ * shape_.columns, shape_.columns);
      std::byte* const row = to + words * word_bytes;
      AFTERBAY_TRY_ASSIGN(const std::size_t row_words, pack_row(row));
      if (options_.verify) AFTERBAY_TRY(verify(row, row_words));
      words += row_words;
    }
    if (words > static_cast<std::size_t>(most_steps))
      return fail(ErrorCode::invalid_argument,
                  "the packed field has {} words, but its header counts at most {}: give a coarser accuracy",
                  words, most_steps);
    store_word(to, static_cast<std::uint32_t>(words));
    store_word(to + word_bytes, static_cast<std::uint32_t>(options_.accuracy));
    store_word(to + 2 * word_bytes, static_cast<std::uint32_t>(shape_.columns << 16 | shape_.rows));
    return PackedField{words * word_bytes, missing_count_,
                       options_.verify ? largest_error_ : std::ldexp(scale_, -1), most_bits_,
                       least_ == largest_};
  }

 private:
  Result<std::size_t> pack_row(std::byte* to) {
    const RowScan scan = kernels_.scan(values_.data(), values_.size(), missing_, missing_ != missing_);
    if (!scan.finite) return fail_not_finite();
    missing_count_ += scan.missing;
    if (scan.missing == values_.size()) return pack_missing(to);
    least_ = std::min(least_, scan.least);
    largest_ = std::max(largest_, scan.largest);
    const auto range = range_at<T>(scan, options_.accuracy);
    if (!range) return fail_range(scan);
    most_bits_ = std::max(most_bits_, range->bits);
    const double margin = scale_;
    if (scan.least <= um_missing + margin && scan.largest >= um_missing - margin)
      AFTERBAY_TRY(check_collisions(*range));
    if (range->bits == 0 && scan.missing == 0) return pack_header(to, range->base.word, 0, 0);
    const Quantising<T> how{missing_, static_cast<T>(scan.least), std::ldexp(1.0, -options_.accuracy),
                            range->base.multiple, range->narrow};
    const std::size_t zeros = kernels_.quantise(values_.data(), values_.size(), how, integers_.data());
    return pack_integers_of_row(to, *range, scan.missing, zeros);
  }

  /// The format does not define the base of such a row; -1 is what the Unified Model writes.
  std::size_t pack_missing(std::byte* to) const {
    const std::size_t words = (shape_.columns + 31) / 32;
    std::fill_n(to + row_header_words * word_bytes, words * word_bytes, std::byte{0xff});
    return pack_header(to, ibm_at_most(-1, 0).word, row_has_missing, words);
  }

  static std::size_t pack_header(std::byte* to, std::uint32_t base, std::uint32_t flags, std::size_t words) {
    store_word(to, base);
    store_word(to + word_bytes, flags << 16 | static_cast<std::uint32_t>(words));
    return row_header_words + words;
  }

  std::size_t pack_integers_of_row(std::byte* to, const RowRange& range, std::size_t missing,
                                   std::size_t zeros) {
    const std::size_t columns = shape_.columns;
    const std::size_t present = columns - missing;
    const auto words_with = [&](std::size_t maps, std::size_t count) {
      return (maps * columns + 31) / 32 + packed_integer_bytes(count, range.bits) / word_bytes;
    };
    const std::size_t maps = missing > 0 ? 1 : 0;
    std::size_t words = words_with(maps, present);
    const std::size_t words_without_zeros = words_with(maps + 1, present - zeros);
    const bool zero_map = words_without_zeros < words;
    if (zero_map) words = words_without_zeros;
    assert(words <= most_row_words);

    const std::span<std::uint32_t> integers(integers_.data(), columns);
    const auto zero = static_cast<std::uint32_t>(-range.base.multiple);
    std::byte* const data = to + row_header_words * word_bytes;
    BitmapWriter bitmaps(data);
    if (missing > 0) bitmaps.append(integers, [](std::uint32_t i) { return i == missing_integer; });
    if (zero_map) bitmaps.append(integers, [zero](std::uint32_t i) { return i != zero; });
    bitmaps.finish();
    std::size_t kept = columns;
    if (missing > 0 || zero_map) kept = keep_present(integers, zero_map ? zero : missing_integer);
    if (range.bits > 0) {
      const std::size_t map_words = words_with(maps + (zero_map ? 1 : 0), 0);
      pack_integers(range.bits, integers_, kept, data + map_words * word_bytes);
    }
    const std::uint32_t flags =
        range.bits | (missing > 0 ? row_has_missing : 0) | (zero_map ? row_has_zeros : 0);
    return pack_header(to, range.base.word, flags, words);
  }

  /// Moves the integers that are neither missing nor `zero` to the front; returns their number.
  static std::size_t keep_present(std::span<std::uint32_t> integers, std::uint32_t zero) {
    std::size_t kept = 0;
    for (const std::uint32_t integer : integers) {
      integers[kept] = integer;
      kept +=
          static_cast<std::size_t>(integer != missing_integer) & static_cast<std::size_t>(integer != zero);
    }
    return kept;
  }

  Result<> verify(const std::byte* row, std::size_t words) {
    auto unpacked = unpacker_.unpack(row, words, decoded_.data());
    if (!unpacked)
      return fail(ErrorCode::internal, "row {} cannot be decoded: {}", row_, unpacked.error().message);
    const Comparison found = kernels_.compare(decoded_.data(), values_.data(), values_.size(), missing_);
    if (!found.same_missing || !(found.largest_error <= std::ldexp(scale_, -1))) return fail_verification();
    largest_error_ = std::max(largest_error_, found.largest_error);
    return {};
  }

  bool is_missing(T value) const { return value == missing_ || (value != value && missing_ != missing_); }

  std::string place(std::size_t column) const {
    return fmt::format("row {}, column {} (from 0): the value {}", row_, column, values_[column]);
  }

  tl::unexpected<Error> fail_not_finite() const {
    const auto found = std::find_if(values_.begin(), values_.end(),
                                    [&](T value) { return !std::isfinite(value) && !is_missing(value); });
    return fail(
        ErrorCode::invalid_argument,
        "{} is not finite, and WGDOS packing has no code for it: mark such points with the missing value {}",
        place(static_cast<std::size_t>(found - values_.begin())), options_.missing);
  }

  tl::unexpected<Error> fail_range(const RowScan& scan) const {
    const auto largest = std::find(values_.begin(), values_.end(), static_cast<T>(scan.largest));
    const auto least = std::find(values_.begin(), values_.end(), static_cast<T>(scan.least));
    int possible = options_.accuracy + 1;
    while (possible <= most_accuracy && !range_at<T>(scan, possible)) ++possible;
    const std::string advice = possible <= most_accuracy
                                   ? fmt::format("the finest accuracy for this row is 2^{}", possible)
                                   : std::string("leave the field unpacked");
    return fail(
        ErrorCode::invalid_argument,
        "{} and column {}: the value {} are too far apart, or too large, for 31-bit multiples of 2^{}: {}",
        place(static_cast<std::size_t>(largest - values_.begin())), least - values_.begin(), *least,
        options_.accuracy, advice);
  }

  Result<> check_collisions(const RowRange& range) const {
    const double inverse = std::ldexp(1.0, -options_.accuracy);
    for (std::size_t column = 0; column < values_.size(); ++column) {
      if (is_missing(values_[column])) continue;
      const double value = static_cast<double>(values_[column]);
      const double decoded = range.bits == 0 ? ibm_value(range.base.word)
                                             : static_cast<double>(nearest(value * inverse)) * scale_;
      if (decoded != um_missing) continue;
      return fail(
          ErrorCode::invalid_argument,
          "{} would be decoded as {}, which readers take for a missing value: give another accuracy than "
          "2^{}, or, if it is missing, give this value as the missing value",
          place(column), um_missing, options_.accuracy);
    }
    return {};
  }

  tl::unexpected<Error> fail_verification() const {
    const double bound = std::ldexp(scale_, -1);
    std::size_t column = 0;
    for (; column + 1 < values_.size(); ++column) {
      const bool gone = is_missing(values_[column]);
      if (gone != std::isnan(decoded_[column])) break;
      if (!gone && !(std::abs(decoded_[column] - values_[column]) <= static_cast<T>(bound))) break;
    }
    return fail(
        ErrorCode::internal,
        "{} is decoded as {}, an error above 2^{}: this is a defect of Afterbay; leave the field unpacked",
        place(column), decoded_[column], options_.accuracy - 1);
  }

  FieldShape shape_;
  WgdosOptions options_;
  T missing_;
  double scale_;
  const RowKernels<T>& kernels_ = row_kernels<T>();
  std::vector<std::uint32_t> integers_;
  std::vector<T> decoded_;
  RowUnpacker<T> unpacker_;
  std::size_t row_ = 0;
  std::span<const T> values_;  ///< values of the row
  std::size_t missing_count_ = 0;
  double least_ = std::numeric_limits<double>::infinity();  ///< in the rows so far
  double largest_ = -std::numeric_limits<double>::infinity();
  double largest_error_ = 0;
  unsigned most_bits_ = 0;
};

bool has_wgdos_shape(const FieldShape& shape) {
  const auto fits = [](std::size_t count) { return count >= 1 && count <= most_wgdos_points; };
  return fits(shape.rows) && fits(shape.columns);
}

template <class T>
Result<PackedField> pack_field(std::span<const T> values, const FieldShape& shape,
                               const WgdosOptions& options, std::span<std::byte> to) {
  if (!has_wgdos_shape(shape))
    return fail(
        ErrorCode::invalid_argument,
        "WGDOS packing takes 1 to {} rows and columns, but the field has {} rows and {} columns: leave it "
        "unpacked, or divide it",
        most_wgdos_points, shape.rows, shape.columns);
  if (options.accuracy < least_accuracy || options.accuracy > most_accuracy)
    return fail(ErrorCode::invalid_argument, "the accuracy is 2^{}, but it must be 2^{} to 2^{}",
                options.accuracy, least_accuracy, most_accuracy);
  if (values.size() != shape.rows * shape.columns)
    return fail(ErrorCode::invalid_argument, "{} rows of {} columns need {} values, but there are {}",
                shape.rows, shape.columns, shape.rows * shape.columns, values.size());
  if (to.size() < most_wgdos_bytes(shape))
    return fail(ErrorCode::invalid_argument, "packing may need {} bytes, but there is room for {}",
                most_wgdos_bytes(shape), to.size());
  return FieldPacker<T>(shape, options).pack(values, to.data());
}

}  // namespace

std::size_t most_wgdos_bytes(const FieldShape& shape) noexcept {
  if (!has_wgdos_shape(shape)) return 0;
  const std::size_t row_words =
      row_header_words + (shape.columns + 31) / 32 + packed_integer_bytes(shape.columns, 31) / word_bytes;
  return (field_header_words + shape.rows * row_words) * word_bytes;
}

Result<PackedField> wgdos_pack(std::span<const float> values, const FieldShape& shape,
                               const WgdosOptions& options, std::span<std::byte> to) {
  return pack_field(values, shape, options, to);
}

Result<PackedField> wgdos_pack(std::span<const double> values, const FieldShape& shape,
                               const WgdosOptions& options, std::span<std::byte> to) {
  return pack_field(values, shape, options, to);
}

}  // namespace afterbay::packing
