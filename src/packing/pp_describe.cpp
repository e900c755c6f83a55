// SPDX-License-Identifier: Apache-2.0
#include "packing/pp_describe.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/regular_axis.hpp"
#include "base/suggest.hpp"
#include "packing/pp_cell_methods.hpp"

namespace afterbay::packing {
namespace {

constexpr int um_source = 1111;
constexpr std::int32_t special_level = 9999;
/// Words of PP files have 32 bits.
constexpr double largest_real = std::numeric_limits<float>::max();
constexpr std::int32_t sea_level = 8888;
/// Codes of the vectors of extra data for points, lower and upper bounds of an axis.
struct AxisVectors {
  std::uint32_t points;
  std::uint32_t lower;
  std::uint32_t upper;
};
constexpr AxisVectors x_vectors{1, 12, 13};
constexpr AxisVectors y_vectors{2, 14, 15};
constexpr std::int64_t hour_seconds = 3600;
constexpr double height_tolerance = 0.01;
/// The first day of the Gregorian calendar: LBTIM does not tell the standard calendar from the
/// proleptic one.
constexpr Date first_gregorian{.year = 1582, .month = 10, .day = 15};

Result<> describe_codes(const PpDescription& description, PpHeader& header) {
  const PpCode* const code = find_pp_code(description.standard_name, description.level.kind);
  if (code == nullptr && !description.stash && !description.field_code) {
    std::vector<std::string> names;
    for (const PpCode& known : pp_codes()) names.emplace_back(known.standard_name);
    const bool other_levels = std::find(names.begin(), names.end(), description.standard_name) != names.end();
    return fail(
        ErrorCode::unknown_name,
        "no STASH code (LBUSER4, word 42) is known for '{}'{}: give a STASH code such as m01s03i236, or a "
        "field code (LBFC, word 23){}",
        description.standard_name, other_levels ? " on such levels" : "",
        other_levels ? "" : did_you_mean(description.standard_name, names));
  }
  const PpCode* const in_units = description.stash ? find_pp_code(*description.stash) : code;
  if (in_units != nullptr && !description.units.empty() && !same_units(description.units, in_units->units))
    return fail(
        ErrorCode::invalid_argument,
        "the units are '{}', but readers take values of STASH code {} (LBUSER4, word 42) for '{}': convert "
        "them",
        description.units, in_units->stash.section * 1000 + in_units->stash.item, in_units->units);
  if (code != nullptr && !description.stash && !description.field_code && code->height != 0 &&
      std::abs(description.level.value - code->height) > height_tolerance)
    return fail(
        ErrorCode::unknown_name,
        "the height is {} m, but readers take values of STASH code {} (LBUSER4, word 42) for values at {} m: "
        "give the STASH code of that height, or the field code {} (LBFC, word 23)",
        description.level.value, code->stash.section * 1000 + code->stash.item, code->height,
        code->field_code);
  if (description.stash || (code != nullptr && !description.field_code)) {
    const PpStash stash = description.stash.value_or(code != nullptr ? code->stash : PpStash{});
    header[PpInteger::lbuser4] = stash.section * 1000 + stash.item;
    header[PpInteger::lbuser7] = stash.model;
    header[PpInteger::lbsrce] = description.um_version * 10000 + um_source;
  }
  header[PpInteger::lbfc] = description.field_code.value_or(code != nullptr ? code->field_code : 0);
  header[PpInteger::lbuser1] = static_cast<std::int32_t>(description.type);
  header[PpInteger::lbuser5] = description.pseudo_level;
  header[PpInteger::lbrsvd4] = description.ensemble_member;
  return {};
}

/// The words on a time: they lie beside each other.
void set_date(PpHeader& header, PpInteger first, const Date& date, std::int32_t last_word) {
  const auto word = [&](int offset) -> std::int32_t& {
    return header[static_cast<PpInteger>(static_cast<int>(first) + offset)];
  };
  word(0) = static_cast<std::int32_t>(date.year);
  word(1) = date.month;
  word(2) = date.day;
  word(3) = date.hour;
  word(4) = date.minute;
  word(5) = last_word;
}

Result<int> calendar_code(const Calendar& calendar) {
  if (const int code = pp_calendar_code(calendar.name()); code != 0) return code;
  return fail(
      ErrorCode::invalid_argument,
      "the calendar {} has no code in LBTIM (word 13): PP files know standard, proleptic_gregorian, 360_day "
      "and noleap",
      calendar.name());
}

Result<> check_date(const PpTime& time, const Date& date, int code, const char* what) {
  time.calendar.check(date);
  const bool early = code == 1 && date < first_gregorian;
  if (date.year >= 1 && date.year <= special_level && date.nanosecond == 0 && !early) return {};
  return fail(ErrorCode::invalid_argument,
              "{} is {}, but PP headers hold whole seconds of the dates {} to 9999-12-31{}", what,
              time.calendar.text(date), code == 1 ? "1582-10-15" : "0001-01-01",
              code == 1 ? " of this calendar: earlier ones are read differently by different readers" : "");
}

std::int64_t seconds_between(const PpTime& time, const Date& from, const Date& to) {
  return time.calendar.difference(from, to).seconds;
}

Result<> describe_forecast(const PpTime& time, PpHeader& header) {
  header[PpInteger::lbft] = 0;
  if (!time.reference) return {};
  const Date& last = time.end.value_or(time.begin);
  const std::int64_t seconds = seconds_between(time, *time.reference, last);
  const std::int64_t hours = seconds / hour_seconds;
  if (seconds < 0 && !time.end)
    return fail(ErrorCode::invalid_argument,
                "the forecast reference time {} is after the time {} (LBFT, word 14)",
                time.calendar.text(*time.reference), time.calendar.text(last));
  // Readers compute the reference time of an interval from LBFT, otherwise from both times.
  if (time.end && seconds % hour_seconds != 0)
    return fail(ErrorCode::invalid_argument,
                "the interval ends {} s after the forecast reference time, but LBFT (word 14) counts whole "
                "hours: give "
                "no reference time",
                seconds);
  if (std::abs(hours) > std::numeric_limits<std::int32_t>::max())
    return fail(ErrorCode::invalid_argument, "the forecast period of {} hours exceeds LBFT (word 14)", hours);
  header[PpInteger::lbft] = static_cast<std::int32_t>(hours);
  return {};
}

Result<> describe_time(std::string_view cell_methods, const PpTime& time, PpHeader& header) {
  AFTERBAY_TRY_ASSIGN(const PpMethods methods, pp_methods(cell_methods));
  AFTERBAY_TRY_ASSIGN(const int calendar, calendar_code(time.calendar));
  const Date second = time.end ? *time.end : time.reference.value_or(time.begin);
  AFTERBAY_TRY(check_date(time, time.begin, calendar, "the time (LBYR, word 1)"));
  AFTERBAY_TRY(check_date(time, second, calendar, "the second time (LBYRD, word 7)"));
  if (time.end && seconds_between(time, time.begin, *time.end) <= 0)
    return fail(ErrorCode::invalid_argument, "the interval from {} (LBYR, word 1) ends at {} (LBYRD, word 7)",
                time.calendar.text(time.begin), time.calendar.text(*time.end));
  if (methods.over_time() && !time.end)
    return fail(
        ErrorCode::invalid_argument,
        "the cell method of time is {}, but the time is not an interval: give its end (LBYRD, word 7)",
        methods.time_name());
  if (!methods.over_time() && time.end)
    return fail(
        ErrorCode::invalid_argument,
        "the values are of an interval, but the cell methods '{}' give no code for it (LBPROC, word 25): PP "
        "headers know mean, minimum and maximum over time",
        cell_methods);
  AFTERBAY_TRY(describe_forecast(time, header));

  const bool seconds_matter = time.begin.second != 0 || second.second != 0;
  const auto last_word = [&](const Date& date) {
    return seconds_matter ? date.second : static_cast<int>(time.calendar.day_of_year(date));
  };
  header[PpInteger::lbrel] = seconds_matter ? 3 : 2;
  set_date(header, PpInteger::lbyr, time.begin, last_word(time.begin));
  set_date(header, PpInteger::lbyrd, second, last_word(second));
  const int kind = methods.within_years ? 3 : time.end ? 2 : time.reference ? 1 : 0;
  header[PpInteger::lbtim] = (time.end ? methods.sampling_hours * 100 : 0) + kind * 10 + calendar;
  header[PpInteger::lbproc] = methods.lbproc;
  return {};
}

/// The step of a regular axis; 0 if it is irregular.
double step_of(const std::vector<double>& points) {
  const double step = mean_step(points);
  const double tolerance = std::max(1e-4 * std::abs(step), float32_tolerance(points));
  return tolerance <= 0.05 * std::abs(step) && is_regular(points, tolerance) ? step : 0;
}

Result<> check_axis(const std::vector<double>& points, const char* name, const char* words) {
  if (points.empty())
    return fail(ErrorCode::invalid_argument, "there are no {} ({}): give one per row or column", name, words);
  const bool falls = points.size() > 1 && points[1] < points[0];
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool ordered = i == 0 || (falls ? points[i] < points[i - 1] : points[i] > points[i - 1]);
    if (ordered && std::isfinite(points[i])) continue;
    return fail(ErrorCode::invalid_argument,
                "{} ({}): number {} (from 0) is {}, but they must rise or fall strictly", name, words, i,
                points[i]);
  }
  return {};
}

void add_vector(std::vector<std::uint32_t>& extra, std::uint32_t code, const std::vector<double>& points) {
  extra.push_back(static_cast<std::uint32_t>(points.size()) * 1000 + code);
  for (const double point : points) extra.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(point)));
}

