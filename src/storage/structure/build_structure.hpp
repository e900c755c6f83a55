// SPDX-License-Identifier: Apache-2.0
// build_structure: a file with everything but its data, made by netCDF-C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"
#include "storage/block_writer/block_writer.hpp"
#include "storage/block_writer/disk.hpp"

namespace afterbay::storage {

/// A file in memory, without a name, whose bytes are what the real ones begin with.
struct Structure {
  Descriptor file;
  std::uint64_t size_bytes = 0;

  /// Reads it as any file; it must outlive what is given.
  [[nodiscard]] Result<std::unique_ptr<BlockWriter>> open() const;
};

/// Dimensions, variables, attributes, fill values, chunking and filters of `schema` in
/// `layout.format`, as netCDF-C writes them, so that our files follow its conventions by
/// construction. netCDF-4: constant values are in it. Classic: it is the header (constant values
/// follow by offset), with the fixed and the record section beginning on a page.
/// It is made in memory. Takes the library lock. Errors name the variable.
Result<Structure> build_structure(const Schema& schema, const model::FileLayout& layout);

/// The first `size_bytes` of an opened structure.
Result<std::vector<std::byte>> image_of(BlockWriter& structure, std::uint64_t size_bytes);

}  // namespace afterbay::storage
