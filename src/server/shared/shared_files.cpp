// SPDX-License-Identifier: Apache-2.0
#include "server/shared/shared_files.hpp"

#include <fmt/format.h>

#include <utility>

namespace afterbay::server {

SharedFiles::SharedFiles(std::chrono::milliseconds deadline, Host host)
    : host_(std::move(host)), places_(deadline, host_.wake, host_.work) {}

Error SharedFiles::error_with(std::size_t server, Error error) const {
  return error.add(fmt::format("while I/O servers {} and {} wrote a file together", host_.server, server));
}

void SharedFiles::check(std::size_t server, Result<> sent) {
  if (!sent) host_.fail(error_with(server, std::move(sent).error()));
}

void SharedFiles::session_failed(const Error& error) {
  session_failed_ = true;
  places_.fail(error);
}

// ---- member

void SharedFiles::leader_made(wire::FileShared message) {
  if (session_failed_) return;
  shares_[message.file] = std::move(message.share);
  if (OutputFile* const file = host_.file(message.file)) host_.begin(*file);
}

std::vector<std::byte> SharedFiles::take_share(const OutputFile& file) {
  auto taken = shares_.extract(file.id);
  return taken ? std::move(taken.mapped()) : std::vector<std::byte>();
}

std::shared_ptr<storage::Placer> SharedFiles::placer(const OutputFile& file) {
  return std::make_shared<FilePlacer>(places_, file.id, file.parts.leader);
}

bool SharedFiles::send_questions() {
  const auto questions = places_.take_questions();
  for (const auto& [leader, question] : questions) check(leader, host_.send_question(leader, question));
  return !questions.empty();
}

void SharedFiles::hand_over(const OutputFile& file, std::vector<std::byte> account) {
  const std::size_t leader = file.parts.leader;
  check(leader, host_.send_part(leader, wire::PartDone{file.id, std::move(account), file.errors}));
}

// ---- leader

void SharedFiles::share(const OutputFile& file, std::vector<std::byte> share) {
  host_.send_to_members(file, wire::FileShared{file.id, std::move(share)});
}

void SharedFiles::answer(std::size_t member, const wire::AskPlaces& question) {
  wire::Places answer;
  answer.serial = question.serial;
  const OutputFile* const file = host_.file(question.file);
  if (file == nullptr || !file->file || !file->wanted()) {
    answer.error = make_error(ErrorCode::bad_state, "I/O server {} has given up the file", host_.server);
  } else {
    std::vector<storage::PlaceRequest> requests;
    for (const auto& it : question.requests) requests.push_back({it.piece, it.record, it.bytes, it.skipped});
    if (auto offsets = file->file->place(requests))
      answer.offsets = std::move(*offsets);
    else
      answer.error = std::move(offsets).error().in_file(file->path);
  }
  check(member, host_.send_places(member, answer));
}

Result<> SharedFiles::part_done(std::size_t member, wire::PartDone message) {
  OutputFile* const file = host_.file(message.file);
  if (file == nullptr || !file->wanted()) return {};  // the file was given up
  if (!file->file || file->parts.missing == 0)
    return afterbay::fail(
        make_error(ErrorCode::internal, "I/O server {} hands over a part of a file too early", member)
            .in_file(file->path));
  host_.take_part(*file, {member, false, std::move(message.account), std::move(message.errors)});
  return {};
}

}  // namespace afterbay::server
