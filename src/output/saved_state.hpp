// SPDX-License-Identifier: Apache-2.0
// SavedState: the state of periods that have begun, in a netCDF file, distributed as the fields are. Any
// number of ranks can resume from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "afterbay/session.hpp"
#include "output/model_time.hpp"
#include "output/plan.hpp"

namespace afterbay::output {

class SavedState {
 public:
  SavedState(Session& session, const ModelTime& time, const Definitions& definitions, Plan& plan)
      : session_(session), time_(time), definitions_(definitions), plan_(plan) {}

  /// Writes the state after `step` to a new file. Does not wait, except at first use as Session::start does.
  Ticket write(const std::string& path, std::int64_t step);
  /// Reads a state, and returns the step after which it was saved. Throws conflict, and says what differs, if
  /// it belongs to another description, other fields, fields with other units or fill values, another
  /// calendar, start or step; format if it is damaged.
  std::int64_t read(const std::string& path);

 private:
  void define();
  [[nodiscard]] std::string head(std::int64_t step) const;

  Session& session_;
  const ModelTime& time_;
  const Definitions& definitions_;
  Plan& plan_;
  std::optional<Collection> collection_;
};

}  // namespace afterbay::output
