// SPDX-License-Identifier: Apache-2.0
#include "describe/kinds.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "describe/name_template.hpp"
#include "expression/units.hpp"
#include "model/types.hpp"
#include "time/periods.hpp"

namespace afterbay::describe {

namespace {

using Json = nlohmann::ordered_json;

std::string any_of(std::vector<Json> schemas) {
  Json all = Json::array();
  for (Json& it : schemas) all.push_back(std::move(it));
  return Json{{"anyOf", std::move(all)}}.dump();
}

const Json with_variable{{"type", "string"}, {"pattern", R"(\$\{)"}};

std::string text_schema() { return Json{{"type", {"string", "null"}}}.dump(); }

std::optional<Period> read_period(const Node& node, const ProblemReporter& report,
                                  const std::string& accepted) {
  const auto text = word_of(node, report, accepted);
  if (!text) return std::nullopt;
  try {
    return Period::parse(*text);
  } catch (const Failure& failure) {
    report(node, failure.code(), failure.error().message);
    return std::nullopt;
  }
}

bool is_negative(const Period& period) {
  return period.years < 0 || period.months < 0 || period.days < 0 || period.seconds < 0 || period.steps < 0;
}

ValueKind<Period> period(std::string accepted, bool zero_too) {
  ValueKind<Period> kind{.accepted = std::move(accepted), .schema = text_schema(), .read = {}, .write = {}};
  kind.read = [zero_too, accepted = kind.accepted](const Node& node,
                                                   const ProblemReporter& report) -> std::optional<Period> {
    const auto value = read_period(node, report, accepted);
    if (!value) return std::nullopt;
    if (!zero_too && dates::mixes_units(*value)) {
      report(node, ErrorCode::invalid_argument,
             fmt::format("{} mixes months or years with days or shorter units: write one kind of them, for "
                         "example 1mo or 30d",
                         value->text()));
      return std::nullopt;
    }
    if ((zero_too || !value->is_zero()) && !is_negative(*value)) return value;
    report.expected(node, accepted);
    return std::nullopt;
  };
  kind.write = [](const Period& value) { return Node::text(value.text()); };
  return kind;
}

/// The number before " records"; 0 if the text is something else.
std::int64_t number_of_records(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return 0;
  const std::string_view unit = text.substr(space + 1);
  std::int64_t records = 0;
  const bool good = (unit == "records" || unit == "record") &&
                    scalar_kind(text.substr(0, space)) == ScalarKind::integer &&
                    integer_of(text.substr(0, space), records);
  return good && records > 0 ? records : 0;
}

std::optional<Split> read_split(const Node& node, const ProblemReporter& report,
                                const std::string& accepted) {
  const auto text = word_of(node, report, accepted);
  if (!text) return std::nullopt;
  if (*text == "none") return Split{};
  if (const std::int64_t records = number_of_records(*text); records > 0) return Split{std::nullopt, records};
  if (text->find("record") != std::string::npos) {
    report.expected(node, accepted);
    return std::nullopt;
  }
  const auto period = positive_period().read(node, report);
  if (!period) return std::nullopt;
  return Split{*period, 0};
}

std::optional<Missing> read_missing(const Node& node, const ProblemReporter& report,
                                    const std::string& accepted) {
  if (node.kind() == ScalarKind::real || node.kind() == ScalarKind::integer) {
    const double share = real_of(node.characters());
    if (share > 0 && share <= 1) return Missing{Missing::Rule::threshold, share};
    report.expected(node, accepted);
    return std::nullopt;
  }
  const auto word = word_of(node, report, accepted);
  if (!word) return std::nullopt;
  if (*word == "ignore") return Missing{};
  if (*word == "poison") return Missing{Missing::Rule::poison, 0};
  report.expected(node, accepted, did_you_mean(*word, std::vector<std::string>{"ignore", "poison"}));
  return std::nullopt;
}

std::optional<Align> read_align(const Node& node, const ProblemReporter& report,
                                const std::string& accepted) {
  const auto word = word_of(node, report, accepted);
  if (!word) return std::nullopt;
  if (*word == "calendar") return Align{};
  if (*word == "seasons") return Align{Align::To::seasons, {}};
  if (*word == "start") return Align{Align::To::start, {}};
  const bool has_digits = word->find_first_of("0123456789") != std::string::npos;
  if (has_digits) return Align{Align::To::date, *word};
  report.expected(node, accepted,
                  did_you_mean(*word, std::vector<std::string>{"calendar", "seasons", "start"}));
  return std::nullopt;
}

std::optional<AttributeValue> read_number_list(const Node& node, const ProblemReporter& report,
                                               const std::string& accepted) {
  std::vector<std::int64_t> whole;
  std::vector<double> real;
  bool all_whole = !node.items().empty();
  for (const Node& item : node.items()) {
    const auto number = number_of(item, report, accepted);
    if (!number) return std::nullopt;
    real.push_back(*number);
    std::int64_t value = 0;
    all_whole = all_whole && item.kind() == ScalarKind::integer && integer_of(item.characters(), value);
    whole.push_back(value);
  }
  if (real.empty()) {
    report.expected(node, accepted);
    return std::nullopt;
  }
  if (all_whole) return whole;
  return real;
}

std::optional<AttributeValue> read_attribute(const Node& node, const ProblemReporter& report) {
  const std::string accepted = "text, a number or a list of numbers";
  if (node.is_sequence()) return read_number_list(node, report, accepted);
  if (!node.is_scalar() || node.kind() == ScalarKind::boolean) {
    report.expected(node, accepted,
                    node.is_scalar() ? "; netCDF has no booleans: put it in quotes, or write 0 or 1" : "");
    return std::nullopt;
  }
  if (node.kind() == ScalarKind::text) {
    refuse_other_encodings(node, report);
    return node.characters();
  }
  if (node.kind() == ScalarKind::real) return real_of(node.characters());
  if (std::int64_t value = 0; integer_of(node.characters(), value)) return value;
  report.expected(node, "an integer of at most 64 bits");
  return std::nullopt;
}

struct AttributeWriter {
  Node operator()(const std::string& value) const { return Node::text(value); }
  Node operator()(std::int64_t value) const { return Node::integer(value); }
  Node operator()(double value) const { return Node::real(value); }
  template <class T>
  Node operator()(const std::vector<T>& values) const {
    Items items;
    for (const T value : values) items.push_back((*this)(value));
    return Node::sequence(std::move(items));
  }
};

}  // namespace

void ProblemReporter::operator()(const Node& at, ErrorCode code, std::string_view text) const {
  problems_.add(code, at.at, fmt::format("{}: {}", key_, text));
}

void ProblemReporter::expected(const Node& at, std::string_view accepted, std::string_view hint) const {
  const bool shape = !at.is_scalar() || at.kind() != ScalarKind::text;
  (*this)(at, shape ? ErrorCode::wrong_type : ErrorCode::invalid_argument,
          fmt::format("expected {}, found {}{}", accepted, at.described(), hint));
}

void refuse_other_encodings(const Node& node, const ProblemReporter& report) {
  const std::size_t at = find_not_utf8(node.characters());
  if (at != std::string::npos)
    report(node, ErrorCode::format,
           fmt::format("must be UTF-8, but \"{}\" has the byte {:#04x} at {}: convert the value of the "
                       "variable, which is in another encoding, such as Latin-1",
                       printable(node.characters()), static_cast<unsigned char>(node.characters()[at]), at));
}

std::string schema_or_variable(const std::string& schema) {
  return any_of({Json::parse(schema), with_variable, Json{{"type", "null"}}});
}

std::string schema_of_words(const std::vector<std::string>& names) {
  return schema_or_variable(Json{{"enum", names}}.dump());
}

std::optional<std::string> word_of(const Node& node, const ProblemReporter& report,
                                   std::string_view accepted) {
  if (node.is_scalar() && !node.is_null()) return node.characters();
  report.expected(node, accepted);
  return std::nullopt;
}

std::optional<double> number_of(const Node& node, const ProblemReporter& report, std::string_view accepted) {
  if (node.kind() == ScalarKind::integer || node.kind() == ScalarKind::real)
    return real_of(node.characters());
  report.expected(node, accepted);
  return std::nullopt;
}

ValueKind<Period> positive_period() {
  return period("a period longer than 0, for example 6h, 1d or 1mo", false);
}
ValueKind<Period> offset_period() {
  ValueKind<Period> kind = period("a period, for example 0s, 6h or 6h-1ts", true);
  kind.read = [accepted = kind.accepted](const Node& node,
                                         const ProblemReporter& report) -> std::optional<Period> {
    const auto value = read_period(node, report, accepted);
    if (!value) return std::nullopt;
    Period rest = *value;
    const std::int64_t steps = std::exchange(rest.steps, 0);
    // How long steps are is known in the run.
    if (!is_negative(rest) && (steps >= 0 || !rest.is_zero())) return value;
    report.expected(node, accepted);
    return std::nullopt;
  };
  return kind;
}

ValueKind<bool> boolean() {
  ValueKind<bool> kind{.accepted = "true or false",
                       .schema = schema_or_variable(R"({"type": "boolean"})"),
                       .read = {},
                       .write = [](const bool& value) { return Node::boolean(value); }};
  kind.read = [accepted = kind.accepted](const Node& node,
                                         const ProblemReporter& report) -> std::optional<bool> {
    if (node.kind() == ScalarKind::boolean) {
      const char first = node.characters().front();
      return first == 't' || first == 'T';
    }
    report.expected(node, accepted);
    return std::nullopt;
  };
  return kind;
}

ValueKind<std::int64_t> whole_number(std::int64_t low, std::int64_t high) {
  ValueKind<std::int64_t> kind{
      .accepted = fmt::format("an integer from {} to {}", low, high),
      .schema = schema_or_variable(Json{{"type", "integer"}, {"minimum", low}, {"maximum", high}}.dump()),
      .read = {},
      .write = [](const std::int64_t& value) { return Node::integer(value); }};
  kind.read = [low, high, accepted = kind.accepted](
                  const Node& node, const ProblemReporter& report) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    if (node.kind() == ScalarKind::integer && integer_of(node.characters(), value) && value >= low &&
        value <= high)
      return value;
    report.expected(node, accepted);
    return std::nullopt;
  };
  return kind;
}

