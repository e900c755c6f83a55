// SPDX-License-Identifier: Apache-2.0
// Reducers: who computes statistics over time, model ranks or servers.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "output/plan.hpp"
#include "output/target.hpp"

namespace afterbay::output {

class Reducers {
 public:
  /// Decides for the files of the plan. All ranks decide alike. Throws, at the place in the
  /// description, if servers are to compute what only model ranks can.
  /// `session`: whose ranks agree on `statistics: auto`, which is collective; null: model ranks
  /// compute.
  Reducers(Plan& plan, Session* session);
  /// Files whose statistics servers compute if they are near (`auto`), in the order of
  /// the plan.
  [[nodiscard]] const std::vector<std::string>& undecided() const noexcept { return undecided_; }
  /// What servers are to compute of a file, for FileSeries::define.
  [[nodiscard]] std::vector<Reduction> of(const FileSeries& file) const;
  /// After the files have been defined: leaves to the servers what they compute.
  void apply() const;

 private:
  struct Candidate {
    Statistics* statistics = nullptr;
    std::vector<const Writer*> writers;
  };
  [[nodiscard]] static std::vector<const Writer*> writers_of(const Plan& plan, const Reduced& result);

  std::map<FileSeries*, std::vector<Candidate>> by_file_;
  std::vector<std::string> undecided_;
};

}  // namespace afterbay::output
