// SPDX-License-Identifier: Apache-2.0
// Logger: lines on stderr that say which session, role and rank they come from. There is no global
// one: each session makes its own and passes it on.
#pragma once

#include <fmt/format.h>

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace afterbay {

/// How much is said; each level includes those before it.
enum class LogLevel { error, warning, info, debug };

/// "error", "warning", "info", "debug".
std::string_view name_of(LogLevel level) noexcept;

/// Whom a log line comes from: "[afterbay model, rank 3]". `rank` is that in the session's communicator; -1:
/// none.
struct LogSource {
  std::string session = "afterbay";
  std::string role{};
  int rank = -1;
};

/// Writes whole lines; any thread may call it. Copies write to the same place.
class Logger {
 public:
  Logger(LogSource source, LogLevel level);                        ///< to stderr
  Logger(LogSource source, LogLevel level, std::ostream& output);  ///< for tests; `output` must outlive it

  [[nodiscard]] bool enabled(LogLevel level) const noexcept { return level <= level_; }

  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    log(LogLevel::error, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) const {
    log(LogLevel::warning, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    log(LogLevel::info, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    log(LogLevel::debug, format, std::forward<Args>(args)...);
  }

  /// Writes `text` as it is (each of its lines with the prefix).
  void write(LogLevel level, std::string_view text) const;

 private:
  template <class... Args>
  void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) const {
    if (enabled(level)) write(level, fmt::format(format, std::forward<Args>(args)...));
  }

  struct Output;
  std::shared_ptr<const Output> output_;
  LogLevel level_;
};

}  // namespace afterbay
