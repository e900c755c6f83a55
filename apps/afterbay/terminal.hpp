// SPDX-License-Identifier: Apache-2.0
// A full-screen view on a terminal, with plain ANSI sequences. Restores the terminal at the end.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace afterbay::app {

/// Uses the terminal during its lifetime. One at a time.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Whether standard input and output are terminals.
  static bool there();
  static bool has_colours();
  struct Size {
    std::size_t width = 80;
    std::size_t height = 24;
  };
  /// The size of the terminal, or COLUMNS and LINES.
  static Size size();

  /// Replaces the displayed text.
  void show(const std::string& text);
  /// Waits for a key, at most this long; 0: none. Ctrl-C and signals that end programs count as
  /// 'q'.
  char key(std::chrono::milliseconds most);

 private:
  termios before_{};
};

}  // namespace afterbay::app
