// SPDX-License-Identifier: Apache-2.0
// File names from templates: "{collection}_{date:%Y%m%d_%H}_m{member:03}.nc".
#pragma once

#include <string>
#include <string_view>

#include "afterbay/session.hpp"
#include "base/result.hpp"
#include "model/format.hpp"

namespace afterbay::model {

/// The template of collections for which none is given: "{collection}.nc" or with another ending.
std::string default_template(Format format);

/// Checks everything that does not depend on values: unknown tokens (suggests the most similar
/// one), formats, unbalanced braces, NUL. Tokens: {collection}, {step}, {step:06} (padded with
/// zeros to 6 digits), {member}, {member:03}, {date} (%Y%m%d), {date:FORMAT} with %Y %m %d %H %M %S
/// and %%; {{ and }} are braces.
Result<> check_template(std::string_view pattern);

/// The file's name: `values.name` unchanged if given, otherwise the template with its values. Fails
/// if the template needs a value that is not given, a date is not ISO 8601, or the name is too long
/// or belongs to a part file or log ("a.nc.part", "a.nc.part.epochs", "a.nc.part.owner"). Dates of
/// any model calendar are accepted (2001-02-30): month 1-12, day 1-31, time of day up to 23:59:59,
/// any year, no zone.
Result<std::string> file_name(std::string_view pattern, std::string_view collection, const FileName& values);

}  // namespace afterbay::model
