// SPDX-License-Identifier: Apache-2.0
// Striper: makes one part file with its stripes, where the file system has such, and tells what it did.
#pragma once

#include <cstdint>
#include <string>

#include "storage/striping/file_system.hpp"
#include "storage/striping/stripes.hpp"

namespace afterbay::storage {

/// What the report says about where a file is and what was set there.
struct Striping {
  std::string file_system;  ///< "Lustre"; empty: the file is on none
  std::string applied;      ///< "stripe count all, size 4MiB", "no stripes to set", ...
  std::string warning;      ///< why what was asked for was not applied; empty: it was
};

class Striper {
 public:
  Striper(StripePolicy policy, std::uint64_t file_bytes) : policy_(policy), file_bytes_(file_bytes) {}

  /// Looks at the file system of `directory`, which exists; true when `create` is to make the file.
  bool begin(const std::string& directory);
  /// Makes an empty file with the chosen stripes. A failure only leaves a warning: the file is then to be
  /// made without. Blocks for at most the policy's deadline.
  void create(const std::string& path);
  [[nodiscard]] bool created() const noexcept { return created_; }

  [[nodiscard]] const Striping& striping() const noexcept { return striping_; }

 private:
  StripePolicy policy_;
  std::uint64_t file_bytes_;
  bool created_ = false;
  Striping striping_;
};

}  // namespace afterbay::storage
