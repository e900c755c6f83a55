// SPDX-License-Identifier: Apache-2.0
#include "storage/open_part.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "storage/epoch/epoch_log.hpp"
#include "storage/epoch/part_identity.hpp"
#include "storage/structure/compare_schema.hpp"

namespace afterbay::storage {
namespace {

Result<> check_constant(const Variable& variable, const model::VariableLayout& layout) {
  const std::uint64_t expected = layout.shape.product();
  if (layout.record)
    return fail(
        make_error(ErrorCode::invalid_argument,
                   "variable '{}' has constant values and the unlimited dimension: put its values record by "
                   "record, or remove the unlimited dimension",
                   variable.name)
            .in_variable(variable.name));
  if (variable.constant.type != variable.type)
    return fail(make_error(ErrorCode::wrong_type,
                           "variable '{}' is of type {} but its constant values are of type {}",
                           variable.name, name_of(variable.type), name_of(variable.constant.type))
                    .in_variable(variable.name));
  if (variable.constant.count() != expected)
    return fail(make_error(ErrorCode::invalid_argument, "variable '{}' has {} points but {} constant values",
                           variable.name, expected, variable.constant.count())
                    .in_variable(variable.name));
  return {};
}

Result<OpenPart> fill_part(const FileRequest& request, PartFile part) {
  OpenPart opened{std::move(part), nullptr, false, 0, {}};
  const auto run = [&]() -> Result<> {
    if (request.existing == Existing::append && opened.part.replaces()) {
      AFTERBAY_TRY_ASSIGN(opened.records,
                          check_appendable(request.path, request.schema, request.layout->format));
      AFTERBAY_TRY(opened.part.copy_existing());
      opened.appended = true;
    }
    AFTERBAY_TRY_ASSIGN(opened.writer, BlockWriter::open(opened.part.descriptor(), opened.part.part_path(),
                                                         request.direct_io, opened.part.shared_disk()));
    if (request.checksum) opened.writer->keep_checksum();
    return {};
  };
  if (auto done = run(); !done) {
    opened.part.discard();
    return fail(std::move(done).error());
  }
  return opened;
}

/// The expected size of the file, as far as it is known.
std::uint64_t expected_bytes(const FileRequest& request) {
  if (request.stripes.expected_bytes != 0) return request.stripes.expected_bytes;
  const std::uint64_t estimate = estimated_bytes(*request.layout);
  if (request.existing != Existing::append) return estimate;
  std::error_code missing;
  const std::uintmax_t present = std::filesystem::file_size(request.path, missing);
  return missing ? estimate : std::max<std::uint64_t>(estimate, present);
}

}  // namespace

Result<> check_request(const FileRequest& request, Format format) {
  if (request.path.empty()) return fail(ErrorCode::invalid_argument, "a file without a name: give a path");
  return check_definition(request, format);
}

Result<> check_definition(const FileRequest& request, Format format) {
  if (!request.layout) return fail(ErrorCode::invalid_argument, "{}: no layout is given", request.path);
  if (request.layout->format != format)
    return fail(ErrorCode::invalid_argument, "{}: the layout is for {} files, the store writes {}",
                request.path, name_of(request.layout->format), name_of(format));
  if (request.layout->variables.size() != request.schema.variables.size())
    return fail(ErrorCode::invalid_argument, "{}: the layout has {} variables, the schema {}", request.path,
                request.layout->variables.size(), request.schema.variables.size());
  for (std::size_t v = 0; v < request.schema.variables.size(); ++v)
    if (!request.schema.variables[v].constant.empty())
      AFTERBAY_TRY(check_constant(request.schema.variables[v], request.layout->variables[v]));
  return {};
}

Result<OpenPart> open_part(const FileRequest& request) {
  Striper striper(request.stripes, expected_bytes(request));
  AFTERBAY_TRY_ASSIGN(PartFile part,
                      in_file(PartFile::claim(request.path, request.existing, request.make_directories,
                                              request.disk, &striper, request.readable),
                              request.path));
  auto opened = in_file(fill_part(request, std::move(part)), request.path);
  if (opened) {
    striper.look(opened->part.part_path());
    opened->striping = striper.striping();
  }
  return opened;
}

Result<> check_pieces(const model::FileLayout& layout, const Schema& schema,
                      std::span<const PieceWrite> pieces) {
  for (const PieceWrite& write : pieces) {
    if (write.piece.variable >= layout.variables.size() ||
        write.piece.number >= layout.variables[write.piece.variable].piece_count)
      return fail(ErrorCode::invalid_argument,
                  "a piece that does not belong to the file's layout is written");
    if (write.bytes.size() != write.piece.bytes) {
      const std::string& name = schema.variables[write.piece.variable].name;
      return fail(make_error(ErrorCode::invalid_argument,
                             "piece {} of variable '{}' has {} bytes, but {} are given", write.piece.number,
                             name, write.piece.bytes, write.bytes.size())
                      .in_variable(name));
    }
  }
  return {};
}

Result<> check_strings(const model::FileLayout& layout, const Schema& schema, std::uint32_t variable,
                       std::size_t count) {
  if (variable >= schema.variables.size())
    return fail(ErrorCode::invalid_argument, "variable number {} is written, but the schema has {}", variable,
                schema.variables.size());
  const std::string& name = schema.variables[variable].name;
  if (schema.variables[variable].type != Type::string)
    return fail(make_error(ErrorCode::wrong_type, "variable '{}' is of type {}, but strings are written",
                           name, name_of(schema.variables[variable].type))
                    .in_variable(name));
  const std::uint64_t expected = layout.variables[variable].shape.product();
  if (count != expected)
    return fail(make_error(ErrorCode::invalid_argument,
                           "variable '{}' has {} strings per record, but {} are given", name, expected, count)
                    .in_variable(name));
  return {};
}

Error closed_error(const std::string& path) {
  return make_error(ErrorCode::bad_state, "{} was published or abandoned: it takes no more data", path)
      .in_file(path);
}

Error readable_error(const std::string& path) {
  return make_error(
             ErrorCode::bad_state,
             "{} is to be readable while it is written, and such files are written by one server: give it to "
             "one (placement collection or file), or leave 'readable' off",
             path)
      .in_file(path);
}

Error appended_error(const std::string& path) {
  return make_error(ErrorCode::bad_state,
                    "{} is appended to, and such files are written by one server: give it to one, or start a "
                    "new file",
                    path)
      .in_file(path);
}

}  // namespace afterbay::storage
