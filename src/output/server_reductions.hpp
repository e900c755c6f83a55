// SPDX-License-Identifier: Apache-2.0
// ServerReductions: who computes expressions and statistics over time, model ranks or servers.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "output/plan.hpp"
#include "output/target.hpp"

namespace afterbay::output {

class ServerReductions {
 public:
  /// Decides for the files of the plan. All ranks decide alike. Throws, at the place in the
  /// description, if servers are to compute what only model ranks can.
  /// `session`: whose ranks agree on `auto`, which is collective; null: model ranks compute.
  ServerReductions(Plan& plan, Session* session);
  /// Variables that servers compute if they are near (`auto`), with their files, in the order of
  /// the plan: "tas in day".
  [[nodiscard]] const std::vector<std::string>& undecided() const noexcept { return undecided_; }
  /// What servers are to compute of a file, for FileSeries::define.
  [[nodiscard]] std::vector<ServerReduction> of(const FileSeries& file) const;
  /// After the files have been defined: leaves to the servers what they compute.
  void apply() const;

 private:
  /// A statistic, of a field or of an expression, or an expression.
  struct Candidate {
    SeriesStatistics* statistics = nullptr;
    FormulaSeries* computed = nullptr;
    std::vector<VariableWriter*> writers;
    bool is_demanded = false;  ///< not `auto`
    [[nodiscard]] std::string name() const;
  };
  struct OfFile {
    std::vector<Candidate> candidates;
    std::vector<const Series*> sources;  ///< sources of expressions: source n is at n - 1
  };
  void drop_computed_here(std::map<FileSeries*, OfFile>& near) const;
  /// Returns false if there would be too many: SampleRecords::most_sources.
  static bool add_sources(OfFile& of, const FormulaSeries& computed);
  [[nodiscard]] static std::size_t source_of(const OfFile& of, const Series& series);
  [[nodiscard]] FormulaSeries* find_computed(const Series& series) const;
  [[nodiscard]] std::vector<VariableWriter*> writers_of(const Series& series) const;
  [[nodiscard]] static ServerReduction reduction_of(const OfFile& of, const Candidate& candidate,
                                                    const VariableWriter& writer);
  static void leave(FileSeries& file, const OfFile& of, const Candidate& candidate);

  Plan& plan_;
  std::map<const Series*, FormulaSeries*> computed_;
  std::map<const Series*, std::vector<VariableWriter*>> writers_;
  std::map<FileSeries*, OfFile> by_file_;
  std::vector<std::string> undecided_;
};

}  // namespace afterbay::output
