// SPDX-License-Identifier: Apache-2.0
// SavedStatistics: the statistics of a saved state, for a run in which others may compute them:
// model ranks make statistics over long periods of those over shorter ones, servers do not.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "afterbay/session.hpp"
#include "output/plan.hpp"
#include "output/server_states.hpp"

namespace afterbay::output {

using Json = nlohmann::ordered_json;

/// The columns of a statistic are named after it and numbered: "s0_1_2".
std::string name_of_columns(std::size_t statistics, std::size_t statistic);

/// The type of the entries of a column: doubles, values, counts.
Type type_of_column(const statistics::State& state, std::uint32_t column, Type field);

/// Whether the columns of a state hold something.
inline bool has_values(const statistics::IntervalProgress& progress) noexcept {
  return progress.steps > 0 || progress.has_reference != 0;
}

/// What a state says of a statistic, except where servers have written it. `number`: of the
/// statistics in the plan.
Json head_of(const SeriesStatistics& statistics, std::size_t number, std::size_t statistic);

class SavedStatistics {
 public:
  /// `path`: of the state, which is open as `file`. `head`: of the state. All outlive it.
  SavedStatistics(Session& session, InputFile& file, const std::string& path, const Json& head);

  /// Throws conflict if the state has other statistics than the plan. Their order depends on who
  /// computes them.
  void check(const Plan& plan) const;
  /// Restores the states of statistics that model ranks compute, and the progress of all. Returns
  /// those that servers go on with.
  std::vector<ServerStates::Restored> restore(Plan& plan);

 private:
  /// The one that lacks the period of `from`, of several with equal states, or else one that lacks
  /// nothing. `from`: text of statistics over shorter periods, or empty.
  [[nodiscard]] const Json& find(const std::string& key, const std::string& from) const;
  /// The statistic whose period this one lacks; null: it lacks nothing.
  [[nodiscard]] const Json* lacking(const Json& saved) const;
  /// Whether the states of all of them lack what those of this run lack.
  [[nodiscard]] bool fits(const SeriesStatistics& of) const;
  [[nodiscard]] statistics::IntervalProgress whole_progress(const Json& saved) const;
  /// `whole`: with what it lacks.
  RankState read(const SeriesStatistics& of, std::size_t statistic, const Json& saved, bool whole);
  void read_columns(const SeriesStatistics& of, const Json& saved, const RankState& to);
  /// The files of a state may have been moved together.
  [[nodiscard]] std::string beside(const std::string& part) const;

  Session& session_;
  InputFile& file_;
  const std::string& path_;
  const Json& head_;
  std::multimap<std::string, const Json*> by_key_;
  std::map<std::string, ServerStates::Reader> parts_;  ///< files of servers
};

}  // namespace afterbay::output
