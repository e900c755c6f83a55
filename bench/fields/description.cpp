// SPDX-License-Identifier: Apache-2.0
#include "fields/description.hpp"

namespace bench::fields {
namespace {

std::string group(const std::string& name, const std::vector<Field>& fields, std::size_t first,
                  std::size_t count) {
  std::string text = "  " + name + ": [";
  for (std::size_t i = first; i < first + count; ++i) text += (i == first ? "" : ", ") + fields[i].name;
  return text + "]\n";
}

/// Daily means of a function of each two fields. A file can have expressions of 24 fields.
std::string expressions_of(const Case& of, const std::vector<Field>& fields) {
  constexpr std::size_t of_a_file = 12;
  std::string derived = "fields:\n", files = "files:\n";
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const std::string name = "e" + std::to_string(i / 2);
    derived += "  " + name + ": sqrt(" + fields[i].name + "^2 + " + fields[i + 1].name + "^2)\n";
    if (i / 2 % of_a_file == 0)
      files += (i == 0 ? "" : "]}\n") + std::string("  of") + std::to_string(i / 2) + ": {every: 1d, mean: [";
    files += (i / 2 % of_a_file == 0 ? "" : ", ") + name;
  }
  return "defaults: {directory: \"" + of.directory + "\", store: " + of.store +
         ", existing: replace, statistics: " + of.statistics + ", expressions: " + of.statistics + "}\n" +
         derived + files + "]}\n";
}

}  // namespace

std::string description_of(const Case& of) {
  const std::vector<Field> fields = of.fields();
  if (of.output == "expressions") return expressions_of(of, fields);
  std::string text = "defaults: {directory: \"" + of.directory + "\", store: " + of.store +
                     ", existing: replace, statistics: " + of.statistics +
                     "}\n"
                     "groups:\n" +
                     group("all", fields, 0, fields.size()) + group("first", fields, 0, 1) +
                     group("later", fields, 1, fields.size() / 2);
  if (of.output == "instant") return text + "files:\n  instants: {every: 1ts, instant: group(all)}\n";
  if (of.output == "calls")
    return text +
           "files:\n"
           "  means: {every: 1d, mean: group(first)}\n"
           "  later: {every: 1mo, instant: group(later)}\n";
  if (of.output == "mean") return text + "files:\n  means: {every: 1d, mean: group(all)}\n";
  const std::string made_of_days = of.statistics == "servers" ? ", statistics: model" : "";
  return text +
         "grids:\n"
         "  box: {box: {lon: [-30, 60], lat: [20, 70]}}\n"
         "files:\n"
         "  means: {every: 1d, mean: group(all)" +
         made_of_days +
         "}\n"
         "  max: {every: 1d, max: group(all)}\n"
         "  month: {every: 1mo, mean: group(all)" +
         made_of_days +
         "}\n"
         "  snap: {every: 6h, instant: group(all)}\n"
         "  box: {every: 1d, mean: group(all), grid: box}\n";
}

}  // namespace bench::fields
