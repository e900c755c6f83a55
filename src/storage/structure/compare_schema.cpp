// SPDX-License-Identifier: Apache-2.0
#include "storage/structure/compare_schema.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/caller_terms.hpp"
#include "model/largest_error.hpp"
#include "storage/reader/extended_file.hpp"

namespace afterbay::storage {
namespace {

constexpr std::array<std::string_view, 3> unstable_attributes{"history", "date_created", "date_modified"};

std::string length_of(const Dimension& dimension) {
  return dimension.is_unlimited() ? std::string("unlimited") : std::to_string(dimension.length);
}

template <class T>
std::string number_text(const Values& values, std::size_t index) {
  return fmt::format("{}", values.at<T>(index));
}

std::string element_text(const Values& values, std::size_t index) {
  switch (values.type) {
    case Type::int8: return std::to_string(values.at<std::int8_t>(index));
    case Type::uint8: return std::to_string(values.at<std::uint8_t>(index));
    case Type::int16: return number_text<std::int16_t>(values, index);
    case Type::uint16: return number_text<std::uint16_t>(values, index);
    case Type::int32: return number_text<std::int32_t>(values, index);
    case Type::uint32: return number_text<std::uint32_t>(values, index);
    case Type::int64: return number_text<std::int64_t>(values, index);
    case Type::uint64: return number_text<std::uint64_t>(values, index);
    case Type::float32: return number_text<float>(values, index);
    case Type::float64: return number_text<double>(values, index);
    case Type::string: return '"' + values.strings[index] + '"';
    case Type::text: return std::to_string(values.at<char>(index));
  }
  return "?";
}

/// "float32 1.5, 2" or "text \"K\"", shortened.
std::string text_of(const Values& values) {
  constexpr std::size_t most = 60;
  std::string text = std::string(name_of(values.type)) + " ";
  if (values.type == Type::text) {
    text += '"' + std::string(values.text().substr(0, most)) + '"';
    return values.count() > most ? text + "..." : text;
  }
  for (std::size_t i = 0; i < values.count(); ++i) {
    if (text.size() > most) return text + ", ...";
    text += (i == 0 ? "" : ", ") + element_text(values, i);
  }
  return values.empty() ? text + "(none)" : text;
}

template <class Item>
const Item* find(const std::vector<Item>& items, const std::string& name) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

class Comparison {
 public:
  std::vector<std::string> compare(const Schema& wanted, const Schema& found) {
    both(wanted.dimensions, found.dimensions, "dimension",
         [&](const Dimension& a, const Dimension& b) { dimension(a, b); });
    both(wanted.variables, found.variables, "variable",
         [&](const Variable& a, const Variable& b) { variable(a, b); });
    attributes("global attribute", wanted.attributes, found.attributes, true);
    return std::move(differences_);
  }

 private:
  template <class Item, class Compare>
  void both(const std::vector<Item>& wanted, const std::vector<Item>& found, std::string_view kind,
            Compare&& compare) {
    for (const Item& item : wanted) {
      if (const Item* other = find(found, item.name))
        compare(item, *other);
      else
        say("{} '{}' is wanted but not in the file", kind, item.name);
    }
    for (const Item& item : found)
      if (find(wanted, item.name) == nullptr) say("{} '{}' is in the file but not wanted", kind, item.name);
  }

  void dimension(const Dimension& wanted, const Dimension& found) {
    if (wanted.length != found.length)
      say("dimension '{}': length {} wanted, {} in the file", wanted.name, length_of(wanted),
          length_of(found));
  }

  void variable(const Variable& wanted, const Variable& found) {
    if (wanted.type != found.type)
      say("variable '{}': type {} wanted, {} in the file", wanted.name, name_of(wanted.type),
          name_of(found.type));
    if (wanted.dimensions != found.dimensions)
      say("variable '{}': dimensions {} wanted, {} in the file", wanted.name, said_list(wanted.dimensions),
          said_list(found.dimensions));
    std::vector<Attribute> listed = wanted.attributes;
    std::erase_if(listed, [](const Attribute& attribute) { return attribute.name == "_FillValue"; });
    const Attribute* given = find(wanted.attributes, "_FillValue");
    const Values fill = wanted.fill.empty() && given != nullptr ? given->values : wanted.fill;
    fill_value(wanted.name, fill, found.fill);
    attributes("attribute '" + wanted.name + ":", listed, found.attributes, false);
    largest_error(wanted, found);
  }