ValueKind<std::string> words(std::string accepted) {
  ValueKind<std::string> kind{.accepted = std::move(accepted),
                              .schema = text_schema(),
                              .read = {},
                              .write = [](const std::string& value) { return Node::text(value); }};
  kind.read = [accepted = kind.accepted](const Node& node,
                                         const ProblemReporter& report) -> std::optional<std::string> {
    auto word = word_of(node, report, accepted);
    if (word && !word->empty() && node.kind() == ScalarKind::text) return word;
    if (word) report.expected(node, accepted);
    return std::nullopt;
  };
  return kind;
}

ValueKind<std::string> unit_text() {
  ValueKind<std::string> kind = words("units that UDUNITS knows");
  kind.schema = Json{{"type", {"string", "number", "null"}}}.dump();
  kind.read = [accepted = kind.accepted](const Node& node,
                                         const ProblemReporter& report) -> std::optional<std::string> {
    auto word = word_of(node, report, accepted);
    if (!word) return std::nullopt;
    if (word->empty() || node.kind() == ScalarKind::boolean) {
      report.expected(node, accepted);
      return std::nullopt;
    }
    if (const auto known = expression::check_units(*word); !known) {
      report(node, known.error().code, known.error().message);
      return std::nullopt;
    }
    return word;
  };
  return kind;
}

