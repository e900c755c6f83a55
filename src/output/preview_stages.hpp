// SPDX-License-Identifier: Apache-2.0
// PreviewStages: the series of a plan, as a list of stages that name their inputs.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "output/plan.hpp"
#include "output/preview.hpp"

namespace afterbay::output {

/// About as many bytes go at most between model ranks for one value of a reduction over a grid, if
/// they hold equal parts of it.
std::uint64_t bytes_between_ranks(const GridReduction& reduction, std::uint64_t ranks);

class PreviewStages {
 public:
  PreviewStages(const Plan& plan, const PlanInput& input, const Processes& processes);

  /// The stages of the variables of a file of the plan.
  [[nodiscard]] const std::vector<std::size_t>& of(const FileSeries& files) const {
    return by_file_.at(&files);
  }
  [[nodiscard]] std::vector<PreviewStage> take() { return std::move(made_); }

 private:
  std::size_t stage_of(const Series& series);
  std::size_t add(PreviewStage stage);
  std::size_t add_statistics(const SeriesStatistics& statistics);
  void add_memory(PreviewStage& stage, const GridReduction& reduction) const;
  /// Adds the memory that `bytes_of(points)` says for a rank.
  template <class BytesOf>
  void add_memory(PreviewStage& stage, const Space& space, BytesOf bytes_of) const;

  const PlanInput& input_;
  Processes processes_;
  std::map<const Series*, const SeriesStatistics*> statistics_of_;
  std::map<const Series*, std::size_t> known_;
  /// Parts of a cycle are one stage.
  std::map<std::string, std::size_t> cycles_;
  std::map<const FileSeries*, std::vector<std::size_t>> by_file_;
  std::vector<PreviewStage> made_;
};

}  // namespace afterbay::output
