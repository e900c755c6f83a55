// SPDX-License-Identifier: Apache-2.0
#include "model/packing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/strict_floating_point.hpp"
#include "model/convert/pack_rows.hpp"

namespace afterbay::model {
namespace {

constexpr std::array packed_types{Type::int8, Type::int16, Type::int32};
/// Room for the roundings of scale * integer + offset, relative to the scale.
constexpr double inexact = 0x1p-10;

double steps_of(Type type) { return 2.0 * static_cast<double>(most_packed(type)) - 1; }

convert::PackLoop pack_loop() noexcept {
#if defined(__x86_64__)
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx512) return convert::pack_avx512;
  if (has_avx2) return convert::pack_avx2;
#endif
  return convert::pack_baseline;
}

template <class Integer>
Integer reversed_bytes(Integer value) {
  using Bits = std::make_unsigned_t<Integer>;
  auto bits = static_cast<Bits>(value);
  if constexpr (sizeof(Integer) == 2) bits = __builtin_bswap16(bits);
  if constexpr (sizeof(Integer) == 4) bits = __builtin_bswap32(bits);
  return static_cast<Integer>(bits);
}

/// Numbers that a variable can hold for certain: those at least one step within its range.
template <class Number>
class CertainRange {
 public:
  CertainRange(const PackedValues& packing, std::span<const double> missing)
      : first_(exactly(missing.front())), last_(exactly(missing.back())) {
    const double reach = (static_cast<double>(most_packed(packing.packed)) - 1) * packing.scale;
    const double ends[] = {(packing.offset - reach - packing.add) / packing.multiply,
                           (packing.offset + reach - packing.add) / packing.multiply};
    // Roundings of the conversion to the units of the file must be far below a step.
    const double rounding = 16 * std::numeric_limits<double>::epsilon() *
                            (std::abs(packing.add) + std::abs(packing.offset) + reach);
    if (!(rounding < packing.scale / 4) || !std::isfinite(ends[0]) || !std::isfinite(ends[1])) return;
    low_ = inwards(std::min(ends[0], ends[1]), std::numeric_limits<Number>::infinity());
    high_ = inwards(std::max(ends[0], ends[1]), -std::numeric_limits<Number>::infinity());
  }

  [[nodiscard]] bool holds(const std::byte* from, std::size_t count) const {
    unsigned outside = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Number value;
      std::memcpy(&value, from + i * sizeof(Number), sizeof(Number));
      outside |= static_cast<unsigned>(!((value >= low_) & (value <= high_)) & (value != first_) &
                                       (value != last_) & (value == value));
    }
    return outside == 0;
  }

 private:
  /// NaN if there is no such number.
  static Number exactly(double value) {
    constexpr Number none = std::numeric_limits<Number>::quiet_NaN();
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<Number>::max()) return none;
    const auto number = static_cast<Number>(value);
    return static_cast<double>(number) == value ? number : none;
  }
  static Number inwards(double end, Number towards) {
    return std::nextafter(static_cast<Number>(std::clamp<double>(end, std::numeric_limits<Number>::lowest(),
                                                                 std::numeric_limits<Number>::max())),
                          towards);
  }

  Number low_ = 1, high_ = 0;  ///< nothing is certain
  Number first_, last_;        ///< missing values
};

template <class Integer>
class ConvertedRows final : public PackingRows {
 public:
  ConvertedRows(const PackedValues& packing, Type from, Kernel to_double, bool swaps)
      : to_double_(to_double), loop_(pack_loop()), from_(from), swaps_(swaps) {
    const bool float32 = packing.unpacked == Type::float32;
    for (std::size_t i = 0; i < packing.missing.count(); ++i)
      missing_.push_back(float32 ? static_cast<double>(packing.missing.at<float>(i))
                                 : packing.missing.at<double>(i));
    missing_.push_back(missing_.front());  // the loop compares with two
    floats_.emplace(packing, missing_);
    doubles_.emplace(packing, missing_);
    job_.multiply = packing.multiply;
    job_.add = packing.add;
    job_.scale = packing.scale;
    job_.inverse = 1 / packing.scale;
    job_.offset = packing.offset;
    job_.most = static_cast<double>(most_packed(packing.packed));
    job_.fill = static_cast<std::int32_t>(packed_fill(packing.packed));
    job_.compares_float = float32;
  }

