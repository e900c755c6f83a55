// SPDX-License-Identifier: Apache-2.0
// Meshes in files: attributes of UGRID that refer to points of a subset.
#pragma once

#include <string_view>
#include <vector>

#include "output/field_definitions.hpp"
#include "output/spaces.hpp"

namespace afterbay::output {

/// Attributes of CF and UGRID whose words are names of variables.
bool names_variables(std::string_view attribute);

/// Whether these are the attributes of a mesh topology (UGRID 1.0): `cf_role` is "mesh_topology".
bool is_mesh_topology(const std::vector<Attribute>& attributes);

/// Whether the space keeps a part of its grid.
bool is_part_of_grid(const Space& space);

/// Removes attributes that would be wrong for the points of the space, which is a part of its grid
/// or has stations: the mesh of a field at stations or at a part of the nodes, and connectivities
/// of a mesh that number faces or edges of which the file has a part.
void remove_wrong_references(std::vector<Attribute>& attributes, const Space& space,
                             const FieldDefinitions& definitions);

}  // namespace afterbay::output
