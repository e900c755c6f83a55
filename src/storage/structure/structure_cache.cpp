// SPDX-License-Identifier: Apache-2.0
#include "storage/structure/structure_cache.hpp"

#include <algorithm>
#include <string>

namespace afterbay::storage {
namespace {

std::uint64_t memory_of(const Values& values) {
  std::uint64_t bytes = values.bytes.size();
  for (const std::string& text : values.strings) bytes += sizeof text + text.size();
  return bytes;
}

std::uint64_t memory_of(const std::vector<Attribute>& attributes) {
  std::uint64_t bytes = 0;
  for (const Attribute& attribute : attributes)
    bytes += sizeof attribute + attribute.name.size() + memory_of(attribute.values);
  return bytes;
}

}  // namespace

bool same_structure(const model::FileLayout& a, const model::FileLayout& b) {
  if (&a == &b) return true;
  const auto stored_alike = [](const model::StoredVariable& one, const model::StoredVariable& other) {
    return one.chunked == other.chunked && one.chunk == other.chunk && one.record_span == other.record_span;
  };
  const auto record = &model::VariableLayout::record;
  return a.format == b.format && std::ranges::equal(a.stored, b.stored, stored_alike) &&
         std::ranges::equal(a.variables, b.variables, {}, record, record);
}

std::uint64_t memory_of(const Schema& schema) {
  std::uint64_t bytes = sizeof schema + memory_of(schema.attributes);
  bytes += schema.dimensions.size() * sizeof(Dimension);
  for (const Variable& variable : schema.variables)
    bytes += sizeof variable + variable.dimensions.size() * sizeof(std::string) + memory_of(variable.fill) +
             memory_of(variable.attributes) + memory_of(variable.constant) +
             variable.filters.size() * (sizeof(Filter) + sizeof(std::uint32_t));
  return bytes;
}

}  // namespace afterbay::storage
