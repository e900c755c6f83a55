// SPDX-License-Identifier: Apache-2.0
// Kinds of values that keys take: how they are read, written, described and checked by editors.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/suggest.hpp"
#include "describe/keys.hpp"

namespace afterbay::describe {

template <class T>
struct ValueKind {
  std::string accepted;
  std::string schema;
  std::function<std::optional<T>(const Node&, const ProblemReporter&)> read;  ///< nullopt: reported
  std::function<Node(const T&)> write;
};

/// The schema, or text with a ${variable}, or null.
std::string schema_or_variable(const std::string& schema);
/// The schema of one of these words.
std::string schema_of_words(const std::vector<std::string>& words);

/// The characters of a scalar that is not null; reports others.
std::optional<std::string> word_of(const Node& node, const ProblemReporter& report,
                                   std::string_view accepted);
/// The value of a number; reports others.
std::optional<double> number_of(const Node& node, const ProblemReporter& report, std::string_view accepted);

ValueKind<Period> positive_period();
/// A period that is not negative, as far as it does not depend on the model's step: 6h-1ts.
ValueKind<Period> offset_period();
ValueKind<bool> boolean();
ValueKind<std::int64_t> whole_number(std::int64_t low, std::int64_t high);
/// Text that is not empty.
ValueKind<std::string> words(std::string accepted);
/// Text, or a number such as 1 or 1e-3.
ValueKind<std::string> unit_text();
ValueKind<std::string> file_name_template();
ValueKind<OutputType> output_type();
ValueKind<Missing> missing_rule();
ValueKind<Split> split_rule();
ValueKind<Align> alignment();
/// `of_variable`: those of a variable, whose fill value is not an attribute.
ValueKind<Attributes> attribute_values(bool of_variable);

ValueKind<std::vector<GridSubset::Range>> coordinate_ranges();
ValueKind<std::vector<GridSubset::IndexRange>> index_ranges();
ValueKind<std::vector<GridSubset::Stride>> strides();
ValueKind<std::vector<GridSubset::Levels>> level_lists();
ValueKind<std::vector<GridSubset::Station>> station_list();
ValueKind<std::vector<std::string>> dimension_names();
/// A distance in metres.
ValueKind<double> distance();

template <class T>
ValueKind<T> one_of_words(std::vector<std::pair<std::string, T>> choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  ValueKind<T> kind{.accepted = one_of(names), .schema = schema_of_words(names), .read = {}, .write = {}};
  kind.read = [choices, names, accepted = kind.accepted](const Node& node,
                                                         const ProblemReporter& report) -> std::optional<T> {
    const auto word = word_of(node, report, accepted);
    if (!word) return std::nullopt;
    for (const auto& [name, value] : choices)
      if (name == *word) return value;
    report.expected(node, accepted, did_you_mean(*word, names));
    return std::nullopt;
  };
  kind.write = [choices](const T& value) {
    for (const auto& [name, candidate] : choices)
      if (candidate == value) return Node::text(name);
    return Node();
  };
  return kind;
}

}  // namespace afterbay::describe
