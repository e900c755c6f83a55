// SPDX-License-Identifier: Apache-2.0
// The report at the end of a run: joins the profiles and traces of all ranks at rank 0.
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

/// The data that one process reports, from its model side, its server side, or both (inline).
struct ProcessReport {
  std::vector<observe::RankProfile> profiles;
  std::vector<observe::RankTrace> traces;
  std::vector<observe::CollectionRecord> collections;  ///< from one rank only
  std::vector<observe::TimelineRecord> timelines;
  std::vector<observe::ServerHistory> servers;
  std::vector<observe::ServerHistory> frontends;
  std::string session;  ///< its name
  template <class A>
  void fields(A& a) {
    a(profiles, traces, collections, timelines, servers, frontends, session);
  }
};

/// Checks before the run whether this process can write the report files that the configuration
/// requests.
Result<> check_report_files(const config::Config& config);

/// Collective. Rank 0 prints the table and writes the files that the configuration requests.
Result<> report(const ProcessReport& mine, const config::Config& config, Group& group,
                const ReportFiles& files);

/// Writes a page (report.html) with the data of this process's server about a failed run: server 0
/// at the configured path, the others with their number before its extension. Fails (timed_out) if
/// the file system takes longer than five seconds.
Result<> report_failure(const ProcessReport& mine, const config::Config& config, const Error& why,
                        const ReportFiles& files);

/// The path of the page that `report_failure` writes for that server.
std::string failure_page(const config::Config& config, std::int64_t server);

}  // namespace afterbay::session
