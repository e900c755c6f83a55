// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/caller_terms.hpp"
#include "base/suggest.hpp"
#include "model/fill_value.hpp"
#include "packing/wgdos.hpp"
#include "storage/messages/cf.hpp"
#include "storage/messages/definition_check.hpp"
#include "storage/um/definition.hpp"

namespace afterbay::storage::um {
namespace {

using packing::PpPacking;

/// Besides those of all formats of messages.
constexpr std::array more_attributes{"PP_packing", "PP_accuracy", "PP_mask",         "PP_outside_mask",
                                     "PP_stash",   "STASH",       "um_stash_source", "um_version"};

struct WordName {
  std::string_view name;
  int number = 0;
};
/// Words that say nothing about values, grid, level or time. Source: Unified Model Documentation
/// Paper F3, section 4.
constexpr std::array word_names{
    WordName{"PP_LBFC", 23},    WordName{"PP_LBCFC", 24},   WordName{"PP_LBRVC", 27},
    WordName{"PP_LBEXP", 28},   WordName{"PP_LBPROJ", 31},  WordName{"PP_LBTYP", 32},
    WordName{"PP_LBLEV", 33},   WordName{"PP_LBRSVD1", 34}, WordName{"PP_LBRSVD2", 35},
    WordName{"PP_LBRSVD3", 36}, WordName{"PP_LBSRCE", 38},  WordName{"PP_LBUSER3", 41},
    WordName{"PP_LBUSER5", 43}, WordName{"PP_LBUSER6", 44}};
constexpr int field_code_word = 23;

struct PackingName {
  std::string_view name;
  PpPacking packing = PpPacking::none;
};
constexpr PackingName packing_to_32_bits{"32bit", PpPacking::bits32};
constexpr std::array packing_names{PackingName{"none", PpPacking::none},
                                   PackingName{"wgdos", PpPacking::wgdos},
                                   PackingName{"land", PpPacking::land}, PackingName{"sea", PpPacking::sea}};

const WordName* word_named(std::string_view attribute) {
  const auto* const found = std::ranges::find(word_names, attribute, &WordName::name);
  return found == word_names.end() ? nullptr : found;
}

Result<PpPacking> packing_named(const Variable& field, std::string_view name, const FileKind& kind) {
  std::vector<PackingName> all(packing_names.begin(), packing_names.end());
  if (kind.wide) all.push_back(packing_to_32_bits);
  const auto found = std::ranges::find(all, name, &PackingName::name);
  if (found != all.end()) return found->packing;
  std::vector<std::string> names;
  for (const PackingName& it : all) names.emplace_back(it.name);
  return refuse(field, "has the attribute PP_packing = '{}', it must be {}{}", name, one_of(names),
                did_you_mean(name, names));
}

/// In a file of 64-bit words, the points of a mask have the 32 bits of their type.
PpPacking in_words_of(const Variable& field, PpPacking packing, const FileKind& kind) {
  if (!kind.wide || field.type != Type::float32) return packing;
  if (packing == PpPacking::land) return PpPacking::land32;
  return packing == PpPacking::sea ? PpPacking::sea32 : packing;
}

packing::PpType type_of(const Variable& variable) {
  if (variable.type == Type::float32 || variable.type == Type::float64) return packing::PpType::real;
  const bool logical = cf::text_of(variable.attributes, "standard_name") == "land_binary_mask";
  return logical ? packing::PpType::logical : packing::PpType::integer;
}

/// Limits of the format that follow from the shape and the type.
Result<> check_storage(const Variable& variable, const Field& field, const FileKind& kind) {
  const std::uint64_t rows = field.description.grid.latitudes.size();
  const std::uint64_t columns = field.description.grid.longitudes.size();
  const bool real = field.description.type == packing::PpType::real;
  const bool wgdos = field.storage.method == PpPacking::wgdos;
  // 4 words: of a PP file, the lengths of its records.
  if (rows * columns + 4 * (rows + columns) > kind.most_points)
    return refuse(variable,
                  "has {} x {} points, which are too many for {}: divide the grid, or write it as netCDF",
                  rows, columns, kind.most_points_text);
  if (wgdos && !real)
    return refuse(variable,
                  "is of type {}, which WGDOS cannot pack: use PP_packing = 'none', or the type float32",
                  name_of(variable.type));
  if (field.storage.method == PpPacking::bits32 && !real)
    return refuse(
        variable,
        "is of type {}, but PP_packing = '32bit' is for reals: use PP_packing = 'none', or the type "
        "float32",
        name_of(variable.type));
  if (wgdos && std::max(rows, columns) > packing::most_wgdos_points)
    return refuse(variable,
                  "has {} rows of {} points, but WGDOS holds at most {} of each: use PP_packing = 'none', or "
                  "divide the grid",
                  rows, columns, packing::most_wgdos_points);
  return {};
}

std::vector<double> numbers_in(const Variable& variable, const char* attribute) {
  const Attribute* const found = cf::find_attribute(variable.attributes, attribute);
  return found == nullptr ? std::vector<double>() : cf::numbers_of(found->values);
}

/// Numbers that mark missing points, as model::missing_marks: definitions are built below model,
/// without its conversions between types.
std::vector<double> missing_in(const Variable& mask) {
  std::vector<double> missing = cf::numbers_of(model::missing_fill_of(mask));
  for (const double value : numbers_in(mask, "missing_value")) missing.push_back(value);
  return missing;
}

/// The limits of valid values, as model::valid_range_of, in numbers.
std::pair<double, double> valid_range_in(const Variable& mask) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::pair<double, double> range{-infinity, infinity};
  if (const auto both = numbers_in(mask, "valid_range"); both.size() == 2) range = {both[0], both[1]};
  if (const auto least = numbers_in(mask, "valid_min"); least.size() == 1) range.first = least[0];
  if (const auto most = numbers_in(mask, "valid_max"); most.size() == 1) range.second = most[0];
  return range;
}

/// Readers take values of these names' codes for winds along the rows and columns of the grid.
Result<> check_winds(const Variable& variable, const packing::PpDescription& description) {
  const std::string_view name = description.standard_name;
  if ((name != "eastward_wind" && name != "northward_wind") || !packing::is_tilted(description.grid) ||
      description.stash || description.field_code)
    return {};
  return refuse(variable,
                "has the standard_name {}, but lies on a rotated grid, where readers take its STASH code for "
                "{}: if the values are those along the grid, give it that standard_name; if they are not, "
                "give it a STASH code of its own (attribute PP_stash), or rotate them",
                name, name == "eastward_wind" ? "x_wind" : "y_wind");
}

/// The placeholder for times of records: it exists in all calendars.
packing::PpTime some_time(bool interval) {
  packing::PpTime time;
  time.begin = Date{.year = 2000};
  if (interval) time.end = Date{.year = 2000, .month = 1, .day = 2};
  return time;
}

}  // namespace

