// SPDX-License-Identifier: Apache-2.0
// A subcommand of `afterbay`. Each is one file that registers itself:
//
//   namespace {
//   Action prepare(CLI::App& app) {
//     auto file = std::make_shared<std::string>();
//     app.add_option("FILE", *file, "what to look at")->required();
//     return [file](const Invocation& invocation) { ...; return Exit::ok; };
//   }
//   const Registration registration(
//       {.name = "look", .summary = "looks at a file", .prepare = prepare});
//   }
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "afterbay/error.hpp"

namespace afterbay::app {

/// Exit codes, the same for every subcommand; `afterbay help exit-codes` explains them.
enum class Exit : int {
  ok = 0,
  wrong = 1,     ///< a check failed, or compared data differ
  usage = 2,     ///< no such command or option, or an invalid value on the command line
  io = 3,        ///< a file cannot be read or written
  lost = 4,      ///< a process died, a deadline passed, MPI failed
  internal = 5,  ///< a defect of Afterbay
  running = 6,   ///< the run has not ended, or this cannot be determined
  stopped = 7,   ///< a signal asked the run to stop, and it stopped cleanly
};

/// The exit code for this kind of failure.
Exit exit_of(ErrorCode code) noexcept;
/// The same for commands that use 1 for another purpose: an invalid or too large input cannot be
/// read (3), and all other errors are in the command line (2).
Exit exit_of_input(ErrorCode code) noexcept;
/// One line per exit code: "0  ok ...".
std::string exit_codes_text();

/// The command line.
struct Invocation {
  std::vector<std::string> setting_flags;  ///< the --afterbay.* arguments, in order; removed before
                                           ///< parsing
  CLI::App* root = nullptr;                ///< the whole command, with all subcommands
};

/// Runs after the command line has been parsed; errors may be thrown as Failure.
using Action = std::function<Exit(const Invocation&)>;

struct Command {
  std::string name;
  std::string summary;                       ///< one line, starts with a lower-case letter
  std::function<Action(CLI::App&)> prepare;  ///< adds options to the subcommand; must not call MPI
  bool takes_settings = false;               ///< accepts --afterbay.* flags
};

/// Registers a command in the table; construct it once, as a constant in the command's file.
struct Registration {
  explicit Registration(Command command);
};

/// All commands by name.
const std::vector<Command>& commands();

/// Writes "afterbay WHERE: TEXT" on stderr.
void complain(const std::string& where, const std::string& text);

}  // namespace afterbay::app
