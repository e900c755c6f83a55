// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

#include "base/suggest.hpp"
#include "packing/pp_cell_methods.hpp"
#include "storage/fieldsfile/definition.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage::fieldsfile {
namespace {

using packing::FileConstants;
using packing::FileWord;
using packing::PpGrid;
using packing::PpHeader;
using packing::PpInteger;
using packing::PpLevel;
using packing::PpLevelKind;
using packing::PpReal;
using packing::um_missing;

/// Entries for which the Unified Model has room by default.
constexpr std::uint64_t default_entries = 4096;
constexpr int most_entries = 1 << 24;
constexpr int new_dynamics = 3;
constexpr int end_game = 6;

/// Numbers of constants. Source: F3, appendix.
enum class IntegerConstant : std::uint8_t { columns = 6, rows = 7, levels = 8, missing = 21 };
enum class RealConstant : std::uint8_t {
  longitude_step = 1,
  latitude_step = 2,
  first_latitude = 3,
  first_longitude = 4,
  pole_latitude = 5,
  pole_longitude = 6,
  missing = 29
};
/// Heights and coefficients of levels: columns of the constants of levels.
struct HeightColumns {
  std::size_t height;
  std::size_t coefficient;
};
constexpr HeightColumns theta_columns{4, 5};
constexpr HeightColumns rho_columns{6, 7};

constexpr std::string_view reserved_name = "FF_reserved_headers";
struct HeaderName {
  std::string_view name;
  FileWord word;
  int least = std::numeric_limits<int>::min();
  int most = std::numeric_limits<int>::max();
};
/// Source of the sub-models: F3, section 2: atmosphere, ocean, slab, wave.
constexpr std::array header_names{HeaderName{"FF_sub_model", FileWord::sub_model, 1, 4},
                                  HeaderName{"FF_run_identifier", FileWord::run},
                                  HeaderName{"FF_experiment_number", FileWord::experiment},
                                  HeaderName{"FF_grid_staggering", FileWord::staggering},
                                  HeaderName{"FF_projection_number", FileWord::projection},
                                  HeaderName{"FF_model_version", FileWord::model}};

void set(FileConstants& constants, IntegerConstant number, std::int64_t value) {
  constants.integers[static_cast<std::size_t>(number) - 1] = value;
}
void set(FileConstants& constants, RealConstant number, double value) {
  constants.reals[static_cast<std::size_t>(number) - 1] = value;
}

bool is_irregular(const std::vector<double>& points, double step) { return points.size() > 1 && step == 0; }

/// A field of the file, with the header of its first slab.
struct DescribedField {
  const Variable* variable = nullptr;
  um::Field field;
  PpHeader header;
  std::uint64_t messages = 0;
};

Result<std::vector<DescribedField>> fields_of(const Schema& schema) {
  std::vector<DescribedField> all;
  for (const Variable& variable : schema.variables) {
    if (um::slab_dimensions(schema, variable) == 0) continue;
    DescribedField made;
    made.variable = &variable;
    AFTERBAY_TRY_ASSIGN(made.field, um::field_of(schema, variable, file_kind));
    AFTERBAY_TRY_ASSIGN(const packing::PpDescribed described, um::describe_slab(made.field, 0));
    made.header = described.header;
    made.messages = made.field.places.size();
    all.push_back(std::move(made));
  }
  return all;
}

bool has_irregular_axis(const DescribedField& it) {
  const PpGrid& grid = it.field.description.grid;
  return is_irregular(grid.longitudes, it.header[PpReal::bdx]) ||
         is_irregular(grid.latitudes, it.header[PpReal::bdy]);
}

/// The coordinates of a file of variable resolution are those of all its fields.
Result<bool> find_variable_resolution(const std::vector<DescribedField>& fields) {
  const auto irregular = std::ranges::find_if(fields, has_irregular_axis);
  if (irregular == fields.end()) return false;
  const PpGrid& grid = irregular->field.description.grid;
  for (const DescribedField& it : fields) {
    const PpGrid& own = it.field.description.grid;
    if (own.longitudes != grid.longitudes || own.latitudes != grid.latitudes)
      return um::refuse(
          *it.variable,
          "has another grid than '{}', whose rows or columns are irregular: a fields file has one "
          "such grid for all its fields, so write the variable to a collection of its own, or as "
          "PP",
          irregular->variable->name);
    PpHeader header = it.header;
    AFTERBAY_TRY(enter_code(*it.variable, true, header));
  }
  return true;
}

std::int64_t vertical_code(const std::vector<DescribedField>& fields) {
  const auto has = [&](PpLevelKind kind) {
    return std::ranges::any_of(fields, [&](const DescribedField& it) {
      return std::ranges::any_of(it.field.places, [&](const um::Place& at) { return at.level.kind == kind; });
    });
  };
  if (has(PpLevelKind::hybrid_height)) return 5;
  if (has(PpLevelKind::hybrid_pressure)) return 1;
  if (has(PpLevelKind::pressure)) return 3;
  return has(PpLevelKind::depth) ? 4 : 5;
}

void describe_grid(const DescribedField& first, bool variable_resolution, FileConstants& constants) {
  constexpr std::int32_t rotated_grid = 101;
  const PpGrid& grid = first.field.description.grid;
  PpHeader header = first.header;
  enter_grid(grid, variable_resolution, header);
  constants.header[FileWord::horizontal] =
      header[PpInteger::lbhem] + (header[PpInteger::lbcode] == rotated_grid ? 100 : 0);
  set(constants, IntegerConstant::columns, static_cast<std::int64_t>(grid.longitudes.size()));
  set(constants, IntegerConstant::rows, static_cast<std::int64_t>(grid.latitudes.size()));
  set(constants, RealConstant::longitude_step, header[PpReal::bdx]);
  set(constants, RealConstant::latitude_step, header[PpReal::bdy]);
  // With the staggering of ENDGame, the file's origin is half a step before its scalar fields.
  const double half = constants.header[FileWord::staggering] == end_game ? 0.5 : 0;
  set(constants, RealConstant::first_latitude, grid.latitudes.front() - half * header[PpReal::bdy]);
  set(constants, RealConstant::first_longitude, grid.longitudes.front() - half * header[PpReal::bdx]);
  set(constants, RealConstant::pole_latitude, header[PpReal::bplat]);
  set(constants, RealConstant::pole_longitude, header[PpReal::bplon]);
  if (!variable_resolution) return;
  constants.columns.assign(packing::axis_constants, grid.longitudes);
  constants.rows.assign(packing::axis_constants, grid.latitudes);
}

/// If two levels have one number, the level on theta points is the higher one.
void describe_levels(const std::vector<DescribedField>& fields, FileConstants& constants) {
  struct Level {
    std::optional<PpLevel> theta;
    std::optional<PpLevel> rho;
  };
  std::map<int, Level> by_number;
  for (const DescribedField& it : fields)
    for (const um::Place& place : it.field.places) {
      if (place.level.kind != PpLevelKind::hybrid_height) continue;
      Level& at = by_number[place.level.number];
      if (!at.theta || at.theta->value == place.level.value) {
        at.theta = place.level;
      } else if (at.theta->value > place.level.value) {
        at.rho = place.level;
      } else if (!at.rho) {
        at.rho = at.theta;
        at.theta = place.level;
      }
    }
  const int levels = by_number.empty() ? 1 : by_number.rbegin()->first;
  set(constants, IntegerConstant::levels, levels);
  // Levels of theta points are counted from 0, which is the surface, those of rho points from 1.
  constants.levels.assign(packing::level_constants,
                          std::vector<double>(static_cast<std::size_t>(levels) + 1, um_missing));
  const auto enter = [&](const HeightColumns& columns, int row, const std::optional<PpLevel>& level) {
    if (!level || row < 0) return;
    constants.levels[columns.height][static_cast<std::size_t>(row)] = level->value;
    constants.levels[columns.coefficient][static_cast<std::size_t>(row)] = level->coefficient;
  };
  for (const auto& [number, level] : by_number) {
    enter(theta_columns, number, level.theta);
    enter(rho_columns, number - 1, level.rho);
  }
}

/// Attributes FF_... of the file.
Result<> take_attributes(const Schema& schema, FileDescription& file) {
  std::vector<std::string> known{std::string(reserved_name)};
  for (const HeaderName& it : header_names) known.emplace_back(it.name);
  for (const Attribute& attribute : schema.attributes) {
    if (!attribute.name.starts_with("FF_")) continue;
    if (attribute.name == reserved_name) {
      AFTERBAY_TRY_ASSIGN(const int entries, um::whole_number(Variable(), attribute, 1, most_entries));
      file.reserved_entries = static_cast<std::uint64_t>(entries);
      continue;
    }
    const auto* const found = std::ranges::find(header_names, attribute.name, &HeaderName::name);
    if (found == header_names.end())
      return fail(ErrorCode::invalid_argument,
                  "has the attribute '{}', for which a fields file has no word{}: remove it", attribute.name,
                  did_you_mean(attribute.name, known));
    AFTERBAY_TRY_ASSIGN(const int number, um::whole_number(Variable(), attribute, found->least, found->most));
    if (found->word == FileWord::staggering && number != new_dynamics && number != end_game)
      return fail(ErrorCode::invalid_argument,
                  "has the attribute '{}' = {}, it must be {} (New Dynamics) or {} (ENDGame)", attribute.name,
                  number, new_dynamics, end_game);
    file.constants.header[found->word] = number;
  }
  return {};
}

}  // namespace

