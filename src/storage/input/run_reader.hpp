// SPDX-License-Identifier: Apache-2.0
// RunReader: reads many runs of a file's bytes in few large blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "model/convert/kernels.hpp"
#include "storage/input/input_bytes.hpp"

namespace afterbay::storage {

/// How stored elements are converted to native ones.
struct StoredElements {
  std::size_t bytes = 1;
  bool swapped = false;
  [[nodiscard]] model::Kernel kernel() const noexcept { return model::copy_kernel(bytes, swapped); }
};

/// Runs that are close to each other and added in the order of the file are read as one block,
/// including gaps, and then copied out; a run that forms a block of its own is read directly into
/// its target unless its bytes must be swapped. For one thread; call `finish` after the last run.
class RunReader {
 public:
  RunReader(InputBytes& file, StoredElements elements, ReadCost& cost)
      : file_(file), elements_(elements), kernel_(elements.kernel()), cost_(cost) {}

  /// Reads `bytes` (whole elements) at `offset` of the file into `to`, at the latest in `finish`.
  Result<> add(std::uint64_t offset, std::byte* to, std::uint64_t bytes);
  Result<> finish();

 private:
  struct Run {
    std::uint64_t offset;
    std::byte* to;
    std::uint64_t bytes;
  };
  [[nodiscard]] bool joins(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  Result<> read_one(const Run& run);

  InputBytes& file_;
  StoredElements elements_;
  model::Kernel kernel_;
  ReadCost& cost_;
  std::vector<Run> runs_;  ///< runs of the current block, in the order of the file
  BufferPool::Loan buffer_;
};

}  // namespace afterbay::storage
