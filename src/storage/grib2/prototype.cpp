// SPDX-License-Identifier: Apache-2.0
#ifdef AFTERBAY_HAS_ECCODES
#include "storage/grib2/prototype.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "storage/grib2/sections.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage::grib2 {
namespace {

constexpr long unknown_centre = 255;  ///< common code table C-11

bool has_key(const std::vector<Key>& keys, std::string_view name) {
  return std::ranges::find(keys, name, &Key::name) != keys.end();
}

// ---- the grid

Result<> set_rectilinear(Handle& handle, const Grid& grid) {
  const bool gaussian = grid.kind == GridKind::regular_gg;
  AFTERBAY_TRY(handle.set("gridType", std::string(gaussian ? "regular_gg" : "regular_ll")));
  AFTERBAY_TRY(handle.set("Ni", static_cast<long>(grid.ni)));
  AFTERBAY_TRY(handle.set("Nj", static_cast<long>(grid.nj)));
  AFTERBAY_TRY(handle.set("jScansPositively", grid.first_latitude < grid.last_latitude ? 1 : 0));
  AFTERBAY_TRY(handle.set("latitudeOfFirstGridPointInDegrees", grid.first_latitude));
  AFTERBAY_TRY(handle.set("latitudeOfLastGridPointInDegrees", grid.last_latitude));
  AFTERBAY_TRY(handle.set("longitudeOfFirstGridPointInDegrees", grid.first_longitude));
  AFTERBAY_TRY(handle.set("longitudeOfLastGridPointInDegrees", grid.last_longitude));
  AFTERBAY_TRY(handle.set("iDirectionIncrementInDegrees", grid.di));
  if (gaussian) return handle.set("N", static_cast<long>(grid.gauss));
  return handle.set("jDirectionIncrementInDegrees", grid.dj);
}

Result<> set_reduced(Handle& handle, const Grid& grid) {
  AFTERBAY_TRY(handle.set("gridType", std::string("reduced_gg")));
  AFTERBAY_TRY(handle.set("N", static_cast<long>(grid.gauss)));
  AFTERBAY_TRY(handle.set("Nj", static_cast<long>(grid.nj)));
  AFTERBAY_TRY(handle.set("pl", std::span<const long>(grid.pl)));
  AFTERBAY_TRY(handle.set("latitudeOfFirstGridPointInDegrees", grid.first_latitude));
  AFTERBAY_TRY(handle.set("latitudeOfLastGridPointInDegrees", grid.last_latitude));
  AFTERBAY_TRY(handle.set("longitudeOfFirstGridPointInDegrees", 0.0));
  return handle.set("longitudeOfLastGridPointInDegrees", grid.last_longitude);
}

/// Source: grid definition template 3.150, WMO Manual on Codes.
Result<> set_healpix(Handle& handle, const Grid& grid) {
  auto set = [&]() -> Result<> {
    AFTERBAY_TRY(handle.set("gridType", std::string("healpix")));
    AFTERBAY_TRY(handle.set("Nside", static_cast<long>(grid.nside)));
    AFTERBAY_TRY(handle.set("ordering", std::string(grid.nested ? "nested" : "ring")));
    return handle.set("longitudeOfFirstGridPointInDegrees", 45.0);
  }();
  if (!set)
    set.error().add(
        fmt::format("HEALPix grids (template 3.150) need ecCodes 2.32 or newer, and this is {}: use it, or "
                    "write netCDF",
                    codes_get_api_version()));
  return set;
}

Result<> set_grid(Handle& handle, const Grid& grid) {
  switch (grid.kind) {
    case GridKind::regular_ll:
    case GridKind::regular_gg: return set_rectilinear(handle, grid);
    case GridKind::reduced_gg: return set_reduced(handle, grid);
    case GridKind::healpix: return set_healpix(handle, grid);
    case GridKind::unstructured: break;
  }
  AFTERBAY_TRY(handle.set("gridType", std::string("unstructured_grid")));
  return handle.set("numberOfDataPoints", static_cast<long>(grid.points));
}

/// A value as GRIB2 writes it: a whole number times a power of ten.
struct Scaled {
  long factor = 0;
  long value = 0;
};
/// Relative precisions: of numbers that were computed in double precision, and of 32-bit reals.
constexpr double double_precision = 1e-14;
constexpr double single_precision = 0x1p-24 * (1 + 1e-6);

double scaled_by(double value, long factor) { return value * std::pow(10.0, static_cast<double>(factor)); }

bool is_whole(double number, double precision) {
  return std::abs(number - std::round(number)) <= precision * std::abs(number);
}

/// Scales `value` with the fewest decimals that give it to a precision, or with as many as the
/// whole number has room for. Factors have 8 bits, numbers 32. Value: finite, not 0.
Scaled scaled_to(double value, double precision) {
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  constexpr long most_factor = 126;
  long factor = 0;
  while (factor > -most_factor && std::abs(scaled_by(value, factor)) > most) --factor;
  while (factor < most_factor && std::abs(scaled_by(value, factor + 1)) <= most &&
         !is_whole(scaled_by(value, factor), precision))
    ++factor;
  Scaled scaled{factor, std::lround(scaled_by(value, factor))};
  for (; scaled.factor > 0 && scaled.value % 10 == 0; --scaled.factor) scaled.value /= 10;
  return scaled;
}

/// Numbers that were 32-bit reals, such as 0.1, get the decimals that these stand for, unless nine
/// digits are exact.
Scaled scaled_of(double value, bool single) {
  if (value == 0) return {};
  const Scaled scaled = scaled_to(value, double_precision);
  if (!single || is_whole(scaled_by(value, scaled.factor), double_precision)) return scaled;
  return scaled_to(value, single_precision);
}

/// Keys whose names begin with "scaleFactorOf" and "scaledValueOf". `single`: the value was a
/// 32-bit real.
Result<> set_scaled(Handle& handle, const std::string& name, double value, bool single = false) {
  if (!std::isfinite(value))
    return fail(ErrorCode::invalid_argument, "the value of {} is {}: it must be finite", name, value);
  const Scaled scaled = scaled_of(value, single);
  AFTERBAY_TRY(handle.set(("scaleFactorOf" + name).c_str(), scaled.factor));
  return handle.set(("scaledValueOf" + name).c_str(), scaled.value);
}

/// Source: code table 3.2, WMO Manual on Codes.
Result<> set_earth(Handle& handle, const cf::Earth& earth) {
  struct Known {
    long code;
    double semi_major, semi_minor;
  };
  static constexpr Known figures[] = {{6, 6371229, 6371229},          {0, 6367470, 6367470},
                                      {8, 6371200, 6371200},          {2, 6378160, 6356775},
                                      {4, 6378137, 6356752.31414036}, {5, 6378137, 6356752.31424518}};
  constexpr double tolerance = 5e-5;  // tells those of GRS80 and WGS84 apart
  for (const Known& it : figures)
    if (std::abs(it.semi_major - earth.semi_major) < tolerance &&
        std::abs(it.semi_minor - earth.semi_minor) < tolerance)
      return handle.set("shapeOfTheEarth", it.code);
  AFTERBAY_TRY(handle.set("shapeOfTheEarth", earth.is_sphere() ? 1 : 7));
  if (earth.is_sphere()) return set_scaled(handle, "RadiusOfSphericalEarth", earth.semi_major);
  AFTERBAY_TRY(set_scaled(handle, "EarthMajorAxis", earth.semi_major));
  return set_scaled(handle, "EarthMinorAxis", earth.semi_minor);
}

// ---- the parameter and the level

Result<> set_parameter(Handle& handle, const Variable& variable, const std::vector<Key>& keys) {
  for (const char* key : {"paramId", "shortName"}) {
    const auto given = std::ranges::find(keys, key, &Key::name);
    if (given == keys.end()) continue;
    AFTERBAY_TRY(handle.set(given->name, given->value));
    AFTERBAY_TRY_ASSIGN(const std::string name, handle.text("shortName"));
    AFTERBAY_TRY_ASSIGN(const std::string units, handle.text("units"));
    if (given->value.type == Type::text && name != given->value.text())
      return fail(ErrorCode::invalid_argument,
                  "the attribute GRIB_{} is '{}', but the message would be read as '{}'", key,
                  given->value.text(), name);
    const std::string_view wanted = cf::text_of(variable.attributes, "units");
    if (wanted.empty() || same_units(wanted, units)) return {};
    return fail(
        ErrorCode::invalid_argument,
        "the variable has units '{}', but the parameter '{}' is in '{}' in GRIB2: convert it (settings add "
        "and multiply)",
        wanted, name, units);
  }
  const Parameter* const row = parameter_of(cf::text_of(variable.attributes, "standard_name"));
  if (row == nullptr) return {};
  AFTERBAY_TRY(handle.set("discipline", row->discipline));
  AFTERBAY_TRY(handle.set("parameterCategory", row->category));
  return handle.set("parameterNumber", row->number);
}

Result<> set_surfaces(Handle& handle, const Levels& levels) {
  AFTERBAY_TRY(handle.set("typeOfFirstFixedSurface", levels.surface));
  AFTERBAY_TRY(
      handle.set("typeOfSecondFixedSurface", levels.layers.empty() ? levels.second_surface : levels.surface));
  if (levels.has_value) return {};
  for (const char* key : {"scaleFactorOfFirstFixedSurface", "scaledValueOfFirstFixedSurface",
                          "scaleFactorOfSecondFixedSurface", "scaledValueOfSecondFixedSurface"})
    AFTERBAY_TRY(handle.set_missing(key));
  return {};
}

/// A depth is one below the ground or below the sea surface: the parameter decides, which keys of
/// attributes can give.
Result<> settle_depth(Handle& handle, Levels& levels, bool named) {
  const long before = levels.surface;
  AFTERBAY_TRY_ASSIGN(const long discipline, handle.number("discipline"));
  take_discipline(levels, discipline);
  if (named || levels.surface == before) return {};
  for (const char* key : {"typeOfFirstFixedSurface", "typeOfSecondFixedSurface"}) {
    AFTERBAY_TRY_ASSIGN(const long surface, handle.number(key));
    if (surface == before) AFTERBAY_TRY(handle.set(key, levels.surface));
  }
  return {};
}

/// A type of level that attributes name can be one of single levels; then bounds are left out.
Result<> settle_layers(const Handle& handle, Levels& levels) {
  if (levels.layers.empty()) return {};
  AFTERBAY_TRY_ASSIGN(const long second, handle.number("typeOfSecondFixedSurface"));
  constexpr long none = 255;
  if (second == none) levels.layers.clear();
  return {};
}

/// Readers could not tell the messages of two levels with the same numbers apart.
Result<> check_distinct(Handle& handle, const Levels& levels) {
  if (!levels.has_value || levels.values.size() < 2) return {};
  std::map<std::array<long, 4>, std::size_t> found;
  for (std::size_t k = 0; k < levels.values.size(); ++k) {
    AFTERBAY_TRY(set_level(handle, levels, k));
    std::array<long, 4> numbers{};
    std::size_t n = 0;
    for (const char* key : {"scaleFactorOfFirstFixedSurface", "scaledValueOfFirstFixedSurface",
                            "scaleFactorOfSecondFixedSurface", "scaledValueOfSecondFixedSurface"}) {
      AFTERBAY_TRY_ASSIGN(numbers[n++], handle.number(key));
    }
    const auto [before, is_new] = found.try_emplace(numbers, k);
    if (is_new) continue;
    return fail(ErrorCode::invalid_argument,
                "the levels {} and {} (from 0), {} and {}, would both be written as {} times 10^{}: give the "
                "coordinate{} values that differ in the first nine digits, or write netCDF",
                before->second, k, levels.values[before->second], levels.values[k], numbers[1], -numbers[0],
                levels.coordinate.empty() ? std::string() : fmt::format(" '{}'", levels.coordinate));
  }
  return {};
}

/// Keys of attributes can set another type of surface than that of the coordinate.
Result<> check_surface(const Handle& handle, const Levels& levels) {
  if (!levels.has_value) return {};
  AFTERBAY_TRY_ASSIGN(const long surface, handle.number("typeOfFirstFixedSurface"));
  if (can_lie_on(levels, surface)) return {};
  AFTERBAY_TRY_ASSIGN(const std::string name, handle.text("typeOfLevel"));
  return fail(ErrorCode::invalid_argument,
              "the levels are those of the coordinate '{}' (type of surface {}), but an attribute GRIB_KEY "
              "gives the type of level '{}' (type of surface {}): remove GRIB_typeOfLevel; use another "
              "coordinate; or, if the parameter has its own type of level, give it by GRIB_discipline, "
              "GRIB_parameterCategory and GRIB_parameterNumber",
              levels.coordinate, levels.surface, name, surface);
}

// ---- attributes GRIB_KEY

/// Sections 3 and 5 to 7 of a message, which follow from the grid and the packing of the variable,
/// without what attributes may say of the grid besides.
std::vector<std::byte> fixed_sections(std::span<const std::byte> message, const Grid& grid) {
  std::vector<std::byte> kept;
  for (const std::uint64_t number : {3u, 5u, 6u, 7u}) {
    const auto section = section_of(message, number);
    std::vector<std::byte> octets(section.begin(), section.end());
    if (number == 3) {
      constexpr std::size_t shape_first = 15, shape_last = 30, flags = 55;
      constexpr auto along_grid = std::byte{0x08};  // whether vectors are relative to the grid
      // Numbers and identifiers that name an unstructured grid.
      if (grid.kind == GridKind::unstructured) octets.resize(std::min(octets.size(), shape_first - 1));
      if (!grid.earth && octets.size() >= shape_last)
        std::fill(octets.begin() + shape_first - 1, octets.begin() + shape_last, std::byte{0});
      if (grid.kind != GridKind::healpix && octets.size() >= flags) octets[flags - 1] &= ~along_grid;
    }
    kept.insert(kept.end(), octets.begin(), octets.end());
  }
  return kept;
}

/// Sets a key, which must not change what the values are or where they lie.
Result<> set_key(Handle& handle, const Key& key, const Grid& grid) {
  AFTERBAY_TRY_ASSIGN(const auto before, handle.message());
  const std::vector<std::byte> fixed = fixed_sections(before, grid);
  AFTERBAY_TRY(handle.set(key.name, key.value));
  AFTERBAY_TRY_ASSIGN(const auto after, handle.message());
  if (fixed_sections(after, grid) == fixed) return {};
  return fail(ErrorCode::invalid_argument,
              "the attribute GRIB_{} changes the grid or the packing of messages, which follow from the "
              "coordinates, the grid_mapping, GRIB_packingType, GRIB_bitsPerValue and "
              "GRIB_decimalScaleFactor: remove it",
              key.name);
}

/// Parameters that ecCodes knows by one name can have their own statistic.
Result<> check_statistic(const Handle& handle, const std::optional<long>& statistic) {
  const auto found = handle.number("typeOfStatisticalProcessing");  // fails if messages have none
  constexpr long none = 255;
  const long stated = found ? *found : none;
  if (stated == statistic.value_or(none)) return {};
  return fail(
      ErrorCode::invalid_argument,
      "the values are {} by the cell_methods of the variable (typeOfStatisticalProcessing {}), but an "
      "attribute GRIB_KEY, such as the parameter, makes the message {} (typeOfStatisticalProcessing {}): "
      "correct cell_methods, or use another parameter",
      statistic ? "a statistic over time" : "of moments", statistic.value_or(none),
      stated == none ? "one of moments" : "one of a statistic over time", stated);
}

Result<> check_member(const Handle& handle, const std::optional<long>& member) {
  if (!member) return {};
  const auto found = handle.number("perturbationNumber");
  if (found && *found == *member) return {};
  return fail(ErrorCode::invalid_argument,
              "the variable has the realization {}, but an attribute GRIB_KEY gives messages {}: remove "
              "GRIB_productDefinitionTemplateNumber and GRIB_perturbationNumber, or the realization from "
              "the attribute 'coordinates'",
              *member, found ? fmt::format("the perturbationNumber {}", *found) : "no member");
}

/// Code table 4.0: at a moment or over time, of an ensemble or not.
long template_of(bool interval, bool member) { return interval ? (member ? 11 : 8) : (member ? 1 : 0); }

}  // namespace

