// SPDX-License-Identifier: Apache-2.0
#include "output/derived_fields.hpp"

#include <algorithm>
#include <set>

#include "expression/names.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

DerivedFields::DerivedFields(const PlanInput& input)
    : input_(input), misreadable_(expression::misreadable_names(operand_names())) {}

const describe::Field* DerivedFields::find(const std::string& name) const noexcept {
  const describe::Field* const described = input_.find_described(name);
  return described == nullptr || described->expression.empty() ? nullptr : described;
}

const expression::Expression& DerivedFields::parsed(const describe::Field& field) {
  const auto known = parsed_.find(&field);
  if (known != parsed_.end()) return known->second;
  auto expression = expression::parse(field.expression);
  if (!expression)
    refuse_at(field.expression_at, expression.error().code, "field '{}': {}", field.name,
              expression.error().message);
  return parsed_.emplace(&field, *std::move(expression)).first->second;
}

void DerivedFields::check_names(const describe::Field& field) const {
  if (const auto misread = expression::misread_name(field.expression, misreadable_))
    refuse_at(field.expression_at, ErrorCode::conflict, "field '{}': {}", field.name,
              expression::misread_text(*misread));
}

std::vector<std::string> DerivedFields::operand_names() const {
  std::vector<std::string> names = input_.definitions.field_names();
  for (const Coordinate& coordinate : input_.definitions.coordinates())
    if (!coordinate.grid.empty()) names.push_back(coordinate.name);
  return names;
}

const Coordinate* DerivedFields::find_constant(const expression::Operand& operand) const {
  if (operand.kind != expression::Operand::Kind::field) return nullptr;
  const auto& all = input_.definitions.coordinates();
  const auto found = std::ranges::find(all, operand.field, &Coordinate::name);
  const bool is_field =
      input_.definitions.find_field(operand.field) != nullptr || find(operand.field) != nullptr;
  if (is_field || found == all.end() || found->grid.empty() || !found->options.vertices.empty() ||
      found->values.type == Type::text || found->values.type == Type::string)
    return nullptr;
  return &*found;
}

std::vector<const describe::Field*> DerivedFields::with_inner(const describe::Field& field) const {
  std::vector<const describe::Field*> all{&field};
  std::set<const describe::Field*> known{&field};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const std::string& operand : all[i]->operands)
      if (const describe::Field* const inner = find(operand); inner != nullptr && known.insert(inner).second)
        all.push_back(inner);
  return all;
}

Type DerivedFields::own_type(const std::string& name) const {
  if (const Field* const field = input_.definitions.find_field(name)) return field->options.type;
  const describe::Field* const described = find(name);
  if (described == nullptr) return type_of_coordinate(name);
  for (const describe::Field* const inner : with_inner(*described))
    for (const std::string& operand : inner->operands) {
      const Field* const field = input_.definitions.find_field(operand);
      if (field == nullptr && find(operand) != nullptr) continue;
      const Type type = field != nullptr ? field->options.type : type_of_coordinate(operand);
      if (type != Type::float32) return Type::float64;
    }
  return Type::float32;
}

Type DerivedFields::type_of_coordinate(const std::string& name) const {
  const auto& all = input_.definitions.coordinates();
  const auto found = std::ranges::find(all, name, &Coordinate::name);
  return found == all.end() ? Type::float64 : found->values.type;
}

}  // namespace afterbay::output
