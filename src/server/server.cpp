// SPDX-License-Identifier: Apache-2.0
// The main loop: receives messages and runs posted functions, answers tickets. Files and frames are
// in server_output.cpp, deadlines and the end in server_end.cpp.
#include "server/server.hpp"

#include <algorithm>

#include "base/batch_thread.hpp"

namespace afterbay::server {
namespace {

constexpr transport::Millis goodbye_sleep{2};
constexpr int most_messages_a_turn = 256;
/// Waiting strings may take this share of memory.server, in addition to it.
constexpr std::uint64_t strings_share = 8;

}  // namespace

Server::Server(Identity identity, const config::Config& config, std::unique_ptr<transport::ServerPort> port,
               FellowServers::Links fellows, Stores stores, std::size_t threads, observe::Profile& profile,
               Logger logger, std::unique_ptr<journal::Recorder> journal)
    : identity_(std::move(identity)),
      config_(config),
      port_(std::move(port)),
      logger_(std::move(logger)),
      journal_(std::move(journal)),
      requests_(config, std::move(stores), identity_.number, journal_.is_kept() && config.sums_files()),
      fellows_(*port_, std::move(fellows), identity_.session_ranks.size()),
      shared_(config.deadline, shared_host(threads > 0)),
      catalog_(identity_.session_ranks, config,
               {static_cast<std::size_t>(identity_.number), std::max<std::size_t>(1, fellows_.count()),
                identity_.slab_shares}),
      strings_(config.memory.server_bytes / strings_share),
      preparations_(preparations_host(threads)),
      space_(config, space_host(threads > 0)),
      shutdown_(config, shutdown_host()),
      deadlines_(config.deadline),
      executor_([this] {
        port_->mark_progress();
        port_->wake();
      }),
      memory_(config, port_->frames(), memory_host()),
      reducer_(config.memory.statistics_bytes, reducer_host()),
      telemetry_(config, identity_, port_->frames(), logger_, telemetry_host()),
      triggers_(config, identity_, logger_, trigger_host()),
      inputs_({config_, *port_, catalog_, workers_, profile,
               [this](IngestFunction<void()> then) { executor_.post(std::move(then)); }}),
      profile_(profile, threads),
      publisher_(journal_, threads, publisher_host()),
      workers_(threads) {
  port_->set_scatter(
      [this](std::size_t peer, const transport::FrameSlot& slot, std::uint32_t piece,
             std::span<const std::byte> packed, std::byte* frame)
          AFTERBAY_REQUIRES(ingest_thread) { return catalog_.scatter(peer, slot, piece, packed, frame); });
}

Server::~Server() {
  space_.stop();
  fellows_.end();  // receives messages meanwhile: all that handles them must still exist
}

Result<> Server::run() {
  const BatchThread beside_the_model;
  while (!finished()) {
    if (!step()) wait();
  }
  if (failure()) return afterbay::fail(*failure());
  return {};
}

bool Server::step() {
  if (finished()) return false;
  const InTerms speaks(identity_.terms);
  bool did = port_->pump();
  did = take_messages() || did;
  did = take_server_messages() || did;
  did = workers_.run_one() || did;
  did = run_posted() || did;
  did = inputs_.advance() || did;
  if (did) relieve();
  if (did)
    tickets_.answer_written([this](const Ticket& ticket)
                                AFTERBAY_REQUIRES(ingest_thread) { return is_written(ticket); });
  if (did) epochs_.advance();
  if (did || shutdown_.said_goodbye()) finish_if_done();
  if (!did && !failure_.happened() && !shutdown_.said_goodbye()) did = port_->frames().allocate_ahead();
  if (const std::uint64_t now = now_ns(); deadlines_.is_due(now)) {
    watch();
    telemetry_.sample();
  } else if (did && telemetry_.sample_is_due(now)) {
    telemetry_.sample();
  }
  return did;
}

void Server::wait(transport::Millis most) {
  const observe::Timed timed(profile_.timers().wait);
  port_->wait(shutdown_.said_goodbye() ? std::min(most, goodbye_sleep) : most);
}

bool Server::take_messages() {
  bool did = false;
  std::vector<std::size_t> ready;
  port_->ready(0, catalog_.ranks(), ready);
  for (const std::size_t peer : ready) {
    for (int i = 0; i < most_messages_a_turn; ++i) {
      const auto message = port_->peek(peer);
      if (!message || must_wait(*message)) break;
      const observe::Timed timed(profile_.timers().ingest);
      deadlines_.add_activity(1);
      did = true;
      if (auto handled = handle(peer, *message); !handled) {
        // Nothing that is incomplete now can become complete.
        failure_.ranks_contradict();
        files_.end_unclosed();
        fail(std::move(handled).error(), SessionFailure::of_wrong_message(fellows_.linked()));
      }
      port_->pop(peer);
    }
  }
  return did;
}

/// Strings stay with the rank while too many wait here to be written.
bool Server::must_wait(std::span<const std::byte> message) const {
  return wire::kind_of(message) == wire::PutStrings::kind && !failure_.happened() &&
         !strings_.has_room(message.size());
}

bool Server::run_posted() {
  const std::size_t ran = executor_.run();
  deadlines_.add_activity(ran);
  return ran > 0;
}

/// File structures are made while the ranks still define and wait for the answer.
Result<> Server::define(std::size_t peer, const wire::DefineCollection& message) {
  AFTERBAY_TRY_ASSIGN(const ServedCollection* const collection, catalog_.add(peer, message));
  if (message.least != 0) load_.activate();
  if (collection != nullptr) preparations_.begin(*collection);
  return {};
}

Result<> Server::define(std::size_t peer, const wire::DefineEnd& message) {
  AFTERBAY_TRY_ASSIGN(const bool last, catalog_.end(peer, message));
  if (!last) return {};
  if (message.writes_files != 0) journal_.expect_output();
  AFTERBAY_TRY_ASSIGN(wire::MapVerdicts verdicts, catalog_.check());
  preparations_.maps().found(std::move(verdicts), message.has_maps == 0);
  return {};
}

/// A ticket for everything that the rank has put so far.
Ticket Server::ticket_for(std::size_t peer, std::uint64_t number, std::uint64_t strings) const {
  Ticket ticket{peer, number, records_.bounds(peer), {}, strings};
  for (const auto& [id, file] : files_.all())
    if (file.closed[peer]) ticket.files.push_back(id);
  return ticket;
}

void Server::flush(std::size_t peer, const wire::Flush& message) {
  tickets_.add(ticket_for(peer, message.ticket, message.strings));
}

/// The rank waits for a ticket from now on.
void Server::note_waiter(std::size_t peer, const wire::Waiting& message) {
  if (is_outstanding(peer, message.ticket)) tickets_.add_waiter(peer, message.ticket, now_ns());
}

/// Whether everything that the rank had put before the ticket is written.
bool Server::is_written(const Ticket& ticket) {
  if (!strings_.written_up_to(ticket.strings)) return false;
  for (const std::uint64_t id : ticket.files)
    if (files_.find(id) != nullptr) return false;
  for (const auto& [collection, bound] : ticket.bounds)
    if (const auto& records = records_.of(collection); !records.empty() && records.begin()->first < bound)
      return false;
  return true;
}

/// Returns false if the ticket was answered while the rank's Waiting message was in transit.
bool Server::is_outstanding(std::size_t peer, std::uint64_t ticket) const {
  return tickets_.has(peer, ticket) || epochs_.has_ticket(peer, ticket) || files_.has_ticket(peer, ticket);
}

}  // namespace afterbay::server
