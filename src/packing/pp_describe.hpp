// SPDX-License-Identifier: Apache-2.0
// Fills the header of a PP field from names and coordinates as CF has them. Pure functions, which
// any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/calendar.hpp"
#include "base/result.hpp"
#include "packing/pp_codes.hpp"
#include "packing/pp_header.hpp"

namespace afterbay::packing {

struct PpInterval {
  double lower = 0;
  double upper = 0;
};

/// Latitudes of rows and longitudes of points, in degrees, in the order of the values; of the
/// rotated grid if the pole is elsewhere. Steps may be positive, negative or irregular (then the
/// coordinates and their bounds are stored as extra data).
struct PpGrid {
  std::vector<double> latitudes;
  std::vector<double> longitudes;
  std::vector<PpInterval> latitude_bounds;  ///< one per latitude, or none; not stored of a regular axis
  std::vector<PpInterval> longitude_bounds;
  // Not rotated: a pole at 90, and a longitude of 0 or 180.
  double pole_latitude = 90;  ///< grid_north_pole_latitude of CF
  double pole_longitude = 0;  ///< grid_north_pole_longitude
};

/// Whether its rows run in other directions than the parallels of the Earth. Grids that are turned
/// about the Earth's pole are rotated, but not tilted.
bool is_tilted(const PpGrid& grid) noexcept;

/// A level. Members that its kind does not have are not used.
struct PpLevel {
  PpLevelKind kind = PpLevelKind::surface;
  double value = 0;                  ///< in the unit of the kind; a of hybrid levels
  std::optional<PpInterval> bounds;  ///< bounds of `value`
  double coefficient = 0;            ///< b of hybrid levels
  std::optional<PpInterval> coefficient_bounds;
  int number = 0;  ///< number of a model level, depth or soil level, from 1
};

/// A time of validity, or an interval.
struct PpTime {
  Calendar calendar;
  Date begin;
  std::optional<Date> end;        ///< end of the interval of a mean, minimum or maximum
  std::optional<Date> reference;  ///< forecast_reference_time
};

enum class PpType : std::uint8_t { real = 1, integer = 2, logical = 3 };

struct PpDescription {
  std::string variable;       ///< for messages
  std::string standard_name;  ///< CF's
  /// Units of the values; empty: those that the code stands for. Not compared with the units of a
  /// STASH code that the table does not have.
  std::string units;
  std::string cell_methods;  ///< CF's: "time: mean (interval: 1 hour)", "longitude: mean time: mean"
  PpType type = PpType::real;
  PpGrid grid;
  PpLevel level;
  PpTime time;
  std::optional<PpStash> stash;   ///< in place of what the table has for the name
  std::optional<int> field_code;  ///< LBFC; also without a STASH code
  int pseudo_level = 0;           ///< 0: none
  int ensemble_member = 0;
  int um_version = 0;  ///< version of the Unified Model as in 1201 for 12.1; 0: none
};

struct PpDescribed {
  PpHeader header;
  std::vector<std::uint32_t> extra;  ///< words of extra data: irregular coordinates
};

/// The header of a field, but for the words on its values, which encode_pp sets. Sources: Unified
/// Model Documentation Paper F3, section 4; CF Conventions 1.11, sections 4, 5.6 and 7.3.
///
/// Fails, naming the variable, the word of the header and what to give: with unknown_name if no
/// code is known for the name, the level or the height; with invalid_argument for other units than
/// the code stands for, calendars that LBTIM cannot express, dates outside year 1 to 9999, cell
/// methods without a code, coordinates that are not strictly monotonic, levels that are not finite
/// or beyond the range of LBLEV.
Result<PpDescribed> describe_pp(const PpDescription& description);

/// Replaces the words of a header on the time: LBYR to LBTIM, LBFT, LBREL, LBPROC. Fails as
/// describe_pp; the header is unspecified then.
Result<> describe_pp_time(const std::string& variable, std::string_view cell_methods, const PpTime& time,
                          PpHeader& header);

/// The code of a calendar in LBTIM, by its name; 0 if there is none.
int pp_calendar_code(std::string_view name) noexcept;

/// A level from a vertical coordinate of CF: air_pressure, height, depth and
/// air_potential_temperature, in Pa, hPa, mbar, m, km or K. Fails with invalid_argument.
Result<PpLevel> level_of_cf(const std::string& standard_name, const std::string& units, double value,
                            const std::optional<PpInterval>& bounds = std::nullopt);

}  // namespace afterbay::packing
