// SPDX-License-Identifier: Apache-2.0
// The loop: messages in, events in, deadlines, the end. Files and frames are in server_output.cpp.
#include "server/server.hpp"

#include <algorithm>

#include "base/batch_thread.hpp"

namespace afterbay::server {
namespace {

constexpr std::uint64_t watch_interval_ns = 250'000'000;
constexpr transport::Millis longest_sleep{200};
constexpr transport::Millis goodbye_sleep{2};
constexpr std::uint64_t goodbye_after_failure_ns = 2'000'000'000;
constexpr int most_messages_a_turn = 256;

}  // namespace

Server::Server(Place place, const config::Config& config, std::unique_ptr<transport::ServerPort> port,
               Stores stores, std::size_t threads, observe::Profile& profile, Logger logger)
    : place_(std::move(place)),
      config_(config),
      port_(std::move(port)),
      stores_(std::move(stores)),
      profile_(profile),
      logger_(std::move(logger)),
      catalog_(place_.session_ranks, config),
      peers_(place_.session_ranks.size()),
      stall_(config.deadline, 0),
      workers_(threads) {
  timers_ = {profile.timer("wait_message"),
             profile.timer("ingest"),
             profile.timer("create"),
             profile.timer("write"),
             profile.timer("publish"),
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

Server::~Server() = default;

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
  bool did = port_->pump();
  did = take_messages() || did;
  did = workers_.run_one() || did;
  did = take_events() || did;
  if (did) complete_tickets();
  if (did || said_goodbye_) finish_if_done();
  if (const std::uint64_t now = now_ns(); now >= next_watch_ns_) {
    next_watch_ns_ = now + watch_interval_ns;
    watch();
  }
  return did;
}

void Server::wait() {
  const observe::Timed timed(timers_.wait);
  port_->wait(said_goodbye_ ? goodbye_sleep : longest_sleep);
}

bool Server::take_messages() {
  bool did = false;
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    for (int i = 0; i < most_messages_a_turn; ++i) {
      const auto message = port_->peek(peer);
      if (!message) break;
      const observe::Timed timed(timers_.ingest);
      ++activity_;
      did = true;
      if (auto handled = handle(peer, *message); !handled) fail(std::move(handled).error());
      port_->pop(peer);
    }
  }
  return did;
}

bool Server::take_events() {
  std::vector<Event> events;
  {
    const std::lock_guard lock(events_mutex_);
    events.swap(events_);
  }
  for (Event& event : events) {
    ++activity_;
    if (auto handled = handle(event); !handled) fail(std::move(handled).error());
  }
  return !events.empty();
}

/// From a worker: the ingest thread goes on with it.
void Server::event(Event event) {
  {
    const std::lock_guard lock(events_mutex_);
    events_.push_back(std::move(event));
  }
  port_->mark_progress();
  port_->wake();
}

Result<> Server::handle(std::size_t peer, std::span<const std::byte> message) {
  const auto with = [&]<class Message>(std::type_identity<Message>, auto&& action) -> Result<> {
    AFTERBAY_TRY_ASSIGN(Message decoded, wire::decode<Message>(message));
    return action(std::move(decoded));
  };
  const wire::Kind kind = wire::kind_of(message).value_or(wire::Kind{0});
  port_->mark_progress();
  if (kind == wire::Finalize::kind || kind == wire::Abandon::kind) {
    if (kind == wire::Abandon::kind && !failure_)
      AFTERBAY_TRY(with(std::type_identity<wire::Abandon>(), [&](wire::Abandon m) -> Result<> {
        fail(make_error(ErrorCode::peer_lost, "model rank {} gave up: {}", peer, m.reason)
                 .at_rank(catalog_.session_rank(peer)));
        return {};
      }));
    return end_peer(peer);
  }
  if (kind == wire::FrameReady::kind)
    return with(std::type_identity<wire::FrameReady>(),
                [&](wire::FrameReady m) { return frame_ready(m.frame, m.seq); });
  if (failure_) return {};  // what comes now cannot be used
  if (kind == wire::DefineDecomposition::kind)
    return with(std::type_identity<wire::DefineDecomposition>(),
                [&](const auto& m) { return catalog_.add(peer, m); });
  if (kind == wire::DefineCollection::kind)
    return with(std::type_identity<wire::DefineCollection>(),
                [&](const auto& m) { return catalog_.add(peer, m); });
  if (kind == wire::DefineEnd::kind)
    return with(std::type_identity<wire::DefineEnd>(), [&](const auto& m) { return define(peer, m); });
  if (kind == wire::OpenFile::kind)
    return with(std::type_identity<wire::OpenFile>(), [&](auto m) { return open(peer, std::move(m)); });
  if (kind == wire::BeginRecord::kind)
    return with(std::type_identity<wire::BeginRecord>(),
                [&](const auto& m) { return records_.begin(peer, m); });
  if (kind == wire::Put::kind)
    return with(std::type_identity<wire::Put>(), [&](const auto& m) { return records_.put(peer, m); });
  if (kind == wire::PutStrings::kind)
    return with(std::type_identity<wire::PutStrings>(), [&](auto m) { return put_strings(std::move(m)); });
  if (kind == wire::EndRecords::kind)
    return with(std::type_identity<wire::EndRecords>(), [&](const auto& m) { return end_records(peer, m); });
  if (kind == wire::CloseFile::kind)
    return with(std::type_identity<wire::CloseFile>(), [&](const auto& m) { return close(peer, m); });
  if (kind == wire::Flush::kind)
    return with(std::type_identity<wire::Flush>(), [&](const auto& m) { return flush(peer, m); });
  if (kind == wire::Waiting::kind)
    return with(std::type_identity<wire::Waiting>(), [&](const auto& m) -> Result<> {
      tickets_.waiters.push_back({peer, m.ticket, now_ns()});
      return {};
    });
  return afterbay::fail(ErrorCode::internal, "model rank {} sent a message of unknown kind {}", peer,
                        static_cast<std::uint32_t>(kind));
}

Result<> Server::define(std::size_t peer, const wire::DefineEnd& message) {
  AFTERBAY_TRY_ASSIGN(const bool last, catalog_.end(peer, message));
  if (!last) return {};
  AFTERBAY_TRY_ASSIGN(const wire::Defined answer, catalog_.complete(port_->frames()));
  const auto bytes = wire::encode(answer);
  for (std::size_t p = 0; p < peers_.size(); ++p) port_->send(p, bytes);
  return {};
}

Result<> Server::flush(std::size_t peer, const wire::Flush& message) {
  Ticket ticket{peer, message.ticket, records_.bounds(peer), {}};
  for (const auto& [id, file] : files_)
    if (file.closed[peer]) ticket.files.push_back(id);
  tickets_.open.push_back(std::move(ticket));
  return {};
}

void Server::complete_tickets() {
  const auto complete = [this](const Ticket& ticket) {
    for (const std::uint64_t id : ticket.files)
      if (files_.contains(id)) return false;
    for (const auto& [collection, bound] : ticket.bounds)
      if (const auto& records = records_.of(collection); !records.empty() && records.begin()->first < bound)
        return false;
    return true;
  };
  std::erase_if(tickets_.open, [&](const Ticket& ticket) {
    if (!complete(ticket)) return false;
    done(ticket.peer, ticket.number);
    return true;
  });
}

void Server::done(std::size_t peer, std::uint64_t ticket) {
  port_->send(peer, wire::encode(wire::Done{ticket}));
  std::erase_if(tickets_.waiters,
                [&](const Waiter& waiter) { return waiter.peer == peer && waiter.number == ticket; });
}

// ---- deadlines and the end

/// Lost ranks, and waits that nothing will end.
void Server::watch() {
  while (auto lost = port_->lost_peer()) {
    if (!failure_) fail(lost->error.at_rank(catalog_.session_rank(lost->peer)));
    (void)end_peer(lost->peer);
  }
  const std::uint64_t now = now_ns();
  observe::peak(timers_.backlog, port_->frames().peak_used_bytes());
  show_progress();
  if (failure_) {
    if (now - failed_at_ns_ > stall_.limit_ns()) peers_ended_ = peers_.size();  // ranks that never come back
    finish_if_done();
    return;
  }
  const bool nobody_moves = stall_.expired(activity_);
  const bool no_room =
      port_->frames().used_bytes() + config_.memory.block_bytes > port_->frames().capacity_bytes();
  const bool waited_for = std::ranges::any_of(tickets_.waiters, [&](const Waiter& waiter) {
    return now - waiter.since_ns > stall_.limit_ns() && !writing();
  });
  const bool some_ended = peers_ended_ > 0 && peers_ended_ < peers_.size();
  if (!waited_for && !(nobody_moves && !writing() && (no_room || some_ended || !tickets_.waiters.empty())))
    return;
  fail(missing_error());
}

bool Server::writing() const {
  return std::ranges::any_of(files_, [](const auto& entry) {
    return entry.second.pending > 0 || entry.second.state == OutputFile::State::creating ||
           entry.second.state == OutputFile::State::publishing;
  });
}

/// What ranks wait for in vain, by name.
Error Server::missing_error() {
  const auto seconds = static_cast<double>(config_.deadline.count()) / 1000;
  const auto late = [&](std::string what) {
    return make_error(ErrorCode::timed_out, "{}, and nothing came for {} s (the setting 'deadline')", what,
                      seconds)
        .at_rank(place_.session_rank);
  };
  for (auto& [id, records] : records_.all()) {
    const ServedCollection& collection = *catalog_.find(id);
    for (const auto& [seq, record] : records)
      if (const std::string missing = records_.missing(collection, record); !missing.empty()) {
        const auto file = files_.find(record.file);
        return late(missing)
            .in_file(file == files_.end() ? collection.name : file->second.path)
            .in_variable(records_.missing_variable(collection, record));
      }
  }
  for (const auto& [id, file] : files_)
    if (file.closed_by > 0 && file.closed_by < peers_.size())
      return late(fmt::format("{} did not close the file, while other ranks did",
                              text_of_ranks(file.not_closed())))
          .in_file(file.path);
  std::vector<int> behind;
  for (auto& [id, records] : records_.all())
    if (behind.empty() && !records.empty()) behind = records_.not_ended(id, records.begin()->first);
  if (!behind.empty())
    return late(fmt::format("{} did not end the step, while other ranks wait for it", text_of_ranks(behind)));
  std::vector<int> absent;
  for (std::size_t p = 0; p < peers_.size(); ++p)
    if (!peers_[p].ended) absent.push_back(static_cast<int>(p));
  if (peers_ended_ > 0)
    return late(fmt::format("{} did not finalize, while other ranks did", text_of_ranks(absent)));
  return late(fmt::format(
      "ranks wait for room in the server's memory ({} of {} bytes in use) and no record is complete: "
      "put variables in the same order on all ranks, or raise memory.server",
      port_->frames().used_bytes(), port_->frames().capacity_bytes()));
}

/// The session cannot go on: every rank learns why, files in the making stay unpublished.
void Server::fail(Error error) {
  if (failure_) {
    logger_.debug("a later error: {}", error.text());
    return;
  }
  failure_ = std::move(
      error.at_rank(place_.session_rank).add(fmt::format("I/O server {} stops writing", place_.number)));
  failed_at_ns_ = now_ns();
  logger_.error("{}", failure_->text());
  const auto bytes = wire::encode(wire::Failed{*failure_});
  // Ranks that have finalized wait for their files to be published: they are told too.
  for (std::size_t p = 0; p < peers_.size(); ++p) port_->send(p, bytes);
  port_->fail();
  for (auto it = files_.begin(); it != files_.end();)
    it = give_up(it->second) ? files_.erase(it) : std::next(it);
  tickets_ = {};
}

/// Drops a file that will not be published; false while workers still use it.
bool Server::give_up(OutputFile& file) {
  file.pending -= file.waiting.size();
  file.waiting.clear();
  if (file.pending > 0 || file.state == OutputFile::State::creating ||
      file.state == OutputFile::State::publishing)
    return false;
  if (file.file) file.file->abandon();
  return true;
}

Result<> Server::end_peer(std::size_t peer) {
  port_->forget(peer);
  if (peers_[peer].ended) return {};
  peers_[peer].ended = true;
  ++peers_ended_;
  return {};
}

/// The last messages must have been taken before the server may stop moving them. It does not wait
/// here: the rank that hosts an inline server takes its own.
void Server::finish_if_done() {
  if (finished_ || peers_ended_ < peers_.size() || !files_.empty()) return;
  if (!said_goodbye_) {
    said_goodbye_ = true;
    goodbye_until_ns_ = now_ns() + (failure_ ? goodbye_after_failure_ns : stall_.limit_ns());
    const auto bye = wire::encode(wire::Bye{});
    for (std::size_t p = 0; p < peers_.size() && !failure_; ++p) port_->send(p, bye);
  }
  if (port_->sending() && now_ns() < goodbye_until_ns_) return;
  observe::add(timers_.messages, port_->messages());
  observe::peak(timers_.backlog, port_->frames().peak_used_bytes());
  finished_ = true;
  next_shown_ns_ = 0;
  show_progress();
}

void Server::show_progress() {
  if (config_.report.progress_ms.count() == 0) return;
  const std::uint64_t now = now_ns();
  if (now < next_shown_ns_) return;
  next_shown_ns_ = now + static_cast<std::uint64_t>(config_.report.progress_ms.count()) * 1'000'000;
  progress_.elapsed_s = static_cast<double>(now - started_ns_) * 1e-9;
  progress_.backlog_bytes = port_->frames().used_bytes();
  fmt::print(stderr, "[I/O server {}] {}\n", place_.number, observe::progress_line(progress_, shown_));
  shown_ = progress_;
}

}  // namespace afterbay::server
