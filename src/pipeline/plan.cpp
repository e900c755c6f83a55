// SPDX-License-Identifier: Apache-2.0
#include "pipeline/plan.hpp"

#include <algorithm>
#include <utility>

#include "model/convert/kernels.hpp"

namespace afterbay::pipeline {

Result<Plan> make_plan(const Schema& schema, std::span<const Settings> given, bool reduces) {
  Plan plan;
  for (std::size_t v = 0; v < given.size(); ++v) {
    AFTERBAY_TRY_ASSIGN(Stages stages, make_stages(schema.variables[v], given[v]));
    plan.stages.push_back(std::move(stages));
  }
  if (std::ranges::all_of(plan.stages, &Stages::empty)) plan.stages.clear();
  if (reduces) plan.stages.resize(schema.variables.size());
  return plan;
}

std::shared_ptr<const model::HandoverLayout> handover_layout(std::shared_ptr<const model::FileLayout> files,
                                                             const Plan& plan) {
  if (plan.empty() || !model::needs_swap(files->big_endian)) return files;
  auto native = std::make_shared<model::HandoverLayout>(*files);
  native->big_endian = !files->big_endian;
  return native;
}

}  // namespace afterbay::pipeline