  std::uint64_t row(std::byte* to, const std::byte* from, std::size_t count, std::ptrdiff_t to_stride,
                    std::ptrdiff_t from_stride) const override {
    alignas(64) std::array<double, convert::pack_block> values;
    alignas(64) std::array<std::int32_t, convert::pack_block> integers;
    convert::PackJob job = job_;
    job.integers = integers.data();
    job.values = values.data();
    job.missing = missing_.data();
    std::uint64_t bad = 0;
    for (std::size_t done = 0; done < count; done += job.count) {
      job.count = std::min(convert::pack_block, count - done);
      to_double_.row(reinterpret_cast<std::byte*>(values.data()),
                     from + static_cast<std::ptrdiff_t>(done) * from_stride, job.count,
                     static_cast<std::ptrdiff_t>(sizeof(double)), from_stride);
      if (missing_.size() > 3) replace_other_missing(values.data(), job.count);
      const convert::PackCounts counts = loop_(job);
      bad += counts.out_of_range;
      largest_error_ = std::max(largest_error_, counts.largest_error);
      store(to + static_cast<std::ptrdiff_t>(done) * to_stride, integers.data(), job.count, to_stride);
    }
    return bad;
  }

  bool surely_in_range(const std::byte* from, std::size_t count, std::ptrdiff_t from_stride) const override {
    if (from_stride != static_cast<std::ptrdiff_t>(size_of(from_))) return false;
    if (from_ == Type::float32) return floats_->holds(from, count);
    return from_ == Type::float64 && doubles_->holds(from, count);
  }

  double take_largest_error() const override { return std::exchange(largest_error_, 0); }

 private:
  /// The loop compares with the first two only.
  void replace_other_missing(double* values, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      const double value =
          job_.compares_float ? static_cast<double>(static_cast<float>(values[i])) : values[i];
      if (std::find(missing_.begin() + 2, missing_.end(), value) != missing_.end())
        values[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }

  void store(std::byte* to, const std::int32_t* integers, std::size_t count, std::ptrdiff_t stride) const {
    const bool dense = stride == static_cast<std::ptrdiff_t>(sizeof(Integer));
    if (dense && !swaps_) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto value = static_cast<Integer>(integers[i]);
        std::memcpy(to + i * sizeof(Integer), &value, sizeof(Integer));
      }
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      auto value = static_cast<Integer>(integers[i]);
      if (swaps_) value = reversed_bytes(value);
      std::memcpy(to + static_cast<std::ptrdiff_t>(i) * stride, &value, sizeof(Integer));
    }
  }

  Kernel to_double_;
  convert::PackLoop loop_;
  Type from_;
  bool swaps_;
  std::vector<double> missing_;  ///< two or more
  std::optional<CertainRange<float>> floats_;
  std::optional<CertainRange<double>> doubles_;
  convert::PackJob job_;
  mutable double largest_error_ = 0;
};

/// The largest error with which the type can hold a range.
double least_error(Type type, double low, double high) {
  return (high - low) / steps_of(type) / 2 / (1 - inexact);
}

Error cannot_hold(Type type, double low, double high, double error) {
  std::string other;
  for (const Type candidate : packed_types)
    if (other.empty() && least_error(candidate, low, high) <= error)
      other = fmt::format("pack it as {}, or ", name_of(candidate));
  // Rounded up, so that the number that is printed is possible.
  const double least = least_error(type, low, high);
  const double unit = std::pow(10.0, std::floor(std::log10(least)) - 2);
  return make_error(ErrorCode::invalid_argument,
                    "numbers from {} to {} with an absolute_error of {} do not fit into {}: {}allow an "
                    "absolute_error of {:.3g} or more, or a smaller range",
                    low, high, error, name_of(type), other, std::ceil(least / unit) * unit);
}

}  // namespace

