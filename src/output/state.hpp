// SPDX-License-Identifier: Apache-2.0
// The state behind the handle Output.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "afterbay/output.hpp"
#include "model/box.hpp"
#include "output/described_epochs.hpp"
#include "output/field_definitions.hpp"
#include "output/late_steps.hpp"
#include "output/memory_budget.hpp"
#include "output/plan.hpp"
#include "output/saved_state.hpp"
#include "output/spaces.hpp"

namespace afterbay {

struct __attribute__((visibility("hidden"))) Output::State {
  State(Session& of, const OutputOptions& given, std::shared_ptr<const describe::Description> description);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// A field of the plan.
  struct FieldStep {
    output::FieldSeries* source = nullptr;  ///< null: nothing uses the field
    Type type = Type::float32;
    bool wanted = false;  ///< in the current step
    bool put = false;     ///< in the current step
    bool copied = false;  ///< a dense copy of an array with a layout has been made
    /// Sections of the current step, until they are complete.
    std::vector<std::byte> values = {};
    std::vector<model::Box> sections = {};
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  void start();
  /// Makes the plan and defines its files.
  void prepare();
  void begin_step(std::int64_t number);
  void end_step();
  void close_files();
  /// Why a file must not be published.
  [[nodiscard]] std::optional<Error> refusal() const;
  /// What the end of the session would lose, because the model has not called finalize().
  [[nodiscard]] std::optional<Error> unfinished() const;
  /// Refuses step 1 as the first one if files have a record of step 0.
  void check_start() const;
  void report_plan() const;
  /// In the log, once: files that are open while a state is saved, and that no run can continue.
  void report_open_files(const std::string& state);
  void write_definitions() const;
  void check_defining(const char* call) const;
  FieldStep& find(std::string_view field);
  /// After which a state is saved: SavedState::before_first if there was none.
  [[nodiscard]] std::int64_t step_to_save() const noexcept {
    return begun ? current : output::SavedState::before_first;
  }
  /// Refuses a put that is wrong. Returns whether something wants it. `in_part`: a section is put.
  bool check_put(std::string_view field, const FieldStep& of, Type type, bool in_part = false) const;
  /// Whether the sections of the current step are all of the field, which has not been given away
  /// yet.
  static bool is_complete(const FieldStep& of);
  void emit(FieldStep& of, const void* data, const MemoryLayout& memory_layout);

  /// The session, wherever its handle is moved to. Does not keep it: valid as long as `model`.
  Session session;
  std::weak_ptr<client::ModelSession> model;
  output::SessionTargets targets;
  OutputOptions options;
  std::shared_ptr<const describe::Description> description;
  output::ModelTime time;
  output::FieldDefinitions definitions;
  std::optional<output::Spaces> spaces;
  output::Plan plan;
  std::optional<output::LateSteps> late;
  std::optional<output::MemoryBudget> memory;
  std::optional<output::SavedState> saved;
  std::vector<FieldStep> fields;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> by_name;
  std::optional<output::DescribedEpochs> epochs;
  std::int64_t current = 0;
  output::Value covered;  ///< by the current step: without values, their form and layout
  bool started = false;
  bool in_step = false;
  bool begun = false;  ///< there was a step, or the run resumed after one
  bool ended = false;
  bool open_files_reported = false;
  /// Why the last step could not be ended, since finalize() was called.
  std::optional<Error> end_failure;
};

}  // namespace afterbay
