// SPDX-License-Identifier: Apache-2.0
// When a series has values: in each step, or at the ends of periods over which something in it is
// reduced.
#pragma once

#include <optional>
#include <vector>

#include "output/model_time.hpp"
#include "output/series.hpp"

namespace afterbay::output {

/// The reductions over time of which a series has values, without those inside of others.
std::vector<const Reduced*> reductions_in(const Series& of);

/// Two parts of an expression that have values at different times.
struct Mixture {
  const Reduced* reduced;
  const Series* other;
  /// Of which `other` is a reduction; null: it has a value in each step.
  const Schedule* schedule;
};

/// The first ones in a series; nullopt: all of it has values at the same times. Coordinates of
/// grids have values at all times.
std::optional<Mixture> mixture_in(const Series& of, const ModelTime& time);

/// Whether each period of one is also one of the other.
bool are_equal_periods(const Schedule& one, const Schedule& other, const ModelTime& time);

}  // namespace afterbay::output
