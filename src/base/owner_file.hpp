// SPDX-License-Identifier: Apache-2.0
// OwnerFile: who writes a file, where the file system gives no locks (Lustre without `-o flock`, NFS without
// a lock daemon). See design/0019-owners-without-locks.md.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace afterbay {

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
  /// For who must not wait: an owner that may be alive counts as such.
  static constexpr std::chrono::milliseconds no_patience{0};

  /// Fails with conflict (a living owner, named), format (what is there is no such file), or the system's
  /// error. Waits about `patience`, and only for owners elsewhere that do not show signs of life; longer if
  /// the file system does not answer meanwhile. The first claim of a process in a directory removes what
  /// killed processes of this machine have left there.
  static Result<OwnerFile> claim(const std::string& name,
                                 std::chrono::milliseconds patience = usual_patience);
  /// Which of these names somebody owns, this process included. Waits as `claim` does, once for all. False
  /// for what is no such file; true if it cannot be read.
  static std::vector<bool> are_owned(std::span<const std::string> names,
                                     std::chrono::milliseconds patience = usual_patience);
  static bool is_owned(const std::string& name, std::chrono::milliseconds patience = usual_patience);

  OwnerFile(OwnerFile&& other) noexcept;
  OwnerFile& operator=(OwnerFile&& other) noexcept;
  OwnerFile(const OwnerFile&) = delete;
  OwnerFile& operator=(const OwnerFile&) = delete;
  /// Gives the right up and removes the files, unless another one has taken it over.
  ~OwnerFile();

  /// False: somebody removed the file, or took this process for dead (it was stopped for long) and took over.
  /// True: nobody had when this was called, and others see a sign of life; for the next `patience` nobody can
  /// take over. It makes the name that a successor would need, since to look for that would not do: nodes
  /// remember for a while that a name did not exist.
  [[nodiscard]] bool still_ours() const;

 private:
  struct Claim;
  explicit OwnerFile(std::unique_ptr<Claim> claim);

  std::unique_ptr<Claim> claim_;  ///< null: released
};

}  // namespace afterbay
