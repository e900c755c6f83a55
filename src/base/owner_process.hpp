// SPDX-License-Identifier: Apache-2.0
// Processes as owners of files: how others identify them, on this machine and elsewhere.
#pragma once

#include <cstdint>
#include <string>

namespace afterbay {

struct OwnerIdentity {
  std::string host;             ///< for messages only: several machines may share a name
  std::string boot;             ///< boot id of the running kernel; empty: unknown
  std::uint64_t pid_space = 0;  ///< inode of the process-number namespace; 0: unknown
  std::uint64_t pid = 0;
  std::uint64_t started = 0;  ///< clock ticks after the boot; 0: unknown

  bool operator==(const OwnerIdentity&) const = default;
};

/// The calling process.
OwnerIdentity own_identity();

enum class Liveness {
  alive,
  dead,
  elsewhere,  ///< unknown to this process: another machine or namespace, or /proc does not show it
};

/// Determined from the process number. Dead only if there is no such process, or it is another one;
/// unreadable information (/proc mounted with hidepid, no descriptor left) proves nothing.
Liveness liveness_of(const OwnerIdentity& owner);

}  // namespace afterbay
