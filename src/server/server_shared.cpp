// SPDX-License-Identifier: Apache-2.0
// Messages of other servers, and the server's implementation of SharedFiles::Host.
#include "model/changes.hpp"
#include "server/server.hpp"

namespace afterbay::server {

bool Server::take_server_messages() {
  bool did = false;
  while (auto arrived = fellows_.next()) {
    deadlines_.add_activity(1);
    did = true;
    if (auto handled = handle_server(arrived->first, arrived->second); !handled)
      fail(std::move(handled).error());
  }
  return shared_.send_questions() || did;
}

SharedFiles::Host Server::shared_host(bool has_workers) {
  SharedFiles::Host host;
  host.server = identity_.number;
  host.file = [this](std::uint64_t id) AFTERBAY_REQUIRES(ingest_thread) { return files_.find(id); };
  host.begin = [this](OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) { files_.begin(file); };
  host.take_part = [this](OutputFile& file, storage::MemberEpoch part)
                       AFTERBAY_REQUIRES(ingest_thread) { files_.take_part(file, std::move(part)); };
  host.send_to_members = [this](const OutputFile& file, const wire::FileShared& message) AFTERBAY_REQUIRES(
                             ingest_thread) { fellows_.send_all(file.collection->servers, message); };
  host.send_question = [this](std::size_t to, const wire::AskPlaces& it)
                           AFTERBAY_REQUIRES(ingest_thread) { return fellows_.send(to, it); };
  host.send_places = [this](std::size_t to, const wire::Places& it)
                         AFTERBAY_REQUIRES(ingest_thread) { return fellows_.send(to, it); };
  host.send_part = [this](std::size_t to, const wire::PartDone& it)
                       AFTERBAY_REQUIRES(ingest_thread) { return fellows_.send(to, it); };
  host.fail = [this](Error error) AFTERBAY_REQUIRES(ingest_thread) { fail(std::move(error)); };
  host.wake = [this] { port_->wake(); };
  if (!has_workers)
    host.work = [this] {
      assert_role(ingest_thread);  // which runs the tasks itself
      port_->pump();
      if (!take_server_messages()) port_->wait(transport::Millis(2));
    };
  return host;
}

void Server::join(OutputFile& file, SchemaChanges changes) {
  profile_.of(*file.collection);
  workers_.submit([this, id = file.id, request = request_for(file), placer = shared_.placer(file),
                   collection = file.collection, changes = std::move(changes),
                   share = shared_.take_share(file)]() mutable {
    observe::Timed timed(profile_.timers().create);
    FileCreated result{.file = id};
    const auto join = [&]() -> Result<> {
      AFTERBAY_TRY_ASSIGN(request.schema, model::apply(collection->schema, changes));
      AFTERBAY_TRY_ASSIGN(result.created, requests_.store(collection->format).join(request, share, placer));
      return {};
    };
    if (auto joined = join(); !joined) result.error = std::move(joined).error();
    timed.stop();
    post(std::move(result));
  });
}

/// This server's part of the file is written: makes it durable and hands its description to the
/// leader.
void Server::hand_over(OutputFile& file) {
  const CollectionTimers timers = profile_.of(*file.collection);
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
  shared_.hand_over(file, std::move(account));
  files_.end_hopeless();
}

}  // namespace afterbay::server
