// SPDX-License-Identifier: Apache-2.0
// Publication: complete artifacts get their final names. Each one must be durable before it is
// named, and the name must be durable before it is reported; those that are published together
// share the waits for the disk.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// One of the files that are published together: durable, but without its final name.
struct Durable {
  std::size_t index = 0;  ///< index among these files
  const Published* published = nullptr;
};

/// Called once, when the files are durable and before the first gets its final name; if it fails,
/// no file is named. Files in memory, and files that failed, are not included.
using BeforeNames = std::function<Result<>(std::span<const Durable>)>;

/// Publishes files (each like File::publish) with one call of `before_names` and one fsync per
/// directory. At most `syncs` files are made durable at the same time, in threads that end before
/// this returns; the disk must allow that. The results are in the order of the files: a failed file
/// does not affect the others.
std::vector<Result<Published>> publish_together(std::span<File* const> files, const BeforeNames& before_names,
                                                std::size_t syncs = 1);

/// Afterwards, when the publications have been recorded, so that it delays no record: removes the
/// directories that these files have replaced. Returns one text per file; it is a warning if
/// something could not be removed, and otherwise empty.
std::vector<std::string> remove_replaced(std::span<File* const> files);

}  // namespace afterbay::storage
