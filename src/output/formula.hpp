// SPDX-License-Identifier: Apache-2.0
// FormulaSeries: a series that is computed from others, point by point.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "expression/evaluator.hpp"
#include "output/series.hpp"
#include "statistics/widening.hpp"

namespace afterbay::output {

class FormulaSeries final : public Series, public Consumer {
 public:
  /// `operands`: in the order of the formula, all with this space, at least one.
  FormulaSeries(const std::string& name, const std::vector<Series*>& operands, expression::Formula formula,
                expression::Evaluator evaluator);

  /// The series from which this one is computed, directly or through other expressions. None of
  /// them is an expression.
  [[nodiscard]] const std::vector<Series*>& leaves() const noexcept { return leaves_; }
  /// One of the formulas that compute this series from its leaves.
  struct Step {
    const FormulaSeries* of = nullptr;
    /// For each operand: the number of a leaf, or the number of leaves plus that of an earlier
    /// step.
    std::vector<std::size_t> operands;
  };
  /// Each formula comes after those of its operands; the formula of this series is the last.
  [[nodiscard]] std::vector<Step> steps() const;

  [[nodiscard]] bool available() const override;
  [[nodiscard]] bool is_reduced() const override;
  /// The schedule of its operands, which all have the same one, if it is reduced again.
  [[nodiscard]] const Schedule* periods() const override;
  [[nodiscard]] bool needs() const override;
  /// Finds out who uses the values, also through other expressions. Called once all consumers have
  /// been added, for those that compute with others first.
  void find_ends();
  [[nodiscard]] Form wants(const Form& /*given*/) const override { return form(); }
  void take(std::size_t slot, const Value& value) override;
  /// Variables of a file that servers compute, for a consumer of the series.
  struct InFile {
    SampleTarget* samples = nullptr;
    std::vector<std::size_t> variables;
    Consumer* consumer = nullptr;      ///< gets values without data
    std::vector<std::size_t> sources;  ///< sources of the leaves: see SampleRecords
    std::vector<bool> is_kept = {};    ///< leaves that servers keep, because they are constant
  };
  /// From now on, servers compute the values for this consumer. Others still get them here.
  void leave_to_servers(InFile file);
  /// Whether servers compute for all consumers.
  [[nodiscard]] bool is_left_to_servers() const noexcept { return !uses_data(); }
  [[nodiscard]] bool uses_data() const;
  [[nodiscard]] const std::vector<InFile>& in_files() const noexcept { return in_files_; }
  [[nodiscard]] const expression::Formula& formula() const noexcept { return formula_; }

  [[nodiscard]] bool takes_layouts() const override { return !uses_data(); }
  /// Before the first value of a step.
  void begin_step() noexcept;
  /// Announces the samples of the step. Comes after `begin_step` of all statistics.
  void announce_samples() const;
  /// Size of the buffers on this rank.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept {
    return is_left_to_servers() ? 0 : buffer_bytes(space().points);
  }
  /// Size of the buffers on a rank with that many points.
  [[nodiscard]] std::size_t buffer_bytes(std::size_t points) const noexcept;
  /// What it is computed from, in the order of the formula.
  [[nodiscard]] std::vector<const Series*> operands() const;

 private:
  struct Operand {
    Series* series;
    std::optional<statistics::Widening> widening;  ///< nullopt: values come as doubles
    std::vector<double> values;
  };
  /// A consumer that is not an expression, of this one or of another one that computes with it.
  struct End {
    const FormulaSeries* of;
    Consumer* consumer;
  };
  static constexpr std::size_t no_leaf = std::numeric_limits<std::size_t>::max();
  static Form computed_form();
  void add_leaf(Series* leaf);
  /// What servers compute for the consumer; null: its values are computed here.
  [[nodiscard]] const InFile* find_in_file(const Consumer& consumer) const noexcept;
  /// Whether its results are used on this rank in the current step.
  [[nodiscard]] bool is_needed_here() const;
  void hand_over(std::size_t leaf, const Value& value);

  std::vector<End> ends_;  ///< each once
  std::vector<InFile> in_files_;
  expression::Formula formula_;
  std::vector<Operand> operands_;  ///< their slots are their numbers
  std::vector<Series*> leaves_;
  /// For each slot: the number of the leaf, or no_leaf, also if an earlier slot has it. Behind
  /// those of the operands, there are slots for the other leaves as soon as servers compute for
  /// some consumer.
  std::vector<std::size_t> leaf_of_slot_;
  std::vector<bool> has_arrived_;  ///< for each slot
  expression::Evaluator evaluator_;
  std::size_t arrived_ = 0;
  Date begin_;
  double seconds_ = 0;  ///< the longest time of an operand: coordinates stand for a step
  std::vector<double> result_;
};

}  // namespace afterbay::output
