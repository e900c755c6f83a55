// SPDX-License-Identifier: Apache-2.0
// The loop: messages in, events in, tickets. Files and frames are in server_output.cpp, deadlines and the end
// in server_end.cpp.
#include "server/server.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/batch_thread.hpp"
#include "base/host.hpp"

namespace afterbay::server {
namespace {

constexpr std::uint64_t watch_interval_ns = 250'000'000;
constexpr transport::Millis goodbye_sleep{2};
constexpr int most_messages_a_turn = 256;
constexpr std::uint64_t strings_share = 8;  ///< strings wait in up to this part of memory.server, beside it

}  // namespace

Server::Server(Place place, const config::Config& config, std::unique_ptr<transport::ServerPort> port,
               FellowServers::Links fellows, Stores stores, std::size_t threads, observe::Profile& profile,
               Logger logger, std::unique_ptr<journal::Recorder> journal)
    : place_(std::move(place)),
      config_(config),
      port_(std::move(port)),
      stores_(std::move(stores)),
      chunk_memory_(std::make_shared<storage::ByteAllowance>(config.memory.chunks_bytes)),
      profile_(profile),
      logger_(std::move(logger)),
      journal_(std::move(journal)),
      fellows_(*port_, std::move(fellows), place_.session_ranks.size()),
      places_(
          config.deadline, [this] { port_->wake(); },
          threads > 0 ? std::function<void()>() : [this] {
            port_->pump();
            if (!take_server_messages()) port_->wait(transport::Millis(2));
          }),
      catalog_(place_.session_ranks, config),
      strings_(config.memory.server_bytes / strings_share),
      peers_(place_.session_ranks.size()),
      scratch_(config.memory.block_bytes + model::page_bytes),
      overflow_(config, overflow_hooks()),
      stall_(config.deadline, 0),
      space_(config.space_retry, {[this] { port_->mark_progress(); },
                                  threads > 0 ? std::function<void()>() : [this] { port_->pump(); },
                                  [this](const SpaceNotice& notice) {
                                    if (!workers_.has_threads()) return space_notice(notice);
                                    Event result;
                                    result.then = [this, notice] { space_notice(notice); };
                                    event(std::move(result));
                                  }}),
      disk_(std::make_shared<storage::PatientDisk>(storage::Disk::real(), space_)),
      tally_(place_.session_ranks.size()),
      host_(host_name()),
      pid_(::getpid()),
      started_at_s_(observe::time_of_day_s()),
      sampler_(make_sampler()),
      triggers_(make_triggers()),
      inputs_({config_, *port_, catalog_, workers_, profile_, [this](std::function<void()> then) {
                 Event result;
                 result.then = std::move(then);
                 event(std::move(result));
               }}),
      publications_(threads),
      workers_(threads) {
  profile.set_workers(threads);
  timers_ = {profile.timer("wait_message"),
             profile.timer("ingest"),
             profile.worker_timer("create"),
             profile.worker_timer("write"),
             profile.worker_timer("publish"),
             profile.worker_timer("epoch"),
             profile.counter(observe::counters::bytes),
             profile.counter(observe::counters::written_bytes),
             profile.counter(observe::counters::direct_bytes),
             profile.counter(observe::counters::messages),
             profile.counter(observe::counters::backlog, observe::CounterKind::peak),
             profile.counter("files published")};
  port_->set_scatter([this](std::size_t peer, const transport::FrameSlot& slot, std::uint32_t piece,
                            std::span<const std::byte> packed,
                            std::byte* frame) { return catalog_.scatter(peer, slot, piece, packed, frame); });
  progress_.backlog_limit_bytes = port_->frames().capacity_bytes();
}

Server::~Server() { space_.stop(); }

Result<> Server::run() {
  const BatchThread beside_the_model;
  while (!finished()) {
    if (!step()) wait();
  }
  if (failure_) return afterbay::fail(*failure_);
  return {};
}

bool Server::step() {
  if (finished_) return false;
  const InTerms speaks(place_.terms);
  bool did = port_->pump();
  did = take_messages() || did;
  did = take_server_messages() || did;
  did = workers_.run_one() || did;
  did = take_events() || did;
  did = inputs_.advance() || did;
  if (did) relieve();
  if (did) complete_tickets();
  if (did) advance_epochs();
  if (did || said_goodbye_) finish_if_done();
  if (!did && !failure_ && !said_goodbye_) did = port_->frames().allocate_ahead();
  if (const std::uint64_t now = now_ns(); now >= next_watch_ns_) {
    next_watch_ns_ = now + watch_interval_ns;
    watch();
    sample();
  } else if (did && now >= next_sample_ns_) {
    sample();
  }
  return did;
}

void Server::wait(transport::Millis most) {
  const observe::Timed timed(timers_.wait);
  port_->wait(said_goodbye_ ? std::min(most, goodbye_sleep) : most);
}

bool Server::take_messages() {
  bool did = false;
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    for (int i = 0; i < most_messages_a_turn; ++i) {
      const auto message = port_->peek(peer);
      if (!message || must_wait(*message)) break;
      const observe::Timed timed(timers_.ingest);
      ++activity_;
      did = true;
      if (auto handled = handle(peer, *message); !handled) {
        stop_trusting_ranks();
        // What ranks said wrongly several servers find: the first one hears of it in any case.
        fail(std::move(handled).error(), fellows_.linked() ? Witness::all_servers : Witness::this_server);
      }
      port_->pop(peer);
    }
  }
  return did;
}

