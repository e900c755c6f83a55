// SPDX-License-Identifier: Apache-2.0
// OwnerFile: records who writes a file if the file system does not support locks (Lustre without
// `-o flock`, NFS without a lock daemon). See design/0019-owners-without-locks.md.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/owner_patience.hpp"
#include "base/result.hpp"

namespace afterbay {

/// The right to write one file: a small file `NAME`, created exclusively, that names its owner. It
/// survives a killed owner, whose successor creates `NAME.<token of the dead>` exclusively, and so
/// on. The last of this chain is the owner, and only one of several claimants becomes it. No step
/// removes a file that another claimant may have created.
///
/// An owner in the same kernel and process namespace is dead if its process is dead. Other owners
/// touch their file once a second (a thread does it while this process owns any) and are dead if
/// they have not done so for `patience`. Thread-safe, except for calls on one object.
class OwnerFile {
 public:
  static constexpr std::chrono::milliseconds usual_patience{10'000};
  /// For callers that must not wait: an owner that may be alive counts as alive.
  static constexpr std::chrono::milliseconds no_patience{0};

  /// Fails with conflict (a living owner, named), format (the existing file is not an owner file),
  /// or the system's error. Waits about `patience`, and only for owners elsewhere without signs of
  /// life; longer if the file system does not respond meanwhile. The first claim of a process in a
  /// directory removes the files that killed processes of this machine have left there.
  static Result<OwnerFile> claim(const std::string& name, const OwnerPatience& patience = usual_patience);
  /// Which of these names have an owner, including this process. Waits like `claim`, once for all
  /// names. False for files that are not owner files; true if a file cannot be read.
  static std::vector<bool> are_owned(std::span<const std::string> names,
                                     const OwnerPatience& patience = usual_patience);
  static bool is_owned(const std::string& name, const OwnerPatience& patience = usual_patience);

  OwnerFile(OwnerFile&& other) noexcept;
  OwnerFile& operator=(OwnerFile&& other) noexcept;
  OwnerFile(const OwnerFile&) = delete;
  OwnerFile& operator=(const OwnerFile&) = delete;
  /// Releases the right and removes the files, unless another owner has taken it over.
  ~OwnerFile();

  /// False: the file was removed, or another owner considered this process dead (it was stopped for
  /// a long time) and took over. True: this was not the case when the call was made, others see a
  /// sign of life, and for the next `patience` nobody can take over. Creates the name that a
  /// successor would need; looking for it is not enough, because nodes cache for a while that a
  /// name does not exist.
  [[nodiscard]] bool still_ours() const;

 private:
  struct Claim;
  explicit OwnerFile(std::unique_ptr<Claim> claim);

  std::unique_ptr<Claim> claim_;  ///< null: released
};

}  // namespace afterbay
