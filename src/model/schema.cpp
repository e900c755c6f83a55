// SPDX-License-Identifier: Apache-2.0
#include "afterbay/schema.hpp"

#include <algorithm>

#include "afterbay/error.hpp"
#include "base/suggest.hpp"
#include "codec/filter_chain.hpp"
#include "model/filters.hpp"

namespace afterbay {
namespace {

template <class List>
auto* find_by_name(List& list, std::string_view name) noexcept {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.name == name; });
  return found == list.end() ? nullptr : &*found;
}

void set_attribute(std::vector<Attribute>& attributes, std::string name, Values values) {
  if (Attribute* old = find_by_name(attributes, name)) {
    old->values = std::move(values);
  } else {
    attributes.push_back({std::move(name), std::move(values)});
  }
}

}  // namespace

Variable& Variable::attribute(std::string attribute_name, Values values) {
  set_attribute(attributes, std::move(attribute_name), std::move(values));
  return *this;
}

Variable& Variable::with_filter(std::string_view filter_name, int level) {
  const codec::Codec* const found = codec::find_codec(filter_name);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const codec::Codec* it : codec::all_codecs()) names.emplace_back(it->name);
    throw Failure(Error(ErrorCode::unknown_name, "there is no filter \"" + std::string(filter_name) +
                                                     "\": " + codec::codec_names() + " are possible" +
                                                     did_you_mean(filter_name, names))
                      .in_variable(name));
  }
  FilterChain chain = model::filters_of(*this);
  codec::set_filter(chain, found->id, codec::filter_of_level(*found, level));
  model::set_filters(*this, std::move(chain));
  return *this;
}

Schema& Schema::dimension(std::string name, std::uint64_t length) {
  dimensions.push_back({std::move(name), length});
  return *this;
}

Variable& Schema::variable(std::string name, Type type, std::vector<std::string> dimension_names) {
  Variable& added = variables.emplace_back();
  added.name = std::move(name);
  added.type = type;
  added.dimensions = std::move(dimension_names);
  return added;
}

Schema& Schema::attribute(std::string name, Values values) {
  set_attribute(attributes, std::move(name), std::move(values));
  return *this;
}

const Dimension* Schema::find_dimension(std::string_view name) const noexcept {
  return find_by_name(dimensions, name);
}
const Variable* Schema::find_variable(std::string_view name) const noexcept {
  return find_by_name(variables, name);
}
Variable* Schema::find_variable(std::string_view name) noexcept { return find_by_name(variables, name); }

}  // namespace afterbay
