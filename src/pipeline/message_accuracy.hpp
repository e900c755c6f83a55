// SPDX-License-Identifier: Apache-2.0
// Stated accuracies of variables that a format of messages packs.
#pragma once

#include "model/format.hpp"
#include "pipeline/stage.hpp"

namespace afterbay::pipeline {

/// Lets the format's packing keep `absolute_error`, in place of rounding before it: removes the
/// setting from `given`, and sets the attributes of the format. Does nothing if the format packs
/// no values of the variable. Fails with the variable's name if other rounding is asked for.
Result<> leave_accuracy_to_messages(const Schema& schema, Variable& variable, Settings& given, Format format);

}  // namespace afterbay::pipeline
