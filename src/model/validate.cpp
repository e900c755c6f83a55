// SPDX-License-Identifier: Apache-2.0
#include "model/validate.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "afterbay/decomposition.hpp"
#include "base/caller_terms.hpp"
#include "base/suggest.hpp"
#include "base/utf8.hpp"
#include "codec/filter_chain.hpp"
#include "model/converted_values.hpp"
#include "model/filters.hpp"
#include "model/problems.hpp"
#include "model/values.hpp"

namespace afterbay::model {
namespace {

constexpr std::size_t longest_name = 256;  ///< NC_MAX_NAME

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Checks a schema for one format and collects all problems in `problems_`.
class Validation {
 public:
  Validation(const Schema& schema, Format format) : schema_(schema), traits_(traits_of(format)) {
    for (const Dimension& dimension : schema.dimensions) dimension_names_.push_back(dimension.name);
  }

  Result<> run() {
    dimensions();
    attributes("global", {}, schema_.attributes);
    std::set<std::string_view> seen;
    sizes();
    for (const Variable& variable : schema_.variables) {
      if (!seen.insert(variable.name).second)
        problem(variable, ErrorCode::conflict, "is defined twice: every variable needs a name of its own");
      check(variable);
    }
    if (traits_.messages != nullptr && problems_.empty())
      traits_.messages->check(schema_,
                              [this](ErrorCode code, const std::string& variable, const std::string& line) {
                                problems_.add(code, variable, line);
                              });
    return problems_.result(fmt::format("the schema cannot be written as {}", traits_.name));
  }

 private:
  template <class... Args>
  void problem(const Variable& variable, ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add(
        code, variable.name,
        fmt::format("variable '{}' {}", variable.name, fmt::format(format, std::forward<Args>(args)...)));
  }

  void dimensions() {
    std::set<std::string_view> seen;
    std::string first_unlimited;
    for (const Dimension& dimension : schema_.dimensions) {
      const auto& name = dimension.name;
      if (const std::string wrong = name_problem(name); !wrong.empty())
        problems_.add(ErrorCode::invalid_argument, {},
                      fmt::format("dimension '{}': its name {}", name, wrong));
      if (!seen.insert(name).second)
        problems_.add(
            ErrorCode::conflict, {},
            fmt::format("dimension '{}' is defined twice: every dimension needs a name of its own", name));
      if (!dimension.is_unlimited()) continue;
      if (!first_unlimited.empty())
        problems_.add(
            ErrorCode::invalid_argument, {},
            fmt::format("dimension '{}' is unlimited and '{}' too: one unlimited dimension is possible, give "
                        "the other its length (which must not be 0)",
                        name, first_unlimited));
      if (first_unlimited.empty()) first_unlimited = name;
    }
    for (const Dimension& dimension : schema_.dimensions) length(dimension);
  }

  void length(const Dimension& dimension) {
    const std::uint64_t most = traits_.most_dimension_length;
    if (dimension.length > most)
      problems_.add(ErrorCode::invalid_argument, {},
                    fmt::format("dimension '{}' has length {}, but {} can hold at most {}", dimension.name,
                                dimension.length, traits_.name, most));
  }

  /// If the bytes of a variable (per record) are limited, only a variable on whose size nothing
  /// else depends may be larger. Source: "NetCDF Classic Format Specification", note on vsize.
  void sizes() {
    const Variable* last_fixed = nullptr;
    const Variable* last_record = nullptr;
    for (const Variable& variable : schema_.variables)
      (has_records(variable) ? last_record : last_fixed) = &variable;
    for (const Variable& variable : schema_.variables) {
      const double bytes = bytes_of(variable);
      const auto most = static_cast<double>(traits_.most_variable_bytes);
      const Variable* exempt = last_record != nullptr ? last_record : last_fixed;
      if (bytes > most && &variable != exempt)
        problem(variable, ErrorCode::resources,
                "has {:.0f} bytes{}, but {} can hold {} unless it is the last variable: use {}", bytes,
                has_records(variable) ? " per record" : "", traits_.name, traits_.most_variable_bytes,
                formats_with([](const FormatTraits& it) { return it.most_variable_bytes == UINT64_MAX; }));
    }
  }
  [[nodiscard]] bool has_records(const Variable& variable) const {
    const Dimension* first =
        variable.dimensions.empty() ? nullptr : schema_.find_dimension(variable.dimensions.front());
    return first != nullptr && first->is_unlimited();
  }
  [[nodiscard]] double bytes_of(const Variable& variable) const {
    auto bytes = static_cast<double>(size_of(variable.type));
    for (const std::string& name : variable.dimensions) {
      const Dimension* dimension = schema_.find_dimension(name);
      if (dimension != nullptr && !dimension->is_unlimited()) bytes *= static_cast<double>(dimension->length);
    }
    return bytes;
  }

