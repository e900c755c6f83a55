// SPDX-License-Identifier: Apache-2.0
// WaitingMessages: messages that are encoded, and whose position in the file is not known yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/byte_allowance.hpp"

namespace afterbay::storage {

/// Keeps messages in memory up to an allowance, and further ones in a file without a name beside
/// the part file, which disappears with the process. One thread at a time.
class WaitingMessages {
 public:
  struct Kept {
    std::vector<std::byte> bytes;  ///< empty if it is in the file
    std::uint64_t size_bytes = 0;
    std::uint64_t offset = 0;  ///< in the file
  };

  WaitingMessages(std::string part_path, std::shared_ptr<Disk> disk,
                  std::shared_ptr<ByteAllowance> allowance);
  WaitingMessages(const WaitingMessages&) = delete;
  WaitingMessages& operator=(const WaitingMessages&) = delete;
  ~WaitingMessages();

  /// Fails with io or no_space if memory does not suffice and the file cannot be written.
  Result<Kept> keep(std::vector<std::byte> message);
  /// The message, which is no longer kept.
  Result<std::vector<std::byte>> take(Kept kept);
  /// A copy of the message.
  [[nodiscard]] Result<std::vector<std::byte>> copy(const Kept& kept) const;
  /// Bytes that were written to the file without a name.
  [[nodiscard]] std::uint64_t spilled_bytes() const noexcept { return spilled_bytes_; }

 private:
  Result<std::uint64_t> spill(const std::vector<std::byte>& message);
  Result<> open();

  std::string part_path_;
  std::shared_ptr<Disk> disk_;
  std::shared_ptr<ByteAllowance> allowance_;
  Descriptor file_;
  std::uint64_t spilled_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;  ///< bytes taken from the allowance
};

}  // namespace afterbay::storage