std::int64_t packed_fill(Type type) noexcept { return -most_packed(type) - 1; }

std::int64_t most_packed(Type type) noexcept { return (std::int64_t{1} << (8 * size_of(type) - 1)) - 1; }

Result<PackedValues> packing_for(Type type, double low, double high, double error) {
  if (low < high && std::isfinite(low) && std::isfinite(high) && !std::isfinite(high - low))
    return fail(ErrorCode::invalid_argument,
                "the range of packed numbers is from {} to {}, whose difference float64 cannot hold: give a "
                "smaller range",
                low, high);
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high))
    return fail(ErrorCode::invalid_argument,
                "the range of packed numbers is from {} to {}: expected two numbers, the smaller one first",
                low, high);
  if (!(error >= 0) || !std::isfinite(error))
    return fail(ErrorCode::invalid_argument,
                "the absolute_error of packed numbers is {}: expected a positive number, or 0 for what the "
                "type allows",
                error);
  PackedValues made;
  made.packed = type;
  made.low = low;
  made.high = high;
  if (error > 0) {
    if (type == Type::text)
      for (const Type candidate : packed_types)
        if (made.packed == Type::text && least_error(candidate, low, high) <= error) made.packed = candidate;
    if (made.packed == Type::text) made.packed = Type::int32;  // the nearest
    if (least_error(made.packed, low, high) > error) return fail(cannot_hold(made.packed, low, high, error));
    made.scale = 2 * error * (1 - inexact);
    if (!std::isfinite(made.scale) || made.scale / 4 > high - low + std::abs(low) + std::abs(high))
      return fail(ErrorCode::invalid_argument,
                  "numbers from {} to {} are packed with an absolute_error of {}, which is more than the "
                  "numbers themselves: allow {} at most",
                  low, high, error, high - low);
  } else {
    if (type == Type::text)
      return fail(ErrorCode::invalid_argument,
                  "the type of packed numbers follows from their range and absolute_error: give both, or "
                  "pack them as int8, int16 or int32");
    made.scale = (high - low) / steps_of(type);
  }
  const double magnitude = std::max(std::abs(low), std::abs(high));
  const double least_scale = std::max(magnitude * std::numeric_limits<double>::epsilon() / inexact,
                                      std::numeric_limits<double>::min() / inexact);
  if (made.scale < least_scale)
    return fail(ErrorCode::invalid_argument,
                "float64 cannot hold numbers from {} to {} in steps of {:.3g}: give a larger range, or an "
                "absolute_error of {:.3g} or more",
                low, high, made.scale, least_scale);
  // A multiple of the scale, so that zero is exact.
  made.offset = std::nearbyint((low + (high - low) / 2) / made.scale) * made.scale;
  return made;
}

std::unique_ptr<const PackingRows> packing_rows(const PackedValues& packing, Type from, bool swap_bytes) {
  const Kernel to_double = kernel(from, Type::float64, false);
  if (!to_double) return nullptr;
  switch (packing.packed) {
    case Type::int8:
      return std::make_unique<const ConvertedRows<std::int8_t>>(packing, from, to_double, swap_bytes);
    case Type::int16:
      return std::make_unique<const ConvertedRows<std::int16_t>>(packing, from, to_double, swap_bytes);
    default: return std::make_unique<const ConvertedRows<std::int32_t>>(packing, from, to_double, swap_bytes);
  }
}

std::int64_t packed_value(const PackedValues& packing, double value) noexcept {
  const auto most = static_cast<double>(most_packed(packing.packed));
  // As the loops compute it (convert/pack_rows.inc).
  const double integer = (value - packing.offset) * (1 / packing.scale);
  return static_cast<std::int64_t>(std::clamp(std::nearbyint(integer), -most, most));
}

}  // namespace afterbay::model
