// SPDX-License-Identifier: Apache-2.0
#include "model/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace afterbay::model {
namespace {

constexpr std::size_t shown_values = 4;
constexpr std::size_t shown_characters = 60;

std::string shortened(std::string_view text) {
  if (text.size() <= shown_characters) return fmt::format("\"{}\"", text);
  return fmt::format("\"{}...\" ({} characters)", text.substr(0, shown_characters), text.size());
}

template <class T>
std::vector<std::string> first_numbers(const Values& values) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(values.count(), shown_values); ++i) {
    const T value = values.at<T>(i);
    shown.push_back(fmt::format("{}", value));
  }
  return shown;
}

std::vector<std::string> first_values(const Values& values) {
  switch (values.type) {
    case Type::int8: return first_numbers<std::int8_t>(values);
    case Type::int16: return first_numbers<std::int16_t>(values);
    case Type::int32: return first_numbers<std::int32_t>(values);
    case Type::int64: return first_numbers<std::int64_t>(values);
    case Type::uint8: return first_numbers<std::uint8_t>(values);
    case Type::uint16: return first_numbers<std::uint16_t>(values);
    case Type::uint32: return first_numbers<std::uint32_t>(values);
    case Type::uint64: return first_numbers<std::uint64_t>(values);
    case Type::float32: return first_numbers<float>(values);
    case Type::float64: return first_numbers<double>(values);
    case Type::text: return {shortened(values.text())};
    case Type::string: break;
  }
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(values.strings.size(), shown_values); ++i)
    shown.push_back(shortened(values.strings[i]));
  return shown;
}

}  // namespace

std::string text_of(const Values& values) {
  if (values.empty()) return "none";
  const std::string list = fmt::format("{} {}", name_of(values.type), fmt::join(first_values(values), ", "));
  const bool all = values.type == Type::text || values.count() <= shown_values;
  return all ? list : fmt::format("{}, ... ({} values)", list, values.count());
}

}  // namespace afterbay::model