  /// Each run raises it; nothing can be added to the variables of a file.
  void largest_error(const Variable& wanted, const Variable& found) {
    const bool measures = model::reserves_largest_error(wanted);
    const bool has_it = model::reserves_largest_error(found);
    if (measures && !has_it)
      say("variable '{}': its largest error is to be measured, but the file has no attribute {} for it: "
          "state no accuracy, or write a new file",
          wanted.name, model::largest_error_attribute);
    else if (!measures && has_it && find(wanted.attributes, "quantization") != nullptr)
      say("variable '{}': values are rounded without a stated accuracy, so that the attribute {} of the file "
          "would be wrong: state the accuracy of the run that created it",
          wanted.name, model::largest_error_attribute);
  }

  void fill_value(const std::string& variable, const Values& wanted, const Values& found) {
    if (wanted.empty() && found.empty()) return;
    if (found.empty())
      say("variable '{}': fill value {} wanted, but it has no attribute _FillValue in the file", variable,
          text_of(wanted));
    else if (wanted.empty())
      say("variable '{}': no fill value wanted, but its attribute _FillValue is {} in the file", variable,
          text_of(found));
    else if (wanted != found)
      say("variable '{}': fill value {} wanted, {} in the file", variable, text_of(wanted), text_of(found));
  }

  void attributes(const std::string& kind, const std::vector<Attribute>& wanted,
                  const std::vector<Attribute>& found, bool global) {
    const auto stable = [&](const Attribute& attribute) {
      if (attribute.name == model::largest_error_attribute) return false;  // each run sets it
      return !global || std::find(unstable_attributes.begin(), unstable_attributes.end(), attribute.name) ==
                            unstable_attributes.end();
    };
    const auto label = [&](const Attribute& attribute) {
      return global ? kind + " '" + attribute.name + "'" : kind + attribute.name + "'";
    };
    for (const Attribute& attribute : wanted) {
      if (!stable(attribute)) continue;
      const Attribute* other = find(found, attribute.name);
      if (other == nullptr)
        say("{} is wanted but not in the file", label(attribute));
      else if (other->values != attribute.values)
        say("{}: {} wanted, {} in the file", label(attribute), text_of(attribute.values),
            text_of(other->values));
    }
    for (const Attribute& attribute : found)
      if (stable(attribute) && find(wanted, attribute.name) == nullptr)
        say("{} is in the file but not wanted", label(attribute));
  }

  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    differences_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  std::vector<std::string> differences_;
};

std::string listed(const std::vector<std::string>& differences) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < differences.size() && i < most; ++i) text += "\n  - " + differences[i];
  if (differences.size() > most) text += fmt::format("\n  - and {} more", differences.size() - most);
  return text;
}

}  // namespace

std::string value_difference(const std::string& variable, const Values& wanted, const Values& found) {
  if (wanted == found) return {};
  if (wanted.type != found.type || wanted.count() != found.count())
    return fmt::format("variable '{}': {} constant values wanted, {} in the file", variable, wanted.count(),
                       found.count());
  const std::size_t element_bytes = size_of(wanted.type);
  for (std::size_t i = 0; i < wanted.count(); ++i) {
    const bool equal = wanted.type == Type::string
                           ? wanted.strings[i] == found.strings[i]
                           : std::memcmp(wanted.bytes.data() + i * element_bytes,
                                         found.bytes.data() + i * element_bytes, element_bytes) == 0;
    if (!equal)
      return fmt::format("variable '{}': constant value {}: {} wanted, {} in the file", variable,
                         said_index(i), element_text(wanted, i), element_text(found, i));
  }
  return {};
}

std::vector<std::string> schema_differences(const Schema& wanted, const Schema& found) {
  return Comparison().compare(wanted, found);
}

Result<std::uint64_t> check_appendable(const std::string& path, const Schema& wanted, Format format) {
  AFTERBAY_TRY_ASSIGN(const auto file, ExtendedFile::open(path));
  const FoundFile& found = file->found();
  std::vector<std::string> differences = schema_differences(wanted, found.schema);
  if (found.format != format)
    differences.insert(differences.begin(), fmt::format("format: {} wanted, {} in the file", name_of(format),
                                                        name_of(found.format)));
  if (differences.empty())
    for (const Variable& variable : wanted.variables) {
      if (variable.constant.empty()) continue;
      AFTERBAY_TRY_ASSIGN(const Values values, file->values(variable.name));
      if (std::string text = value_difference(variable.name, variable.constant, values); !text.empty())
        differences.push_back(std::move(text));
    }
  if (differences.empty()) {
    AFTERBAY_TRY(file->try_to_extend());
    return found.records;
  }
  return fail(make_error(ErrorCode::conflict,
                         "{} cannot be appended to, because it differs from the collection's schema:{}\n"
                         "  Change the schema, choose another name, or declare the file as replaced",
                         path, listed(differences))
                  .in_file(path));
}

}  // namespace afterbay::storage
