// SPDX-License-Identifier: Apache-2.0
// Logger: lines on stderr with their session, role and rank. There is no global logger: each
// session creates its own and passes it on.
#pragma once

#include <fmt/format.h>

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace afterbay {

/// Log levels; each includes those before it.
enum class LogLevel { error, warning, info, debug };

/// "error", "warning", "info", "debug".
std::string_view name_of(LogLevel level) noexcept;

/// The source of a log line: "[afterbay model, rank 3]". `rank`: in the session's communicator; -1:
/// none.
struct LogSource {
  std::string session = "afterbay";
  std::string role{};
  int rank = -1;
};

/// Writes whole lines. Thread-safe. Copies write to the same output.
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

  /// Writes `text` unformatted, with the prefix on each line.
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