void enter_grid(const PpGrid& grid, bool variable_resolution, PpHeader& header) {
  constexpr double around = 360;
  if (variable_resolution) {
    for (const PpReal word : {PpReal::bzx, PpReal::bdx, PpReal::bzy, PpReal::bdy}) header[word] = um_missing;
    return;
  }
  // A single row or column has no step: any does, and that of a mean over longitudes is the circle.
  const bool zonal = (header[PpInteger::lbproc] & packing::pp_zonal_mean) != 0;
  if (header[PpReal::bdx] == 0) {
    header[PpReal::bdx] = zonal ? around : 1;
    header[PpReal::bzx] = grid.longitudes.front() - header[PpReal::bdx];
  }
  if (header[PpReal::bdy] == 0) {
    header[PpReal::bdy] = 1;
    header[PpReal::bzy] = grid.latitudes.front() - header[PpReal::bdy];
  }
}

Result<> enter_code(const Variable& variable, bool variable_resolution, PpHeader& header) {
  const std::int32_t code = header[PpInteger::lbuser4];
  const packing::PpStash stash{header[PpInteger::lbuser7], code / 1000, code % 1000};
  if (!variable_resolution || !is_on_wind_points(stash)) return {};
  if (header[PpInteger::lbfc] == 0)
    return um::refuse(variable,
                      "has the STASH code m{:02}s{:02}i{:03} of winds, which are staggered: in a fields file "
                      "with irregular rows or columns, readers take other coordinates for it; write it as "
                      "PP, or give PP_LBFC, which then is its only code",
                      stash.model, stash.section, stash.item);
  header[PpInteger::lbuser4] = header[PpInteger::lbuser7] = 0;
  return {};
}

