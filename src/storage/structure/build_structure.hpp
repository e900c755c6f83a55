// SPDX-License-Identifier: Apache-2.0
// build_structure: a file with everything but its data, made by netCDF-C.
#pragma once

#include <cstdint>
#include <string>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"
#include "storage/block_writer/block_writer.hpp"
#include "storage/block_writer/disk.hpp"

namespace afterbay::storage {

/// A file without a name, to be copied to the beginning of the real one.
struct Structure {
  Descriptor file;
  std::uint64_t size_bytes = 0;
};

/// Dimensions, variables, attributes, fill values, chunking and filters of `schema` in
/// `layout.format`, as netCDF-C writes them, so that our files follow its conventions by construction.
/// netCDF-4: constant values are in it. Classic: it is the header (constant values follow by offset),
/// with the fixed and the record section beginning on a page.
/// `beside` is the directory of last resort for the temporary file.
/// Takes the library lock. Errors name the variable.
Result<Structure> build_structure(const Schema& schema, const model::FileLayout& layout,
                                  const std::string& beside);

/// Writes the first `size_bytes` of the structure to the file.
Result<> copy_structure(const Structure& structure, std::uint64_t size_bytes, BlockWriter& writer);

}  // namespace afterbay::storage
