// SPDX-License-Identifier: Apache-2.0
// Striper: makes one part file with its stripes, where the file system has such, and tells which it has.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "storage/striping/file_system.hpp"
#include "storage/striping/stripes.hpp"

namespace afterbay::storage {

/// What the report says about where a file is and what stripes it has.
struct Striping {
  std::string file_system;  ///< "Lustre"; empty: the file is on none
  /// As the file system says: "stripe count 6, size 4MiB, of 6 OSTs", "stripes not known, ..."; else "no
  /// stripes to set", "stripes as it chooses".
  std::string stripes;
  std::string warning;  ///< why what was asked for was not applied; empty: it was
};

class Striper {
 public:
  Striper(StripePolicy policy, std::uint64_t file_bytes) : policy_(policy), file_bytes_(file_bytes) {}

  /// Looks at the file system of `directory`, which exists; true when `create` is to make the file.
  bool begin(const std::string& directory);
  /// Makes an empty file with the chosen stripes. A failure only leaves a warning: the file is then to be
  /// made without. Blocks for at most the policy's deadline.
  void create(const std::string& path);
  /// Asks for the stripes of the file, however it was made, where it has such. The commands of one striper
  /// together take no longer than the policy's deadline.
  void look(const std::string& path);
  [[nodiscard]] bool created() const noexcept { return created_; }

  [[nodiscard]] const Striping& striping() const noexcept { return striping_; }

 private:
  [[nodiscard]] std::chrono::milliseconds time_left() const;

  StripePolicy policy_;
  std::uint64_t file_bytes_;
  std::string directory_;
  std::chrono::steady_clock::time_point until_{};
  bool asks_ = false;
  bool created_ = false;
  Striping striping_;
};

}  // namespace afterbay::storage
