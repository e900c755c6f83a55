// SPDX-License-Identifier: Apache-2.0
#ifdef AFTERBAY_HAS_ECCODES
#include "storage/grib2/grib2_encoder.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/caller_terms.hpp"
#include "model/missing_values.hpp"
#include "storage/grib2/packed_field.hpp"
#include "storage/grib2/prototype.hpp"
#include "storage/grib2/time_octets.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage::grib2 {
namespace {

/// Stands for missing values on the way to ecCodes, so that it is refused as a value.
constexpr double missing_mark = std::numeric_limits<double>::max();
/// The reference value of packing has 32 bits.
constexpr double largest_packed = std::numeric_limits<float>::max();

/// Whether all that ecCodes keeps of one message is replaced by the next. It computes the number of
/// bits from a decimal scale and from what it finds.
bool can_reuse_handles(const Packing& packing) { return !packing.decimals && !packing.exact; }

// ---- values

template <class T>
void widen(std::span<const std::byte> from, std::vector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, from.data() + i * sizeof value, sizeof value);
    to[i] = static_cast<double>(value);
  }
}

void widen(Type type, std::span<const std::byte> from, std::vector<double>& to) {
  switch (type) {
    case Type::int8: return widen<std::int8_t>(from, to);
    case Type::int16: return widen<std::int16_t>(from, to);
    case Type::int32: return widen<std::int32_t>(from, to);
    case Type::uint8: return widen<std::uint8_t>(from, to);
    case Type::uint16: return widen<std::uint16_t>(from, to);
    case Type::uint32: return widen<std::uint32_t>(from, to);
    case Type::float32: return widen<float>(from, to);
    default: return widen<double>(from, to);
  }
}

/// Lets a field of one value vary by the least that a float64 can: ecCodes packs no integers for
/// one value. Returns the index; nullopt if there is only one point.
std::optional<std::size_t> let_vary(std::vector<double>& numbers) {
  const auto is_present = [](double number) { return number != missing_mark; };
  if (std::ranges::count_if(numbers, is_present) < 2) return std::nullopt;
  const auto first = std::ranges::find_if(numbers, is_present);
  *first = std::nextafter(*first, -missing_mark);
  return static_cast<std::size_t>(first - numbers.begin());
}

/// `is_new`: the handle has packed nothing yet. `integers`: one value is packed as several are.
Result<> set_packing(Handle& handle, const Packing& packing, const Unpacked& field, bool is_new,
                     bool integers) {
  if (packing.ccsds && is_new) AFTERBAY_TRY(handle.set("packingType", std::string("grid_ccsds")));
  if (packing.bits || (!packing.decimals && !packing.exact))
    return handle.set("bitsPerValue", packing.bits.value_or(default_bits));
  // ecCodes does not scale a single value, but some readers do.
  if (!field.varies() && !integers) return handle.set("decimalScaleFactor", 0);
  // ecCodes 2.28 writes the scale of CCSDS packing, but does not apply it.
  if (packing.ccsds || packing.exact || integers)
    return handle.set("bitsPerValue", bits_needed(field, packing.decimals.value_or(0)));
  return handle.set("decimalScaleFactor", *packing.decimals);
}

// ---- the time

Result<> set_date(Handle& handle, const Date& date, const char* suffix) {
  const auto set = [&](const char* name, long value) {
    return handle.set((std::string(name) + suffix).c_str(), value);
  };
  AFTERBAY_TRY(set("year", static_cast<long>(date.year)));
  AFTERBAY_TRY(set("month", date.month));
  AFTERBAY_TRY(set("day", date.day));
  AFTERBAY_TRY(set("hour", date.hour));
  AFTERBAY_TRY(set("minute", date.minute));
  return set("second", date.second);
}

/// Code table 4.4.
struct Units {
  long code = 0;
  std::int64_t seconds = 1;
};
Units units_of(std::int64_t a, std::int64_t b) {
  if (a % 3600 == 0 && b % 3600 == 0) return {1, 3600};
  if (a % 60 == 0 && b % 60 == 0) return {0, 60};
  return {13, 1};
}

std::int64_t seconds_between(const Date& from, const Date& to) {
  static const cf::TimeAxis axis = [] {
    cf::TimeAxis made;
    made.rules = dates::named_rules("standard").value();
    return made;
  }();
  return axis.seconds(from, to);
}

std::string text_of(const Date& date) {
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", date.year, date.month, date.day, date.hour,
                     date.minute, date.second);
}

Result<> check_date(const Date& date) {
  if (date.nanosecond == 0 && date.year >= 0 && date.year <= 65535) return {};
  return fail(ErrorCode::invalid_argument,
              "the time {:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:09} has no GRIB2 date, which has whole seconds "
              "and years "
              "from 0 to 65535",
              date.year, date.month, date.day, date.hour, date.minute, date.second, date.nanosecond);
}

}  // namespace

