// SPDX-License-Identifier: Apache-2.0
// The page about a run (report.html): one file that needs nothing else, drawn as SVG.
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
  std::map<std::string, std::string> settings{};  ///< those that somebody gave
  std::uint32_t writers = 1;                      ///< worker threads of a server
  std::vector<ServerHistory> frontends{};         ///< their backlog is what they held
  std::vector<std::string> hints{};               ///< what would use the servers better
  std::string failure{};  ///< why the run failed: the page is what one server knew of it
};

/// The whole document.
std::string run_page(const RunPage& page);

}  // namespace afterbay::observe
