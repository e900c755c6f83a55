// SPDX-License-Identifier: Apache-2.0
// LateSteps: brings what ranks contribute to reductions over grids to the first model rank, and
// executes what follows from the results, some steps later, for the dates of its own step.
//
// Contributions of a step go along a tree of the model ranks. A rank passes them on so many steps
// later that it waits only for ranks that are more than `slack` steps behind. All ranks execute a
// step at the same distance, so that they make the same calls in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "afterbay/session.hpp"
#include "output/grid_reduction.hpp"
#include "output/model_time.hpp"
#include "output/plan.hpp"
#include "session/group.hpp"

namespace afterbay::output {

class LateSteps {
 public:
  /// Steps by which ranks may be apart without waiting for each other.
  static constexpr int slack = 2;
  /// Number of steps between a step and its execution, for this number of model ranks.
  [[nodiscard]] static std::size_t lag_of(std::size_t model_ranks);

  /// Collective over the model ranks if the plan reduces over grids: waits as Session::start does.
  /// All arguments outlive it. `session`: null: there is one rank. Throws bad_state if model ranks
  /// are threads.
  LateSteps(Session* session, Plan& plan, const ModelTime& time);

  /// After Plan::end_step: takes what this rank has contributed, and executes steps whose turn it
  /// is. Waits, at most for the deadline, for ranks that are too far behind.
  void end_step(std::int64_t step);
  /// Executes all steps up to the last one. The first rank waits for all ranks to come as far.
  void finish();
  /// Whether steps wait for their execution.
  [[nodiscard]] bool is_behind() const noexcept { return !steps_.empty(); }
  /// After Plan::end_run: the same for what it has contributed.
  void end_run(std::int64_t step);

  /// Steps from a step to its execution.
  [[nodiscard]] std::size_t lag() const noexcept { return lag_; }
  /// Steps whose contributions this rank keeps.
  [[nodiscard]] std::size_t waiting() const noexcept { return height_ * slack + 1; }

 private:
  struct Step {
    std::int64_t step = 0;
    std::uint64_t number = 0;  ///< in the order of their ends
    bool ends_run = false;
    bool passed_on = false;
    std::vector<std::size_t> of;  ///< numbers in Plan::grid_reductions
    std::vector<GridReduction::Contribution> contributions;
  };

  void add(std::int64_t step, bool ends_run);
  /// Executes steps that are older than so many.
  void advance(std::size_t lag, std::size_t height);
  void pass_on(Step& step);
  /// The next contributions of a rank below. Waits, and does what other ranks may need meanwhile.
  std::vector<std::byte> await(std::size_t child);
  void send(std::vector<std::byte> message);
  void execute(const Step& step);

  Session* session_;
  Plan& plan_;
  const ModelTime& time_;
  std::shared_ptr<session::Group::Ascent> ascent_;  ///< null: there is one rank
  std::size_t lag_ = 0;
  std::size_t height_ = 0;
  std::uint64_t number_ = 0;
  std::deque<Step> steps_;
};

}  // namespace afterbay::output
