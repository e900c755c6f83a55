// SPDX-License-Identifier: Apache-2.0
// validate: is a schema one that can be written in a format? All problems at once.
#pragma once

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/format.hpp"

namespace afterbay::model {

/// Checks names, dimensions, types, attributes, fill values, chunks, filters and constants against
/// the netCDF data model and the limits of `format`. On failure one Error lists every problem, one a
/// line, each naming its variable, dimension or attribute and what is allowed; `variable` is set when
/// all problems are of one variable.
Result<> validate(const Schema& schema, Format format);

/// The problem with `name` as a netCDF name, or nothing. Source: the NUG, "Permitted characters in
/// netCDF names": begins with a letter, digit or underscore, no '/', no control characters, no
/// trailing space, valid UTF-8, at most 256 bytes.
std::string name_problem(std::string_view name);

}  // namespace afterbay::model
