// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace afterbay::app {

namespace {

/// Filled during static initialization, before main; constant afterwards.
std::vector<Command>& table() {
  static std::vector<Command> all;
  return all;
}

struct ExitText {
  Exit code;
  const char* text;
};

constexpr std::array<ExitText, 8> exit_texts{
    {{Exit::ok, "done; a check found nothing wrong"},
     {Exit::wrong, "a check found something wrong, or a comparison found differences"},
     {Exit::usage, "wrong command line: no such command, option or value"},
     {Exit::io, "a file cannot be read or written: missing, no permission, exists already, disk full"},
     {Exit::lost, "a process of the run died, a deadline passed, or MPI failed"},
     {Exit::internal, "a defect in Afterbay; please report it with the message"},
     {Exit::running, "the run has not ended, or it is not known whether it has"},
     {Exit::stopped, "a signal asked the run to stop, and it stopped in an orderly way"}}};

}  // namespace

Exit exit_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::ok: return Exit::ok;
    case ErrorCode::io:
    case ErrorCode::no_space:
    case ErrorCode::exists: return Exit::io;
    case ErrorCode::timed_out:
    case ErrorCode::peer_lost:
    case ErrorCode::mpi: return Exit::lost;
    case ErrorCode::internal: return Exit::internal;
    case ErrorCode::stopped: return Exit::stopped;
    case ErrorCode::invalid_argument:
    case ErrorCode::unknown_name:
    case ErrorCode::wrong_type:
    case ErrorCode::conflict:
    case ErrorCode::bad_state:
    case ErrorCode::would_block:
    case ErrorCode::format:
    case ErrorCode::resources: return Exit::wrong;
  }
  return Exit::internal;
}

Exit exit_of_input(ErrorCode code) noexcept {
  const Exit exit = exit_of(code);
  if (exit != Exit::wrong) return exit;
  return code == ErrorCode::format || code == ErrorCode::resources ? Exit::io : Exit::usage;
}

std::string exit_codes_text() {
  std::string text;
  for (const ExitText& row : exit_texts)
    text += fmt::format("  {}  {}\n", static_cast<int>(row.code), row.text);
  return text;
}

Registration::Registration(Command command) {
  auto& all = table();
  const auto place =
      std::lower_bound(all.begin(), all.end(), command.name,
                       [](const Command& a, const std::string& name) { return a.name < name; });
  all.insert(place, std::move(command));
}

const std::vector<Command>& commands() { return table(); }

void complain(const std::string& where, const std::string& text) {
  const std::string line = fmt::format("afterbay{}{}: {}\n", where.empty() ? "" : " ", where, text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace afterbay::app