  void attributes(const std::string& owner, const std::string& variable, const std::vector<Attribute>& list) {
    std::set<std::string_view> seen;
    for (const auto& [name, values] : list) {
      const std::string what = fmt::format("{} attribute '{}'", owner, name);
      if (const std::string wrong = name_problem(name); !wrong.empty())
        problems_.add(ErrorCode::invalid_argument, variable, fmt::format("{}: its name {}", what, wrong));
      if (std::ranges::find(traits_.reserved_attributes, name) != traits_.reserved_attributes.end())
        problems_.add(ErrorCode::invalid_argument, variable,
                      fmt::format("{}: {} reserves this name: choose another one", what, traits_.title));
      if (!seen.insert(name).second)
        problems_.add(ErrorCode::conflict, variable, fmt::format("{} is given twice", what));
      if (!traits_.types.has(values.type))
        problems_.add(ErrorCode::wrong_type, variable,
                      fmt::format("{} is {}, but {} holds {}", what, name_of(values.type), traits_.name,
                                  text_of(traits_.types)));
    }
  }

  void check(const Variable& variable) {
    if (const std::string wrong = name_problem(variable.name); !wrong.empty())
      problem(variable, ErrorCode::invalid_argument, "has an impossible name: it {}", wrong);
    if (!traits_.types.has(variable.type))
      problem(variable, ErrorCode::wrong_type, "is {}, but {} holds {}", name_of(variable.type), traits_.name,
              text_of(traits_.types));
    attributes(fmt::format("variable '{}':", variable.name), variable.name, variable.attributes);
    fill(variable);
    filters(variable);
    if (!shape(variable)) return;  // further checks need the dimensions
    chunk(variable);
    constant(variable);
  }

  /// Whether all its dimensions are known.
  bool shape(const Variable& variable) {
    bool known = true;
    std::size_t fixed = 0;
    for (std::size_t i = 0; i < variable.dimensions.size(); ++i) {
      const std::string& name = variable.dimensions[i];
      const Dimension* dimension = schema_.find_dimension(name);
      if (dimension == nullptr) {
        known = false;
        problem(variable, ErrorCode::unknown_name, "has the dimension '{}', which the schema does not have{}",
                name, did_you_mean(name, dimension_names_));
      } else if (!dimension->is_unlimited()) {
        ++fixed;
      } else if (i != 0) {
        problem(variable, ErrorCode::invalid_argument,
                "has the unlimited dimension '{}' as dimension {}: it must come {} (slowest)", name,
                said_dimension(i, variable.dimensions.size()), terms() == Terms::fortran ? "last" : "first");
      }
    }
    if (fixed > max_rank)
      problem(variable, ErrorCode::invalid_argument,
              "has {} dimensions besides the unlimited one: at most {} are possible", fixed, max_rank);
    return known;
  }

  void fill(const Variable& variable) {
    if (const auto good = check_fill(variable); !good)
      problem(variable, good.error().code, "{}", good.error().message);
  }

