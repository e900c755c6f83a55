// SPDX-License-Identifier: Apache-2.0
// ExtendedFile: an existing file that will be extended, examined before it is opened for writing.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "storage/reader/reader_process.hpp"
#include "storage/structure/read_schema.hpp"

namespace afterbay::storage {

/// Files of the classic formats are read in this process, all others by a reader process.
class ExtendedFile {
 public:
  /// Fails like read_schema.
  static Result<std::unique_ptr<ExtendedFile>> open(const std::string& path);
  [[nodiscard]] const FoundFile& found() const noexcept { return found_; }
  /// All values of a variable (of all existing records).
  Result<Values> values(const std::string& variable);
  /// Adds records in memory, in the reader process, if HDF5 will add them to the file: fails with
  /// format, naming the variable, if HDF5 cannot or crashes. Takes the time of reading the indexes
  /// of all chunks. Must be the last call.
  Result<> try_to_extend();

 private:
  explicit ExtendedFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::unique_ptr<ReaderProcess> process_;  ///< null for classic formats
  FoundFile found_;
};

}  // namespace afterbay::storage
