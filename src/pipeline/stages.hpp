// SPDX-License-Identifier: Apache-2.0
// The registered stages.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pipeline/stage.hpp"

/// The registration: one line per stage, in the order in which they are applied to a variable that
/// has several. A file of pipeline/ defines `stages::NAME()`.
#define AFTERBAY_STAGES(ROW) \
  ROW(linear)                \
  ROW(quantize)

namespace afterbay::pipeline {

namespace stages {
#define AFTERBAY_ROW(NAME) const StageKind& NAME();
AFTERBAY_STAGES(AFTERBAY_ROW)
#undef AFTERBAY_ROW
}  // namespace stages

/// All registered stages.
std::span<const StageKind* const> all_stages();

/// Whether a stage has a setting with this name.
bool is_stage_setting(std::string_view name);

/// The stages of one variable, in the order in which they are applied.
using Stages = std::vector<std::unique_ptr<const PointwiseStage>>;

/// Makes the stages for the settings in `given`. Fails for variables that do not hold numbers
/// (wrong_type), for constant ones, and for settings that are not accepted (invalid_argument,
/// unknown_name); names the variable.
Result<Stages> make_stages(const Variable& variable, const Settings& given);

}  // namespace afterbay::pipeline
