// SPDX-License-Identifier: Apache-2.0
// FormatTraits: what a format can hold and how it is laid out. Each format's row lies in its folder
// (storage/FORMAT/traits.cpp); the rest of the library asks for a capability, never for a format by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "afterbay/types.hpp"

namespace afterbay {

/// A set of the types of a schema.
struct TypeSet {
  std::uint32_t bits = 0;

  [[nodiscard]] constexpr bool has(Type type) const noexcept {
    return ((bits >> static_cast<unsigned>(type)) & 1u) != 0;
  }
  [[nodiscard]] constexpr TypeSet with(Type type) const noexcept {
    return {bits | 1u << static_cast<unsigned>(type)};
  }
  [[nodiscard]] constexpr TypeSet without(Type type) const noexcept {
    return {bits & ~(1u << static_cast<unsigned>(type))};
  }
};

inline constexpr TypeSet all_types{0x1ffeu};

/// What becomes of the filters that a variable asks for.
enum class FilterRule : std::uint8_t {
  refused,  ///< `validate` refuses them
  ignored,  ///< values are kept as they are
  applied   ///< chunks are encoded
};

struct FormatTraits {
  std::string_view name = {};   ///< in the configuration, the API, messages and the journal
  std::string_view title = {};  ///< as its specification calls it
  /// How a file begins, shared with its relatives; empty: there are no files.
  std::string_view magic = {};
  /// Artifacts are published under a name, and the journal lists them; false: kept in memory, for tests.
  bool publishes = true;
  bool shared = true;  ///< several servers may write one artifact
  /// Offsets follow from the schema by arithmetic: the variables of a record lie side by side and a frame is
  /// a run of bytes of the file. Otherwise the format's index or library finds places.
  bool arithmetic_places = false;
  bool big_endian = false;
  bool chunks = false;  ///< record variables and filtered ones are cut into chunks
  FilterRule filters = FilterRule::refused;
  TypeSet types = all_types;  ///< of variables and attributes
  std::uint64_t most_dimension_length = (std::uint64_t{1} << 63) - 4;
  /// Of a record of one variable, or of a fixed variable. The last variable of a file may have more.
  std::uint64_t most_variable_bytes = UINT64_MAX;
  std::uint64_t most_records = INT64_MAX;
  std::span<const std::string_view> reserved_attributes = {};  ///< names that the format keeps for itself
};

}  // namespace afterbay
