// SPDX-License-Identifier: Apache-2.0
// quantize: rounds values to a number of bits or digits, or as far as a stated error allows, and
// verifies each result. The results of the three methods are those of netCDF-C 4.9; but zeros,
// denormal numbers, infinities, NaN and missing values are never changed, and a finite value never
// becomes infinite.
#include "pipeline/quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/strict_floating_point.hpp"
#include "model/missing_values.hpp"
#include "pipeline/rounding_loops.hpp"
#include "pipeline/stages.hpp"

namespace afterbay::pipeline {
namespace {

constexpr int most_bits_of_any = FloatFormat<double>::most_bits;
constexpr int most_digits_of_any = FloatFormat<double>::most_digits;

template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <int most>
std::optional<std::string> whole_number(std::string_view text) {
  const auto value = parsed<int>(text);
  return value && *value >= 1 && *value <= most ? std::optional(fmt::format("{}", *value)) : std::nullopt;
}

std::optional<std::string> positive(std::string_view text) {
  const auto value = parsed<double>(text);
  return value && *value > 0 && std::isfinite(*value) ? std::optional(fmt::format("{}", *value))
                                                      : std::nullopt;
}

std::optional<std::string> fraction(std::string_view text) {
  auto value = positive(text);
  return value && *parsed<double>(*value) < 1 ? value : std::nullopt;
}

// ---- What is asked for -----------------------------------------------------------------------

/// 0: not given.
struct Wanted {
  int bitround = 0, granular_bitround = 0, bitgroom = 0;  ///< methods: at most one
  int significant_bits = 0, significant_digits = 0;       ///< accuracy
  double absolute_error = 0, relative_error = 0;

  explicit Wanted(const Settings& given) {
    const auto take = [&given](std::string_view name, auto& value) {
      if (const auto found = given.find(name); found != given.end())
        value = parsed<std::decay_t<decltype(value)>>(found->second).value_or(0);
    };
    take("bitround", bitround);
    take("granular_bitround", granular_bitround);
    take("bitgroom", bitgroom);
    take("significant_bits", significant_bits);
    take("significant_digits", significant_digits);
    take("absolute_error", absolute_error);
    take("relative_error", relative_error);
  }
  [[nodiscard]] int methods() const noexcept {
    return int{bitround > 0} + int{granular_bitround > 0} + int{bitgroom > 0};
  }
  /// The fewest bits for which rounding keeps the relative error and `significant_bits`.
  [[nodiscard]] int bits_for_accuracy() const {
    const int for_error =
        relative_error > 0 ? std::max(1, static_cast<int>(-std::floor(std::log2(relative_error))) - 1) : 0;
    return std::max(for_error, significant_bits);
  }
};

/// What is wrong with settings of a variable of type T, and what to do; empty: nothing.
template <class T>
std::string mistake_in(const Wanted& wanted, std::string_view type) {
  using Format = FloatFormat<T>;
  if (wanted.methods() > 1) return "only one of bitround, granular_bitround and bitgroom is possible";
  for (const auto& [name, bits] :
       {std::pair("bitround", wanted.bitround), std::pair("significant_bits", wanted.significant_bits)})
    if (bits > Format::most_bits)
      return fmt::format("{} is {}, but {} has {} bits: at most {} are possible", name, bits, type,
                         Format::mantissa_bits, Format::most_bits);
  for (const auto& [name, digits] :
       {std::pair("granular_bitround", wanted.granular_bitround), std::pair("bitgroom", wanted.bitgroom),
        std::pair("significant_digits", wanted.significant_digits)})
    if (digits > Format::most_digits)
      return fmt::format("{} is {}, but at most {} digits are possible for {}", name, digits,
                         Format::most_digits, type);
  if (wanted.significant_digits > 0 && (wanted.bitround > 0 || wanted.bitgroom > 0))
    return "significant_digits cannot be verified for bitround and bitgroom: use relative_error, or "
           "granular_bitround";
  if (wanted.granular_bitround > 0 && wanted.significant_digits > wanted.granular_bitround)
    return fmt::format("granular_bitround keeps {} digits, but significant_digits asks for {}",
                       wanted.granular_bitround, wanted.significant_digits);
  // Values that are converted to T when they are put have half of this error already.
  constexpr double least = std::numeric_limits<T>::epsilon();
  if (wanted.relative_error > 0 && wanted.relative_error < least)
    return fmt::format("relative_error is {}, but {} is exact to {:.2g} only: ask for that or more{}",
                       wanted.relative_error, type, least, sizeof(T) == 4 ? ", or use float64" : "");
  return {};
}

// ---- The stage -------------------------------------------------------------------------------

template <class T>
T not_above(double value) {
  auto rounded = static_cast<T>(value);
  if (static_cast<double>(rounded) > value) rounded = std::nextafter(rounded, T{0});
  return rounded;
}

/// Sets the largest errors of results, as numbers of type T that are not rounded up.
template <class T>
void set_bounds(RoundingJob<T>& job, const Wanted& wanted) {
  double relative = wanted.relative_error;
  if (wanted.significant_bits > 0) {
    const double of_bits = std::ldexp(1.0, -wanted.significant_bits - 1);
    relative = relative > 0 ? std::min(relative, of_bits) : of_bits;
  }
  constexpr T unbounded = std::numeric_limits<T>::infinity();
  job.verifies = relative > 0 || wanted.absolute_error > 0 || wanted.significant_digits > 0;
  job.absolute = wanted.absolute_error > 0 ? not_above<T>(wanted.absolute_error) : unbounded;
  job.relative =
      relative > 0 ? std::nextafter(not_above<T>(relative), T{0}) : unbounded;  // its product is rounded
}

template <class T>
class Quantize : public PointwiseStage {
 public:
  using Rounding = std::shared_ptr<const MagnitudeRounding<T>>;

