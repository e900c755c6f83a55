// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/suggest.hpp"
#include "output/plan.hpp"

namespace afterbay::output {

PlanInput::PlanInput(const describe::Description& of, const FieldDefinitions& model, const ModelTime& steps,
                     std::optional<std::int64_t> number, const Targets& places)
    : description(of), definitions(model), time(steps), member(number), targets(places) {
  for (const describe::Field& field : of.fields) described_.emplace(field.name, &field);
}

const describe::Field* PlanInput::find_described(std::string_view name) const noexcept {
  const auto found = described_.find(name);
  return found == described_.end() ? nullptr : found->second;
}

std::vector<std::string> fields_without_effect(const PlanInput& input) {
  std::vector<std::string> notes;
  const std::vector<std::string> names = input.definitions.field_names();
  const auto& coordinates = input.definitions.coordinates();
  for (const describe::Field& field : input.description.fields)
    if (field.expression.empty() && field.options.enabled && !input.definitions.find_field(field.name) &&
        std::ranges::find(coordinates, field.name, &Coordinate::name) == coordinates.end())
      notes.push_back(
          fmt::format("{}: fields: the model has no field '{}', so that this entry has no effect{}",
                      field.at.text(), field.name, did_you_mean(field.name, names)));
  return notes;
}

}  // namespace afterbay::output
