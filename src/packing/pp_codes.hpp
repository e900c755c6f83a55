// SPDX-License-Identifier: Apache-2.0
// Names of CF and the codes by which the Unified Model and its PP files name the same quantities.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace afterbay::packing {

/// Kinds of levels; `code` of the table in pp_codes.cpp gives LBVC.
enum class PpLevelKind : std::uint8_t {
  surface,
  mean_sea_level,
  height,                 ///< metres above the surface
  pressure,               ///< hPa
  hybrid_height,          ///< a + b * orography, metres
  hybrid_pressure,        ///< a + b * surface pressure, Pa
  potential_temperature,  ///< K
  depth,                  ///< metres below the sea surface
  soil                    ///< metres below the ground
};

/// LBVC of a kind. Source: Unified Model Documentation Paper F3, word 26.
int vertical_code(PpLevelKind kind) noexcept;

/// A STASH code: "m01s03i236".
struct PpStash {
  int model = 1;
  int section = 0;
  int item = 0;
  friend bool operator==(const PpStash&, const PpStash&) = default;
};

/// Reads "m01s03i236" or "3236" (of model 1). Fails with invalid_argument.
Result<PpStash> parse_stash(std::string_view text);

/// A row of the table.
struct PpCode {
  std::string_view standard_name;
  std::string_view units;   ///< units of the values in PP files, which have no word for units
  std::uint16_t kinds = 0;  ///< bits 1 << PpLevelKind: the levels on which the code applies
  PpStash stash;
  int field_code = 0;  ///< LBFC; 0: none is known
  /// Metres. Readers take values of the STASH code for values at this height, whatever the header
  /// says; 0: they do not.
  double height = 0;
};

/// All rows, in the order in which they are searched.
std::span<const PpCode> pp_codes() noexcept;

/// The first row with this name that applies to levels of this kind; null if there is none.
const PpCode* find_pp_code(std::string_view standard_name, PpLevelKind kind) noexcept;
/// The first row with this STASH code; null if there is none.
const PpCode* find_pp_code(const PpStash& stash) noexcept;

/// Whether two spellings of units are the same: "kg m-2 s-1", "kg m**-2 s**-1" and "kg.m^-2.s^-1";
/// "K" and "kelvin"; "1" and "". Does not convert.
bool same_units(std::string_view a, std::string_view b);

}  // namespace afterbay::packing
