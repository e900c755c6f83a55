// SPDX-License-Identifier: Apache-2.0
// What a schema says about the fields of files of the Unified Model, PP files and fields files:
// grids, levels, codes, packing. Pure functions. Errors are sentences whose subject is the variable
// ("has ...").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/format_traits.hpp"
#include "packing/field_values.hpp"
#include "packing/pp_describe.hpp"

namespace afterbay::storage::um {

/// How PP files and fields files differ.
struct FileKind {
  std::string_view message;  ///< what holds a field, for messages: "PP record"
  TypeSet types;             ///< types of fields
  std::string_view types_text;
  /// Words have 64 bits; then 32-bit reals are a packing, which float32 has unless attributes say
  /// otherwise.
  bool wide = false;
  std::uint64_t most_points = 0;      ///< maximum points of a field
  std::string_view most_points_text;  ///< why
};

/// The level and the ensemble member of a slab.
struct Place {
  packing::PpLevel level;
  int member = 0;
};

/// An integer word of the header, counted from 1, that an attribute sets.
struct Word {
  int number = 0;
  std::int32_t value = 0;
};

/// How the values of a variable are stored: its attributes PP_packing, PP_accuracy, PP_mask and
/// PP_outside_mask.
struct Storage {
  packing::PpPacking method = packing::PpPacking::none;
  int accuracy = 0;
  std::string mask;           ///< a constant variable; empty: none
  bool drops_others = false;  ///< values at points that the mask leaves out
};

/// Everything that is known of a field before its values and times.
struct Field {
  packing::PpDescription description;  ///< without level, member and time
  std::vector<Place> places;           ///< one per slab
  Storage storage;
  std::vector<Word> words;
  bool over_time = false;  ///< values are of the interval of a record
};
/// Fails with the variable's name if no PP header can describe the field.
Result<Field> field_of(const Schema& schema, const Variable& variable, const FileKind& kind);
/// The header of a slab, whose time is a placeholder. Fails as describe_pp.
Result<packing::PpDescribed> describe_slab(const Field& field, std::size_t slab);
/// The land points of the grid, in the order of values. Fails if there are other numbers of them.
Result<std::vector<std::uint8_t>> mask_of(const Schema& schema, const Variable& field,
                                          const std::string& mask);

// For MessageAccuracy of the formats.
bool packs(const Variable& variable, const FileKind& kind);
Result<bool> keep_error(Variable& variable, double largest, const FileKind& kind);

/// The constant bounds of a coordinate, one interval per value; empty if there are none.
std::vector<packing::PpInterval> bounds_of(const Schema& schema, const Variable& coordinate);

// Parts of a Field.
Result<packing::PpGrid> grid_of(const Schema& schema, const Variable& field);
Result<std::vector<Place>> places_of(const Schema& schema, const Variable& field);
Result<Storage> storage_of(const Variable& field, const FileKind& kind);
Result<std::optional<packing::PpStash>> stash_of(const Variable& field);
/// Words that attributes of the file and of the field set; those of the field have precedence.
Result<std::vector<Word>> words_of(const Schema& schema, const Variable& field);
/// The version of the Unified Model, "12.1" as 1201, by an attribute of the field or of the file. 0
/// if there is none.
Result<int> um_version_of(const Schema& schema, const Variable& field);
/// An attribute that is a whole number from `least` to `most`.
Result<int> whole_number(const Variable& field, const Attribute& attribute, int least, int most);
/// Whether an attribute is one of those that this folder reads.
bool is_known_attribute(std::string_view name);
/// Their names, for messages.
std::vector<std::string> known_attributes();
/// `cell_methods` with CF's names of the dimensions in place of those of the schema.
std::string cell_methods_of(const Schema& schema, const Variable& field);
/// The calendar of the times of records, or of a scalar time; nullopt if there is neither.
Result<std::optional<Calendar>> calendar_of(const Schema& schema);
/// The time of a scalar constant with standard name forecast_reference_time.
Result<std::optional<Date>> reference_of(const Schema& schema);

unsigned slab_dimensions(const Schema& schema, const Variable& variable);
/// Whether headers or packing need the values of a variable: a coordinate or a land mask.
bool is_needed_first(const Schema& schema, const Variable& variable);

template <class... Args>
tl::unexpected<Error> refuse(const Variable& field, fmt::format_string<Args...> format, Args&&... args) {
  return fail(make_error(ErrorCode::invalid_argument, "{}", fmt::format(format, std::forward<Args>(args)...))
                  .in_variable(field.name));
}

}  // namespace afterbay::storage::um
