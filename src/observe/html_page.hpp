// SPDX-License-Identifier: Apache-2.0
// The HTML report of a run (report.html): one self-contained file with SVG drawings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "observe/records.hpp"
#include "observe/report.hpp"
#include "observe/timeline.hpp"

namespace afterbay::observe {

struct RunPage {
  std::string session;
  Report report;
  std::vector<TimelineRecord> timelines;
  std::vector<ServerHistory> servers;
  std::map<std::string, std::string> settings{};  ///< those that were set
  std::uint32_t writers = 1;                      ///< worker threads per server
  std::vector<ServerHistory> frontends{};         ///< their backlog is the data that they held
  std::vector<std::string> hints{};               ///< how the servers could be used better
  std::string failure{};  ///< why the run failed: the page then contains the data of one server
};

/// The whole document.
std::string run_page(const RunPage& page);

}  // namespace afterbay::observe
