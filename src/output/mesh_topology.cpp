// SPDX-License-Identifier: Apache-2.0
#include "output/mesh_topology.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace afterbay::output {

namespace {

/// Empty if there is no such attribute, or if it is not text.
std::string_view text_of(const std::vector<Attribute>& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  const bool is_text = found != attributes.end() && found->values.type == Type::text;
  return is_text ? found->values.text() : std::string_view();
}

bool is_vertices(const FieldDefinitions& definitions, const Attribute& attribute) {
  return std::ranges::any_of(definitions.coordinates(), [&](const Coordinate& it) {
    return attribute.values.type == Type::text && it.name == attribute.values.text() &&
           !it.options.vertices.empty();
  });
}

/// Whether the variable that the attribute names is a coordinate of the grid.
bool lies_on(std::string_view grid, const std::vector<Attribute>& attributes, std::string_view attribute,
             const FieldDefinitions& definitions) {
  const auto& all = definitions.coordinates();
  const auto found = std::ranges::find(all, text_of(attributes, attribute), &Coordinate::name);
  return found != all.end() && found->grid == grid;
}

void remove(std::vector<Attribute>& attributes, const std::set<std::string_view>& names) {
  std::erase_if(attributes, [&](const Attribute& it) { return names.contains(it.name); });
}

}  // namespace

bool names_variables(std::string_view attribute) {
  static const std::set<std::string_view> references{"coordinates",
                                                     "bounds",
                                                     "climatology",
                                                     "cell_measures",
                                                     "grid_mapping",
                                                     "formula_terms",
                                                     "ancillary_variables",
                                                     "mesh",
                                                     "node_coordinates",
                                                     "edge_coordinates",
                                                     "face_coordinates",
                                                     "face_node_connectivity",
                                                     "edge_node_connectivity",
                                                     "face_edge_connectivity",
                                                     "face_face_connectivity",
                                                     "edge_face_connectivity",
                                                     "boundary_node_connectivity"};
  return references.contains(attribute);
}

bool is_mesh_topology(const std::vector<Attribute>& attributes) {
  return text_of(attributes, "cf_role") == "mesh_topology";
}

bool is_part_of_grid(const Space& space) {
  return std::any_of(space.dimensions.begin() + static_cast<std::ptrdiff_t>(space.axes),
                     space.dimensions.end(), [](const Space::Dimension& it) { return !it.is_whole(); });
}

void remove_wrong_references(std::vector<Attribute>& attributes, const Space& space,
                             const FieldDefinitions& definitions) {
  // Stations are points: they are not cells of a mesh, and have no vertices.
  if (space.stations != nullptr) {
    remove(attributes, {"mesh", "location"});
    std::erase_if(attributes,
                  [&](const Attribute& it) { return it.name == "bounds" && is_vertices(definitions, it); });
    return;
  }
  if (!is_part_of_grid(space)) return;
  if (text_of(attributes, "location") == "node") remove(attributes, {"mesh", "location"});
  if (!is_mesh_topology(attributes)) return;
  if (lies_on(space.grid, attributes, "face_node_connectivity", definitions))
    remove(attributes, {"face_face_connectivity", "edge_face_connectivity"});
  if (lies_on(space.grid, attributes, "edge_node_connectivity", definitions))
    remove(attributes, {"face_edge_connectivity"});
}

}  // namespace afterbay::output
