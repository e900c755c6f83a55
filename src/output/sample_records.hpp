// SPDX-License-Identifier: Apache-2.0
// SampleRecords: the records with samples that the servers of a file get in a step: one for fields
// of which they compute statistics, and one for each series with which their expressions compute.
// Before the first step, the states of statistics that go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "output/file_schema.hpp"
#include "output/series.hpp"
#include "output/target.hpp"

namespace afterbay::output {

class SampleRecords final : public SampleTarget {
 public:
  /// How many sources expressions of one file can have: all their records are begun at once.
  static constexpr std::size_t most_sources = 24;
  /// The source of samples that are not operands.
  static constexpr std::size_t no_operand = 0;

  /// `variables`: of the file. Both outlive it.
  void define(Target& target, const std::vector<FileVariable>& variables) noexcept;

  void note_sample(bool begins_interval, double seconds) override;
  void need_sample(std::size_t source) override { needed_[source] = true; }
  /// Begins the records of the step, before anything else of it.
  void begin_step();
  /// Records that the model has ended within the step begin again: before a record of a file, for
  /// which results follow from them.
  void begin_again();
  void put_sample(std::size_t variable, std::size_t source, const Value& value) override;
  void end_step() noexcept;

  /// Begins to restore a plane of the states of what servers compute, after which `more` follow.
  /// Comes before all samples.
  void begin_state(std::uint32_t plane, std::uint32_t more, const statistics::IntervalProgress& progress);
  /// This rank's values of it, of the type of samples.
  void put_state(std::size_t variable, std::uint32_t plane, const std::byte* values, Type type);

 private:
  void begin_all();

  Target* target_ = nullptr;
  const std::vector<FileVariable>* variables_ = nullptr;
  bool needed_[most_sources + 1] = {};
  std::uint64_t records_[most_sources + 1] = {};  ///< records of the step, by source
  std::uint64_t next_ = 0;                        ///< the number of the next record
  std::uint64_t cuts_ = 0;                        ///< Target::cuts when the records began
  bool begins_interval_ = false;
  double seconds_ = 1;
};

}  // namespace afterbay::output
