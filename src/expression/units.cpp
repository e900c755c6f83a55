// SPDX-License-Identifier: Apache-2.0
#include "expression/units.hpp"

#include <cmath>

#include "base/default_arithmetic.hpp"
#include "base/printable.hpp"
#include "base/strict_floating_point.hpp"

#ifdef AFTERBAY_HAS_UDUNITS
#include <udunits2.h>
#include <clocale>

#include <memory>
#include <string>

#include "base/thread_safety.hpp"
#endif

namespace afterbay::expression {

namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view skipped = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(skipped);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(skipped) + 1 - begin);
}

#ifdef AFTERBAY_HAS_UDUNITS

constexpr std::size_t most_unit_characters = 256;

/// The calling thread reads numbers as in C, whatever locale the model has set.
class CLocale {
 public:
  CLocale() : locale_(::newlocale(LC_ALL_MASK, "C", nullptr)) {
    if (locale_ != nullptr) before_ = ::uselocale(locale_);
  }
  ~CLocale() {
    if (locale_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(locale_);
  }
  CLocale(const CLocale&) = delete;
  CLocale& operator=(const CLocale&) = delete;

 private:
  locale_t locale_;
  locale_t before_ = nullptr;
};

/// While it lives, UDUNITS writes no messages to stderr.
class NoMessages {
 public:
  NoMessages() : before_(::ut_set_error_message_handler(::ut_ignore)) {}
  ~NoMessages() { ::ut_set_error_message_handler(before_); }
  NoMessages(const NoMessages&) = delete;
  NoMessages& operator=(const NoMessages&) = delete;

 private:
  ut_error_message_handler before_;
};

struct FreeUnit {
  void operator()(ut_unit* unit) const noexcept { ::ut_free(unit); }
};
using Unit = std::unique_ptr<ut_unit, FreeUnit>;
struct FreeConverter {
  void operator()(cv_converter* converter) const noexcept { ::cv_free(converter); }
};
using Converter = std::unique_ptr<cv_converter, FreeConverter>;

/// What a unit is based on.
struct Kinds {
  bool logarithmic = false;
  bool time_since = false;
};
ut_status visit_basic(const ut_unit*, void*) { return UT_SUCCESS; }
ut_status visit_product(const ut_unit*, int, const ut_unit* const*, const int*, void*) { return UT_SUCCESS; }
ut_status visit_galilean(const ut_unit*, double, const ut_unit* underlying, double, void* kinds);
ut_status visit_timestamp(const ut_unit*, const ut_unit*, double, void* kinds) {
  static_cast<Kinds*>(kinds)->time_since = true;
  return UT_SUCCESS;
}
ut_status visit_logarithmic(const ut_unit*, double, const ut_unit*, void* kinds) {
  static_cast<Kinds*>(kinds)->logarithmic = true;
  return UT_SUCCESS;
}
constexpr ut_visitor kind_visitor{visit_basic, visit_product, visit_galilean, visit_timestamp,
                                  visit_logarithmic};
ut_status visit_galilean(const ut_unit*, double, const ut_unit* underlying, double, void* kinds) {
  return ::ut_accept_visitor(underlying, &kind_visitor, kinds);
}

/// The units of UDUNITS' database, read at the first use. Held while it is used.
class UnitSystem {
 public:
  static UnitSystem& instance() {
    // Not a session's: the database is a constant, and its lock protects a library that has state
    // of its own.
    static UnitSystem& system = *new UnitSystem;
    return system;
  }

  Mutex& mutex() AFTERBAY_RETURN_CAPABILITY(mutex_) { return mutex_; }

  Result<Unit> unit(std::string_view text) AFTERBAY_REQUIRES(mutex_) {
    if (system_ == nullptr) {
      system_ = ::ut_read_xml(nullptr);
      if (system_ == nullptr) {
        ut_status status = UT_SUCCESS;
        return fail(ErrorCode::io,
                    "UDUNITS cannot read its database of units, {}: install it (Debian's package "
                    "libudunits2-data), or set the environment variable UDUNITS2_XML_PATH",
                    printable(::ut_get_path_xml(nullptr, &status)));
      }
    }
    const bool too_long = text.size() > most_unit_characters || text.find('\0') != std::string_view::npos;
    Unit unit(too_long ? nullptr : ::ut_parse(system_, std::string(text).c_str(), UT_UTF8));
    if (unit == nullptr)
      return fail(ErrorCode::invalid_argument, "UDUNITS does not know the units \"{}\"",
                  printable(text.substr(0, most_unit_characters)));
    return unit;
  }

