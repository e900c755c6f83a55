// SPDX-License-Identifier: Apache-2.0
// How the parts of a server reach each other: the implementations of their hosts.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/server.hpp"

namespace afterbay::server {

SpacePolicy::Host Server::space_host(bool has_workers) {
  SpacePolicy::Host host;
  host.server = identity_.number;
  host.alive = [this] { peers_.port().mark_progress(); };
  if (!has_workers)
    host.work = [this] {
      assert_role(ingest_thread);  // which runs the tasks itself
      peers_.port().pump();
    };
  host.post = [this](IngestFunction<void()> function) { executor_.post(std::move(function)); };
  host.warn = [this](const std::string& text) AFTERBAY_REQUIRES(ingest_thread) { observation_.warn(text); };
  host.collection = [this](std::uint32_t id)
                        AFTERBAY_REQUIRES(ingest_thread) { return definitions_.catalog().find(id); };
  host.open_files = [this](const ServedCollection& it)
                        AFTERBAY_REQUIRES(ingest_thread) { return data_.files().of(it).size(); };
  host.end_files = [this](const ServedCollection& it, const std::string& why)
                       AFTERBAY_REQUIRES(ingest_thread) {
                         for (const std::uint64_t id : data_.files().of(it))
                           if (OutputFile* const file = data_.files().find(id))
                             data_.files().end(*file, Ending::no_space, why);
                       };
  host.report_short = [this](bool is_short) AFTERBAY_REQUIRES(ingest_thread) {
    peers_.servers().broadcast(wire::SpaceShort{is_short});
  };
  host.report_given_up = [this](std::uint32_t id, const std::string& why) AFTERBAY_REQUIRES(ingest_thread) {
    peers_.servers().broadcast(wire::CollectionDropped{id, why});
  };
  return host;
}

ReceivedDefinitions::Host Server::definitions_host(std::size_t workers, bool keeps_journal) {
  assert_role(ingest_thread);  // no other thread uses the server yet
  ReceivedDefinitions::Host host;
  Preparations::Host& tasks = host.preparations;
  tasks.workers = workers;
  tasks.submit = [this](Preparations::Task task, Preparations::Then then) AFTERBAY_REQUIRES(ingest_thread) {
    workers_.submit([this, task = std::move(task), then = std::move(then)] {
      executor_.post([then, made = task()]() AFTERBAY_REQUIRES(ingest_thread) { then(made); });
    });
  };
  tasks.make_structure = [this](Format format, const storage::FileRequest& request) {
    tasks_.prepare(format, request);
  };
  if (keeps_journal) tasks.begin_journal = [this] { return observation_.journal().begin(); };
  tasks.make_buffer = [this](std::uint64_t bytes) { tasks_.memory().prepare_buffer(bytes); };
  tasks.has_files = [this]() AFTERBAY_REQUIRES(ingest_thread) { return !data_.files().all().empty(); };
  tasks.session_failed = [this]() AFTERBAY_REQUIRES(ingest_thread) { return end_.failed(); };
  tasks.fail = [this](Error error) AFTERBAY_REQUIRES(ingest_thread) { fail(std::move(error)); };
  host.contradiction = [this](Error error)
                           AFTERBAY_REQUIRES(ingest_thread) { end_.fail_by_contradiction(std::move(error)); };
  host.balances_load = [this]() AFTERBAY_REQUIRES(ingest_thread) { load_.activate(); };
  host.writes_files = [this]() AFTERBAY_REQUIRES(ingest_thread) { observation_.journal().expect_output(); };
  host.completed = [this](const wire::Defined& defined) AFTERBAY_REQUIRES(ingest_thread) -> Result<> {
    for (const wire::Defined::Base& base : defined.bases) {
      const ServedCollection& collection = *definitions_.catalog().find(base.collection);
      AFTERBAY_TRY(data_.reducer().add(collection));
      observation_.codecs().add(collection);
    }
    observation_.profile().note_statistics(data_.reducer().bytes());
    observation_.telemetry().activate();
    return {};
  };
  return host;
}

LoadBalance::Host Server::load_host() {
  LoadBalance::Host host;
  host.server = static_cast<std::uint32_t>(identity_.number);
  host.servers = static_cast<std::uint32_t>(identity_.servers);
  host.backlog_bytes = [this]() AFTERBAY_REQUIRES(ingest_thread) {
    return peers_.frames().used_bytes() + data_.puts().strings().bytes();
  };
  host.said_goodbye = [this]() AFTERBAY_REQUIRES(ingest_thread) { return end_.shutdown().said_goodbye(); };
  host.send = [this](const wire::ServerLoad& load) AFTERBAY_REQUIRES(ingest_thread) {
    if (auto sent = peers_.servers().send(wire::choosing_server, load); !sent)
      fail(data_.shared().error_with(wire::choosing_server, std::move(sent).error()));
  };
  host.answer = [this](const wire::Assigned& file) AFTERBAY_REQUIRES(ingest_thread) {
    observation_.log().debug("file {} of collection {} goes to I/O server {}", file.nth, file.collection,
                             file.server);
    peers_.send_to_ranks(file);
  };
  return host;
}

DataPath::Host Server::data_host(bool has_workers) {
  DataPath::Host host{.peers = peers_,
                      .definitions = definitions_,
                      .space = space_,
                      .tasks = tasks_,
                      .observation = observation_,
                      .submit = {},
                      .post = {},
                      .work = {},
                      .fail = {},
                      .ranks_ended = {},
                      .assigned_file_ended = {}};
  host.submit = [this](WorkerTask task, int priority)
                    AFTERBAY_REQUIRES(ingest_thread) { workers_.submit(std::move(task), priority); };
  host.post = [this](IngestFunction<void()> function) { executor_.post(std::move(function)); };
  if (!has_workers)
    host.work = [this] {
      assert_role(ingest_thread);  // which runs the tasks itself
      peers_.port().pump();
      if (!take_server_messages()) peers_.port().wait(transport::Millis(2));
    };
  host.fail = [this](Error error) AFTERBAY_REQUIRES(ingest_thread) { fail(std::move(error)); };
  host.ranks_ended = [this]() AFTERBAY_REQUIRES(ingest_thread) { return end_.shutdown().all_ranks_ended(); };
  host.assigned_file_ended = [this]() AFTERBAY_REQUIRES(ingest_thread) { load_.assigned_file_ended(); };
  return host;
}

SessionEnd::Host Server::end_host() {
  SessionEnd::Host host;
  host.shutdown = shutdown_host();
  host.next_lost = [this]() AFTERBAY_REQUIRES(ingest_thread) { return peers_.next_lost(); };
  host.linked = [this]() AFTERBAY_REQUIRES(ingest_thread) { return peers_.servers().linked(); };
  host.name_unfinished = [this](Error error, std::size_t peer) AFTERBAY_REQUIRES(ingest_thread) {
    error.at_rank(definitions_.catalog().session_rank(peer));
    return data_.diagnosis(end_.shutdown()).name_unfinished(std::move(error), peer);
  };
  host.missed_deadline = [this]() AFTERBAY_REQUIRES(ingest_thread) {
    return data_.diagnosis(end_.shutdown()).missed_deadline();
  };
  host.waits = [this](std::uint64_t now_ns) AFTERBAY_REQUIRES(ingest_thread) {
    const Tickets& tickets = data_.puts().tickets();
    return DeadlineWatch::Waits{
        .ranks_for_room = peers_.port().waiting_for_room(),
        .overdue_ticket = tickets.waited_longer(end_.deadline_ns(), now_ns),
        .others = tickets.waiters() > 0 || definitions_.awaited(),
        .writing = data_.epochs().noting() || data_.files().being_written(),
    };
  };
  host.end_unclosed = [this]() AFTERBAY_REQUIRES(ingest_thread) { data_.files().end_unclosed(); };
  host.failed = [this](const Error& error, const SessionFailure::Report& report)
                    AFTERBAY_REQUIRES(ingest_thread) { tell_failure(error, report); };
  host.later_error = [this](const Error& error) AFTERBAY_REQUIRES(ingest_thread) {
    observation_.log().debug("a later error: {}", error.text());
  };
  host.finished = [this]() AFTERBAY_REQUIRES(ingest_thread) { note_finished(); };
  return host;
}

Shutdown::Host Server::shutdown_host() {
  Shutdown::Host host;
  host.forget_link = [this](std::size_t peer)
                         AFTERBAY_REQUIRES(ingest_thread) { peers_.port().forget(peer); };
  host.rank_ended = [this](std::size_t peer) AFTERBAY_REQUIRES(ingest_thread) { inputs_.forget(peer); };
  host.last_file = [this]() AFTERBAY_REQUIRES(ingest_thread) {
    const auto& files = data_.files().all();
    return files.empty() ? 0 : files.rbegin()->first;
  };
  host.drained = [this](std::uint64_t last_file) AFTERBAY_REQUIRES(ingest_thread) {
    return std::ranges::none_of(data_.files().all(),
                                [last_file](const auto& entry) AFTERBAY_REQUIRES(ingest_thread) {
                                  return entry.first <= last_file && entry.second.closes.count() > 0;
                                });
  };
  host.open_paths = [this]() AFTERBAY_REQUIRES(ingest_thread) {
    std::vector<std::string> paths;
    for (const auto& [id, file] : data_.files().all())
      if (file.ending != Ending::no_space) paths.push_back(file.path);
    return paths;
  };
  host.run_by_priority = [this]() AFTERBAY_REQUIRES(ingest_thread) { workers_.run_by_priority(); };
  host.cut_off_disk = [this]() AFTERBAY_REQUIRES(ingest_thread) { space_.cut_off(); };
  host.nothing_left = [this]() AFTERBAY_REQUIRES(ingest_thread) { return nothing_left(); };
  host.say_goodbye = [this]() AFTERBAY_REQUIRES(ingest_thread) { say_goodbye(); };
  host.sending = [this]() AFTERBAY_REQUIRES(ingest_thread) { return peers_.port().sending(); };
  host.warn = [this](const std::string& text) AFTERBAY_REQUIRES(ingest_thread) { observation_.warn(text); };
  return host;
}

Observation::Host Server::observation_host() {
  Observation::Host host;
  host.fill = [this](observe::ServerState& state) AFTERBAY_REQUIRES(ingest_thread) {
    const Shutdown& shutdown = end_.shutdown();
    state.phase = end_.failed() ? "failed" : shutdown.said_goodbye() ? "ended" : "running";
    state.tasks_queued = workers_.queued();
    state.files.open = data_.files().all().size();
    state.ranks.ended = shutdown.ranks_ended();
    state.ranks.waiting_for_room = peers_.port().waiting_for_room();
    state.ranks.waiting_for_files = data_.puts().tickets().waiters();
  };
  host.other_backlog_bytes = [this]()
                                 AFTERBAY_REQUIRES(ingest_thread) { return data_.puts().strings().bytes(); };
  host.fill_collection = [this](std::uint32_t id, observe::CollectionState& state)
                             AFTERBAY_REQUIRES(ingest_thread) { data_.fill(id, state); };
  host.said_goodbye = [this]() AFTERBAY_REQUIRES(ingest_thread) { return end_.shutdown().said_goodbye(); };
  host.report_epoch = [this](std::uint64_t number, const std::string& name) AFTERBAY_REQUIRES(ingest_thread) {
    if (auto sent = peers_.servers().send(0, wire::EpochComplete{number}); !sent)
      fail(std::move(sent).error().add(fmt::format("while it reported that epoch '{}' is complete", name)));
  };
  host.wake = [this] { executor_.post([] {}); };
  host.submit_last = [this](WorkerTask task) { workers_.submit_last(std::move(task)); };
  return host;
}

FileTasks::Host Server::tasks_host() {
  FileTasks::Host host;
  host.submit = [this](WorkerTask task, int priority)
                    AFTERBAY_REQUIRES(ingest_thread) { workers_.submit(std::move(task), priority); };
  host.check_time = [this](const std::string& path) { return end_.check_time(path); };
  host.done = [this](FileTaskResult result) { task_done(std::move(result)); };
  host.moved = [this] { executor_.post([] {}); };
  host.dropped = [this](const Overflow::RecordKey& record)
                     AFTERBAY_REQUIRES(ingest_thread) { data_.note_dropped(record); };
  return host;
}

}  // namespace afterbay::server
