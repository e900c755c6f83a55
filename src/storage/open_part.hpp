// SPDX-License-Identifier: Apache-2.0
// What the stores on disk do alike before the first byte: checks, the claim, the copy for append.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.hpp"
#include "storage/block_writer/block_writer.hpp"
#include "storage/block_writer/part_file.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// A claimed part file and its engine. When `appended`, it holds a copy of the existing file.
struct OpenPart {
  PartFile part;
  std::unique_ptr<BlockWriter> writer;
  bool appended = false;
  std::uint64_t records = 0;
  Striping striping;
};

/// Refuses requests that cannot be right whatever the format: no layout, layout of another schema or
/// format, constants of wrong type or number.
Result<> check_request(const FileRequest& request, Format format);
/// The part of it that no file's name is needed for.
Result<> check_definition(const FileRequest& request, Format format);

/// Claims the file and, for append to a file that exists, checks its schema and copies it. On failure
/// no partial file is left.
Result<OpenPart> open_part(const FileRequest& request);

/// Refuses pieces that do not belong to the layout or whose bytes have a wrong length.
Result<> check_pieces(const model::FileLayout& layout, const Schema& schema,
                      std::span<const PieceWrite> pieces);

/// Refuses string values for anything but a string variable, or of a wrong number.
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

/// A file that others may read meanwhile was to be shared.
Error readable_error(const std::string& path);
/// The error of sharing a file that is appended to.
Error appended_error(const std::string& path);

}  // namespace afterbay::storage