/// The points of an irregular axis, and their bounds if it has them.
void add_axis(std::vector<std::uint32_t>& extra, const AxisVectors& vectors,
              const std::vector<double>& points, const std::vector<PpInterval>& bounds) {
  add_vector(extra, vectors.points, points);
  if (bounds.size() != points.size()) return;
  std::vector<double> lower;
  std::vector<double> upper;
  for (const PpInterval& interval : bounds) {
    lower.push_back(interval.lower);
    upper.push_back(interval.upper);
  }
  add_vector(extra, vectors.lower, lower);
  add_vector(extra, vectors.upper, upper);
}

/// 0: the globe; 4: all longitudes of some latitudes; 3: others.
int hemisphere_code(const PpGrid& grid, double latitude_step, double longitude_step) {
  const double around = std::abs(longitude_step) * static_cast<double>(grid.longitudes.size());
  if (longitude_step == 0 || std::abs(around - 360) > 0.01 * std::abs(longitude_step)) return 3;
  const auto [south, north] = std::minmax(grid.latitudes.front(), grid.latitudes.back());
  const double reach = 90 - 1.01 * std::abs(latitude_step);
  return latitude_step != 0 && south <= -reach && north >= reach ? 0 : 4;
}

/// With a pole at 90 degrees north, readers take longitudes of the pole of 0 and 180 for those of
/// an unrotated grid. Headers have 32-bit reals.
bool is_rotated(const PpGrid& grid) {
  return is_tilted(grid) || std::remainder(static_cast<float>(grid.pole_longitude), 180.0F) != 0;
}

