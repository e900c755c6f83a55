// SPDX-License-Identifier: Apache-2.0
// DenseInput: a variable whose records are dense arrays at known positions in the file.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/input/run_reader.hpp"
#include "storage/input/variable_input.hpp"

namespace afterbay::storage {

/// The positions of the records of a dense variable.
struct DenseRecords {
  std::uint64_t begin = 0;         ///< offset of the first record, or of the fixed variable
  std::uint64_t record_bytes = 0;  ///< distance between records; 0 for fixed variables
  model::Index shape;              ///< lengths without the record dimension
  StoredElements elements;
};

/// Variables of classic formats, and contiguous variables of netCDF-4.
class DenseInput : public VariableInput {
 public:
  DenseInput(InputBytes& file, const DenseRecords& records) : file_(file), records_(records) {}
  Result<> read(std::uint64_t record, const model::Box& box, std::span<std::byte> to,
                ReadCost& cost) override;

 private:
  InputBytes& file_;
  DenseRecords records_;
};

/// A variable for which no space was ever allocated in the file.
class FilledInput : public VariableInput {
 public:
  /// `fill` is one element in native byte order.
  explicit FilledInput(std::vector<std::byte> fill) : fill_(std::move(fill)) {}
  Result<> read(std::uint64_t record, const model::Box& box, std::span<std::byte> to,
                ReadCost& cost) override;

 private:
  std::vector<std::byte> fill_;
};

}  // namespace afterbay::storage
