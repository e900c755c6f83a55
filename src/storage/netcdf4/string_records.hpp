// SPDX-License-Identifier: Apache-2.0
// StringRecords: which records of a netCDF-4 file's string variables are written.
#pragma once

#include <cstdint>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"
#include "storage/netcdf4/dataset.hpp"

namespace afterbay::storage {

/// HDF5 1.10 cannot read string records that were never written: they get their fill value. Used
/// with a LibraryLock only; referenced objects must outlive it.
class StringRecords {
 public:
  /// `appended`, `present`: whether an earlier run wrote the file, and how many records it has.
  StringRecords(const Schema& schema, const model::FileLayout& layout, bool appended, std::uint64_t present)
      : schema_(schema),
        layout_(layout),
        appended_(appended),
        present_(present),
        written_(schema.variables.size()) {}

  void note(std::uint32_t variable, std::uint64_t record);
  /// Writes those of the first `records` records that are missing.
  Result<> fill(std::uint64_t records, std::vector<Dataset>& datasets);

 private:
  Result<> fill_run(std::uint32_t variable, std::uint64_t first, std::uint64_t end, Dataset& dataset) const;

  const Schema& schema_;
  const model::FileLayout& layout_;
  bool appended_;
  std::uint64_t present_;
  std::vector<std::vector<bool>> written_;  ///< or filled, by variable and record
};

}  // namespace afterbay::storage
