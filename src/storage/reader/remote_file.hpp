// SPDX-License-Identifier: Apache-2.0
// Files that a reader process opens for this one. Its answers are checked, because they may come
// from a damaged file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/input/hdf5_source.hpp"
#include "storage/input/library_file.hpp"
#include "storage/reader/array_file.hpp"
#include "storage/reader/reader_process.hpp"

namespace afterbay::storage {

/// An input file. Any thread; requests wait for each other.
class RemoteInput : public InputLibrary, public ChunkFinder {
 public:
  static Result<std::unique_ptr<RemoteInput>> open(const std::string& path,
                                                   std::chrono::milliseconds deadline);

  [[nodiscard]] const FoundFile& found() const noexcept override { return found_; }
  /// The storage of the variables, in the order of the schema; empty if HDF5 cannot determine it.
  [[nodiscard]] const std::vector<DatasetStorage>& datasets() const noexcept { return datasets_; }
  Result<> read(std::uint32_t variable, std::uint64_t record, const model::Box& box,
                std::span<std::byte> to) override;
  Result<std::vector<std::string>> read_strings(std::uint32_t variable, std::uint64_t record) override;
  Result<std::vector<ChunkAddress>> find(std::uint32_t variable,
                                         std::span<const model::Index> first_elements) override;

 private:
  explicit RemoteInput(std::unique_ptr<ReaderProcess> process) : process_(std::move(process)) {}
  std::unique_ptr<ReaderProcess> process_;
  FoundFile found_;
  std::vector<DatasetStorage> datasets_;
};

class RemoteArrayFile : public ArrayFile {
 public:
  static Result<std::unique_ptr<ArrayFile>> open(const std::string& path);
  Result<> read(int variable, std::span<const std::uint64_t> start, std::span<const std::uint64_t> count,
                std::span<std::byte> values) override;
  Result<std::vector<std::string>> read_strings(int variable, std::span<const std::uint64_t> start,
                                                std::span<const std::uint64_t> count) override;
  void cache_chunks(int variable, std::uint64_t bytes) override;

 private:
  explicit RemoteArrayFile(std::unique_ptr<ReaderProcess> process) : process_(std::move(process)) {}
  std::unique_ptr<ReaderProcess> process_;
};

}  // namespace afterbay::storage
