// SPDX-License-Identifier: Apache-2.0
// Publication: files that are written get their final names. Each must be durable before it is named, and the
// name must be durable before anybody is told; files that are published together share the waits for the
// disk.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// One of the files that are published together: durable, and without its final name.
struct Durable {
  std::size_t index = 0;  ///< among them
  const Published* published = nullptr;
};

/// Called once, when the files are durable and before the first gets its final name; a failure prevents all
/// names. Files in memory, and those that failed, are not among them.
using BeforeNames = std::function<Result<>(std::span<const Durable>)>;

/// Publishes files (each as File::publish does) with one call of `before_names` and one fsync of each
/// directory. The results are in the order of the files: one that fails does not hold up the others.
std::vector<Result<Published>> publish_together(std::span<File* const> files,
                                                const BeforeNames& before_names);

}  // namespace afterbay::storage
