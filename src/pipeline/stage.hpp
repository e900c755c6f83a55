// SPDX-License-Identifier: Apache-2.0
// Stages: computations on the values of a variable between what ranks hand over and what a sink writes.
// A stage lies in a file of its own, which defines `stages::NAME` (a StageKind), and is registered in
// pipeline/stages.hpp. All that others must know is derived from that: the settings, their documentation,
// what is sent to the servers, and the memory.
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
  /// The value as it is kept and sent; nothing if it is not accepted.
  std::optional<std::string> (*canonical)(std::string_view text) = nullptr;
};

/// Computes values one by one: a result depends on the value in the same place only, so that a piece can be
/// processed in any parts, in any order and by any number of threads. Constant.
class PointwiseStage {
 public:
  virtual ~PointwiseStage() = default;
  PointwiseStage(const PointwiseStage&) = delete;
  PointwiseStage& operator=(const PointwiseStage&) = delete;

  /// Computes `count` values of the variable's type, in this machine's byte order. `to` is `from`, or the two
  /// do not overlap; neither need be aligned. Values that are missing (MissingValues) stay as they are.
  /// Returns how many results the type cannot hold; what is stored for these is unspecified.
  [[nodiscard]] virtual std::uint64_t run(std::byte* to, const std::byte* from, std::size_t count) const = 0;
  /// What it does, for messages: "multiply 100, add -273.15".
  [[nodiscard]] virtual std::string text() const = 0;

 protected:
  PointwiseStage() = default;
};

/// A kind of stage, as its file defines it.
struct StageKind {
  std::vector<StageSetting> settings;
  /// The stage for a variable that holds numbers and is put, if `given` has one of its settings. Null: there
  /// is nothing to compute.
  Result<std::unique_ptr<const PointwiseStage>> (*make)(const Variable& variable,
                                                        const Settings& given) = nullptr;
};

}  // namespace afterbay::pipeline
