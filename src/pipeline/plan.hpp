// SPDX-License-Identifier: Apache-2.0
// Plan: the stages of a collection's variables between ranks and files, and the resulting handover
// layout. Model ranks and servers compute the same plan.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/layout.hpp"
#include "pipeline/stages.hpp"

namespace afterbay::pipeline {

struct Plan {
  /// One entry per variable of the schema; empty if nothing is computed with values of the
  /// collection.
  std::vector<Stages> stages;

  [[nodiscard]] bool empty() const noexcept { return stages.empty(); }
};

/// `given` has one entry per variable, or is empty. `reduces`: servers compute statistics of some
/// variables before the stages. Fails as make_stages does.
Result<Plan> make_plan(const Schema& schema, std::span<const Settings> given, bool reduces = false);

/// The handover layout for files with this layout. Without stages it is the same object. Stages
/// compute in this machine's byte order: if the files have a different one, the handover layout
/// differs in it.
std::shared_ptr<const model::HandoverLayout> handover_layout(std::shared_ptr<const model::FileLayout> files,
                                                             const Plan& plan);

}  // namespace afterbay::pipeline
