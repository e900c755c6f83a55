// SPDX-License-Identifier: Apache-2.0
// The output at the end of a run: three lines, and hints how to use idle servers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "observe/records.hpp"
#include "observe/report.hpp"

namespace afterbay::observe {

/// Numbers of the servers (in rank order) that took no data in, read nothing and wrote no file, if
/// others did.
std::vector<int> idle_servers(std::span<const RankProfile> profiles);

/// One or two sentences about servers that had nothing to do, with the setting to change; empty if
/// all worked. `placement`: the setting's value; `pools`: whether there are several.
std::string hint_on_idle(const std::vector<int>& idle, std::size_t servers, const std::string& placement,
                         bool pools);

struct SummaryLines {
  std::string session;
  std::vector<std::string> report_files;  ///< reports that were written
  std::vector<std::string> hints;
};

/// Files and bytes; the share of the model's time; the report's location; then one line per hint.
std::string summary(const Report& report, const SummaryLines& lines);

}  // namespace afterbay::observe