  /// `job` has a method and bounds; with RoundingMethod::table, those of `rounding`.
  Quantize(const Variable& variable, const RoundingJob<T>& job, Rounding rounding, std::string text)
      : job_(job), rounding_(std::move(rounding)), text_(std::move(text)) {
    const Values all = model::missing_values(variable);
    for (std::size_t i = 0; i < all.count(); ++i)
      if (const T value = all.at<T>(i); std::ranges::find(missing_, value) == missing_.end())
        missing_.push_back(value);
    limits_ = model::valid_range_of<T>(variable);
    if (rounding_ == nullptr) return;
    job_.table = rounding_->table.data();
    job_.steps = rounding_->steps.data();
    job_.step_count = rounding_->steps.size();
    job_.least = rounding_->least;
    job_.largest = rounding_->largest;
  }

  std::uint64_t run(std::byte* to, const std::byte* from, std::size_t count) const override {
    StageRun unused;
    return run_at(to, from, count, unused);
  }
  std::uint64_t run_at(std::byte* to, const std::byte* from, std::size_t count,
                       StageRun& state) const override {
    alignas(64) std::array<std::byte, block_values * sizeof(T)> values;  // unrounded values of a block
    std::size_t block = 0;
    for (std::size_t at = 0; at < count; at += block) {
      block = std::min(block_values, count - at);
      const std::byte* before = from + at * sizeof(T);
      std::byte* const after = to + at * sizeof(T);
      if (after == before) {
        std::memcpy(values.data(), before, block * sizeof(T));
        before = values.data();
      }
      RoundingCounts<T> counts = rounded(after, before, block, state.first + at);
      if (counts.makes_missing || may_change_validity(after, before, block))
        counts = keep_validity(after, before, block, state.first + at, counts);
      state.kept += counts.kept;
      state.largest_error =
          std::max(state.largest_error, static_cast<double>(std::bit_cast<T>(counts.largest_error_bits)));
    }
    return 0;
  }
  [[nodiscard]] bool uses_places() const noexcept override { return job_.method == RoundingMethod::groom; }
  [[nodiscard]] bool measures_error() const noexcept override { return job_.verifies; }
  [[nodiscard]] std::string text() const override { return text_; }

 private:
  static constexpr std::size_t block_values = (std::size_t{16} << 10) / sizeof(T);

  static T value_at(const std::byte* values, std::size_t i) {
    T value;
    std::memcpy(&value, values + i * sizeof(T), sizeof value);
    return value;
  }

  RoundingCounts<T> rounded(std::byte* to, const std::byte* from, std::size_t count,
                            std::uint64_t first) const {
    RoundingJob<T> job = job_;
    job.to = to;
    job.from = from;
    job.count = count;
    job.first = first;
    job.missing = missing_.data();
    job.missing_count = missing_.size();
    if constexpr (sizeof(T) == 4)
      return rounding_loops().of_float(job);
    else
      return rounding_loops().of_double(job);
  }

  /// Whether readers may take some of the results for missing or invalid, but not the values, or
  /// the reverse, apart from the first missing value. Without branches, for speed.
  [[nodiscard]] bool may_change_validity(const std::byte* results, const std::byte* values,
                                         std::size_t count) const {
    using Word = typename FloatFormat<T>::Word;
    Word found = 0;
    const auto compare = [&](auto is) {
      for (std::size_t i = 0; i < count; ++i)
        found |= static_cast<Word>(is(value_at(values, i))) ^ static_cast<Word>(is(value_at(results, i)));
    };
    for (std::size_t k = 1; k < missing_.size(); ++k)
      compare([missing = missing_[k]](T value) { return value == missing; });
    if (limits_.exists) {
      compare([low = limits_.low](T value) { return value < low; });
      compare([high = limits_.high](T value) { return value > high; });
    }
    return found != 0;
  }

