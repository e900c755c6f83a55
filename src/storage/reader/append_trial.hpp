// SPDX-License-Identifier: Apache-2.0
// AppendTrial: adds records to a netCDF-4 file as a server would, in memory, to find out what HDF5 makes of
// it.
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

/// HDF5 1.10 finds out late that the index of a variable's chunks is damaged: when it follows it, or when it
/// closes the variable, after which it crashes. Here, in a reader process, every index is checked, followed
/// whole and extended. The file is not changed: what HDF5 writes is kept in memory. Errors: format, naming
/// the variable.
class AppendTrial {
 public:
  static Result<std::unique_ptr<AppendTrial>> open(const std::string& path);
  AppendTrial(const AppendTrial&) = delete;
  AppendTrial& operator=(const AppendTrial&) = delete;
  ~AppendTrial();

  /// Opens the variable, follows its index, adds records to it and closes it. Takes the library lock.
  Result<> try_variable(const std::string& name);
  /// Looks at the variables together and closes the file. Takes the library lock.
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
  bool follows_ = false;  ///< HDF5 reads an index that is as the file has it
  Hdf5Id file_;
};

}  // namespace afterbay::storage
