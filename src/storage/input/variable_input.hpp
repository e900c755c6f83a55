// SPDX-License-Identifier: Apache-2.0
// VariableInput: one method of reading a variable's values from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "model/box.hpp"
#include "storage/input/stored_file.hpp"

namespace afterbay::storage {

/// Any thread may read, several at the same time. The caller has checked record, box and sizes, and
/// adds file, variable and record to errors.
class VariableInput {
 public:
  virtual ~VariableInput() = default;
  virtual Result<> read(std::uint64_t record, const model::Box& box, std::span<std::byte> to,
                        ReadCost& cost) = 0;
};

}  // namespace afterbay::storage
