// SPDX-License-Identifier: Apache-2.0
// A full-screen view on a terminal, in plain ANSI sequences, that leaves the terminal as it was.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace afterbay::app {

/// Takes the terminal over while it lives. One at a time.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Whether standard input and output are one.
  static bool there();
  static bool has_colours();
  struct Size {
    std::size_t width = 80;
    std::size_t height = 24;
  };
  /// Of the terminal, or what COLUMNS and LINES say.
  static Size size();

  /// Puts `text` in the place of what is shown.
  void show(const std::string& text);
  /// Waits for a key, at most so long; 0: none came. Ctrl-C and signals that end programs count as 'q'.
  char key(std::chrono::milliseconds most);

 private:
  termios before_{};
};

}  // namespace afterbay::app
