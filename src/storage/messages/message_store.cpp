// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/message_store.hpp"

#include "storage/artifact.hpp"
#include "storage/messages/message_file.hpp"
#include "storage/messages/record_times.hpp"
#include "storage/open_part.hpp"

namespace afterbay::storage {
namespace {

Result<> check_new_file(const FileRequest& request, Format format) {
  if (request.existing == Existing::append && path_exists(request.path))
    return fail(
        make_error(ErrorCode::exists,
                   "{} exists, and nothing can be appended to {} files: give another name, or replace it "
                   "(existing: replace)",
                   request.path, name_of(format))
            .in_file(request.path));
  if (request.readable)
    return fail(
        make_error(ErrorCode::invalid_argument,
                   "{} is to be readable while it is written, which {} files are not: leave 'readable' "
                   "off, or use {}",
                   request.path, name_of(format),
                   formats_with([](const FormatTraits& it) { return it.messages == nullptr; }))
            .in_file(request.path));
  return {};
}

}  // namespace

Result<std::unique_ptr<File>> MessageStore::create(const FileRequest& request) {
  AFTERBAY_TRY(check_request(request, format_));
  AFTERBAY_TRY(check_new_file(request, format_));
  AFTERBAY_TRY_ASSIGN(auto encoder, in_file(make_(request.schema, *request.layout), request.path));
  AFTERBAY_TRY_ASSIGN(OpenPart opened, open_part(request));
  auto file = std::make_unique<MessageFile>(request, std::move(opened), std::move(encoder));
  if (auto begun = in_file(file->begin(), request.path); !begun) {
    file->discard();
    return fail(std::move(begun).error());
  }
  return file;
}

}  // namespace afterbay::storage
