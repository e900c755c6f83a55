// SPDX-License-Identifier: Apache-2.0
// The output of `afterbay top`: the statistics pages of a session's servers, combined.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "observe/statistics_page.hpp"

namespace afterbay::observe {

enum class ServerLife {
  running,
  ended,
  failed,
  dead,     ///< it did not end, and its process is gone
  unclear,  ///< it runs on another host and has not updated its page for a while
};
const char* name_of(ServerLife life) noexcept;

struct LiveServer {
  FoundPage page;
  ServerLife life = ServerLife::running;
};

/// The latest run of a session.
struct LiveSession {
  std::string name;
  std::string run;
  std::vector<LiveServer> servers;         ///< by number
  std::vector<LiveServer> frontends = {};  ///< likewise
};

/// The process that asks.
struct LiveAsker {
  std::string host;
  std::function<bool(std::int64_t)> is_alive;  ///< whether a process with this id runs on this host
  double now_s = 0;                            ///< time of day
};

/// Pages of older runs are ignored.
std::vector<LiveSession> live_sessions(std::vector<FoundPage> pages, const LiveAsker& asker);

/// The state of the session in one sentence; the first words say whether the servers keep up.
enum class Pace { keeps_up, falls_behind, holds_up_model, over };
struct LiveVerdict {
  Pace pace = Pace::keeps_up;
  std::string text;
};
LiveVerdict verdict_on(const LiveSession& session);

struct ScreenSize {
  std::size_t width = 120;
  std::size_t height = 1000;
};

/// One session as lines of text; `colour`: with ANSI colours.
std::string screen_of(const LiveSession& session, ScreenSize size, bool colour);

/// All of it as one JSON document, for scripts.
std::string live_json(const std::vector<LiveSession>& sessions);

}  // namespace afterbay::observe
