// SPDX-License-Identifier: Apache-2.0
// A subcommand of `afterbay`. Each is one file that registers itself:
//
//   namespace {
//   Action prepare(CLI::App& app) {
//     auto file = std::make_shared<std::string>();
//     app.add_option("FILE", *file, "what to look at")->required();
//     return [file](const Invocation& invocation) { ...; return Exit::ok; };
//   }
//   const Registration registration({.name = "look", .summary = "looks at a file", .prepare = prepare});
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
  wrong = 1,     ///< what was checked is wrong, what was compared differs
  usage = 2,     ///< no such command or option, a value of the command line is wrong
  io = 3,        ///< a file cannot be read or written
  lost = 4,      ///< a process died, a deadline passed, MPI failed
  internal = 5,  ///< a defect of Afterbay
  running = 6,   ///< what was asked about goes on, or cannot be seen to have ended
  stopped = 7,   ///< the run was asked to stop by a signal, and has stopped in order
};

/// The exit code for a failure of that kind.
Exit exit_of(ErrorCode code) noexcept;
/// The same for commands whose 1 is for something else: an input that is not what it should be, or too much,
/// cannot be read (3), and what else would be wrong is the command line (2).
Exit exit_of_input(ErrorCode code) noexcept;
/// "0  ok ..." and so on, a line each.
std::string exit_codes_text();

/// How the command was called.
struct Invocation {
  std::vector<std::string> setting_flags;  ///< the --afterbay.* arguments, in order; taken out before parsing
  CLI::App* root = nullptr;                ///< the whole command, with all subcommands
};

/// Runs after the command line has been parsed; errors may be thrown as Failure.
using Action = std::function<Exit(const Invocation&)>;

struct Command {
  std::string name;
  std::string summary;                       ///< one line, begins with a small letter
  std::function<Action(CLI::App&)> prepare;  ///< adds options to the subcommand; must not call MPI
  bool takes_settings = false;               ///< accepts --afterbay.* flags
};

/// Enters a command into the table; to be constructed once, as a constant of the command's file.
struct Registration {
  explicit Registration(Command command);
};

/// All commands by name.
const std::vector<Command>& commands();

/// Writes "afterbay WHERE: TEXT" on stderr.
void complain(const std::string& where, const std::string& text);

}  // namespace afterbay::app
