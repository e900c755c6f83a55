// SPDX-License-Identifier: Apache-2.0
// Files that several servers write at once: the leader makes and publishes them, members write their frames
// in place. See wire/server_messages.hpp.
#include "model/changes.hpp"
#include "server/server.hpp"

namespace afterbay::server {

bool Server::is_shared(const OutputFile& file) { return file.collection->split != model::Split::none; }

bool Server::leads(const OutputFile& file) const {
  return file.leader == static_cast<std::size_t>(identity_.number);
}

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
  const auto found = files_.find(message.file);
  if (found == files_.end()) {
    if (!failure_) shares_[message.file] = std::move(message.share);
    return;
  }
  found->second.share = std::move(message.share);
  join_if_shared(found->second);
}

/// As soon as the leader has made the file and the ranks have said what changes in it.
void Server::join_if_shared(OutputFile& file) {
  if (file.state != OutputFile::State::announced || !file.changes || !file.share || file.failed ||
      file.dropped)
    return;
  file.state = OutputFile::State::creating;
  timers_of(*file.collection);
  workers_.submit([this, id = file.id, leader = file.leader, request = request_for(file),
                   collection = file.collection, changes = std::move(*file.changes),
                   share = std::move(*file.share)]() mutable {
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
  file.changes.reset();
  file.share.reset();
}

/// All that this server writes of the file is written: makes it durable and gives the account.
void Server::hand_over(OutputFile& file) {
  file.state = OutputFile::State::publishing;
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
  if (file.dropped && !failure_) {
    file.state = OutputFile::State::announced;
    return finish_dropped(file);
  }
  file.state = OutputFile::State::handed_over;
  const std::size_t leader = file.leader;
  auto sent = fellows_.send(leader, wire::PartDone{file.id, std::move(account)});
  if (!sent) fail(fellow_error(std::move(sent).error(), leader));
  if (failure_) give_up_files();
}

// ---- leader

void Server::answer_places(std::size_t server, const wire::AskPlaces& question) {
  if (space_.waiting()) {  // by a call that may hold the format library's lock
    put_off_.emplace_back(server, question);
    return;
  }
  wire::Places answer;
  answer.serial = question.serial;
  const auto found = files_.find(question.file);
  if (found == files_.end() || !found->second.file || found->second.failed || found->second.dropped) {
    answer.error = make_error(ErrorCode::bad_state, "I/O server {} has given up the file", identity_.number);
  } else {
    std::vector<storage::PlaceRequest> requests;
    for (const auto& it : question.requests) requests.push_back({it.piece, it.record, it.bytes, it.skipped});
    if (auto offsets = found->second.file->place(requests))
      answer.offsets = std::move(*offsets);
    else
      answer.error = std::move(offsets).error().in_file(found->second.path);
  }
  if (auto sent = fellows_.send(server, answer); !sent) fail(fellow_error(std::move(sent).error(), server));
}

/// The file takes the account when it is published: epochs that are behind are marked before, and count it
/// themselves.
Result<> Server::part_done(std::size_t server, wire::PartDone message) {
  const auto found = files_.find(message.file);
  if (found == files_.end() || found->second.failed || found->second.dropped) return {};  // given up
  OutputFile& file = found->second;
  if (!file.file || file.parts_missing == 0)
    return afterbay::fail(
        make_error(ErrorCode::internal, "I/O server {} hands over a part of a file too early", server)
            .in_file(file.path));
  file.handed.push_back({server, false, std::move(message.account)});
  --file.parts_missing;
  publish_if_complete(file);
  return {};
}

}  // namespace afterbay::server
