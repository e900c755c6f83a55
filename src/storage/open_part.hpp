// SPDX-License-Identifier: Apache-2.0
// The common steps of stores on disk before the first byte: checks, the claim, the copy for append.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.hpp"
#include "storage/block_writer/block_writer.hpp"
#include "storage/block_writer/part_file.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// A claimed part file and its writer. If `appended`, it contains a copy of the existing file.
struct OpenPart {
  PartFile part;
  std::unique_ptr<BlockWriter> writer;
  bool appended = false;
  std::uint64_t records = 0;
  Striping striping;
};

/// Refuses requests that are invalid for every format: no layout, a layout of another schema or
/// format, constants of the wrong type or number.
Result<> check_request(const FileRequest& request, Format format);
/// The part of check_request that does not depend on the file's name.
Result<> check_definition(const FileRequest& request, Format format);

/// Claims the file and, for append to an existing file, checks its schema and copies it. After a
/// failure no part file is left.
Result<OpenPart> open_part(const FileRequest& request);

/// Refuses pieces that do not belong to the layout, or whose bytes have the wrong length.
Result<> check_pieces(const model::FileLayout& layout, const Schema& schema,
                      std::span<const PieceWrite> pieces);

/// Refuses string values for other than string variables, or of the wrong number.
Result<> check_strings(const model::FileLayout& layout, const Schema& schema, std::uint32_t variable,
                       std::size_t count);

/// Adds the file's name to an error.
template <class T>
Result<T> in_file(Result<T> result, const std::string& path) {
  if (!result) result.error().in_file(path);
  return result;
}

/// The error of a call on a file that was published or abandoned.
Error closed_error(const std::string& path);

/// The error of sharing a file that others may read meanwhile.
Error readable_error(const std::string& path);
/// The error of sharing a file that is appended to.
Error appended_error(const std::string& path);

}  // namespace afterbay::storage