bool is_needed_first(const Schema& schema, const Variable& variable) {
  return slab_dimensions(schema, variable) == 0 ||
         std::ranges::any_of(schema.variables, [&](const Variable& field) {
           return cf::text_of(field.attributes, "PP_mask") == variable.name;
         });
}

/// A whole number from `least` to `most`.
Result<int> whole_number(const Variable& field, const Attribute& attribute, int least, int most) {
  const std::vector<double> numbers = cf::numbers_of(attribute.values);
  if (numbers.size() == 1 && numbers[0] >= least && numbers[0] <= most &&
      numbers[0] == std::trunc(numbers[0]))
    return static_cast<int>(numbers[0]);
  return refuse(field, "has the attribute '{}'{}, it must be a whole number from {} to {}", attribute.name,
                numbers.size() == 1 ? fmt::format(" = {}", numbers[0]) : "", least, most);
}

/// "7.3" as 703: the attribute that iris writes, of the field or of the file; 0 if there is none.
Result<int> um_version_of(const Schema& schema, const Variable& field) {
  std::string_view text = cf::text_of(field.attributes, "um_version");
  if (text.empty()) text = cf::text_of(schema.attributes, "um_version");
  if (text.empty()) return 0;
  constexpr int most_part = 99;
  int major = 0;
  int minor = 0;
  const auto [point, first] = std::from_chars(text.data(), text.data() + text.size(), major);
  const bool divided = first == std::errc() && point != text.data() + text.size() && *point == '.';
  const auto [end, second] = divided ? std::from_chars(point + 1, text.data() + text.size(), minor)
                                     : std::from_chars_result{point, std::errc::invalid_argument};
  if (second == std::errc() && end == text.data() + text.size() && major >= 0 && major <= most_part &&
      minor >= 0 && minor <= most_part)
    return major * 100 + minor;
  return refuse(field, "has the attribute um_version = '{}', it must be like 12.1", text);
}

bool is_known_attribute(std::string_view name) {
  const std::vector<std::string> known = known_attributes();
  return std::ranges::find(known, name) != known.end();
}

