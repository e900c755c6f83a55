// SPDX-License-Identifier: Apache-2.0
#include "model/format.hpp"

#include <algorithm>
#include <concepts>

namespace afterbay {
namespace {

/// The names of the formats for which `has` is true, in the order of registration.
template <std::predicate<const FormatTraits&> Has>
std::vector<std::string> names_of_those(const Has& has) {
  std::vector<std::string> names;
  for (const Format format : all_formats())
    if (has(traits_of(format))) names.emplace_back(name_of(format));
  return names;
}

std::string list_of(const std::vector<std::string>& names, std::string_view last) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) list += i + 1 == names.size() ? last : ", ";
    list += names[i];
  }
  return list;
}

/// The endings of published formats, the first one of each (appended) or the others, as code.
std::vector<std::string> endings_of_all(bool appended) {
  std::vector<std::string> found;
  for (const Format format : all_formats()) {
    const FormatTraits& traits = traits_of(format);
    if (!traits.publishes) continue;
    const auto endings = appended ? traits.endings.first(1) : traits.endings.subspan(1);
    for (const std::string_view ending : endings) {
      std::string code = "`" + std::string(ending) + "`";
      if (std::ranges::find(found, code) == found.end()) found.push_back(std::move(code));
    }
  }
  return found;
}

/// Whether it can be recommended for a schema of which little is known. Messages need grids, units
/// and names that their format knows.
bool takes_most(const FormatTraits& traits) { return traits.publishes && traits.messages == nullptr; }

}  // namespace

bool is_known(Format format) noexcept { return static_cast<std::size_t>(format) < all_formats().size(); }

std::string_view name_of(Format format) noexcept {
  return is_known(format) ? traits_of(format).name : "unknown";
}

std::optional<Format> format_of(std::string_view name) noexcept {
  const auto formats = all_formats();
  const auto found = std::ranges::find(formats, name, [](Format format) { return name_of(format); });
  return found == formats.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string> format_names() {
  return names_of_those([](const FormatTraits&) { return true; });
}

std::vector<std::string> published_format_names() {
  return names_of_those([](const FormatTraits& traits) { return traits.publishes; });
}

std::string with_ending(std::string name, Format format) {
  for (const Format any : all_formats())
    for (const std::string_view ending : traits_of(any).endings)
      if (name.ends_with(ending)) return name;
  return name.append(traits_of(format).endings.front());
}

std::string appended_endings() { return list_of(endings_of_all(true), " or "); }

std::string other_endings() { return list_of(endings_of_all(false), " or "); }

std::string formats_with(bool (*has)(const FormatTraits&)) {
  return list_of(
      names_of_those([has](const FormatTraits& traits) { return takes_most(traits) && has(traits); }),
      " or ");
}

std::string formats_that_hold(Type type) {
  return list_of(names_of_those([type](const FormatTraits& traits) {
                   return takes_most(traits) && traits.types.has(type);
                 }),
                 " or ");
}

std::string text_of(TypeSet types) {
  if (types.bits == all_types.bits) return "all types";
  if (types.bits == all_types.without(Type::string).bits) return "all types but string";
  std::vector<std::string> names;
  for (const Type type : model::every_type)
    if (types.has(type)) names.emplace_back(name_of(type));
  return list_of(names, " and ");
}

}  // namespace afterbay
