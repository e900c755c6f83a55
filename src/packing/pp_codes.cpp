// SPDX-License-Identifier: Apache-2.0
// STASH codes: STASHmaster files of the Unified Model, as its documentation lists them; field
// codes: the table of the PP package. tests/output/um_readers_test.py compares both with what readers
// know.
#include "packing/pp_codes.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace afterbay::packing {
namespace {

constexpr std::uint16_t kind_bit(PpLevelKind kind) {
  return static_cast<std::uint16_t>(1U << static_cast<unsigned>(kind));
}
constexpr std::uint16_t on_surface = kind_bit(PpLevelKind::surface);
constexpr std::uint16_t on_sea_level = kind_bit(PpLevelKind::mean_sea_level) | on_surface;
constexpr std::uint16_t on_height = kind_bit(PpLevelKind::height);
constexpr std::uint16_t on_pressure = kind_bit(PpLevelKind::pressure);
constexpr std::uint16_t on_model_level =
    kind_bit(PpLevelKind::hybrid_height) | kind_bit(PpLevelKind::hybrid_pressure);
constexpr std::uint16_t in_soil = kind_bit(PpLevelKind::soil);

constexpr double screen_height = 1.5;
constexpr double wind_height = 10;

constexpr PpStash atmosphere(int section, int item) { return {1, section, item}; }

constexpr PpCode codes[] = {
    {"air_temperature", "K", on_height, atmosphere(3, 236), 16, screen_height},
    {"air_temperature", "K", on_pressure, atmosphere(16, 203), 16},
    {"air_temperature", "K", on_model_level, atmosphere(16, 4), 16},
    {"air_potential_temperature", "K", on_model_level, atmosphere(0, 4), 19},
    {"surface_temperature", "K", on_surface, atmosphere(0, 24), 16},
    {"dew_point_temperature", "K", on_height, atmosphere(3, 250), 17, screen_height},
    {"soil_temperature", "K", in_soil, atmosphere(8, 225), 23},
    {"eastward_wind", "m s-1", on_height, atmosphere(3, 225), 56, wind_height},
    {"eastward_wind", "m s-1", on_pressure, atmosphere(15, 201), 56},
    {"eastward_wind", "m s-1", on_model_level, atmosphere(0, 2), 56},
    {"x_wind", "m s-1", on_height, atmosphere(3, 225), 56, wind_height},
    {"x_wind", "m s-1", on_pressure, atmosphere(15, 201), 56},
    {"x_wind", "m s-1", on_model_level, atmosphere(0, 2), 56},
    {"northward_wind", "m s-1", on_height, atmosphere(3, 226), 57, wind_height},
    {"northward_wind", "m s-1", on_pressure, atmosphere(15, 202), 57},
    {"northward_wind", "m s-1", on_model_level, atmosphere(0, 3), 57},
    {"y_wind", "m s-1", on_height, atmosphere(3, 226), 57, wind_height},
    {"y_wind", "m s-1", on_pressure, atmosphere(15, 202), 57},
    {"y_wind", "m s-1", on_model_level, atmosphere(0, 3), 57},
    {"upward_air_velocity", "m s-1", on_model_level, atmosphere(0, 150), 42},
    {"wind_speed_of_gust", "m s-1", on_height, atmosphere(3, 463), 0, wind_height},
    {"geopotential_height", "m", on_pressure, atmosphere(16, 202), 1},
    {"surface_altitude", "m", on_surface, atmosphere(0, 33), 1},
    {"air_pressure", "Pa", on_model_level, atmosphere(0, 408), 8},
    {"surface_air_pressure", "Pa", on_surface, atmosphere(0, 409), 8},
    {"air_pressure_at_sea_level", "Pa", on_sea_level, atmosphere(16, 222), 8},
    {"air_pressure_at_mean_sea_level", "Pa", on_sea_level, atmosphere(16, 222), 8},
    {"specific_humidity", "1", on_height, atmosphere(3, 237), 95, screen_height},
    {"specific_humidity", "kg kg-1", on_model_level, atmosphere(0, 10), 95},
    {"relative_humidity", "%", on_height, atmosphere(3, 245), 88, screen_height},
    {"relative_humidity", "%", on_pressure, atmosphere(16, 204), 88},
    {"mass_fraction_of_cloud_ice_in_air", "kg kg-1", on_model_level, atmosphere(0, 12), 78},
    {"mass_fraction_of_cloud_liquid_water_in_air", "kg kg-1", on_model_level, atmosphere(0, 254), 79},
    {"land_binary_mask", "1", on_surface, atmosphere(0, 30), 38},
    {"sea_ice_area_fraction", "1", on_surface, atmosphere(0, 31), 37},
    {"cloud_area_fraction", "1", on_surface, atmosphere(2, 204), 30},
    {"precipitation_flux", "kg m-2 s-1", on_surface, atmosphere(5, 216), 90},
    {"rainfall_flux", "kg m-2 s-1", on_surface, atmosphere(5, 214), 97},
    {"snowfall_flux", "kg m-2 s-1", on_surface, atmosphere(5, 215), 108},
    {"convective_rainfall_flux", "kg m-2 s-1", on_surface, atmosphere(5, 205), 98},
    {"stratiform_rainfall_flux", "kg m-2 s-1", on_surface, atmosphere(4, 203), 99},
    {"surface_snow_amount", "kg m-2", on_surface, atmosphere(8, 23), 93},
    {"soil_moisture_content", "kg m-2", on_surface, atmosphere(8, 208), 106},
    {"surface_upward_sensible_heat_flux", "W m-2", on_surface, atmosphere(3, 217), 178},
    {"surface_upward_latent_heat_flux", "W m-2", on_surface, atmosphere(3, 234), 180},
    {"surface_net_downward_shortwave_flux", "W m-2", on_surface, atmosphere(1, 201), 186},
    {"surface_downwelling_shortwave_flux_in_air", "W m-2", on_surface, atmosphere(1, 235), 203},
    {"surface_net_downward_longwave_flux", "W m-2", on_surface, atmosphere(2, 201), 187},
    {"surface_downwelling_longwave_flux_in_air", "W m-2", on_surface, atmosphere(2, 207), 205},
    {"toa_incoming_shortwave_flux", "W m-2", on_surface, atmosphere(1, 207), 200},
    {"toa_outgoing_shortwave_flux", "W m-2", on_surface, atmosphere(1, 208), 201},
    {"toa_outgoing_longwave_flux", "W m-2", on_surface, atmosphere(2, 205), 206},
};

/// Reads digits from the front of `text`; nullopt if there are none.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<int> take_part(std::string_view& text, char letter) {
  if (text.empty() || text.front() != letter) return std::nullopt;
  text.remove_prefix(1);
  return take_number(text);
}