  /// Keeps values that are missing or invalid for readers if their results are not, and the
  /// reverse.
  RoundingCounts<T> keep_validity(std::byte* to, const std::byte* from, std::size_t count,
                                  std::uint64_t first, const RoundingCounts<T>& found) const {
    std::vector<std::size_t> changed;
    for (std::size_t i = 0; i < count; ++i)
      if (is_valid(value_at(from, i)) != is_valid(value_at(to, i))) changed.push_back(i);
    if (changed.empty()) return found;
    // Once more without them, for the largest error of the others.
    std::vector<std::byte> others(from, from + count * sizeof(T));
    for (const std::size_t i : changed) std::memset(others.data() + i * sizeof(T), 0, sizeof(T));
    RoundingCounts<T> counts = rounded(to, others.data(), count, first);
    for (const std::size_t i : changed) std::memcpy(to + i * sizeof(T), from + i * sizeof(T), sizeof(T));
    counts.kept += changed.size();
    return counts;
  }

  [[nodiscard]] bool is_valid(T value) const {
    if (limits_.exists && (value < limits_.low || value > limits_.high)) return false;
    return std::ranges::find(missing_, value) == missing_.end();
  }

  RoundingJob<T> job_;
  Rounding rounding_;
  std::vector<T> missing_;
  model::ValidRange<T> limits_;
  std::string text_;
};

// ---- Making ----------------------------------------------------------------------------------

using Made = Result<std::unique_ptr<const PointwiseStage>>;

/// Adds to a table what another one keeps, and its smaller bounds. At most one of the two may have
/// steps within binades.
template <class T>
void restrict_to(RoundingTable<T>& table, const RoundingTable<T>& other) {
  for (std::size_t binade = 0; binade < table.size(); ++binade)
    for (std::size_t part = 0; part < 3; ++part) {
      table[binade].kept[part] |= other[binade].kept[part];
      table[binade].bound[part] = std::min(table[binade].bound[part], other[binade].bound[part]);
    }
}

/// As coarse as an absolute error and other accuracy allow.
template <class T>
std::shared_ptr<const MagnitudeRounding<T>> rounding_for(const Wanted& wanted) {
  const int bits = wanted.bits_for_accuracy();
  if (wanted.absolute_error == 0 && bits == 0) return digits_rounding<T>(wanted.significant_digits);
  if (wanted.significant_digits == 0 && bits == 0)
    return std::make_shared<const MagnitudeRounding<T>>(absolute_rounding<T>(wanted.absolute_error));
  MagnitudeRounding<T> made;
  if (wanted.significant_digits > 0) {
    made.table = digits_rounding<T>(wanted.significant_digits)->table;
    if (wanted.absolute_error > 0) restrict_to(made.table, absolute_rounding<T>(wanted.absolute_error).table);
  } else {
    made.table = absolute_rounding<T>(wanted.absolute_error).table;
  }
  if (bits > 0) {
    RoundingTable<T> uniform(FloatFormat<T>::binades);
    for (auto& binade : uniform)
      std::ranges::fill(binade.kept, kept_bits<T>(FloatFormat<T>::mantissa_bits - bits));
    restrict_to(made.table, uniform);
  }
  return std::make_shared<const MagnitudeRounding<T>>(std::move(made));
}

std::string text_of(const Settings& given) {
  std::string text;
  for (const StageSetting& setting : stages::quantize().settings)
    if (const auto found = given.find(setting.name); found != given.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", setting.name, found->second);
  return text;
}

/// Readers compute other values from those that are rounded.
Result<> check_not_scaled(const Variable& variable, const Settings& given) {
  if (!states_accuracy(given)) return {};
  for (const Attribute& it : variable.attributes)
    if (it.name == "scale_factor" || it.name == "add_offset")
      return fail(
          ErrorCode::conflict,
          "variable '{}' has the attribute {}, by which readers change its values, so that their errors "
          "would not be those of {}: remove the attribute, or round without a stated accuracy (bitround, "
          "granular_bitround)",
          variable.name, it.name, text_of(given));
  return {};
}

template <class T>
Made quantize_of(const Variable& variable, const Settings& given) {
  const Wanted wanted(given);
  AFTERBAY_TRY(check_not_scaled(variable, given));
  if (const std::string mistake = mistake_in<T>(wanted, name_of(variable.type)); !mistake.empty())
    return fail(make_error(ErrorCode::invalid_argument, "variable '{}': {}", variable.name, mistake));
  RoundingJob<T> job;
  set_bounds(job, wanted);
  const auto make = [&](RoundingMethod method, int bits,
                        std::shared_ptr<const MagnitudeRounding<T>> rounding) -> Made {
    job.method = method;
    job.kept = kept_bits<T>(FloatFormat<T>::mantissa_bits - bits);
    return std::make_unique<const Quantize<T>>(variable, job, std::move(rounding), text_of(given));
  };
  if (wanted.bitround > 0) return make(RoundingMethod::uniform, wanted.bitround, nullptr);
  if (wanted.bitgroom > 0) return make(RoundingMethod::groom, bitgroom_bits(wanted.bitgroom), nullptr);
  if (wanted.granular_bitround > 0)
    return make(RoundingMethod::table, 0, digits_rounding<T>(wanted.granular_bitround));
  if (wanted.absolute_error == 0 && wanted.significant_digits == 0)
    return make(RoundingMethod::uniform, wanted.bits_for_accuracy(), nullptr);
  return make(RoundingMethod::table, 0, rounding_for<T>(wanted));
}

Made make_quantize(const Variable& variable, const Settings& given) {
  if (variable.type == Type::float32) return quantize_of<float>(variable, given);
  if (variable.type == Type::float64) return quantize_of<double>(variable, given);
  return fail(make_error(
      ErrorCode::wrong_type,
      "{} is set for variable '{}' of type {}: only float32 and float64 can be rounded; remove the "
      "setting, or give the variable one of these types",
      text_of(given), variable.name, name_of(variable.type)));
}

}  // namespace

const StageKind& stages::quantize() {
  static const std::string bits = fmt::format("an integer from 1 to {}", most_bits_of_any);
  static const std::string digits = fmt::format("an integer from 1 to {}", most_digits_of_any);
  static const StageKind kind{
      {{"bitround", "integer", bits,
        "Rounds values to this number of bits of their mantissa (BitRound), so that they compress better: "
        "the "
        "relative error is at most 2^-(bits + 1). At most 23 for float32, 52 for float64. The file says so "
        "in "
        "attributes; see [which codec](../how-to/which-codec.md).",
        &whole_number<most_bits_of_any>},
       {"granular_bitround", "integer", digits,
        "Rounds values to this number of significant decimal digits (Granular BitRound): the error is at "
        "most "
        "half a unit of the last one. At most 7 for float32, 15 for float64.",
        &whole_number<most_digits_of_any>},
       {"bitgroom", "integer", digits,
        "As `granular_bitround`, with the older method BitGroom: alternate values become a little smaller "
        "and "
        "a little larger. It compresses less.",
        &whole_number<most_digits_of_any>},
       {"absolute_error", "number", "a positive number",
        "The largest error that rounding may cause, in the units of the file. Without a method such as "
        "`bitround`, values are rounded to multiples of a power of two, as coarse as this allows. Each "
        "result is verified; a value whose result has a larger error is written as it is, and the report "
        "counts "
        "it.",
        &positive},
       {"relative_error", "number", "a positive number below 1",
        "As `absolute_error`, relative to each value. Without a method, values are rounded as with "
        "`bitround`.",
        &fraction},
       {"significant_bits", "integer", bits,
        "As `relative_error`, as a number of bits of the mantissa that must be right after rounding.",
        &whole_number<most_bits_of_any>},
       {"significant_digits", "integer", digits,
        "As `relative_error`, as a number of decimal digits that must be right after rounding. Without a "
        "method, values are rounded as with `granular_bitround`.",
        &whole_number<most_digits_of_any>}},
      &make_quantize};
  return kind;
}

bool rounds(const Settings& given) { return Wanted(given).methods() > 0 || states_accuracy(given); }

bool states_accuracy(const Settings& given) {
  const Wanted wanted(given);
  return wanted.absolute_error > 0 || wanted.bits_for_accuracy() > 0 || wanted.significant_digits > 0;
}

Quantization quantization_of(const Settings& given) {
  const Wanted wanted(given);
  if (wanted.bitround > 0) return {Quantization::Method::bitround, wanted.bitround};
  if (wanted.granular_bitround > 0)
    return {Quantization::Method::granular_bitround, wanted.granular_bitround};
  if (wanted.bitgroom > 0) return {Quantization::Method::bitgroom, wanted.bitgroom};
  if (wanted.absolute_error > 0 || (wanted.significant_digits > 0 && wanted.bits_for_accuracy() > 0))
    return {};
  if (wanted.significant_digits > 0)
    return {Quantization::Method::granular_bitround, wanted.significant_digits};
  if (wanted.bits_for_accuracy() == 0) return {};
  return {Quantization::Method::bitround, wanted.bits_for_accuracy()};
}

}  // namespace afterbay::pipeline
