// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace afterbay {

namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::error: return spdlog::level::err;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::debug: return spdlog::level::debug;
  }
  return spdlog::level::err;
}

std::string prefix(const LogSource& source) {
  std::string text = "[" + source.session;
  if (!source.role.empty()) text += " " + source.role;
  if (source.rank >= 0) text += ", rank " + std::to_string(source.rank);
  return text + "]";
}

}  // namespace

std::string_view name_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::error: return "error";
    case LogLevel::warning: return "warning";
    case LogLevel::info: return "info";
    case LogLevel::debug: return "debug";
  }
  return "error";
}

struct Logger::Output {
  Output(spdlog::sink_ptr sink, const LogSource& source)
      : logger("", std::move(sink)), start(prefix(source)) {
    logger.set_level(spdlog::level::trace);
    logger.set_pattern("%v");
  }
  mutable spdlog::logger logger;
  std::string start;
};

// The plain sink: one write per line, so that lines of many ranks on one terminal do not mix.
Logger::Logger(LogSource source, LogLevel level)
    : output_(std::make_shared<Output>(std::make_shared<spdlog::sinks::stderr_sink_mt>(), source)),
      level_(level) {}

Logger::Logger(LogSource source, LogLevel level, std::ostream& output)
    : output_(std::make_shared<Output>(std::make_shared<spdlog::sinks::ostream_sink_mt>(output), source)),
      level_(level) {}

void Logger::write(LogLevel level, std::string_view text) const {
  if (!enabled(level)) return;
  while (true) {
    const auto end = text.find('\n');
    output_->logger.log(spdlog_level(level), "{} {}: {}", output_->start, name_of(level),
                        text.substr(0, end));
    if (end == std::string_view::npos || end + 1 == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace afterbay
