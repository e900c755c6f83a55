// SPDX-License-Identifier: Apache-2.0
// Files that several servers write at once: the leader makes and publishes them, members write their frames
// in place. See wire/server_messages.hpp.
#include "model/changes.hpp"
#include "server/server.hpp"

namespace afterbay::server {

bool Server::take_server_messages() {
  bool did = false;
  while (auto arrived = fellows_.next()) {
    ++activity_;
    did = true;
    if (auto handled = handle_server(arrived->first, arrived->second); !handled)
      fail(std::move(handled).error());
  }
  for (const auto& [leader, question] : places_.take_questions()) {
    did = true;
    if (auto sent = fellows_.send(leader, question); !sent)
      fail(fellow_error(std::move(sent).error(), leader));
  }
  return did;
}

Error Server::fellow_error(Error error, std::size_t server) const {
  return error.add(
      fmt::format("while I/O servers {} and {} wrote a file together", identity_.number, server));
}

// ---- member

void Server::file_shared(wire::FileShared message) {
  if (failure_) return;
  shares_[message.file] = std::move(message.share);
  if (OutputFile* const file = files_.find(message.file)) files_.begin(*file);
}

void Server::join(OutputFile& file, SchemaChanges changes) {
  timers_of(*file.collection);
  workers_.submit([this, id = file.id, leader = file.parts.leader, request = request_for(file),
                   collection = file.collection, changes = std::move(changes),
                   share = std::move(shares_.extract(file.id).mapped())]() mutable {
    observe::Timed timed(timers_.create);
    FileCreated result{.file = id};
    const auto join = [&]() -> Result<> {
      AFTERBAY_TRY_ASSIGN(request.schema, model::apply(collection->schema, changes));
      AFTERBAY_TRY_ASSIGN(result.created,
                          stores_(collection->format)
                              .join(request, share, std::make_shared<FilePlacer>(places_, id, leader)));
      return {};
    };
    if (auto joined = join(); !joined) result.error = std::move(joined).error();
    timed.stop();
    post(std::move(result));
  });
}

/// All that this server writes of the file is written: makes it durable and gives the account.
void Server::hand_over(OutputFile& file) {
  const CollectionTimers timers = timers_of(*file.collection);
  workers_.submit([this, timers, &file] {
    observe::Timed timed(timers.publish);
    PartHandedOver result{.file = file.id};
    if (auto account = file.file->hand_over())
      result.account = std::move(*account);
    else
      result.error = std::move(account).error();
    timed.stop();
    post(std::move(result));
  });
}

void Server::handed_over(OutputFile& file, std::vector<std::byte> account) {
  if (!files_.part_complete(file)) return;
  const std::size_t leader = file.parts.leader;
  auto sent = fellows_.send(leader, wire::PartDone{file.id, std::move(account)});
  if (!sent) fail(fellow_error(std::move(sent).error(), leader));
  files_.end_hopeless();
}

// ---- leader

void Server::answer_places(std::size_t server, const wire::AskPlaces& question) {
  wire::Places answer;
  answer.serial = question.serial;
  OutputFile* const file = files_.find(question.file);
  if (file == nullptr || !file->file || !file->wanted()) {
    answer.error = make_error(ErrorCode::bad_state, "I/O server {} has given up the file", identity_.number);
  } else {
    std::vector<storage::PlaceRequest> requests;
    for (const auto& it : question.requests) requests.push_back({it.piece, it.record, it.bytes, it.skipped});
    if (auto offsets = file->file->place(requests))
      answer.offsets = std::move(*offsets);
    else
      answer.error = std::move(offsets).error().in_file(file->path);
  }
  if (auto sent = fellows_.send(server, answer); !sent) fail(fellow_error(std::move(sent).error(), server));
}

/// The file takes the account when it is published: epochs that are behind are marked before, and count it
/// themselves.
Result<> Server::part_done(std::size_t server, wire::PartDone message) {
  OutputFile* const file = files_.find(message.file);
  if (file == nullptr || !file->wanted()) return {};  // given up
  if (!file->file || file->parts.missing == 0)
    return afterbay::fail(
        make_error(ErrorCode::internal, "I/O server {} hands over a part of a file too early", server)
            .in_file(file->path));
  files_.take_part(*file, {server, false, std::move(message.account)});
  return {};
}

}  // namespace afterbay::server
