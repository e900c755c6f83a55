// SPDX-License-Identifier: Apache-2.0
// DescribedEpochs: the epochs that files of a description ask for, and the states that are saved
// before them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "describe/description.hpp"
#include "output/model_time.hpp"
#include "output/saved_state.hpp"
#include "output/schedule.hpp"

namespace afterbay::output {

class DescribedEpochs {
 public:
  /// All arguments outlive it. Throws, at the place in the description, if the names of states need
  /// a member that the model has not given.
  DescribedEpochs(Session& session, const describe::Description& description, const ModelTime& time,
                  std::optional<std::int64_t> member);

  /// Throws conflict if states of epochs that follow each other would have one name.
  /// `file`: that asks for them.
  void add(Clock clock, const std::string& file);
  /// Throws conflict, at the place in the description, if one of the first states would have the
  /// path of a file.
  void check_paths(const TakenPaths& known) const;
  [[nodiscard]] bool saves_states() const noexcept { return !clocks_.empty() && !description_.state.empty(); }
  /// Whether the step ends an epoch.
  [[nodiscard]] bool is_due(std::int64_t step);
  /// Marks the epochs that the step ends, which has ended for the session, too. Does not wait.
  /// Throws conflict if a state would replace one that is still needed.
  void end_step(std::int64_t step, SavedState& saved);

 private:
  struct OfFile {
    Clock clock;
    std::string file;
  };
  /// States that this run has saved and not removed; shared with functions that the session calls
  /// later.
  struct Kept;

  [[nodiscard]] std::string name(std::int64_t step, const Date& date) const;
  [[nodiscard]] bool ends_epoch(Clock& clock, std::int64_t step) const;
  void check_names(Clock clock);

  Session& session_;
  const describe::Description& description_;
  const ModelTime& time_;
  std::optional<std::int64_t> member_;
  std::vector<OfFile> clocks_;
  bool within_days_ = false;         ///< epochs are closer to each other than days
  std::vector<std::string> first_;   ///< paths of states at first epochs, if they do not contain steps
  std::vector<std::string> recent_;  ///< paths of the last states: the same on all ranks
  std::shared_ptr<Kept> kept_;
};

}  // namespace afterbay::output
