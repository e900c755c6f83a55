// SPDX-License-Identifier: Apache-2.0
// Plan: which stages the values of a collection pass between ranks and files, and what ranks hand over then.
// Model ranks and servers compute the same one.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/layout.hpp"
#include "pipeline/stages.hpp"

namespace afterbay::pipeline {

struct Plan {
  std::vector<Stages> stages;  ///< one entry per variable of the schema; empty: none has stages

  [[nodiscard]] bool empty() const noexcept { return stages.empty(); }
};

/// `given`: one entry per variable, or none at all. Fails as make_stages does.
Result<Plan> make_plan(const Schema& schema, std::span<const Settings> given);

/// What ranks hand over for files of that layout. Without stages it is the same object. Stages compute with
/// values in this machine's byte order: if the files' is another, the handover layout differs in it.
std::shared_ptr<const model::HandoverLayout> handover_layout(std::shared_ptr<const model::FileLayout> files,
                                                             const Plan& plan);

}  // namespace afterbay::pipeline
