// SPDX-License-Identifier: Apache-2.0
// File names from templates: "{collection}_{date:%Y%m%d_%H}_m{member:03}.nc".
#pragma once

#include <string>
#include <string_view>

#include "afterbay/session.hpp"
#include "base/result.hpp"

namespace afterbay::model {

/// Tokens: {collection}, {step}, {step:06} (padded with zeros to 6 places), {member}, {member:03},
/// {date} (%Y%m%d), {date:FORMAT} with %Y %m %d %H %M %S and %%; {{ and }} are braces.
/// Everything that can be wrong without values: unknown tokens (the nearest is named), formats,
/// unbalanced braces, NUL. An empty template is "{collection}.nc".
Result<> check_template(std::string_view pattern);

/// The file's name: `values.name` as it is when given, else the template filled in. Fails when
/// the template asks for a value that is not given, a date is not ISO 8601, or the name is too long or that
/// of a part file or log ("a.nc.part", "a.nc.part.epochs", "a.nc.part.owner"). Dates of any model calendar
/// pass (2001-02-30): month 1-12, day 1-31, time of day up to 23:59:59, any year, no zone.
Result<std::string> file_name(std::string_view pattern, std::string_view collection, const FileName& values);

}  // namespace afterbay::model