std::string plain_units(std::string_view units) {
  std::string plain;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const char c = units[i];
    if (c == '*' || c == '^') {
      if (c == '*' && units.substr(i, 2) != "**") plain += ' ';
      if (units.substr(i, 2) == "**") ++i;
    } else if (c == '.' || c == ' ') {
      if (!plain.empty() && plain.back() != ' ') plain += ' ';
    } else {
      plain += c;
    }
  }
  while (!plain.empty() && plain.back() == ' ') plain.pop_back();
  if (plain.empty() || plain == "kg kg-1") return "1";
  if (plain == "kelvin" || plain == "degK") return "K";
  if (plain == "percent") return "%";
  return plain;
}

}  // namespace

int vertical_code(PpLevelKind kind) noexcept {
  switch (kind) {
    case PpLevelKind::surface: return 129;
    case PpLevelKind::mean_sea_level: return 128;
    case PpLevelKind::height: return 1;
    case PpLevelKind::pressure: return 8;
    case PpLevelKind::hybrid_height: return 65;
    case PpLevelKind::hybrid_pressure: return 9;
    case PpLevelKind::potential_temperature: return 19;
    case PpLevelKind::depth: return 2;
    case PpLevelKind::soil: return 6;
  }
  return 0;
}

Result<PpStash> parse_stash(std::string_view text) {
  std::string_view rest = text;
  const auto refused = [&] {
    return fail(ErrorCode::invalid_argument,
                "the STASH code is '{}', it must be like m01s03i236 or 3236 (section * 1000 + item)", text);
  };
  if (!text.empty() && text.front() != 'm') {
    const auto number = take_number(rest);
    if (!number || !rest.empty() || *number > 99999) return refused();
    return PpStash{1, *number / 1000, *number % 1000};
  }
  const auto model = take_part(rest, 'm');
  const auto section = model ? take_part(rest, 's') : std::nullopt;
  const auto item = section ? take_part(rest, 'i') : std::nullopt;
  if (!item || !rest.empty() || *model > 99 || *section > 99 || *item > 999) return refused();
  return PpStash{*model, *section, *item};
}

std::span<const PpCode> pp_codes() noexcept { return codes; }

const PpCode* find_pp_code(std::string_view standard_name, PpLevelKind kind) noexcept {
  const auto* const found = std::find_if(std::begin(codes), std::end(codes), [&](const PpCode& code) {
    return code.standard_name == standard_name && (code.kinds & kind_bit(kind)) != 0;
  });
  return found == std::end(codes) ? nullptr : found;
}

const PpCode* find_pp_code(const PpStash& stash) noexcept {
  const auto* const found = std::ranges::find(codes, stash, &PpCode::stash);
  return found == std::end(codes) ? nullptr : found;
}

bool same_units(std::string_view a, std::string_view b) { return plain_units(a) == plain_units(b); }

}  // namespace afterbay::packing
