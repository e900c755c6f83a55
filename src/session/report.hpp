// SPDX-License-Identifier: Apache-2.0
// The report at the end of a run: all ranks' profiles and traces joined at rank 0.
#pragma once

#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "observe/records.hpp"
#include "observe/timeline.hpp"
#include "session/group.hpp"
#include "session/report_files.hpp"

namespace afterbay::session {

/// What one process has to report: its model side, its server side, or both (inline).
struct Account {
  std::vector<observe::RankProfile> profiles;
  std::vector<observe::RankTrace> traces;
  std::vector<observe::CollectionRecord> collections;  ///< from one rank
  std::vector<observe::TimelineRecord> timelines;
  std::vector<observe::ServerHistory> servers;
  std::vector<observe::ServerHistory> frontends;
  std::string session;  ///< its name
  template <class A>
  void fields(A& a) {
    a(profiles, traces, collections, timelines, servers, frontends, session);
  }
};

/// Can the files that the configuration asks for be written by this process? Asked before the run.
Result<> check_report_files(const config::Config& config);

/// Collective. Rank 0 prints the table and writes the files that the configuration asks for.
Result<> report(const Account& mine, const config::Config& config, Group& group, const ReportFiles& files);

/// What this process's server knows of a run that failed, as a page (report.html) of its own: server 0 at
/// that path, the others with their number before its ending. Fails (timed_out) where the file system takes
/// longer than five seconds.
Result<> report_failure(const Account& mine, const config::Config& config, const Error& why,
                        const ReportFiles& files);

/// Where `report_failure` writes the page of that server.
std::string failure_page(const config::Config& config, std::int64_t server);

}  // namespace afterbay::session
