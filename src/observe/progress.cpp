// SPDX-License-Identifier: Apache-2.0
#include "observe/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"

namespace afterbay::observe {
namespace {

double difference(std::uint64_t now, std::uint64_t before) {
  return now > before ? static_cast<double>(now - before) : 0.0;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::max(0.0, seconds));
  if (whole < 3600) return fmt::format("{:02}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string backlog_text(const Progress& now) {
  const auto backlog = static_cast<double>(now.backlog_bytes);
  if (now.backlog_limit_bytes == 0) return text_of_bytes(backlog);
  const auto limit = static_cast<double>(now.backlog_limit_bytes);
  return fmt::format("{} of {} ({:.0f} %)", text_of_bytes(backlog), text_of_bytes(limit),
                     100 * backlog / limit);
}

}  // namespace

std::string progress_line(const Progress& now, const Progress& before) {
  const double seconds = now.elapsed_s - before.elapsed_s;
  return fmt::format("{}  step {}  files {}  backlog {}  in {}  out {}", clock_text(now.elapsed_s), now.steps,
                     now.files_published, backlog_text(now),
                     text_of_rate(difference(now.bytes_taken, before.bytes_taken), seconds),
                     text_of_rate(difference(now.bytes_written, before.bytes_written), seconds));
}

std::string text_of_bytes(double bytes) {
  const auto [value, unit] = in_binary_unit(bytes);
  return fmt::format("{:.{}f} {}", value, unit == "B" ? 0 : value < 9.995 ? 2 : 1, unit);
}

std::string text_of_rate(double bytes, double seconds) {
  return seconds > 0 ? text_of_bytes(bytes / seconds) + "/s" : "-";
}

std::string text_of_seconds(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.2f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(seconds);
  return fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace afterbay::observe