/// Strings stay with the rank while too many wait here for the disk.
bool Server::must_wait(std::span<const std::byte> message) const {
  return wire::kind_of(message) == wire::PutStrings::kind && !failure_ && !strings_.has_room(message.size());
}

bool Server::take_events() {
  std::vector<Event> events;
  {
    const MutexLock lock(events_mutex_);
    events.swap(events_);
  }
  // A fellow server that removed a file, for want of space, has said so before.
  if (std::ranges::any_of(events, [](const Event& it) { return it.error.has_value(); }))
    take_server_messages();
  for (Event& event : events) {
    ++activity_;
    if (event.then) {
      event.then();
      continue;
    }
    if (auto handled = handle(event); !handled) fail(std::move(handled).error());
  }
  return !events.empty();
}

/// From a worker: the ingest thread goes on with it.
void Server::event(Event event) {
  {
    const MutexLock lock(events_mutex_);
    events_.push_back(std::move(event));
  }
  port_->mark_progress();
  port_->wake();
}

namespace {

/// Decodes a Message and hands it to `action`.
template <class Message, class Action>
Result<> with(std::span<const std::byte> message, Action&& action) {
  AFTERBAY_TRY_ASSIGN(Message decoded, wire::decode<Message>(message));
  return action(std::move(decoded));
}

}  // namespace

Result<> Server::handle(std::size_t peer, std::span<const std::byte> message) {
  const wire::Kind kind = wire::kind_of(message).value_or(wire::Kind{0});
  port_->mark_progress();
  if (kind == wire::Finalize::kind) return end_peer(peer);
  if (kind == wire::Abandon::kind)
    return with<wire::Abandon>(message, [&](auto m) { return abandoned(peer, std::move(m)); });
  if (kind == wire::FrontendEnds::kind)
    return with<wire::FrontendEnds>(
        message, [&](auto m) { return fail(std::move(m.error), Witness::reported), Result<>(); });
  if (kind == wire::FrameReady::kind)
    return with<wire::FrameReady>(message, [&](wire::FrameReady m) { return frame_ready(m.frame, m.seq); });
  // After a failure, files that all ranks have closed are still published: what was sent for them counts.
  if (!ranks_make_sense_) return {};
  if (kind == wire::DefineDecomposition::kind)
    return with<wire::DefineDecomposition>(message, [&](const auto& m) { return catalog_.add(peer, m); });
  if (kind == wire::DefineMap::kind)
    return with<wire::DefineMap>(message, [&](auto m) { return catalog_.add(peer, std::move(m)); });
  if (kind == wire::DefineCollection::kind)
    return with<wire::DefineCollection>(message, [&](const auto& m) { return define(peer, m); });
  if (kind == wire::DefineEnd::kind)
    return with<wire::DefineEnd>(message, [&](const auto& m) { return define(peer, m); });
  return handle_output(peer, kind, message);
}

Result<> Server::handle_output(std::size_t peer, wire::Kind kind, std::span<const std::byte> message) {
  if (kind == wire::OpenFile::kind)
    return with<wire::OpenFile>(message, [&](auto m) { return open(peer, std::move(m)); });
  if (kind == wire::BeginRecord::kind)
    return with<wire::BeginRecord>(message, [&](const auto& m) { return records_.begin(peer, m); });
  if (kind == wire::Put::kind) return with<wire::Put>(message, [&](const auto& m) { return put(peer, m); });
  if (kind == wire::PutStrings::kind)
    return with<wire::PutStrings>(message, [&](auto m) { return put_strings(peer, std::move(m)); });
  if (kind == wire::EndRecords::kind)
    return with<wire::EndRecords>(message, [&](const auto& m) { return end_records(peer, m); });
  if (kind == wire::CloseFile::kind)
    return with<wire::CloseFile>(message, [&](const auto& m) { return close(peer, m); });
  if (kind == wire::AskServer::kind)
    return with<wire::AskServer>(message, [&](const auto& m) { return choose_server(m); });
  if (kind == wire::AskRecords::kind)
    return with<wire::AskRecords>(message, [&](const auto& m) { return ask_records(peer, m); });
  if (kind == wire::Flush::kind)
    return with<wire::Flush>(message, [&](const auto& m) { return flush(peer, m); });
  if (kind == wire::Epoch::kind)
    return with<wire::Epoch>(message, [&](auto m) { return reach_epoch(peer, std::move(m)); });
  if (kind == wire::Waiting::kind)
    return with<wire::Waiting>(message, [&](const auto& m) -> Result<> {
      if (is_outstanding(peer, m.ticket)) tickets_.waiters.push_back({peer, m.ticket, now_ns()});
      return {};
    });
  return handle_input(peer, kind, message);
}