Result<> check_file_attributes(const Schema& schema) {
  FileDescription file;
  return take_attributes(schema, file);
}

Result<FileDescription> describe_file(const Schema& schema) {
  FileDescription file;
  AFTERBAY_TRY_ASSIGN(const std::vector<DescribedField> fields, fields_of(schema));
  AFTERBAY_TRY_ASSIGN(file.variable_resolution, find_variable_resolution(fields));
  AFTERBAY_TRY_ASSIGN(const int version, um::um_version_of(schema, Variable()));
  if (version != 0) file.constants.header[FileWord::model] = version;
  AFTERBAY_TRY(take_attributes(schema, file));
  if (file.variable_resolution && file.constants.header[FileWord::staggering] == end_game)
    return fail(ErrorCode::invalid_argument,
                "has the attribute 'FF_grid_staggering' = {} and irregular rows or columns: readers then "
                "expect one row more than fields have; let it be {}, or write PP",
                end_game, new_dynamics);
  set(file.constants, IntegerConstant::missing, packing::um_missing_integer);
  set(file.constants, RealConstant::missing, um_missing);
  file.constants.header[FileWord::vertical] = vertical_code(fields);
  describe_levels(fields, file.constants);
  if (!fields.empty()) {
    describe_grid(fields.front(), file.variable_resolution, file.constants);
    AFTERBAY_TRY_ASSIGN(const std::optional<Calendar> calendar, um::calendar_of(schema));
    if (calendar) file.constants.header[FileWord::calendar] = packing::pp_calendar_code(calendar->name());
  }
  bool records = false;
  std::uint64_t messages = 0;
  for (const DescribedField& it : fields) {
    records = records || cf::has_records(schema, *it.variable);
    messages += it.messages;
  }
  if (file.reserved_entries == 0)
    file.reserved_entries = records ? std::max(default_entries, messages) : messages;
  return file;
}

}  // namespace afterbay::storage::fieldsfile
