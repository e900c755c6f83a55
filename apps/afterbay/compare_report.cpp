// SPDX-License-Identifier: Apache-2.0
#include "compare_report.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "base/printable.hpp"
#include "compare.hpp"

namespace afterbay::app {

Exit compare_and_print(const std::string& a, const std::string& b, const CompareOutput& output) {
  const Result<Comparison> result = compare_files(a, b, {.lines = output.lines});
  if (!result) {
    complain("compare", result.error().message);
    return Exit::io;
  }
  if (!output.summary_only) {
    for (const std::string& line : result->first) fmt::print("{}\n", line);
    if (result->differences > result->first.size())
      fmt::print("... and {} more\n", result->differences - result->first.size());
  }
  fmt::print("{} and {}: {}\n", printable(a), printable(b), result->summary());
  std::fflush(stdout);
  return result->equal() ? Exit::ok : Exit::wrong;
}

}  // namespace afterbay::app