Result<> set_level(Handle& handle, const Levels& levels, std::uint64_t slab) {
  if (!levels.has_value) return {};
  const std::size_t at = levels.values.size() == 1 ? 0 : slab;
  const double value = levels.values[at];
  const bool single = levels.single_precision;
  if (!levels.layers.empty()) {
    AFTERBAY_TRY(set_scaled(handle, "FirstFixedSurface", levels.layers[at].first, single));
    return set_scaled(handle, "SecondFixedSurface", levels.layers[at].second, single);
  }
  if (levels.known) return set_scaled(handle, "FirstFixedSurface", value, single);
  // The unit is that of the type of level, which only ecCodes knows.
  return value == std::trunc(value) ? handle.set("level", std::lround(value)) : handle.set("level", value);
}

Result<Prototype> prototype_of(const Schema& schema, const Variable& field) {
  Prototype made;
  AFTERBAY_TRY_ASSIGN(Handle handle, Handle::sample());
  AFTERBAY_TRY_ASSIGN(const long latest, handle.number("tablesVersionLatest"));
  AFTERBAY_TRY(handle.set("tablesVersion", latest));
  AFTERBAY_TRY(handle.set("centre", unknown_centre));
  AFTERBAY_TRY_ASSIGN(const auto statistic, statistic_of(schema, field));
  AFTERBAY_TRY_ASSIGN(const auto member, member_of(schema, field));
  made.interval = statistic.has_value();
  AFTERBAY_TRY(handle.set("productDefinitionTemplateNumber", template_of(made.interval, member.has_value())));
  if (member) AFTERBAY_TRY(handle.set("perturbationNumber", *member));
  AFTERBAY_TRY_ASSIGN(const Grid grid, grid_of(schema, field));
  AFTERBAY_TRY(set_grid(handle, grid));
  if (grid.earth) AFTERBAY_TRY(set_earth(handle, *grid.earth));
  const std::vector<Key> keys = keys_of(field.attributes);
  for (const Key& key : keys_of(schema.attributes))
    if (!is_packing(key.name)) AFTERBAY_TRY(set_key(handle, key, grid));
  if (statistic) AFTERBAY_TRY(handle.set("typeOfStatisticalProcessing", *statistic));
  AFTERBAY_TRY_ASSIGN(made.levels, levels_of(schema, field));
  const bool named = has_key(keys, "typeOfLevel") || has_key(keys, "typeOfFirstFixedSurface");
  if (!has_key(keys, "typeOfLevel")) AFTERBAY_TRY(set_surfaces(handle, made.levels));
  AFTERBAY_TRY(set_parameter(handle, field, keys));
  AFTERBAY_TRY_ASSIGN(made.packing, packing_of(schema, field));
  for (const Key& key : keys)
    if (!is_packing(key.name) && key.name != "paramId" && key.name != "shortName")
      AFTERBAY_TRY(set_key(handle, key, grid));
  AFTERBAY_TRY(settle_depth(handle, made.levels, named));
  AFTERBAY_TRY(check_surface(handle, made.levels));
  AFTERBAY_TRY(settle_layers(handle, made.levels));
  AFTERBAY_TRY(check_distinct(handle, made.levels));
  AFTERBAY_TRY(set_level(handle, made.levels, 0));
  if (!made.levels.coefficients.empty()) {
    AFTERBAY_TRY(handle.set("PVPresent", 1));
    AFTERBAY_TRY(handle.set("pv", std::span<const double>(made.levels.coefficients)));
  }
  AFTERBAY_TRY(check_statistic(handle, statistic));
  AFTERBAY_TRY(check_member(handle, member));
  AFTERBAY_TRY_ASSIGN(const auto message, handle.message());
  made.message.assign(message.begin(), message.end());
  return made;
}

}  // namespace afterbay::storage::grib2
#endif
