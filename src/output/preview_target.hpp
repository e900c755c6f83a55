// SPDX-License-Identifier: Apache-2.0
// PreviewTargets: counts what is written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "describe/description.hpp"
#include "output/preview.hpp"
#include "output/target.hpp"

namespace afterbay::output {

/// Counts what is written to the files of one entry.
class WriteCount {
 public:
  WriteCount(const Schema& schema, std::set<std::string, std::less<>> fields);

  void put(std::string_view variable);
  /// Puts since the last call are those of a step.
  void end_step();

  [[nodiscard]] std::uint64_t bytes_of(std::string_view variable) const {
    return bytes_.find(variable)->second;
  }
  [[nodiscard]] std::uint64_t bytes_per_record() const noexcept { return bytes_per_record_; }
  [[nodiscard]] std::uint64_t bytes_per_file() const noexcept { return bytes_per_file_; }

  /// Figures over all steps; `steps`: their number.
  [[nodiscard]] PerStep puts(std::int64_t steps) const { return puts_.per_step(steps); }
  [[nodiscard]] PerStep traffic(std::int64_t steps) const { return traffic_.per_step(steps); }
  [[nodiscard]] std::uint64_t traffic_of_step() const noexcept { return traffic_.now; }

  std::vector<PreviewPart> parts;

  /// A sum over the run, and its largest part in a step.
  struct Sum {
    std::uint64_t now = 0;
    std::uint64_t most = 0;
    std::uint64_t all = 0;
    void end_step() noexcept;
    [[nodiscard]] PerStep per_step(std::int64_t steps) const;
  };

 private:
  /// By variable: bytes of a record, or of a variable without records.
  std::map<std::string, std::uint64_t, std::less<>> bytes_;
  std::set<std::string, std::less<>> fields_;  ///< without time and coordinates
  std::uint64_t bytes_per_record_ = 0;
  std::uint64_t bytes_per_file_ = 0;
  Sum puts_;
  Sum traffic_;
};

class PreviewTargets final : public Targets {
 public:
  explicit PreviewTargets(const describe::Description& description) : description_(description) {}
  std::unique_ptr<Target> define(const std::string& name, const Schema& schema,
                                 const CollectionOptions& options,
                                 const std::vector<ServerReduction>& reductions) override;
  /// The settings of the description.
  [[nodiscard]] TargetSettings settings(const std::string& name) const override;
  /// By name of the entry.
  [[nodiscard]] WriteCount& count(const std::string& name) { return *counts_.at(name); }

 private:
  [[nodiscard]] const describe::File& file(const std::string& name) const;

  const describe::Description& description_;
  std::map<std::string, std::unique_ptr<WriteCount>> counts_;
};

}  // namespace afterbay::output
