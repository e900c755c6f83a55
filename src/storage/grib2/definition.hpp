// SPDX-License-Identifier: Apache-2.0
// What a schema says about GRIB2 messages: grids, levels, parameters, statistics. Pure functions
// without ecCodes (with it: prototype.hpp). Numbers of code tables are those of the WMO's Manual on
// Codes, FM 92 GRIB edition 2.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage::grib2 {

enum class GridKind : std::uint8_t { regular_ll, regular_gg, reduced_gg, unstructured, healpix };

/// A horizontal grid. Latitudes and longitudes of corners in degrees.
struct Grid {
  GridKind kind = GridKind::unstructured;
  std::uint64_t points = 0;
  std::uint64_t ni = 0;  ///< along a parallel
  std::uint64_t nj = 0;  ///< along a meridian
  double first_latitude = 0;
  double last_latitude = 0;
  double first_longitude = 0;
  double last_longitude = 0;
  double di = 0;                   ///< distance of longitudes
  double dj = 0;                   ///< distance of latitudes, positive
  std::uint64_t gauss = 0;         ///< parallels between a pole and the equator
  std::vector<long> pl;            ///< points per parallel of a reduced grid
  std::uint64_t nside = 0;         ///< Nside of HEALPix
  bool nested = true;              ///< order of HEALPix
  std::optional<cf::Earth> earth;  ///< nullopt: the schema does not say
};
/// The grid of a field. Fails with the variable's name if GRIB2 has no such grid.
Result<Grid> grid_of(const Schema& schema, const Variable& field);

/// Latitudes of the Gaussian grid with `n` parallels in each hemisphere, from north to south.
std::vector<double> gaussian_latitudes(std::uint64_t n);

/// A kind of level (code table 4.5), and its values by slab.
struct Levels {
  long surface = 1;
  long second_surface = 255;  ///< none
  bool has_value = false;
  bool known = false;             ///< `surface` is that of the coordinate; values are in its unit in GRIB2
  bool numbered = false;          ///< values are numbers of levels
  bool single_precision = false;  ///< 32-bit reals hold all values of the coordinate
  std::string coordinate;         ///< its name, for messages
  std::vector<double> values;     ///< one per slab, or one for all
  /// Upper and lower surfaces of levels that are layers, as many as values; otherwise empty.
  std::vector<std::pair<double, double>> layers;
  /// Coefficients of hybrid sigma pressure levels, for all half levels from the top: first the
  /// pressures, then the factors of the surface pressure; empty if the schema does not have them.
  std::vector<double> coefficients;
};
Result<Levels> levels_of(const Schema& schema, const Variable& field);
/// Whether values of these levels are right with a type of surface that keys of ecCodes have set.
bool can_lie_on(const Levels& levels, long surface);
/// The member of an ensemble: a scalar realization; nullopt if there is none.
Result<std::optional<long>> member_of(const Schema& schema, const Variable& field);
/// Depths of oceanographic parameters (code table 0.0) are those below the sea surface.
constexpr long ocean_discipline = 10;
void take_discipline(Levels& levels, long discipline);

/// A parameter by its numbers (code tables 0.0, 4.1, 4.2).
struct Parameter {
  std::string_view standard_name;
  std::string_view units;  ///< as CF writes them
  long discipline = 0;
  long category = 0;
  long number = 0;
  // For fields without a vertical coordinate.
  long surface = 1;           ///< the ground
  long second_surface = 255;  ///< second surface of a layer; 255: not a layer
};
/// The row of a CF standard name, or null.
const Parameter* parameter_of(std::string_view standard_name);
/// All standard names of the table.
std::vector<std::string> standard_names();
/// Whether two texts of units mean the same, of which one may be as ecCodes writes them.
bool same_units(std::string_view cf, std::string_view eccodes);

/// Type of statistical processing (code table 4.10); nullopt: a moment. Fails for methods over
/// other dimensions than time and those of the grid.
Result<std::optional<long>> statistic_of(const Schema& schema, const Variable& field);

/// The attributes `GRIB_KEY` of a list, without the prefix.
struct Key {
  std::string name;
  Values value;
};
std::vector<Key> keys_of(const std::vector<Attribute>& attributes);

/// How the values of a field are packed: the keys packingType, bitsPerValue and decimalScaleFactor,
/// of the field or else of the file.
struct Packing {
  bool ccsds = false;
  std::optional<long> bits;      ///< per value
  std::optional<long> decimals;  ///< D: values are kept to half of 10^-D
  bool exact = false;            ///< lossless: integers whose accuracy is not stated
  std::vector<Key> keys;         ///< the same, as given
};
constexpr long default_bits = 16;
constexpr long most_bits = 32;
constexpr long most_decimals = 38;  ///< the minimum is -38: powers of ten that 32-bit reals hold
/// Fails with the variable's name for keys that contradict each other, or that no message can have.
Result<Packing> packing_of(const Schema& schema, const Variable& field);
/// Whether a key is for `packing_of`.
bool is_packing(std::string_view key);

unsigned slab_dimensions(const Schema& schema, const Variable& variable);

}  // namespace afterbay::storage::grib2
