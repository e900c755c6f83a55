// SPDX-License-Identifier: Apache-2.0
// A description, the schema of descriptions and the keys as text for users.
#pragma once

#include <string>

#include "describe/description.hpp"
#include "describe/node.hpp"

namespace afterbay::describe {

/// The description with all properties of every file. Read again (write_yaml or write_json of it),
/// it gives the same description, except for positions.
Node node_of(const Description& description);

/// The JSON Schema (draft 2020-12) of a file of a description, for editors. It knows the keys and
/// the kinds of their values, but not what texts such as periods mean.
std::string json_schema();

/// The reference page in Markdown: introduction, semantics, then each key.
std::string reference_page();

}  // namespace afterbay::describe