Result<> describe_grid(const PpGrid& grid, PpDescribed& described) {
  AFTERBAY_TRY(check_axis(grid.latitudes, "latitudes", "BZY and BDY, words 59 and 60"));
  AFTERBAY_TRY(check_axis(grid.longitudes, "longitudes", "BZX and BDX, words 61 and 62"));
  const auto [south, north] = std::minmax(grid.latitudes.front(), grid.latitudes.back());
  if (south < -90.001 || north > 90.001)
    return fail(ErrorCode::invalid_argument,
                "latitudes (BZY, word 59) are {} to {}, they must be -90 to 90 degrees", south, north);
  if (!(std::abs(grid.pole_latitude) <= 90) || !(std::abs(grid.pole_longitude) <= 360))
    return fail(ErrorCode::invalid_argument,
                "the pole (BPLAT and BPLON, words 56 and 57) is at {}, {}: give a latitude of -90 to 90 "
                "degrees and a "
                "longitude of -360 to 360",
                grid.pole_latitude, grid.pole_longitude);
  const bool rotated = is_rotated(grid);
  PpHeader& header = described.header;
  const double dy = step_of(grid.latitudes);
  const double dx = step_of(grid.longitudes);
  header[PpInteger::lbcode] = rotated ? 101 : 1;
  header[PpInteger::lbhem] = hemisphere_code(grid, dy, dx);
  header[PpInteger::lbrow] = static_cast<std::int32_t>(grid.latitudes.size());
  header[PpInteger::lbnpt] = static_cast<std::int32_t>(grid.longitudes.size());
  header[PpReal::bplat] = rotated ? grid.pole_latitude : 90.0;
  header[PpReal::bplon] = rotated ? grid.pole_longitude : 0.0;
  if (dx == 0) add_axis(described.extra, x_vectors, grid.longitudes, grid.longitude_bounds);
  if (dy == 0) add_axis(described.extra, y_vectors, grid.latitudes, grid.latitude_bounds);
  header[PpReal::bzy] = dy == 0 ? 0.0 : grid.latitudes.front() - dy;
  header[PpReal::bdy] = dy;
  header[PpReal::bzx] = dx == 0 ? 0.0 : grid.longitudes.front() - dx;
  header[PpReal::bdx] = dx;
  return {};
}

