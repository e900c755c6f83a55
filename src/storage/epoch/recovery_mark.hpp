// SPDX-License-Identifier: Apache-2.0
// RecoveryMark: a small file beside a part file, which says how short `recover_file` may have made that one.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace afterbay::storage {

class RecoveryMark {
 public:
  explicit RecoveryMark(const std::string& part_path);

  /// The least size that the part file may have because of an interrupted recovery; the largest number if no
  /// recovery has begun to shorten it.
  [[nodiscard]] std::uint64_t least_bytes() const noexcept;
  /// Durable when it returns: the part file may become as short as this.
  Result<> lower(std::uint64_t bytes) const;

 private:
  std::string path_;
};

}  // namespace afterbay::storage
