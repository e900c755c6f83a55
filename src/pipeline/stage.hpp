// SPDX-License-Identifier: Apache-2.0
// Stages: computations on the values of a variable after ranks have handed them over and before a
// sink writes them. A stage has a file of its own, which defines `stages::NAME` (a StageKind), and
// is registered in pipeline/stages.hpp. Everything else is derived from this: settings, their
// documentation, messages to the servers, and memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"

namespace afterbay::pipeline {

/// Settings of stages for one variable, by name, in the form that StageSetting::canonical gives.
using Settings = std::map<std::string, std::string, std::less<>>;

/// A setting `collections.NAME.variables.VARIABLE.<name>`.
struct StageSetting {
  std::string name;
  std::string type;           ///< "number", ...
  std::string accepted;       ///< completes "expected ..."
  std::string documentation;  ///< one paragraph
  /// The value in the form in which it is stored and sent; nullopt if it is not accepted.
  std::optional<std::string> (*canonical)(std::string_view text) = nullptr;
  bool list = false;                      ///< values are separated by commas
  std::vector<std::string> choices = {};  ///< the words, if no others are accepted
};

/// Where values lie, and what a stage found out about them.
struct StageRun {
  std::uint64_t first = 0;  ///< place of the first value in the variable's record, in C order
  std::uint64_t kept = 0;   ///< increased by the values that were kept because results were too far from them
  double largest_error = 0;  ///< increased to the largest difference between a value and its result
};

/// A computation whose result at a point depends only on the value at this point and its place, so
/// that a piece can be processed in parts, in any order and by any number of threads. Immutable.
class PointwiseStage {
 public:
  virtual ~PointwiseStage() = default;
  PointwiseStage(const PointwiseStage&) = delete;
  PointwiseStage& operator=(const PointwiseStage&) = delete;

  /// Computes `count` values of the variable's type in this machine's byte order. `to` equals
  /// `from`, or the two do not overlap; alignment does not matter. Missing values
  /// (model::MissingValues) remain unchanged. Returns the number of results that the type cannot
  /// hold; their stored values are unspecified.
  [[nodiscard]] virtual std::uint64_t run(std::byte* to, const std::byte* from, std::size_t count) const = 0;
  /// As `run`, for stages that need places or count something.
  [[nodiscard]] virtual std::uint64_t run_at(std::byte* to, const std::byte* from, std::size_t count,
                                             StageRun& /*state*/) const {
    return run(to, from, count);
  }
  /// Whether StageRun::first must be right: the values of a call then lie in one row of the record.
  [[nodiscard]] virtual bool uses_places() const noexcept { return false; }
  /// Whether `run_at` measures StageRun::largest_error.
  [[nodiscard]] virtual bool measures_error() const noexcept { return false; }
  /// Describes the computation in messages: "multiply 100, add -273.15".
  [[nodiscard]] virtual std::string text() const = 0;

 protected:
  PointwiseStage() = default;
};

/// A kind of stage, as its file defines it.
struct StageKind {
  std::vector<StageSetting> settings;
  /// Makes the stage of a variable that holds numbers and is put; `given` has at least one of its
  /// settings. Null if there is nothing to compute.
  Result<std::unique_ptr<const PointwiseStage>> (*make)(const Variable& variable,
                                                        const Settings& given) = nullptr;
};

}  // namespace afterbay::pipeline
