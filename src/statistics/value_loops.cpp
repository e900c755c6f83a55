// SPDX-License-Identifier: Apache-2.0
#include "statistics/value_loops.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/strict_floating_point.hpp"
#include "model/missing_values.hpp"
#include "statistics/strip.hpp"

namespace afterbay::statistics {
namespace {

template <class T>
T load(const std::byte* from, std::size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

/// condition ? a : b. Compilers make a branch of that if a conversion to a wider type follows, and
/// do not vectorise the loop: values of less than 8 bytes are selected by their bits.
template <class T>
T selected(bool condition, T a, T b) {
  if constexpr (sizeof(T) == 8) {
    return condition ? a : b;
  } else {
    using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                    std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>>;
    const Bits mask = static_cast<Bits>(Bits{0} - static_cast<Bits>(condition));
    const Bits others = static_cast<Bits>(~mask);
    return std::bit_cast<T>(
        static_cast<Bits>((std::bit_cast<Bits>(a) & mask) | (std::bit_cast<Bits>(b) & others)));
  }
}

template <class T>
double exact_difference(T high, T low) {
  if constexpr (std::is_integral_v<T>) {
    const auto a = static_cast<std::uint64_t>(high);
    const auto b = static_cast<std::uint64_t>(low);
    return high < low ? -static_cast<double>(b - a) : static_cast<double>(a - b);
  } else {
    return static_cast<double>(high) - static_cast<double>(low);
  }
}

template <class T>
class Loops final : public ValueLoops {
 public:
  explicit Loops(const Values& missing) : missing_(missing) {}

  void widen(double* __restrict to, const std::byte* __restrict from, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<double>(load<T>(from, i));
  }

  void add(double* __restrict sums, const std::byte* __restrict from, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<double>(load<T>(from, i));
  }

  void widen_valid(double* to, const std::byte* from, std::size_t count) const override {
    with_test([&](auto is_missing) { widen_valid_in(to, from, count, is_missing); });
  }

  void widen_poisoned(double* to, const std::byte* from, std::size_t count) const override {
    with_test([&](auto is_missing) { widen_poisoned_in(to, from, count, is_missing); });
  }

  void find_valid(double* to, const std::byte* from, std::size_t count) const override {
    with_test([&](auto is_missing) { find_valid_in(to, from, count, is_missing); });
  }

  void count_valid(std::uint32_t* counts, const std::byte* from, std::size_t count) const override {
    if constexpr (sizeof(T) == 8) {
      count_wide(counts, from, count);
    } else {
      with_test([&](auto is_missing) { count_in(counts, from, count, is_missing); });
    }
  }

  void keep_extreme(bool lowest, Missing policy, std::byte* extremes, const std::byte* from,
                    std::size_t count) const override {
    T* const kept = reinterpret_cast<T*>(extremes);
    if (lowest)
      extreme_by<true>(policy, kept, from, count);
    else
      extreme_by<false>(policy, kept, from, count);
  }

  void subtract(double* __restrict to, const std::byte* __restrict high, const std::byte* __restrict low,
                std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) to[i] = exact_difference(load<T>(high, i), load<T>(low, i));
  }

  void mark_missing(std::uint8_t* __restrict marks, const std::byte* __restrict from,
                    std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i)
      marks[i] |= static_cast<std::uint8_t>(missing_.has(load<T>(from, i)));
  }

 private:
  /// Calls `loop` with the cheapest test that finds all missing values. The tests are copies, so
  /// that their constants stay in registers.
  template <class Loop>
  void with_test(Loop loop) const {
    if (missing_.are_usual()) {
      loop([first = missing_.first(), second = missing_.second()](T value) {
        bool found = (value == first) | (value == second);
        if constexpr (std::is_floating_point_v<T>) found |= value != value;
        return found;
      });
    } else {
      loop([this](T value) { return missing_.has(value); });
    }
  }

  template <class Test>
  static T valid_or_nothing(T value, Test is_missing) {
    constexpr T nothing = std::is_floating_point_v<T> ? static_cast<T>(-0.0) : T{0};
    return selected(is_missing(value), nothing, value);
  }

  template <class Test>
  static T one_if_valid(T value, Test is_missing) {
    return selected(is_missing(value), T{0}, T{1});
  }

  template <class Test>
  static void widen_valid_in(double* __restrict to, const std::byte* __restrict from, std::size_t count,
                             Test is_missing) {
    for (std::size_t i = 0; i < count; ++i)
      to[i] = static_cast<double>(valid_or_nothing(load<T>(from, i), is_missing));
  }

  template <class Test>
  static void widen_poisoned_in(double* __restrict to, const std::byte* __restrict from, std::size_t count,
                                Test is_missing) {
    for (std::size_t i = 0; i < count; ++i) {
      const T value = load<T>(from, i);
      if constexpr (std::is_floating_point_v<T>) {
        const T poisoned = selected(is_missing(value), std::numeric_limits<T>::quiet_NaN(), value);
        to[i] = static_cast<double>(poisoned);
      } else {  // x / 1 is x, 0 / 0 is NaN
        to[i] = static_cast<double>(valid_or_nothing(value, is_missing)) /
                static_cast<double>(one_if_valid(value, is_missing));
      }
    }
  }

