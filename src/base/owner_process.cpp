// SPDX-License-Identifier: Apache-2.0
#include "base/owner_process.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "base/host.hpp"
#include "base/process_watch.hpp"

namespace afterbay {
namespace {

struct ProcessState {
  char letter = '?';
  std::uint64_t started = 0;
};

/// From /proc (proc(5), stat: fields 3 and 22); nothing if it cannot be read.
std::optional<ProcessState> process_state(std::uint64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessState state;
  fields >> state.letter;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  if (!(fields >> state.started)) return std::nullopt;
  return state;
}

/// A container may see the /proc of another namespace, in which the numbers denote other processes.
bool proc_is_of_this_namespace(std::uint64_t own_pid) {
  std::array<char, 32> target{};
  const ssize_t length = ::readlink("/proc/self", target.data(), target.size());
  return length > 0 &&
         std::string(target.data(), static_cast<std::size_t>(length)) == std::to_string(own_pid);
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace

OwnerIdentity own_identity() {
  const ProcessId self = own_process();
  OwnerIdentity identity{host_name(), boot_id(), self.space, self.pid, 0};
  if (!proc_is_of_this_namespace(self.pid)) return identity;
  if (const auto state = process_state(self.pid)) identity.started = state->started;
  return identity;
}

Liveness liveness_of(const OwnerIdentity& owner) {
  const OwnerIdentity self = own_identity();
  if (owner.boot.empty() || owner.boot != self.boot || owner.pid_space == 0 ||
      owner.pid_space != self.pid_space || owner.pid == 0)
    return Liveness::elsewhere;
  if (::kill(static_cast<pid_t>(owner.pid), 0) != 0 && errno == ESRCH) return Liveness::dead;
  if (owner.started == 0 || self.started == 0) return Liveness::elsewhere;
  const auto state = process_state(owner.pid);
  if (!state) return Liveness::elsewhere;
  const bool runs = state->started == owner.started && state->letter != 'Z' && state->letter != 'X';
  return runs ? Liveness::alive : Liveness::dead;
}

}  // namespace afterbay