  void filters(const Variable& variable) {
    if (!is_filtered(variable)) return;
    const FilterChain chain = filters_of(variable);
    if (const auto mistake = codec::mistake_in(chain))
      problem(variable, ErrorCode::invalid_argument, "{}", *mistake);
    if (traits_.filters == FilterRule::refused)
      problem(variable, ErrorCode::invalid_argument, "asks for filters ({}), which {} does not have: use {}",
              codec::names_of(chain), traits_.name,
              formats_with([](const FormatTraits& it) { return it.filters == FilterRule::applied; }));
    else if (variable.type == Type::string || variable.dimensions.empty())
      problem(variable, ErrorCode::invalid_argument, "asks for filters ({}), which {} cannot have",
              codec::names_of(chain), variable.type == Type::string ? "strings" : "a scalar");
    else if (const auto mistake = codec::mistake_for(chain, variable.type))
      problem(variable, ErrorCode::invalid_argument, "{}", *mistake);
  }

  /// Formats without chunks ignore them, because the configuration may choose the store.
  void chunk(const Variable& variable) {
    if (variable.chunk.empty()) return;
    if (variable.chunk.size() != variable.dimensions.size())
      return problem(variable, ErrorCode::invalid_argument,
                     "has {} chunk lengths for {} dimensions: give one for each", variable.chunk.size(),
                     variable.dimensions.size());
    for (std::size_t i = 0; i < variable.chunk.size(); ++i) {
      const Dimension& dimension = *schema_.find_dimension(variable.dimensions[i]);
      const std::uint64_t length = variable.chunk[i];
      if (length == 0 || (!dimension.is_unlimited() && length > dimension.length))
        problem(variable, ErrorCode::invalid_argument, "has chunk length {} along '{}': {} possible", length,
                dimension.name,
                dimension.is_unlimited() ? std::string("1 or more are")
                                         : fmt::format("1 to {} are", dimension.length));
    }
  }

  void constant(const Variable& variable) {
    if (variable.constant.empty()) return;
    if (!converted(variable.constant, variable.type))
      problem(variable, ErrorCode::wrong_type,
              "is {}, but its constant values are {}, which cannot all become {}", name_of(variable.type),
              text_of(variable.constant), name_of(variable.type));
    std::uint64_t points = 1;
    for (const std::string& name : variable.dimensions) {
      const Dimension& dimension = *schema_.find_dimension(name);
      if (dimension.is_unlimited())
        return problem(
            variable, ErrorCode::invalid_argument,
            "has constant values and the unlimited dimension '{}': put its values record by record", name);
      if (__builtin_mul_overflow(points, dimension.length, &points))
        return problem(variable, ErrorCode::invalid_argument, "has too many points for constant values");
    }
    if (variable.constant.count() != points)
      problem(variable, ErrorCode::invalid_argument, "has {} constant values, but its dimensions make {}",
              variable.constant.count(), points);
    if (!variable.decomposition.empty())
      problem(variable, ErrorCode::conflict,
              "has constant values and decomposition '{}': it can have one of them", variable.decomposition);
  }

  const Schema& schema_;
  const FormatTraits& traits_;
  std::vector<std::string> dimension_names_;
  Problems problems_;
};

}  // namespace

std::string name_problem(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > longest_name)
    return fmt::format("has {} bytes, at most {} are possible", name.size(), longest_name);
  const char first = name.front();
  if (!is_letter_or_digit(first) && first != '_' && static_cast<unsigned char>(first) < 0x80)
    return "must begin with a letter, a digit or '_'";
  if (name.back() == ' ') return "must not end with a space";
  for (std::size_t at = 0; at < name.size();) {
    const auto byte = static_cast<unsigned char>(name[at]);
    if (byte < 0x20 || byte == 0x7f) return fmt::format("contains the control character {:#04x}", byte);
    if (byte == '/') return "contains '/'";
    const std::size_t length = utf8_bytes(name.substr(at));
    if (length == 0) return fmt::format("is not UTF-8 (byte {:#04x} at {})", byte, at);
    at += length;
  }
  return {};
}

Result<> validate(const Schema& schema, Format format) { return Validation(schema, format).run(); }

}  // namespace afterbay::model
