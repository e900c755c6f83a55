// SPDX-License-Identifier: Apache-2.0
// Files that several servers write at once: the leader makes and publishes them, members write their frames
// in place. See wire/server_messages.hpp.
#include "model/changes.hpp"
#include "server/server.hpp"

namespace afterbay::server {

bool Server::is_shared(const OutputFile& file) { return file.collection->split != model::Split::none; }

bool Server::leads(const OutputFile& file) const {
  return file.leader == static_cast<std::size_t>(place_.number);
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
  return error.add(fmt::format("while I/O servers {} and {} wrote a file together", place_.number, server));
}

namespace {

template <class Message, class Action>
Result<> decoded(std::span<const std::byte> message, Action&& action) {
  AFTERBAY_TRY_ASSIGN(Message it, wire::decode<Message>(message));
  return action(std::move(it));
}

}  // namespace

Result<> Server::handle_server(std::size_t server, std::span<const std::byte> message) {
  const wire::Kind kind = wire::kind_of(message).value_or(wire::Kind{0});
  port_->mark_progress();
  if (kind == wire::FileShared::kind)
    return decoded<wire::FileShared>(message, [&](auto m) { return file_shared(std::move(m)), Result<>(); });
  if (kind == wire::AskPlaces::kind)
    return decoded<wire::AskPlaces>(message,
                                    [&](const auto& m) { return answer_places(server, m), Result<>(); });
  if (kind == wire::Places::kind)
    return decoded<wire::Places>(message, [&](auto m) { return places_.answer(std::move(m)), Result<>(); });
  if (kind == wire::PartDone::kind)
    return decoded<wire::PartDone>(message, [&](auto m) { return part_done(server, std::move(m)); });
  if (kind == wire::EpochPart::kind)
    return decoded<wire::EpochPart>(message,
                                    [&](auto m) { return take_epoch_part(std::move(m)), Result<>(); });
  if (kind == wire::EpochComplete::kind)
    return decoded<wire::EpochComplete>(
        message, [&](const auto& m) { return epoch_complete_elsewhere(m.number), Result<>(); });
  if (kind == wire::FilePublished::kind)
    return decoded<wire::FilePublished>(message, [&](const auto& m) -> Result<> {
      if (const auto file = files_.find(m.file); file != files_.end()) published(file->second, std::nullopt);
      return {};
    });
  if (kind == wire::ServerLoad::kind)
    return decoded<wire::ServerLoad>(message, [&](const auto& m) {
      dispatcher_.report(server, m.backlog_bytes, m.files_ended);
      return Result<>();
    });
  if (kind == wire::ServerFailed::kind)
    return decoded<wire::ServerFailed>(message, [&](auto m) -> Result<> {
      if (!failure_)
        fail(m.error.add(fmt::format("I/O server {} passed this on", server)),
             m.reported ? Witness::reported : Witness::all_servers);
      return {};
    });
  if (kind == wire::CollectionDropped::kind)
    return decoded<wire::CollectionDropped>(message, [&](const auto& m) -> Result<> {
      drop_collection(m.collection, fmt::format("I/O server {}: {}", server, m.why));
      return {};
    });
  if (kind == wire::SpaceShort::kind)
    return decoded<wire::SpaceShort>(
        message, [&](const auto& m) { return places_.set_busy(server, m.is_short), Result<>(); });
  if (kind == wire::Farewell::kind) {
    fellows_.ended(server);
    return {};
  }
  return afterbay::fail(ErrorCode::internal, "I/O server {} sent a message of unknown kind {}", server,
                        static_cast<std::uint32_t>(kind));
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
    Event result;
    result.file = id;
    const auto join = [&]() -> Result<> {
      AFTERBAY_TRY_ASSIGN(request.schema, model::apply(collection->schema, changes));
      AFTERBAY_TRY_ASSIGN(result.created,
                          stores_(collection->format)
                              .join(request, share, std::make_shared<FilePlacer>(places_, id, leader)));
      return {};
    };
    if (auto joined = join(); !joined) result.error = std::move(joined).error();
    timed.stop();
    event(std::move(result));
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
    Event result;
    result.file = file.id;
    if (auto account = file.file->hand_over()) {
      result.account = std::move(*account);
    } else {
      result.published = true;  // it never will be
      result.error = std::move(account).error();
    }
    timed.stop();
    event(std::move(result));
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
    answer.error = make_error(ErrorCode::bad_state, "I/O server {} has given up the file", place_.number);
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