/// What BLEV means, for messages.
const char* quantity_of(PpLevelKind kind) {
  switch (kind) {
    case PpLevelKind::height: return "height in m";
    case PpLevelKind::pressure: return "pressure in hPa";
    case PpLevelKind::depth:
    case PpLevelKind::soil: return "depth in m";
    case PpLevelKind::potential_temperature: return "potential temperature in K";
    default: return "level";
  }
}

/// Whether headers can hold a number of a level.
Result<> check_number(const char* what, const char* words, double number) {
  if (std::abs(number) <= largest_real) return {};
  return fail(ErrorCode::invalid_argument,
              "the {} ({}) is {}: it must be finite, and at most {:.3g}, so correct the vertical coordinate",
              what, words, number, largest_real);
}

Result<> check_bounds(const char* what, const char* words, const std::optional<PpInterval>& bounds) {
  if (!bounds) return {};
  AFTERBAY_TRY(check_number(what, words, bounds->lower));
  return check_number(what, words, bounds->upper);
}

Result<> check_numbers(const PpLevel& level) {
  constexpr const char* blev_bounds = "BRLEV and BRSVD1, words 53 and 46";
  constexpr const char* bhlev_bounds = "BHRLEV and BRSVD2, words 55 and 47";
  switch (level.kind) {
    case PpLevelKind::surface:
    case PpLevelKind::mean_sea_level: return {};
    case PpLevelKind::hybrid_height:
      AFTERBAY_TRY(check_number("height of the hybrid level", "BLEV, word 52", level.value));
      AFTERBAY_TRY(check_number("coefficient b of the hybrid level", "BHLEV, word 54", level.coefficient));
      AFTERBAY_TRY(check_bounds("bound of the height", blev_bounds, level.bounds));
      return check_bounds("bound of the coefficient b", bhlev_bounds, level.coefficient_bounds);
    case PpLevelKind::hybrid_pressure:
      AFTERBAY_TRY(check_number("pressure of the hybrid level", "BHLEV, word 54", level.value));
      AFTERBAY_TRY(check_number("coefficient b of the hybrid level", "BLEV, word 52", level.coefficient));
      AFTERBAY_TRY(check_bounds("bound of the pressure", bhlev_bounds, level.bounds));
      return check_bounds("bound of the coefficient b", blev_bounds, level.coefficient_bounds);
    default: break;
  }
  AFTERBAY_TRY(check_number(quantity_of(level.kind), "BLEV, word 52", level.value));
  AFTERBAY_TRY(check_bounds("bound of the level", blev_bounds, level.bounds));
  // Larger numbers of levels mean others.
  if (level.kind == PpLevelKind::pressure && !(level.value >= 0 && std::round(level.value) < sea_level))
    return fail(ErrorCode::invalid_argument,
                "the pressure in hPa (LBLEV, word 33) is {}: it must be 0 to {}, so correct the vertical "
                "coordinate, or its units",
                level.value, sea_level - 1);
  return {};
}

/// F3 has the height-like part of hybrid heights in BLEV, and the pressure-like part of hybrid
/// pressures in BHLEV.
void describe_hybrid(const PpLevel& level, PpHeader& header) {
  const bool height = level.kind == PpLevelKind::hybrid_height;
  const PpInterval a = level.bounds.value_or(PpInterval{level.value, level.value});
  const PpInterval b = level.coefficient_bounds.value_or(PpInterval{level.coefficient, level.coefficient});
  const PpInterval& first = height ? a : b;
  const PpInterval& second = height ? b : a;
  header[PpReal::blev] = height ? level.value : level.coefficient;
  header[PpReal::brlev] = first.lower;
  header[PpReal::brsvd1] = first.upper;
  header[PpReal::bhlev] = height ? level.coefficient : level.value;
  header[PpReal::bhrlev] = second.lower;
  header[PpReal::brsvd2] = second.upper;
}

