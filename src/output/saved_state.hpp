// SPDX-License-Identifier: Apache-2.0
// SavedState: the state of periods that have begun, in a netCDF file, distributed as the fields
// are. Any number of ranks can resume from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "output/model_time.hpp"
#include "output/plan.hpp"

namespace afterbay::output {

class SavedState {
 public:
  SavedState(Session& session, const ModelTime& time, const FieldDefinitions& definitions, Plan& plan)
      : session_(session), time_(time), definitions_(definitions), plan_(plan) {}

  /// Stands for the step of a state that is saved before the first one: the next run begins with
  /// step 0 or 1.
  static constexpr std::int64_t before_first = -1;
  /// Writes the state after `step` to a new file. Does not wait, except at first use as
  /// Session::start does.
  Ticket write(const std::string& path, std::int64_t step);
  /// The same for a state that is saved at an epoch; it replaces one that an earlier job has left.
  Ticket write_at_epoch(const std::string& path, std::int64_t step);
  /// The files of a state with this name.
  [[nodiscard]] std::vector<std::string> files_of(const std::string& path) const;
  /// So that the first `write_at_epoch` does not wait, if start comes after it.
  void define_for_epochs();
  /// Reads a state, and returns the step after which it was saved. Throws conflict, and says what
  /// differs, if it belongs to another description, other fields, fields with other units or fill
  /// values, another calendar, start or step; format if it is damaged.
  std::int64_t read(const std::string& path);

 private:
  /// The schema is the same for both kinds of states.
  [[nodiscard]] Schema schema() const;
  Ticket write(Collection& collection, const std::string& path, std::int64_t step, bool replaces);
  [[nodiscard]] std::string head(const std::string& path, const std::string& serial, std::int64_t step) const;

  Session& session_;
  const ModelTime& time_;
  const FieldDefinitions& definitions_;
  Plan& plan_;
  std::optional<Collection> collection_;
  std::optional<Collection> of_epochs_;
};

}  // namespace afterbay::output
