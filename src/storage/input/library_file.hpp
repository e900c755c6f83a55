// SPDX-License-Identifier: Apache-2.0
// LibraryFile: a file read by netCDF-C, which can read them all, one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/input/variable_input.hpp"
#include "storage/structure/read_schema.hpp"

namespace afterbay::storage {

/// Each call takes the library lock.
class LibraryFile {
 public:
  /// Reads the schema, leaving out what a Schema cannot hold.
  static Result<std::unique_ptr<LibraryFile>> open(const std::string& path);
  LibraryFile(const LibraryFile&) = delete;
  LibraryFile& operator=(const LibraryFile&) = delete;
  ~LibraryFile();

  [[nodiscard]] const FoundFile& found() const noexcept { return found_; }
  /// Values as of InputFile::read; `variable` is its index in the schema.
  Result<> read(std::uint32_t variable, std::uint64_t record, const model::Box& box, std::span<std::byte> to);
  Result<std::vector<std::string>> read_strings(std::uint32_t variable, std::uint64_t record);

 private:
  /// A variable whose chunk cache has memory.
  struct Cached {
    std::uint32_t variable;
    std::uint64_t bytes;
  };

  explicit LibraryFile(int id) noexcept : id_(id) {}
  Result<> keep_chunks(std::uint32_t variable);
  [[nodiscard]] std::uint64_t cache_bytes(const Variable& variable) const;

  int id_;
  FoundFile found_;
  std::deque<Cached> cached_;  ///< oldest first; under the library lock
};

/// One variable of such a file.
class LibraryInput : public VariableInput {
 public:
  LibraryInput(LibraryFile& file, std::uint32_t variable) noexcept : file_(file), variable_(variable) {}
  Result<> read(std::uint64_t record, const model::Box& box, std::span<std::byte> to,
                ReadCost& cost) override;

 private:
  LibraryFile& file_;
  std::uint32_t variable_;
};

}  // namespace afterbay::storage
