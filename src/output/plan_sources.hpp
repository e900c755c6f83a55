// SPDX-License-Identifier: Apache-2.0
// PlanSources: what a plan computes with: fields of the model, coordinates, and subsets of both.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "output/plan.hpp"

namespace afterbay::output {

class PlanSources {
 public:
  /// Adds to `plan`. Both, and `input`, outlive this object.
  PlanSources(const PlanInput& input, Spaces& spaces, Plan& plan);

  /// `grid`: a subset; null: all points. Throws, at the place of the subset, if it cannot be taken.
  Series& field(const Field& field, const describe::GridSubset* grid);
  /// `others`: operands of the same formula, as far as they are known.
  Series& constant(const Coordinate& of, const std::vector<Series*>& others,
                   const describe::GridSubset* grid);

 private:
  Series& subset_of(Series& of, const Space& space);

  const PlanInput& input_;
  Spaces& spaces_;
  Plan& plan_;
  std::map<std::string, ConstantSeries*> constants_;
  std::map<std::pair<const Series*, const Space*>, SubsetSeries*> subsets_;
};

}  // namespace afterbay::output
