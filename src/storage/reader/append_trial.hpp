// SPDX-License-Identifier: Apache-2.0
// AppendTrial: adds records to a netCDF-4 file in memory, as a server would, to test whether HDF5
// can do so.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/netcdf4/file_driver.hpp"
#include "storage/netcdf4/hdf5.hpp"
#include "storage/reader/chunk_index_check.hpp"

namespace afterbay::storage {

/// HDF5 1.10 detects a damaged chunk index late: when it follows the index, or when it closes the
/// variable, after which it crashes. Here, in a reader process, every index is checked, followed
/// completely and extended. The file is not changed: writes of HDF5 are kept in memory. Errors:
/// format, naming the variable.
class AppendTrial {
 public:
  static Result<std::unique_ptr<AppendTrial>> open(const std::string& path);
  AppendTrial(const AppendTrial&) = delete;
  AppendTrial& operator=(const AppendTrial&) = delete;
  ~AppendTrial();

  /// Opens the variable, follows its index, adds records to it and closes it. Takes the library
  /// lock.
  Result<> try_variable(const std::string& name);
  /// Checks the variables against each other and closes the file. Takes the library lock.
  Result<> finish();

 private:
  explicit AppendTrial(Descriptor file) : descriptor_(std::move(file)) {}
  Result<> follow_index(hid_t dataset, const std::string& name);
  Result<> check_index(hid_t dataset, const Hdf5Id& creation_list, const std::string& name);
  Result<> add_records(hid_t dataset);
  Result<> add_chunks(hid_t dataset, hid_t creation_list, std::vector<hsize_t> lengths);
  Result<> add_string(hid_t dataset, hid_t type, std::vector<hsize_t> lengths);

  Descriptor descriptor_;
  std::unique_ptr<BlockWriter> bytes_;
  std::unique_ptr<FileDriver> driver_;
  ChunkIndexCheck indexes_;
  bool follows_ = false;  ///< HDF5 is reading an index that is unchanged in the file
  Hdf5Id file_;
};

}  // namespace afterbay::storage
