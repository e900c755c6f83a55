// SPDX-License-Identifier: Apache-2.0
// The progress line, and quantities in readable form.
#pragma once

#include <cstdint>
#include <string>

namespace afterbay::observe {

/// The state of a server at one moment; totals since the start.
struct Progress {
  double elapsed_s = 0;
  std::uint64_t steps = 0;
  std::uint64_t files_published = 0;
  std::uint64_t bytes_taken = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t backlog_bytes = 0;
  std::uint64_t backlog_limit_bytes = 0;  ///< 0: unknown
};

/// "00:12  step 18  files 3  backlog 64.0 MiB of 512.0 MiB (13 %)  in 1.20 GiB/s  out 1.10 GiB/s";
/// rates are those since `before`.
std::string progress_line(const Progress& now, const Progress& before);

/// Three digits, for figures that change, unlike print_about (base/units.hpp): "12 B", "1.50 KiB",
/// "64.0 MiB", ...
std::string text_of_bytes(double bytes);
/// "1.50 GiB/s"; "-" if no time has passed.
std::string text_of_rate(double bytes, double seconds);
/// "350 ns", "12.0 us", "1.50 ms", "2.35 s", "1:02:03 h".
std::string text_of_seconds(double seconds);

}  // namespace afterbay::observe
