// SPDX-License-Identifier: Apache-2.0
// SampleRecords: the records with samples that the servers of a file get in a step: one for fields
// of which they compute statistics, and one for each series with which their expressions compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "output/series.hpp"
#include "output/target.hpp"

namespace afterbay::output {

class SampleRecords {
 public:
  /// How many sources expressions of one file can have: all their records are begun at once.
  static constexpr std::size_t most_sources = 24;
  /// The source of samples that are no operands.
  static constexpr std::size_t no_operand = 0;

  /// Of statistics that take a value of the current step.
  void note(bool begins_interval, double seconds) noexcept;
  /// Samples of this source follow in the current step.
  void need(std::size_t source) noexcept { needed_[source] = true; }
  /// Begins the records of the step, before anything else of it.
  void begin(Target& target);
  void put(Target& target, std::string_view variable, std::size_t source, const Value& value) const;
  void end_step() noexcept;
  /// Samples are numbered after the planes of states.
  void begin_after(std::uint64_t planes) noexcept { next_ = planes; }

 private:
  bool needed_[most_sources + 1] = {};
  std::uint64_t records_[most_sources + 1] = {};  ///< of the step, by source
  std::uint64_t next_ = 0;                        ///< the number of the next record
  bool begins_interval_ = false;
  double seconds_ = 1;
};

}  // namespace afterbay::output
