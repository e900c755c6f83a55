// SPDX-License-Identifier: Apache-2.0
#include "output/value_times.hpp"

#include "output/collapsed.hpp"
#include "output/formula.hpp"
#include "output/over_grid.hpp"

namespace afterbay::output {

namespace {

/// What a series is made of: fields of the model and reductions over time.
struct Parts {
  std::vector<const Source*> sources;
  std::vector<const Reduced*> reduced;

  void add(const Series& of) {
    if (const auto* const source = dynamic_cast<const Source*>(&of)) sources.push_back(source);
    if (const auto* const some = dynamic_cast<const Reduced*>(&of)) reduced.push_back(some);
    if (const auto* const subset = dynamic_cast<const Subset*>(&of)) add(subset->of());
    if (const auto* const computed = dynamic_cast<const Computed*>(&of))
      for (const Series* const operand : computed->operands()) add(*operand);
    if (const auto* const collapsed = dynamic_cast<const Collapsed*>(&of)) add(collapsed->of());
    if (const auto* const over_grid = dynamic_cast<const OverGrid*>(&of)) add(over_grid->of());
  }
};

Parts parts_of(const Series& of) {
  Parts parts;
  parts.add(of);
  return parts;
}

}  // namespace

std::vector<const Reduced*> reductions_in(const Series& of) { return parts_of(of).reduced; }

std::optional<Mixture> mixture_in(const Series& of, const ModelTime& time) {
  const Parts parts = parts_of(of);
  if (parts.reduced.empty()) return std::nullopt;
  const Reduced* const first = parts.reduced.front();
  if (!parts.sources.empty()) return Mixture{first, parts.sources.front(), nullptr};
  for (const Reduced* const other : parts.reduced)
    if (!are_equal_periods(first->schedule(), other->schedule(), time))
      return Mixture{first, other, &other->schedule()};
  return std::nullopt;
}

bool are_equal_periods(const Schedule& one, const Schedule& other, const ModelTime& time) {
  return time.calendar.multiple(one.every(), other.every()) == Multiple::yes &&
         time.calendar.multiple(other.every(), one.every()) == Multiple::yes;
}

}  // namespace afterbay::output