Result<std::unique_ptr<MessageEncoder>> Grib2Encoder::make(const Schema& schema,
                                                           const model::FileLayout& layout) {
  auto made = std::make_unique<Grib2Encoder>();
  for (const Variable& variable : schema.variables) {
    if (cf::text_of(variable.attributes, "standard_name") != "forecast_reference_time") continue;
    const std::optional<double> number = cf::number_of(variable);
    if (!number) continue;  // refused at the definition
    AFTERBAY_TRY_ASSIGN(const cf::TimeAxis axis, cf::time_axis_of(variable));
    AFTERBAY_TRY_ASSIGN(made->reference_, axis.date(*number));
  }
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const Variable& variable = schema.variables[v];
    if (layout.stored[v].slab.size == 0) {
      made->variables_.emplace_back();
      continue;
    }
    auto written = written_of(schema, variable);
    if (!written)
      return fail(std::move(written)
                      .error()
                      .in_variable(variable.name)
                      .add(fmt::format("while preparing GRIB2 messages of variable '{}'", variable.name)));
    made->variables_.push_back(*std::move(written));
  }
  return made;
}

Result<Grib2Encoder::Written> Grib2Encoder::written_of(const Schema& schema, const Variable& variable) {
  Written made;
  AFTERBAY_TRY_ASSIGN(made.prototype, prototype_of(schema, variable));
  made.name = variable.name;
  made.type = variable.type;
  made.missing = cf::numbers_of(model::missing_marks(variable));
  made.valid = ValidValues(variable);
  made.reuses_handles = can_reuse_handles(made.prototype.packing);
  return made;
}

Result<Grib2Encoder::Field> Grib2Encoder::field_of(const Written& written, const Slab& slab) const {
  Field field;
  std::vector<double>& numbers = field.numbers;
  numbers.resize(slab.values.size() / size_of(written.type));
  widen(written.type, slab.values, numbers);
  double least = missing_mark, largest = -missing_mark;
  const bool nan_is_missing =
      std::ranges::any_of(written.missing, [](double value) { return std::isnan(value); });
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    double& number = numbers[i];
    if (std::ranges::find(written.missing, number) != written.missing.end() || !written.valid.has(number) ||
        (nan_is_missing && std::isnan(number))) {
      number = missing_mark;
      field.missing = true;
    } else if (std::isfinite(number) && number != missing_mark) {
      least = std::min(least, number);
      largest = std::max(largest, number);
      field.too_large = field.too_large || std::abs(number) > largest_packed;
    } else {
      return fail(
          make_error(
              ErrorCode::invalid_argument,
              "record {} of variable '{}' has the value {} at point {} of a slab, which GRIB2 messages "
              "cannot hold: mark missing values by the fill value",
              said_index(slab.record), written.name, number, said_index(i))
              .in_variable(written.name));
    }
  }
  if (least <= largest) {
    field.least = least;
    field.largest = largest;
  }
  return field;
}

Result<Message> Grib2Encoder::pack(const Written& written, const Slab& slab, Field& field) {
  const Packing& packing = written.prototype.packing;
  const Unpacked unpacked{field.numbers, missing_mark, field.least, field.largest};
  if (field.too_large)
    return fail(cannot_pack(unpacked, packing, "the reference value of packed values has 32 bits"));
  // The scale of a constant field would be that of the message before.
  const bool reuses = written.reuses_handles && unpacked.varies();
  std::optional<Handle> handle = reuses ? take_idle(slab.variable, field.missing) : std::nullopt;
  const bool is_new = !handle;
  if (is_new) {
    AFTERBAY_TRY_ASSIGN(handle, Handle::copy_of(written.prototype.message));
  }
  AFTERBAY_TRY(set_level(*handle, written.prototype.levels, slab.number));
  // The bytes of some messages depend on the order of bitmap and packing.
  if (is_new && field.missing) {
    AFTERBAY_TRY(handle->set("missingValue", missing_mark));
    AFTERBAY_TRY(handle->set("bitmapPresent", 1));
  }
  const auto varied = needs_integers(unpacked, packing) ? let_vary(field.numbers) : std::nullopt;
  AFTERBAY_TRY(set_packing(*handle, packing, unpacked, is_new, varied.has_value()));
  const auto set = handle->set("values", std::span<const double>(field.numbers));
  if (varied) field.numbers[*varied] = field.least;
  if (!set) return fail(cannot_pack(unpacked, packing, set.error().message));
  Message packed;
  AFTERBAY_TRY_ASSIGN(packed.largest_error, largest_error(*handle, unpacked, packing));
  AFTERBAY_TRY_ASSIGN(const auto message, handle->message());
  packed.bytes.assign(message.begin(), message.end());
  if (reuses && packed.bytes.size() <= most_idle_bytes)
    keep_idle(slab.variable, field.missing, *std::move(handle));
  return packed;
}