std::vector<std::string> known_attributes() {
  std::vector<std::string> names = common_attributes();
  names.insert(names.end(), more_attributes.begin(), more_attributes.end());
  for (const WordName& word : word_names) names.emplace_back(word.name);
  return names;
}

Result<Storage> storage_of(const Variable& field, const FileKind& kind) {
  Storage storage;
  const Attribute* const method = cf::find_attribute(field.attributes, "PP_packing");
  const Attribute* const accuracy = cf::find_attribute(field.attributes, "PP_accuracy");
  storage.mask = cf::text_of(field.attributes, "PP_mask");
  if (method != nullptr) {
    AFTERBAY_TRY_ASSIGN(storage.method,
                        packing_named(field, cf::text_of(field.attributes, "PP_packing"), kind));
  } else if (accuracy != nullptr) {
    storage.method = PpPacking::wgdos;
  } else if (kind.wide && field.type == Type::float32) {
    storage.method = PpPacking::bits32;
  }
  const bool wgdos = storage.method == PpPacking::wgdos;
  if (wgdos && accuracy == nullptr)
    return refuse(field,
                  "is packed by WGDOS, but has no accuracy: give it the attribute PP_accuracy = n, so that "
                  "values are rounded to multiples of 2^n in its units");
  if (!wgdos && accuracy != nullptr)
    return refuse(field,
                  "has the attribute PP_accuracy, but is not packed by WGDOS: leave it out, or give "
                  "PP_packing = 'wgdos'");
  if (wgdos) {
    AFTERBAY_TRY_ASSIGN(storage.accuracy,
                        whole_number(field, *accuracy, packing::least_accuracy, packing::most_accuracy));
  }
  const bool masked = storage.method == PpPacking::land || storage.method == PpPacking::sea;
  if (masked && storage.mask.empty())
    return refuse(field,
                  "is packed by a land mask, but does not say which: name a constant variable with the mask "
                  "of its grid in the attribute PP_mask");
  if (!masked && !storage.mask.empty())
    return refuse(field,
                  "has the attribute PP_mask, but is not packed by it: leave it out, or give PP_packing = "
                  "'land' or 'sea'");
  if (const Attribute* const others = cf::find_attribute(field.attributes, "PP_outside_mask")) {
    const std::string_view name = cf::text_of(field.attributes, "PP_outside_mask");
    if (!masked)
      return refuse(field, "has the attribute '{}', but is not packed by a mask: leave it out", others->name);
    if (name != "drop" && name != "refuse")
      return refuse(field, "has the attribute PP_outside_mask = '{}', it must be drop or refuse", name);
    storage.drops_others = name == "drop";
  }
  storage.method = in_words_of(field, storage.method, kind);
  return storage;
}

/// iris writes the code as um_stash_source into netCDF files.
Result<std::optional<packing::PpStash>> stash_of(const Variable& field) {
  for (const char* name : {"PP_stash", "um_stash_source", "STASH"}) {
    const Attribute* const found = cf::find_attribute(field.attributes, name);
    if (found == nullptr) continue;
    std::string text(cf::text_of(field.attributes, name));
    if (const std::vector<double> numbers = cf::numbers_of(found->values); numbers.size() == 1)
      text = fmt::format("{}", numbers[0]);
    const auto stash = packing::parse_stash(text);
    if (!stash) return refuse(field, "has the attribute '{}': {}", name, stash.error().message);
    return std::optional(*stash);
  }
  return std::optional<packing::PpStash>();
}

Result<std::vector<Word>> words_of(const Schema& schema, const Variable& field) {
  std::vector<Word> words;
  for (const std::vector<Attribute>* attributes : {&schema.attributes, &field.attributes})
    for (const Attribute& attribute : *attributes) {
      const WordName* const word = word_named(attribute.name);
      if (word == nullptr) continue;
      AFTERBAY_TRY_ASSIGN(const int value,
                          whole_number(field, attribute, std::numeric_limits<std::int32_t>::min(),
                                       std::numeric_limits<std::int32_t>::max()));
      std::erase_if(words, [&](const Word& it) { return it.number == word->number; });
      words.push_back({word->number, value});
    }
  return words;
}