 private:
  Mutex mutex_;
  ut_system* system_ AFTERBAY_GUARDED_BY(mutex_) = nullptr;
};

Kinds kinds_of(const Unit& unit) {
  Kinds kinds;
  ::ut_accept_visitor(unit.get(), &kind_visitor, &kinds);
  return kinds;
}

/// The slope is exact: at 2^200 no offset is left. Not finite, or not the slope elsewhere: not
/// linear.
bool linear_of(const Converter& converter, Linear& linear) {
  const double far = std::ldexp(1.0, 200);
  linear.add = ::cv_convert_double(converter.get(), 0.0);
  linear.multiply = ::cv_convert_double(converter.get(), far) / far;
  if (!std::isfinite(linear.add) || !std::isfinite(linear.multiply) || linear.multiply == 0) return false;
  for (const double x : {1.0, -3.0, 1e6}) {
    const double wanted = linear.multiply * x + linear.add;
    const double scale = std::fabs(linear.multiply * x) + std::fabs(linear.add);
    if (!(std::fabs(::cv_convert_double(converter.get(), x) - wanted) <= 1e-12 * scale)) return false;
  }
  return true;
}

Result<Linear> conversion_of(const Unit& from, const Unit& to, std::string_view from_text,
                             std::string_view to_text) {
  if (::ut_compare(from.get(), to.get()) == 0) return Linear();
  const std::string both =
      fmt::format("\"{}\" cannot be converted to \"{}\"", printable(from_text), printable(to_text));
  if (::ut_are_convertible(from.get(), to.get()) == 0)
    return fail(ErrorCode::invalid_argument, "{}: they measure different quantities", both);
  const Kinds kinds[] = {kinds_of(from), kinds_of(to)};
  if (kinds[0].time_since || kinds[1].time_since)
    return fail(ErrorCode::invalid_argument, "{}: times since a date depend on the calendar", both);
  const Converter converter(::ut_get_converter(from.get(), to.get()));
  Linear linear;
  if (kinds[0].logarithmic || kinds[1].logarithmic || converter == nullptr || !linear_of(converter, linear))
    return fail(ErrorCode::invalid_argument, "{} by a factor and an offset: {}; write an expression", both,
                kinds[0].logarithmic || kinds[1].logarithmic ? "logarithmic units need more"
                                                             : "the conversion is not linear");
  return linear;
}

#endif

}  // namespace

void convert(std::span<double> values, const Linear& conversion) {
  const DefaultArithmetic arithmetic;
  for (double& value : values) value = conversion.multiply * value + conversion.add;
}

void replace_missing(std::span<double> values, double fill) noexcept {
  for (double& value : values)
    if (std::isnan(value)) value = fill;
}

#ifdef AFTERBAY_HAS_UDUNITS

bool has_udunits() noexcept { return true; }

Result<Linear> conversion(std::string_view from, std::string_view to) {
  const std::string_view from_text = without_blanks(from);
  const std::string_view to_text = without_blanks(to);
  if (from_text == to_text) return Linear();
  const CLocale locale;
  const DefaultArithmetic arithmetic;
  UnitSystem& system = UnitSystem::instance();
  const MutexLock lock(system.mutex());
  const NoMessages silence;
  AFTERBAY_TRY_ASSIGN(const Unit from_unit, system.unit(from_text));
  AFTERBAY_TRY_ASSIGN(const Unit to_unit, system.unit(to_text));
  return conversion_of(from_unit, to_unit, from_text, to_text);
}

Result<> check_units(std::string_view units) {
  const CLocale locale;
  const DefaultArithmetic arithmetic;
  UnitSystem& system = UnitSystem::instance();
  const MutexLock lock(system.mutex());
  const NoMessages silence;
  AFTERBAY_TRY(system.unit(without_blanks(units)));
  return {};
}

#else

bool has_udunits() noexcept { return false; }

Result<Linear> conversion(std::string_view from, std::string_view to) {
  if (without_blanks(from) == without_blanks(to)) return Linear();
  return fail(ErrorCode::invalid_argument,
              "this build of Afterbay cannot convert \"{}\" to \"{}\": install UDUNITS-2 (Debian's package "
              "libudunits2-dev) and build Afterbay again",
              printable(from), printable(to));
}

Result<> check_units(std::string_view) { return {}; }

#endif

}  // namespace afterbay::expression