Result<> describe_level(const PpLevel& level, PpHeader& header) {
  AFTERBAY_TRY(check_numbers(level));
  header[PpInteger::lbvc] = vertical_code(level.kind);
  header[PpInteger::lblev] = level.number;
  const bool numbered =
      level.kind == PpLevelKind::hybrid_height || level.kind == PpLevelKind::hybrid_pressure;
  if (numbered && (level.number < 1 || level.number >= sea_level))
    return fail(ErrorCode::invalid_argument,
                "the number of the model level (LBLEV, word 33) is {}, it must be 1 to {}", level.number,
                sea_level - 1);
  switch (level.kind) {
    case PpLevelKind::surface: header[PpInteger::lblev] = special_level; return {};
    case PpLevelKind::mean_sea_level: header[PpInteger::lblev] = sea_level; return {};
    case PpLevelKind::hybrid_height:
    case PpLevelKind::hybrid_pressure: describe_hybrid(level, header); return {};
    case PpLevelKind::height: header[PpInteger::lblev] = special_level; break;
    case PpLevelKind::pressure:
      header[PpInteger::lblev] = static_cast<std::int32_t>(std::lround(level.value));
      break;
    default: break;
  }
  if (level.kind == PpLevelKind::height && level.value == -1)
    return fail(ErrorCode::invalid_argument,
                "a height of -1 m (BLEV, word 52) means an unknown height to readers: give another one");
  header[PpReal::blev] = level.value;
  if (!level.bounds) return {};
  // Depths have the upper bound, which is the smaller depth, in BRSVD1.
  const bool down = level.kind == PpLevelKind::depth || level.kind == PpLevelKind::soil;
  header[PpReal::brsvd1] = down ? level.bounds->lower : level.bounds->upper;
  header[PpReal::brlev] = down ? level.bounds->upper : level.bounds->lower;
  return {};
}

Result<PpDescribed> describe(const PpDescription& description) {
  PpDescribed described;
  AFTERBAY_TRY(pp_methods(description.cell_methods));
  AFTERBAY_TRY(describe_codes(description, described.header));
  AFTERBAY_TRY(describe_grid(description.grid, described));
  AFTERBAY_TRY(describe_level(description.level, described.header));
  AFTERBAY_TRY(describe_time(description.cell_methods, description.time, described.header));
  described.header[PpReal::bmks] = 1.0;
  return described;
}

/// What `describes` returns, or the exception of a calendar, with the name of the variable.
template <class Describe>
auto in_variable(const std::string& variable, const Describe& describes) -> decltype(describes()) {
  try {
    auto described = describes();
    if (!described) described.error().in_variable(variable);
    return described;
  } catch (const Failure& failure) {
    Error error = failure.error();
    return fail(std::move(error.in_variable(variable).add("the time of a PP field (LBYR, word 1)")));
  }
}

}  // namespace

bool is_tilted(const PpGrid& grid) noexcept { return static_cast<float>(grid.pole_latitude) != 90; }

int pp_calendar_code(std::string_view name) noexcept {
  if (name == "standard" || name == "proleptic_gregorian") return 1;
  if (name == "360_day") return 2;
  return name == "noleap" ? 4 : 0;
}

Result<PpDescribed> describe_pp(const PpDescription& description) {
  return in_variable(description.variable, [&] { return describe(description); });
}

Result<> describe_pp_time(const std::string& variable, std::string_view cell_methods, const PpTime& time,
                          PpHeader& header) {
  return in_variable(variable, [&] { return describe_time(cell_methods, time, header); });
}

Result<PpLevel> level_of_cf(const std::string& standard_name, const std::string& units, double value,
                            const std::optional<PpInterval>& bounds) {
  struct Unit {
    const char* standard_name;
    PpLevelKind kind;
    const char* units;
    double divisor;
  };
  static constexpr Unit table[] = {
      {"air_pressure", PpLevelKind::pressure, "hPa", 1},
      {"air_pressure", PpLevelKind::pressure, "mbar", 1},
      {"air_pressure", PpLevelKind::pressure, "millibar", 1},
      {"air_pressure", PpLevelKind::pressure, "Pa", 100},
      {"height", PpLevelKind::height, "m", 1},
      {"height", PpLevelKind::height, "km", 0.001},
      {"depth", PpLevelKind::depth, "m", 1},
      {"depth", PpLevelKind::depth, "km", 0.001},
      {"air_potential_temperature", PpLevelKind::potential_temperature, "K", 1},
  };
  for (const Unit& unit : table) {
    if (unit.standard_name != standard_name || !same_units(unit.units, units)) continue;
    PpLevel level;
    level.kind = unit.kind;
    level.value = value / unit.divisor;
    if (bounds) level.bounds = PpInterval{bounds->lower / unit.divisor, bounds->upper / unit.divisor};
    return level;
  }
  return fail(ErrorCode::invalid_argument,
              "the vertical coordinate {} in '{}' has no code (LBVC, word 26): give air_pressure (Pa, hPa, "
              "mbar), height "
              "or depth (m, km), air_potential_temperature (K), or the coefficients of hybrid levels",
              standard_name, units);
}

}  // namespace afterbay::packing
