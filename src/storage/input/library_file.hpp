// SPDX-License-Identifier: Apache-2.0
// InputLibrary: the services of netCDF-C and HDF5 for an input file. LibraryFile: the
// implementation in this process.
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

/// The schema of an input file, and the values that our own code does not read.
class InputLibrary {
 public:
  InputLibrary() = default;
  InputLibrary(const InputLibrary&) = delete;
  InputLibrary& operator=(const InputLibrary&) = delete;
  virtual ~InputLibrary() = default;
  [[nodiscard]] virtual const FoundFile& found() const noexcept = 0;
  /// Reads values as StoredFile::read does; `variable` is its index in the schema.
  virtual Result<> read(std::uint32_t variable, std::uint64_t record, const model::Box& box,
                        std::span<std::byte> to) = 0;
  virtual Result<std::vector<std::string>> read_strings(std::uint32_t variable, std::uint64_t record) = 0;
};

/// The implementation in this process. Each call takes the library lock.
class LibraryFile : public InputLibrary {
 public:
  /// Reads the schema, without parts that a Schema cannot represent.
  static Result<std::unique_ptr<LibraryFile>> open(const std::string& path);
  ~LibraryFile() override;

  [[nodiscard]] const FoundFile& found() const noexcept override { return found_; }
  Result<> read(std::uint32_t variable, std::uint64_t record, const model::Box& box,
                std::span<std::byte> to) override;
  Result<std::vector<std::string>> read_strings(std::uint32_t variable, std::uint64_t record) override;

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
  std::deque<Cached> cached_;  ///< oldest first; guarded by the library lock
};

/// A variable that is read by such a library.
class LibraryInput : public VariableInput {
 public:
  LibraryInput(InputLibrary& file, std::uint32_t variable) noexcept : file_(file), variable_(variable) {}
  Result<> read(std::uint64_t record, const model::Box& box, std::span<std::byte> to,
                ReadCost& cost) override;

 private:
  InputLibrary& file_;
  std::uint32_t variable_;
};

}  // namespace afterbay::storage
