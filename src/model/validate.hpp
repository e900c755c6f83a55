// SPDX-License-Identifier: Apache-2.0
// validate: checks whether a schema can be written in a format. Reports all problems at once.
#pragma once

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/format.hpp"

namespace afterbay::model {

/// Checks names, dimensions, types, attributes, fill values, chunks, filters and constants against
/// the netCDF data model and the limits of `format`. On failure one Error lists all problems, one
/// per line, each with its variable, dimension or attribute and what is allowed; `variable` is set
/// if all problems concern one variable.
Result<> validate(const Schema& schema, Format format);

/// The problem with `name` as a netCDF name; empty if there is none. Source: the NUG, "Permitted
/// characters in netCDF names": begins with a letter, digit or underscore, no '/', no control
/// characters, no trailing space, valid UTF-8, at most 256 bytes.
std::string name_problem(std::string_view name);

}  // namespace afterbay::model