std::string cell_methods_of(const Schema& schema, const Variable& field) {
  std::string text;
  for (const std::string_view word : cf::words_of(cf::text_of(field.attributes, "cell_methods"))) {
    if (!text.empty()) text += ' ';
    const std::string_view name = word.ends_with(':') ? word.substr(0, word.size() - 1) : std::string_view();
    const Variable* const coordinate = name.empty() ? nullptr : cf::coordinate_of(schema, name);
    if (!name.empty() && name == cf::record_dimension(schema))
      text += "time:";
    else if (coordinate != nullptr && cf::is_longitude(*coordinate))
      text += "longitude:";
    else
      text += word;
  }
  return text;
}

Result<std::optional<Calendar>> calendar_of(const Schema& schema) {
  const Variable* time = cf::time_of(schema);
  if (time == nullptr) time = cf::scalar_time_of(schema);
  if (time == nullptr) return std::optional<Calendar>();
  AFTERBAY_TRY_ASSIGN(const cf::TimeAxis axis, cf::time_axis_of(*time));
  return std::optional(Calendar(axis.rules.name));
}

Result<std::optional<Date>> reference_of(const Schema& schema) {
  for (const Variable& variable : schema.variables) {
    if (cf::text_of(variable.attributes, "standard_name") != "forecast_reference_time") continue;
    const std::optional<double> number = cf::number_of(variable);
    if (!number) continue;  // one per record, or refused
    AFTERBAY_TRY_ASSIGN(const cf::TimeAxis axis, cf::time_axis_of(variable));
    AFTERBAY_TRY_ASSIGN(const Date date, axis.date(*number));
    return std::optional(date);
  }
  return std::optional<Date>();
}

Result<Field> field_of(const Schema& schema, const Variable& variable, const FileKind& kind) {
  Field field;
  packing::PpDescription& description = field.description;
  description.variable = variable.name;
  description.standard_name = cf::text_of(variable.attributes, "standard_name");
  description.units = cf::text_of(variable.attributes, "units");
  description.cell_methods = cell_methods_of(schema, variable);
  description.type = type_of(variable);
  AFTERBAY_TRY_ASSIGN(description.grid, grid_of(schema, variable));
  AFTERBAY_TRY_ASSIGN(description.stash, stash_of(variable));
  AFTERBAY_TRY_ASSIGN(description.um_version, um_version_of(schema, variable));
  AFTERBAY_TRY_ASSIGN(field.places, places_of(schema, variable));
  AFTERBAY_TRY_ASSIGN(field.storage, storage_of(variable, kind));
  AFTERBAY_TRY_ASSIGN(field.words, words_of(schema, variable));
  for (const Word& word : field.words)
    if (word.number == field_code_word) description.field_code = word.value;
  const std::string_view method = cf::time_method_of(schema, variable);
  field.over_time = !method.empty() && method != "point";
  AFTERBAY_TRY(check_winds(variable, description));
  AFTERBAY_TRY(check_storage(variable, field, kind));
  return field;
}

Result<packing::PpDescribed> describe_slab(const Field& field, std::size_t slab) {
  packing::PpDescription description = field.description;
  description.level = field.places[slab].level;
  description.ensemble_member = field.places[slab].member;
  description.time = some_time(field.over_time);
  AFTERBAY_TRY_ASSIGN(packing::PpDescribed described, packing::describe_pp(description));
  for (const Word& word : field.words)
    described.header[static_cast<packing::PpInteger>(word.number)] = word.value;
  return described;
}

Result<std::vector<std::uint8_t>> mask_of(const Schema& schema, const Variable& field,
                                          const std::string& mask) {
  const Variable* const found = schema.find_variable(mask);
  const std::size_t dimensions = cf::slab_dimensions(schema, field);
  const std::vector<std::string> grid(field.dimensions.end() - static_cast<std::ptrdiff_t>(dimensions),
                                      field.dimensions.end());
  if (found == nullptr || found->constant.empty() || found->dimensions != grid)
    return refuse(
        field,
        "has the attribute PP_mask = '{}', which is not a variable with constant values on its grid: its "
        "land points must be known before values are packed",
        mask);
  const std::vector<double> missing = missing_in(*found);
  const auto [low, high] = valid_range_in(*found);
  std::vector<std::uint8_t> land;
  for (const double value : cf::numbers_of(found->constant)) {
    if (!(value >= low && value <= high) || std::ranges::find(missing, value) != missing.end())
      return refuse(
          field,
          "has the attribute PP_mask = '{}', whose value {} at point {} is a missing value: give each "
          "point of '{}' a number that is not missing, 0 at sea and another one on land",
          mask, value, said_index(land.size()), mask);
    land.push_back(value != 0 ? 1 : 0);
  }
  return land;
}

}  // namespace afterbay::storage::um