Result<> Server::handle_input(std::size_t peer, wire::Kind kind, std::span<const std::byte> message) {
  if (kind == wire::OpenInput::kind)
    return with<wire::OpenInput>(message, [&](const auto& m) { return inputs_.open(peer, m); });
  if (kind == wire::GetInput::kind)
    return with<wire::GetInput>(message, [&](auto m) { return inputs_.get(peer, std::move(m)); });
  if (kind == wire::InputTaken::kind)
    return with<wire::InputTaken>(message, [&](const auto& m) { return inputs_.taken(peer, m); });
  if (kind == wire::GetInputStrings::kind)
    return with<wire::GetInputStrings>(message, [&](const auto& m) { return inputs_.strings(peer, m); });
  if (kind == wire::CloseInput::kind)
    return with<wire::CloseInput>(message, [&](const auto& m) { return inputs_.close(peer, m); });
  return afterbay::fail(ErrorCode::internal, "model rank {} sent a message of unknown kind {}", peer,
                        static_cast<std::uint32_t>(kind));
}

/// Structures are made while the ranks still define and are answered.
Result<> Server::define(std::size_t peer, const wire::DefineCollection& message) {
  AFTERBAY_TRY_ASSIGN(const ServedCollection* const collection, catalog_.add(peer, message));
  if (message.least != 0) tells_load_ = true;
  if (collection != nullptr) prepare(*collection);
  return {};
}

Result<> Server::define(std::size_t peer, const wire::DefineEnd& message) {
  AFTERBAY_TRY_ASSIGN(const bool last, catalog_.end(peer, message));
  if (!last) return {};
  if (journal_ && message.writes_files != 0) journal_->expect_output();
  AFTERBAY_TRY_ASSIGN(wire::Defined answer, catalog_.complete(port_->frames()));
  model_has_defined_ = true;
  prepare_scratch(answer);
  preparations_.answer = std::move(answer);
  tell_defined();
  return {};
}

Result<> Server::flush(std::size_t peer, const wire::Flush& message) {
  Ticket ticket{peer, message.ticket, records_.bounds(peer), {}, message.strings};
  for (const auto& [id, file] : files_)
    if (file.closed[peer]) ticket.files.push_back(id);
  tickets_.open.push_back(std::move(ticket));
  return {};
}

/// All that the rank had put before.
bool Server::is_written(const Ticket& ticket) {
  if (!strings_.written_up_to(ticket.strings)) return false;
  for (const std::uint64_t id : ticket.files)
    if (files_.contains(id)) return false;
  for (const auto& [collection, bound] : ticket.bounds)
    if (const auto& records = records_.of(collection); !records.empty() && records.begin()->first < bound)
      return false;
  return true;
}

void Server::complete_tickets() {
  std::erase_if(tickets_.open, [&](const Ticket& ticket) {
    if (!is_written(ticket)) return false;
    done(ticket.peer, ticket.number);
    return true;
  });
}

/// False for a ticket that was answered while the rank's word that it waits was on its way.
bool Server::is_outstanding(std::size_t peer, std::uint64_t ticket) const {
  return std::ranges::any_of(tickets_.open,
                             [&](const Ticket& it) { return it.peer == peer && it.number == ticket; }) ||
         std::ranges::any_of(epochs_.open,
                             [&](const auto& entry) {
                               return std::ranges::any_of(entry.second.before, [&](const Ticket& it) {
                                 return it.peer == peer && it.number == ticket;
                               });
                             }) ||
         std::ranges::any_of(files_, [&](const auto& entry) {
           return std::ranges::find(entry.second.tickets, std::pair(peer, ticket)) !=
                  entry.second.tickets.end();
         });
}

void Server::done(std::size_t peer, std::uint64_t ticket) {
  port_->send(peer, wire::encode(wire::Done{ticket}));
  std::erase_if(tickets_.waiters,
                [&](const Waiter& waiter) { return waiter.peer == peer && waiter.number == ticket; });
}

}  // namespace afterbay::server
