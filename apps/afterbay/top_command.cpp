// SPDX-License-Identifier: Apache-2.0
// afterbay top: shows the current state of a running session's servers.
#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/host.hpp"
#include "command.hpp"
#include "observe/live_view.hpp"
#include "terminal.hpp"

namespace afterbay::app {

namespace {

struct TopOptions {
  std::string directory = ".";
  bool once = false;
  bool json = false;
  double interval_s = 1;
};

observe::LiveAsker asker() {
  return {host_name(),
          [](std::int64_t pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM; },
          observe::time_of_day_s()};
}

Result<std::vector<observe::LiveSession>> look(const TopOptions& options) {
  auto pages = observe::read_pages(options.directory);
  if (!pages) return fail(std::move(pages).error());
  auto sessions = observe::live_sessions(std::move(*pages), asker());
  if (sessions.empty())
    return fail(ErrorCode::io, "in {} only frontends have a statistics page so far, and no I/O server",
                options.directory);
  return sessions;
}

std::string text_of(const std::vector<observe::LiveSession>& sessions, observe::ScreenSize size,
                    bool colour) {
  std::string text;
  size.height = std::max<std::size_t>(size.height / sessions.size(), 8);
  for (const observe::LiveSession& session : sessions)
    text += (text.empty() ? "" : "\n") + observe::screen_of(session, size, colour);
  return text;
}

Exit once(const TopOptions& options) {
  const auto sessions = look(options);
  if (!sessions) throw Failure(sessions.error());
  const std::string text = options.json
                               ? observe::live_json(*sessions)
                               : text_of(*sessions, {Terminal::size().width, 1000}, Terminal::has_colours());
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Exit::ok;
}

/// Lines beyond the screen size would scroll it.
std::string first_lines(const std::string& text, std::size_t count) {
  std::size_t end = 0;
  for (std::size_t line = 0; line < count && end < text.size(); ++line) {
    const auto newline = text.find('\n', end);
    end = newline == std::string::npos ? text.size() : newline + 1;
  }
  return text.substr(0, end);
}

Exit watch(const TopOptions& options) {
  Terminal terminal;
  const auto interval = std::chrono::milliseconds(static_cast<long>(1000 * options.interval_s));
  const bool colour = Terminal::has_colours();
  for (;;) {
    const Terminal::Size size = Terminal::size();
    const auto sessions = look(options);
    const std::string text = sessions ? text_of(*sessions, {size.width, size.height - 1}, colour)
                                      : "waiting: " + sessions.error().text() + "\n";
    terminal.show(first_lines(text, size.height - 2) + "\nq: quit");
    if (const char key = terminal.key(interval); key == 'q' || key == 'Q') return Exit::ok;
  }
}

Action prepare_top(CLI::App& app) {
  auto options = std::make_shared<TopOptions>();
  app.add_option(
      "DIR", options->directory,
      "directory of the statistics pages (setting statistics.directory, by default the journal's "
      "directory), or the directory that contains afterbay-journal; default: the working directory");
  app.add_flag("--once", options->once,
               "print the current state once and end; the default if there is no terminal");
  app.add_flag("--json", options->json, "print the current state once as JSON");
  app.add_option("--interval", options->interval_s, "seconds between two updates (1)")
      ->check(CLI::Range(0.1, 3600.0));
  app.footer(
      "Shows the newest run of each session, even if it has ended or was killed. Respects the environment\n"
      "variables COLUMNS (width without a terminal) and NO_COLOR.\n"
      "Exit codes: 0 done, 3 there is no statistics page.");
  return [options](const Invocation&) {
    return options->once || options->json || !Terminal::there() ? once(*options) : watch(*options);
  };
}

const Registration top_registration({.name = "top",
                                     .summary = "shows what the I/O servers of a running session are doing",
                                     .prepare = prepare_top});

}  // namespace

}  // namespace afterbay::app
