// SPDX-License-Identifier: Apache-2.0
// The stages that there are.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pipeline/stage.hpp"

/// The registration: one line per stage, in the order in which they are applied to a variable that has
/// several. A file of pipeline/ defines `stages::NAME()`.
#define AFTERBAY_STAGES(ROW) ROW(linear)

namespace afterbay::pipeline {

namespace stages {
#define AFTERBAY_ROW(NAME) const StageKind& NAME();
AFTERBAY_STAGES(AFTERBAY_ROW)
#undef AFTERBAY_ROW
}  // namespace stages

/// All that are registered.
std::span<const StageKind* const> all_stages();

/// Whether it is the name of a setting of a stage.
bool is_stage_setting(std::string_view name);

/// The stages of one variable, in the order in which they are applied.
using Stages = std::vector<std::unique_ptr<const PointwiseStage>>;

/// The stages that `given` asks for. Fails for variables without numbers (wrong_type), constant ones and
/// settings that are not accepted (invalid_argument, unknown_name), naming the variable.
Result<Stages> make_stages(const Variable& variable, const Settings& given);

}  // namespace afterbay::pipeline
