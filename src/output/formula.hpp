// SPDX-License-Identifier: Apache-2.0
// Computed: a series that is computed from others, point by point.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expression/evaluator.hpp"
#include "output/series.hpp"

namespace afterbay::output {

class Computed final : public Series, public Consumer {
 public:
  /// `operands`: in the order of the formula, all with this space, at least one.
  Computed(const std::string& name, const std::vector<Series*>& operands, expression::Evaluator evaluator);

  [[nodiscard]] bool available() const override;
  [[nodiscard]] bool is_reduced() const override;
  [[nodiscard]] bool needs() const override { return available() && needed(); }
  [[nodiscard]] Form wants(const Form& /*given*/) const override { return form(); }
  void take(std::size_t slot, const Value& value) override;
  /// Before the first value of a step.
  void begin_step() noexcept;
  /// On this rank.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return buffer_bytes(space().points); }
  /// On a rank with so many points.
  [[nodiscard]] std::size_t buffer_bytes(std::size_t points) const noexcept;
  /// What it is computed from, in the order of the formula.
  [[nodiscard]] std::vector<const Series*> operands() const;

 private:
  struct Operand {
    Series* series;
    std::unique_ptr<const statistics::ValueLoops> loops;  ///< null: nothing is missing, or NaN is
    std::vector<double> values;
    bool arrived = false;
  };
  static Form computed_form();

  std::vector<Operand> operands_;
  expression::Evaluator evaluator_;
  std::size_t arrived_ = 0;
  Date begin_;
  double seconds_ = 0;  ///< the longest time of an operand: coordinates stand for a step
  std::vector<double> result_;
};

}  // namespace afterbay::output
