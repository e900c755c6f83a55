// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace afterbay::app {
namespace {

volatile std::sig_atomic_t told_to_end = 0;

void note_signal(int) { told_to_end = 1; }

void watch_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;  // without SA_RESTART: poll returns
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

std::size_t number_in(const char* variable) {
  const char* text = std::getenv(variable);
  const long value = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return value > 0 ? static_cast<std::size_t>(value) : 0;
}

}  // namespace

bool Terminal::there() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

bool Terminal::has_colours() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr && kind != nullptr &&
         std::string_view(kind) != "dumb";
}

Terminal::Size Terminal::size() {
  Size size;
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
    return {window.ws_col, window.ws_row};
  if (const std::size_t width = number_in("COLUMNS")) size.width = width;
  if (const std::size_t height = number_in("LINES")) size.height = height;
  return size;
}

Terminal::Terminal() {
  ::tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  watch_signals();
  std::fputs("\x1b[?1049h\x1b[?25l", stdout);  // another screen, no cursor
}

Terminal::~Terminal() {
  std::fputs("\x1b[?25h\x1b[?1049l", stdout);
  std::fflush(stdout);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

/// Overwrites line by line: clearing the screen would flicker.
void Terminal::show(const std::string& text) {
  std::string out = "\x1b[H";
  for (const char c : text) out += c == '\n' ? std::string("\x1b[K\n") : std::string(1, c);
  out += "\x1b[J";
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
}

char Terminal::key(std::chrono::milliseconds most) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int ready = told_to_end != 0 ? 0 : ::poll(&input, 1, static_cast<int>(most.count()));
  if (told_to_end != 0) return 'q';
  char pressed = 0;
  if (ready <= 0) return 0;
  return ::read(STDIN_FILENO, &pressed, 1) == 1 ? pressed : 'q';  // the terminal has been closed
}

}  // namespace afterbay::app