ValueKind<std::string> file_name_template() {
  ValueKind<std::string> kind =
      words("a file name with {case}, {period}, {file}, {grid}, {start}, {end}, {part} and {member}");
  kind.read = [text = kind.read](const Node& node,
                                 const ProblemReporter& report) -> std::optional<std::string> {
    auto pattern = text(node, report);
    if (!pattern) return std::nullopt;
    const auto tokens = name_tokens(*pattern);
    if (tokens) return pattern;
    report(node, tokens.error().code, fmt::format("\"{}\": {}", printable(*pattern), tokens.error().message));
    return std::nullopt;
  };
  return kind;
}

ValueKind<OutputType> output_type() {
  OutputType own;
  own.own = true;
  std::vector<std::pair<std::string, OutputType>> choices{{"auto", OutputType()}, {"own", own}};
  for (const Type type : model::every_type)
    if (type != Type::text && type != Type::string) choices.emplace_back(std::string(name_of(type)), type);
  return one_of_words<OutputType>(std::move(choices));
}

ValueKind<Missing> missing_rule() {
  ValueKind<Missing> kind{.accepted = "ignore, poison or a number above 0 and up to 1",
                          .schema = any_of({Json{{"enum", {"ignore", "poison"}}},
                                            Json{{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", 1}},
                                            with_variable, Json{{"type", "null"}}}),
                          .read = {},
                          .write = [](const Missing& value) {
                            if (value.rule == Missing::Rule::threshold) return Node::real(value.valid_share);
                            return Node::text(value.rule == Missing::Rule::ignore ? "ignore" : "poison");
                          }};
  kind.read = [accepted = kind.accepted](const Node& node, const ProblemReporter& report) {
    return read_missing(node, report, accepted);
  };
  return kind;
}

ValueKind<Split> split_rule() {
  ValueKind<Split> kind{
      .accepted = "none, a period longer than 0 (1mo) or a number of records (12 records)",
      .schema = text_schema(),
      .read = {},
      .write = [](const Split& value) {
        if (value.period) return Node::text(value.period->text());
        return Node::text(value.records > 0 ? fmt::format("{} records", value.records) : "none");
      }};
  kind.read = [accepted = kind.accepted](const Node& node, const ProblemReporter& report) {
    return read_split(node, report, accepted);
  };
  return kind;
}

ValueKind<Align> alignment() {
  ValueKind<Align> kind{.accepted = "calendar, seasons, start or a date",
                        .schema = text_schema(),
                        .read = {},
                        .write = [](const Align& value) {
                          if (value.to == Align::To::date) return Node::text(value.date);
                          return Node::text(value.to == Align::To::calendar  ? "calendar"
                                            : value.to == Align::To::seasons ? "seasons"
                                                                             : "start");
                        }};
  kind.read = [accepted = kind.accepted](const Node& node, const ProblemReporter& report) {
    return read_align(node, report, accepted);
  };
  return kind;
}

ValueKind<Attributes> attribute_values(bool of_variable) {
  const Json value = Json::parse(
      R"({"anyOf": [{"type": ["string", "number", "null"]}, {"type": "array", "items": {"type": "number"}}]})");
  ValueKind<Attributes> kind{
      .accepted = "indented lines \"name: value\" with text, numbers or lists of numbers",
      .schema = Json{{"type", {"object", "null"}}, {"additionalProperties", value}}.dump(),
      .read = {},
      .write = [](const Attributes& attributes) {
        Node node = Node::mapping({});
        for (const auto& [name, it] : attributes) node.add(name, std::visit(AttributeWriter(), it));
        return node;
      }};
  kind.read = [accepted = kind.accepted, of_variable](
                  const Node& node, const ProblemReporter& report) -> std::optional<Attributes> {
    if (!node.is_mapping()) {
      report.expected(node, accepted);
      return std::nullopt;
    }
    Attributes attributes;
    for (const auto& [key, item] : node.pairs()) {
      if (of_variable && key.name == "_FillValue")
        report.inside(key.name)(
            item, ErrorCode::invalid_argument,
            "missing values are marked by the fill value that the model gives the field, with the option "
            "`fill`; remove this attribute, which would only say something else");
      if (item.is_null()) continue;
      if (auto found = read_attribute(item, report.inside(printable(key.name))))
        attributes.emplace_back(key.name, *std::move(found));
    }
    return attributes;
  };
  return kind;
}

}  // namespace afterbay::describe
