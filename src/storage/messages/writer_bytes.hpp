// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format_traits.hpp"
#include "storage/block_writer/block_writer.hpp"

namespace afterbay::storage {

/// The bytes of a file with a writer. What is written may be written again.
class WriterBytes final : public FileBytes {
 public:
  /// `writer` must outlive it.
  explicit WriterBytes(BlockWriter& writer) : writer_(writer) {}
  Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override {
    return writer_.read(offset, bytes);
  }
  Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return writer_.write_structure(offset, bytes);
  }

 private:
  BlockWriter& writer_;
};

}  // namespace afterbay::storage
