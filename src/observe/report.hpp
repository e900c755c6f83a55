// SPDX-License-Identifier: Apache-2.0
// Report: the profiles of many ranks in one table, as text and as JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "observe/records.hpp"

namespace afterbay::observe {

/// A timer over all ranks of a role. Times are in seconds, summed over the threads of a rank. Means
/// are over all ranks of the role, so that rows add up; minimum and maximum are over the ranks that
/// have the timer. The first row is the role itself: its inclusive time is the elapsed time, its
/// exclusive time the time outside all timers.
struct Row {
  std::string name;
  std::uint32_t depth = 0;
  double inclusive = 0;  ///< mean over the role's ranks
  /// Percentage of the elapsed time of all threads that may run it; at most 100.
  double inclusive_percent = 0;
  double exclusive = 0;  ///< inclusive minus the children's, mean
  double exclusive_percent = 0;
  double max_exclusive = 0;
  double min_exclusive = 0;
  std::int32_t max_rank = 0;
  std::int32_t min_rank = 0;
  std::uint64_t count = 0;    ///< sum over ranks
  std::uint64_t bytes = 0;    ///< sum over ranks
  std::uint32_t threads = 1;  ///< threads of a rank that may run it at the same time
};

/// A counter over all ranks of a role: total is the sum or, for a peak, the maximum.
struct CounterRow {
  std::string name;
  CounterKind kind = CounterKind::sum;
  std::uint64_t total = 0;
  std::uint64_t largest = 0;
  std::int32_t largest_rank = 0;
};

struct RoleReport {
  std::string role;
  std::uint32_t ranks = 0;
  double elapsed = 0;                         ///< maximum over the ranks
  double inside = 0;                          ///< in timers without a parent, mean
  std::uint64_t memory_high_water_bytes = 0;  ///< maximum over the processes
  std::int32_t memory_high_water_rank = 0;
  std::vector<Row> rows;  ///< depth first
  std::vector<CounterRow> counters;
};

struct Report {
  std::vector<RoleReport> roles;              ///< model first
  std::vector<CollectionRecord> collections;  ///< with the largest errors of their files
  std::string session{};                      ///< its name; empty: not shown
};

/// Joins profiles one by one, so that they need not all be kept. The result depends on their order:
/// of equal ranks the first one counts.
class Merger {
 public:
  Merger();
  ~Merger();
  Merger(const Merger&) = delete;
  Merger& operator=(const Merger&) = delete;
  void add(const RankProfile& profile);
  /// Only once.
  Report finish();

 private:
  struct Roles;
  std::unique_ptr<Roles> roles_;
};

Report merge(std::span<const RankProfile> profiles);

/// The number of workers per server; 1 if there is no server.
std::uint32_t workers_of(const RoleReport& role);

/// The table: per role the timers (Name, Inclusive, % Incl, Exclusive, % Excl, Max Excl, Min Excl,
/// Max PE, Min PE), then bytes, bandwidth, peak backlog, memory high water, messages; then the
/// chunk shapes, shortened, and the largest errors. Ends with a newline.
std::string table(const Report& report);

/// The same as one JSON object, indented.
std::string json(const Report& report);

}  // namespace afterbay::observe
