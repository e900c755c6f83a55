// SPDX-License-Identifier: Apache-2.0
// OwnerFile: who writes a file, where the file system gives no locks (Lustre without `-o flock`, NFS without
// a lock daemon). See design/0019-owners-without-locks.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace afterbay {

/// A process as others may know it, on this machine and on others.
struct OwnerIdentity {
  std::string host;             ///< for messages only: several machines may have one name
  std::string boot;             ///< of the running kernel; empty: not known
  std::uint64_t pid_space = 0;  ///< inode of the process-number namespace; 0: not known
  std::uint64_t pid = 0;
  std::uint64_t started = 0;  ///< clock ticks after the boot; 0: not known

  bool operator==(const OwnerIdentity&) const = default;
};

/// The right to write one file: a small file `NAME`, made exclusively, that names its owner. It outlives a
/// killed owner, whose successor makes `NAME.<token of the dead>` exclusively, and so on: the last of this
/// chain is the owner, and of several claimants only one becomes it. No step removes what another claimant
/// may have made.
///
/// An owner of the same kernel and process namespace is dead when its process is. Others touch their file
/// once a second (a thread does it, while this process owns any), and are dead when they have not for
/// `patience`. Thread-safe, but for calls on one object.
class OwnerFile {
 public:
  static constexpr std::chrono::milliseconds usual_patience{10'000};

  /// Fails with conflict (a living owner, named), format (what is there is no such file), or the system's
  /// error. Waits up to `patience`, and only for owners elsewhere that do not show signs of life.
  static Result<OwnerFile> claim(const std::string& name,
                                 std::chrono::milliseconds patience = usual_patience);
  /// Whether somebody owns it, this process included; waits as `claim` does. False for what is no such file.
  static bool is_owned(const std::string& name, std::chrono::milliseconds patience = usual_patience);

  OwnerFile(OwnerFile&& other) noexcept;
  OwnerFile& operator=(OwnerFile&& other) noexcept;
  OwnerFile(const OwnerFile&) = delete;
  OwnerFile& operator=(const OwnerFile&) = delete;
  /// Gives the right up and removes the files, unless another one has taken it over.
  ~OwnerFile();

  /// False: somebody removed the file, or took this process for dead (it was stopped for long) and took over.
  [[nodiscard]] bool still_ours() const;

 private:
  OwnerFile(std::string name, std::string token, std::string path);

  std::string name_;
  std::string token_;  ///< empty: released
  std::string path_;   ///< in the chain
};

}  // namespace afterbay
