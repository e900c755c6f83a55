// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "describe/keys.hpp"
#include "describe/print.hpp"

namespace afterbay::describe {

namespace {

using Json = nlohmann::ordered_json;

/// A mapping whose values are all described by `schema`.
Json named_entries(Json schema) {
  return {{"type", {"object", "null"}}, {"additionalProperties", std::move(schema)}};
}

Json reference_to(const char* definition) { return {{"$ref", std::string("#/$defs/") + definition}}; }

template <class Target>
Json keys_as_properties(const std::vector<KeyRow<Target>>& table, bool for_defaults = false) {
  Json properties = Json::object();
  for (const KeyRow<Target>& row : table) {
    if (for_defaults && !row.in_defaults) continue;
    Json value = Json::parse(row.schema);
    value["description"] = row.documentation;
    properties[row.name] = value;
    const std::size_t dot = row.name.find('.');
    if (dot == std::string::npos) continue;
    Json& group = properties[row.name.substr(0, dot)];  // stripe.count, or stripe: {count: ...}
    group["type"] = "object";
    group["additionalProperties"] = false;
    group["properties"][row.name.substr(dot + 1)] = std::move(value);
  }
  return properties;
}

template <class Target>
Json object_of(const std::vector<KeyRow<Target>>& table, bool for_defaults = false) {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", keys_as_properties(table, for_defaults)}};
}

Json any_of_schemas(std::initializer_list<Json> schemas) {
  Json all = Json::array();
  for (const Json& it : schemas) all.push_back(it);
  return {{"anyOf", std::move(all)}};
}

Json definitions() {
  const Json text{{"type", "string"}};
  const Json nothing{{"type", "null"}};
  Json entry = named_entries(any_of_schemas({{{"type", {"string", "null"}}}, object_of(variable_keys())}));
  entry["type"] = "object";
  Json defs = Json::object();
  defs["entry"] = std::move(entry);
  defs["entries"] =
      any_of_schemas({{{"type", {"string", "null"}}},
                      reference_to("entry"),
                      {{"type", "array"}, {"items", any_of_schemas({text, reference_to("entry")})}}});
  defs["field"] = any_of_schemas({{{"type", {"string", "number", "null"}}}, object_of(field_keys())});
  defs["file"] = object_of(file_keys());
  Json grid = object_of(grid_keys());
  grid["minProperties"] = 1;
  defs["grid"] = std::move(grid);
  return defs;
}

Json schema_of_top(const std::string& name) {
  if (name == "include") return {{"type", {"string", "array", "null"}}, {"items", {{"type", "string"}}}};
  if (name == "case") return {{"type", {"string", "number", "null"}}};
  if (name == "state") return {{"type", {"string", "null"}}};
  if (name == "defaults") return any_of_schemas({{{"type", "null"}}, object_of(file_keys(), true)});
  if (name == "groups") return named_entries(reference_to("entries"));
  return named_entries(reference_to(name == "fields" ? "field" : name == "grids" ? "grid" : "file"));
}

}  // namespace

std::string json_schema() {
  Json properties = Json::object();
  for (const TopKey& key : top_keys()) {
    Json value = schema_of_top(key.name);
    value["description"] = key.documentation;
    properties[key.name] = std::move(value);
  }
  const Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                    {"title", "Afterbay output description"},
                    {"type", {"object", "null"}},
                    {"additionalProperties", false},
                    {"properties", std::move(properties)},
                    {"$defs", definitions()}};
  return schema.dump(2) + "\n";
}

}  // namespace afterbay::describe