/// A message with the values as they are (grid_ieee, template 5.4).
Result<Message> Grib2Encoder::leave_unpacked(const Written& written, const Slab& slab, const Field& field) {
  const Unpacked unpacked{field.numbers, missing_mark, field.least, field.largest};
  AFTERBAY_TRY_ASSIGN(Handle handle, Handle::copy_of(written.prototype.message));
  AFTERBAY_TRY(set_level(handle, written.prototype.levels, slab.number));
  constexpr long float32 = 1, float64 = 2;  // code table 5.7
  AFTERBAY_TRY(handle.set("packingType", std::string("grid_ieee")));
  AFTERBAY_TRY(handle.set("precision", fits_float32(unpacked) ? float32 : float64));
  if (field.missing) {
    AFTERBAY_TRY(handle.set("missingValue", missing_mark));
    AFTERBAY_TRY(handle.set("bitmapPresent", 1));
  }
  AFTERBAY_TRY(handle.set("values", std::span<const double>(field.numbers)));
  AFTERBAY_TRY(check_unpacked(handle, unpacked));
  AFTERBAY_TRY_ASSIGN(const auto message, handle.message());
  return Message{.bytes = {message.begin(), message.end()}, .unpacked = true, .largest_error = 0};
}

std::optional<Handle> Grib2Encoder::take_idle(std::uint32_t variable, bool missing) {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find_if(
      idle_, [&](const Idle& it) { return it.variable == variable && it.missing == missing; });
  if (found == idle_.end()) return std::nullopt;
  std::optional<Handle> handle = std::move(found->handle);
  idle_.erase(found);
  return handle;
}

/// The handle that was idle for longest makes room.
void Grib2Encoder::keep_idle(std::uint32_t variable, bool missing, Handle handle) {
  const MutexLock lock(mutex_);
  if (idle_.size() >= most_idle) idle_.erase(idle_.begin());
  idle_.push_back({variable, missing, std::move(handle)});
}

Result<Message> Grib2Encoder::encode(const Slab& slab) {
  const Written& written = variables_[slab.variable];
  AFTERBAY_TRY_ASSIGN(Field field, field_of(written, slab));
  auto packed = pack(written, slab, field);
  // Fields of one value survive: they are packed if the packed value is this value.
  if (packed && packed->largest_error > 0 && field.least == field.largest)
    if (auto unpacked = leave_unpacked(written, slab, field)) return unpacked;
  if (!packed) {
    auto unpacked = leave_unpacked(written, slab, field);
    if (unpacked) return unpacked;
    packed.error().add(fmt::format("nor can they be stored unpacked: {}", unpacked.error().message));
  }
  if (!packed)
    packed.error()
        .in_variable(written.name)
        .add(fmt::format("while packing record {} of variable '{}'", said_index(slab.record), written.name));
  return packed;
}

Result<> Grib2Encoder::stamp(std::span<std::byte> message, std::uint32_t variable, const MessageTime& time) {
  const Written& written = variables_[variable];
  const bool interval = written.prototype.interval && time.interval;
  const Date& begin = interval ? time.begin : time.date;
  const Date& end = interval ? time.end : time.date;
  const Date reference = reference_.value_or(begin);
  const auto enter = [&]() -> Result<> {
    for (const Date* date : {&reference, &begin, &end}) AFTERBAY_TRY(check_date(*date));
    const std::int64_t step = seconds_between(reference, begin);
    const std::int64_t length = seconds_between(begin, end);
    if (seconds_between(reference, end) < 0)
      return fail(
          ErrorCode::invalid_argument,
          "the forecast reference time {} is after the {} {}, but GRIB2 messages count steps from it: "
          "correct it, or remove it from the schema",
          text_of(reference), interval ? "end of the interval" : "time", text_of(end));
    if (length < 0)
      return fail(ErrorCode::invalid_argument, "the interval of a record ends before it begins");
    const Units units = units_of(step, length);
    const TimeOctets octets{reference, end, units.code, step / units.seconds, length / units.seconds,
                            interval};
    if (enter_time(message, octets)) return {};
    AFTERBAY_TRY_ASSIGN(Handle handle, Handle::in(message));
    AFTERBAY_TRY(set_date(handle, reference, ""));
    AFTERBAY_TRY(handle.set("indicatorOfUnitOfTimeRange", units.code));
    AFTERBAY_TRY(handle.set("forecastTime", static_cast<long>(step / units.seconds)));
    if (interval) {
      AFTERBAY_TRY(set_date(handle, end, "OfEndOfOverallTimeInterval"));
      AFTERBAY_TRY(handle.set("indicatorOfUnitForTimeRange", units.code));
      AFTERBAY_TRY(handle.set("lengthOfTimeRange", static_cast<long>(length / units.seconds)));
    }
    AFTERBAY_TRY_ASSIGN(const auto stamped, handle.message());
    if (stamped.size() != message.size())
      return fail(ErrorCode::internal, "a message changed its size when it got its time");
    if (stamped.data() != message.data()) std::ranges::copy(stamped, message.begin());
    return {};
  };
  auto entered = enter();
  if (!entered) entered.error().in_variable(written.name);
  return entered;
}

}  // namespace afterbay::storage::grib2
#endif
