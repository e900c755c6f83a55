// SPDX-License-Identifier: Apache-2.0
// Striper: creates one part file with stripes, if the file system supports them, and finds its
// stripes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "storage/striping/file_system.hpp"
#include "storage/striping/stripes.hpp"

namespace afterbay::storage {

/// The file system and the stripes of a file, for the report.
struct Striping {
  std::string file_system;  ///< "Lustre"; empty: the file is on none
  /// As reported by the file system: "stripe count 6, size 4MiB, of 6 OSTs", "stripes not known,
  /// ..."; otherwise "no stripes to set", "stripes as it chooses".
  std::string stripes;
  std::string warning;  ///< why the requested stripes were not set; empty: they were
};

class Striper {
 public:
  Striper(StripePolicy policy, std::uint64_t file_bytes) : policy_(policy), file_bytes_(file_bytes) {}

  /// Examines the file system of `directory`, which must exist; returns true if `create` must
  /// create the file.
  bool begin(const std::string& directory);
  /// Creates an empty file with the chosen stripes. A failure only leaves a warning: then the file
  /// must be created without stripes. Blocks at most until the policy's deadline.
  void create(const std::string& path);
  /// Finds the stripes of the file, if it has any, however it was created. All commands of one
  /// striper together take at most until the policy's deadline.
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
