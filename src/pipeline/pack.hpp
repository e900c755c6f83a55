// SPDX-License-Identifier: Apache-2.0
// Settings of packing, and what they do to a variable of a schema. Packing is a conversion of type:
// ranks pack in `put`, so that servers and files hold integers only. See design/0094.
#pragma once

#include <optional>
#include <span>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/format.hpp"
#include "model/packing.hpp"
#include "pipeline/stage.hpp"

namespace afterbay::pipeline {

/// The settings that only packing has. It also uses absolute_error, multiply and add.
std::span<const StageSetting> packing_settings();

/// How a variable is packed by its schema and by settings, which go first; nothing if it is not. A
/// packed variable, whose fill value must have its type (model/converted_values.hpp), gets the
/// type, the fill value and the attributes that its files have, and loses `packing`. The settings
/// that are used are removed from `given`. Fails, and names the variable, with wrong_type for
/// variables that do not hold floating-point numbers, and with invalid_argument or conflict for
/// ranges and accuracy that integers cannot hold, and for what cannot be packed.
Result<std::optional<model::PackedValues>> pack(Variable& variable, Settings& given, Format format);

}  // namespace afterbay::pipeline
