// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/suggest.hpp"
#include "model/message_accuracy.hpp"
#include "storage/grib2/definition.hpp"
#include "storage/messages/cf.hpp"

namespace afterbay::storage::grib2 {
namespace {

constexpr std::string_view type_key = "packingType", bits_key = "bitsPerValue",
                           decimals_key = "decimalScaleFactor";
const std::vector<std::string>& packing_types() {
  static const std::vector<std::string> all{"grid_simple", "grid_ccsds"};
  return all;
}

/// Other keys of ecCodes that change how values are packed, or what packing results in.
constexpr std::array refused_keys{"changeDecimalPrecision",
                                  "setDecimalPrecision",
                                  "decimalPrecision",
                                  "setBitsPerValue",
                                  "numberOfBits",
                                  "binaryScaleFactor",
                                  "referenceValue",
                                  "optimizeScaleFactor",
                                  "optimiseScaleFactor",
                                  "dataRepresentationTemplateNumber",
                                  "typeOfPacking",
                                  "setPackingType",
                                  "missingValue",
                                  "bitmapPresent",
                                  "values",
                                  "codedValues"};

template <class... Args>
tl::unexpected<Error> refuse_packing(const Variable& field, fmt::format_string<Args...> format,
                                     Args&&... args) {
  return fail(make_error(ErrorCode::invalid_argument, "{}", fmt::format(format, std::forward<Args>(args)...))
                  .in_variable(field.name));
}

Result<long> whole_number(const Variable& field, const Key& key, long least, long most) {
  const std::vector<double> numbers =
      key.value.type == Type::text ? std::vector<double>() : cf::numbers_of(key.value);
  if (numbers.size() == 1 && numbers[0] >= static_cast<double>(least) &&
      numbers[0] <= static_cast<double>(most) && numbers[0] == std::trunc(numbers[0]))
    return static_cast<long>(numbers[0]);
  return refuse_packing(field, "has the attribute GRIB_{}{}, it must be a whole number from {} to {}",
                        key.name, numbers.size() == 1 ? fmt::format(" = {}", numbers[0]) : "", least, most);
}

/// The packing keys of the field, and those of the file that are of other kinds. An accuracy
/// replaces an accuracy.
std::vector<Key> packing_keys(const Schema& schema, const Variable& field) {
  const auto taken = [](const std::vector<Attribute>& attributes) {
    std::vector<Key> keys = keys_of(attributes);
    std::erase_if(keys, [](const Key& key) { return !is_packing(key.name); });
    return keys;
  };
  std::vector<Key> keys = taken(field.attributes);
  std::vector<Key> more = taken(schema.attributes);
  std::erase_if(more, [&keys](const Key& of_file) {
    return std::ranges::any_of(
        keys, [&of_file](const Key& own) { return (own.name == type_key) == (of_file.name == type_key); });
  });
  std::ranges::move(more, std::back_inserter(keys));
  return keys;
}

bool packs(const Variable&) { return true; }

/// The D whose half unit is at most `error`.
long decimals_for(double error) {
  auto decimals = static_cast<long>(std::ceil(-std::log10(2 * error)));
  while (0.5 * std::pow(10.0, static_cast<double>(-decimals)) > error) ++decimals;
  return decimals;
}

Result<bool> keep_error(Variable& field, double largest) {
  const long needed = decimals_for(largest);
  if (needed > most_decimals)
    return refuse_packing(
        field,
        "has the absolute_error {}, for which GRIB2 would need GRIB_decimalScaleFactor = {}: at "
        "most {} is possible, which keeps values to {:.3g}",
        largest, needed, most_decimals, 0.5 * std::pow(10.0, static_cast<double>(-most_decimals)));
  for (const Key& key : keys_of(field.attributes)) {
    if (key.name == bits_key)
      return refuse_packing(
          field,
          "has the attribute GRIB_bitsPerValue, whose error depends on the range of values, and the "
          "absolute_error {}: remove the attribute, and absolute_error sets GRIB_decimalScaleFactor",
          largest);
    if (key.name != decimals_key) continue;
    AFTERBAY_TRY_ASSIGN(const long given, whole_number(field, key, -most_decimals, most_decimals));
    if (given < needed)
      return refuse_packing(
          field,
          "has the attribute GRIB_decimalScaleFactor = {}, which allows errors of {:.3g}, and the "
          "absolute_error {}: remove the attribute, which absolute_error sets, or let it be {}",
          given, 0.5 * std::pow(10.0, static_cast<double>(-given)), largest, needed);
    return true;
  }
  field.attribute("GRIB_decimalScaleFactor", static_cast<std::int32_t>(std::max(needed, -most_decimals)));
  return true;
}

}  // namespace

bool is_packing(std::string_view key) {
  return key == type_key || key == bits_key || key == decimals_key ||
         std::ranges::find(refused_keys, key) != refused_keys.end();
}

Result<Packing> packing_of(const Schema& schema, const Variable& field) {
  Packing packing;
  packing.keys = packing_keys(schema, field);
  for (const Key& key : packing.keys) {
    if (key.name == type_key) {
      const std::string type(key.value.type == Type::text ? key.value.text() : std::string_view());
      if (std::ranges::find(packing_types(), type) == packing_types().end())
        return refuse_packing(field, "has the attribute GRIB_packingType = '{}', it must be {}{}", type,
                              one_of(packing_types()), did_you_mean(type, packing_types()));
      packing.ccsds = type == packing_types()[1];
    } else if (key.name == bits_key) {
      AFTERBAY_TRY_ASSIGN(packing.bits, whole_number(field, key, 1, most_bits));
    } else if (key.name == decimals_key) {
      AFTERBAY_TRY_ASSIGN(packing.decimals, whole_number(field, key, -most_decimals, most_decimals));
    } else {
      return refuse_packing(
          field,
          "has the attribute GRIB_{}, which follows from packing: use GRIB_packingType, and "
          "GRIB_bitsPerValue or GRIB_decimalScaleFactor",
          key.name);
    }
  }
  if (packing.bits && packing.decimals)
    return refuse_packing(
        field,
        "has GRIB_bitsPerValue = {} and GRIB_decimalScaleFactor = {}, of which each sets the "
        "accuracy: remove one of them",
        *packing.bits, *packing.decimals);
  packing.exact =
      !packing.bits && !packing.decimals && field.type != Type::float32 && field.type != Type::float64;
  return packing;
}

extern constinit const MessageAccuracy message_accuracy{.packs = packs, .keep_error = keep_error};

}  // namespace afterbay::storage::grib2
