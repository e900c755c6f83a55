// SPDX-License-Identifier: Apache-2.0
// RecoveryMark: a small file beside a part file that records to which size `recover_file` may have
// truncated the part file.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace afterbay::storage {

class RecoveryMark {
 public:
  explicit RecoveryMark(const std::string& part_path);

  /// The smallest size that the part file may have because of an interrupted recovery; the largest
  /// number if no recovery has begun to truncate it.
  [[nodiscard]] std::uint64_t least_bytes() const noexcept;
  /// Records, durably, that the part file may be truncated to this size.
  Result<> lower(std::uint64_t bytes) const;

 private:
  std::string path_;
};

}  // namespace afterbay::storage