  template <class Test>
  static void find_valid_in(double* __restrict to, const std::byte* __restrict from, std::size_t count,
                            Test is_missing) {
    for (std::size_t i = 0; i < count; ++i)
      to[i] = static_cast<double>(one_if_valid(load<T>(from, i), is_missing));
  }

  template <class Test>
  static void count_in(std::uint32_t* __restrict counts, const std::byte* __restrict from, std::size_t count,
                       Test is_missing) {
    for (std::size_t i = 0; i < count; ++i)
      counts[i] +=
          static_cast<std::uint32_t>(static_cast<std::int32_t>(one_if_valid(load<T>(from, i), is_missing)));
  }

  /// In two steps, of which each is vectorised.
  void count_wide(std::uint32_t* __restrict counts, const std::byte* __restrict from,
                  std::size_t count) const {
    alignas(64) std::array<double, strip_points> valid;
    for (std::size_t done = 0; done < count; done += strip_points) {
      const std::size_t part = std::min(strip_points, count - done);
      find_valid(valid.data(), from + done * sizeof(T), part);
      for (std::size_t i = 0; i < part; ++i)
        counts[done + i] += static_cast<std::uint32_t>(static_cast<std::int32_t>(valid[i]));
    }
  }

  template <bool lowest>
  void extreme_by(Missing policy, T* kept, const std::byte* from, std::size_t count) const {
    switch (policy) {
      case Missing::none: extreme_in<lowest>(kept, from, count); break;
      case Missing::poison:
        with_test([&](auto is_missing) { extreme_or_missing_in<lowest>(kept, from, count, is_missing); });
        break;
      case Missing::ignore:
      case Missing::threshold:
        with_test([&](auto is_missing) { extreme_of_valid_in<lowest>(kept, from, count, is_missing); });
        break;
    }
  }

  /// Both operands are computed: branches would keep the loops from being vectorised.
  static bool any_of(bool a, bool b) { return (static_cast<int>(a) | static_cast<int>(b)) != 0; }
  static bool all_of(bool a, bool b) { return (static_cast<int>(a) & static_cast<int>(b)) != 0; }

  template <bool lowest>
  static bool beats(T value, T kept) {
    return lowest ? value < kept : value > kept;
  }

  template <bool lowest>
  static void extreme_in(T* __restrict kept, const std::byte* __restrict from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const T value = load<T>(from, i);
      bool takes = beats<lowest>(value, kept[i]);
      if constexpr (std::is_floating_point_v<T>) takes |= (value != value) & (kept[i] == kept[i]);
      kept[i] = takes ? value : kept[i];
    }
  }

  template <bool lowest, class Test>
  static void extreme_or_missing_in(T* __restrict kept, const std::byte* __restrict from, std::size_t count,
                                    Test is_missing) {
    for (std::size_t i = 0; i < count; ++i) {
      const T value = load<T>(from, i);
      const bool open = !is_missing(kept[i]);
      const bool takes = all_of(open, any_of(is_missing(value), beats<lowest>(value, kept[i])));
      kept[i] = takes ? value : kept[i];
    }
  }

  template <bool lowest, class Test>
  static void extreme_of_valid_in(T* __restrict kept, const std::byte* __restrict from, std::size_t count,
                                  Test is_missing) {
    for (std::size_t i = 0; i < count; ++i) {
      const T value = load<T>(from, i);
      const bool valid = !is_missing(value);
      const bool takes = all_of(valid, any_of(is_missing(kept[i]), beats<lowest>(value, kept[i])));
      kept[i] = takes ? value : kept[i];
    }
  }

  model::MissingValues<T> missing_;
};

}  // namespace

std::unique_ptr<const ValueLoops> value_loops(Type type, const Values& missing) {
  switch (type) {
    case Type::int8: return std::make_unique<const Loops<std::int8_t>>(missing);
    case Type::uint8: return std::make_unique<const Loops<std::uint8_t>>(missing);
    case Type::int16: return std::make_unique<const Loops<std::int16_t>>(missing);
    case Type::uint16: return std::make_unique<const Loops<std::uint16_t>>(missing);
    case Type::int32: return std::make_unique<const Loops<std::int32_t>>(missing);
    case Type::uint32: return std::make_unique<const Loops<std::uint32_t>>(missing);
    case Type::int64: return std::make_unique<const Loops<std::int64_t>>(missing);
    case Type::uint64: return std::make_unique<const Loops<std::uint64_t>>(missing);
    case Type::float32: return std::make_unique<const Loops<float>>(missing);
    case Type::float64: return std::make_unique<const Loops<double>>(missing);
    case Type::text:
    case Type::string: break;
  }
  return nullptr;
}

}  // namespace afterbay::statistics
