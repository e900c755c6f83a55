// SPDX-License-Identifier: Apache-2.0
// Definitions, order, completion, the end. Puts are in model_session_put.cpp, what goes over the links in
// model_session_links.cpp.
#include "client/model_session.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/suggest.hpp"
#include "config/names.hpp"
#include "model/decomposition.hpp"

namespace afterbay::client {

using transport::Wake;

ModelSession::ModelSession(Place place, const config::Config& config, Links links, observe::Profile& profile,
                           Logger logger)
    : place_(std::move(place)),
      config_(config),
      links_(std::move(links)),
      pools_(config, place_.pool_of_server, links_.size()),
      profile_(profile),
      logger_(std::move(logger)) {
  defined_.resize(links_.size(), 0);
  bye_.resize(links_.size(), false);
  lost_.resize(links_.size(), false);
  never_answered_.resize(links_.size(), false);
  strings_put_.resize(links_.size(), 0);
  input_memory_.resize(links_.size());
  observed_.define = profile_.timer("define");
  observed_.put = profile_.timer("put");
  observed_.end_step = profile_.timer("end_step");
  observed_.close = profile_.timer("close");
  observed_.flush = profile_.timer("flush");
  observed_.epoch = profile_.timer("epoch");
  observed_.wait = profile_.timer("wait");
  observed_.finalize = profile_.timer("finalize");
  observed_.open_input = profile_.timer("open_input");
  observed_.get = profile_.timer("get");
  observed_.prefetch = profile_.timer("prefetch");
  observed_.read_bytes = profile_.counter("bytes read");
  observed_.bytes = profile_.counter(observe::counters::bytes);
  observed_.messages = profile_.counter(observe::counters::messages);
}

void ModelSession::set_idle(std::function<bool()> idle) {
  idle_ = idle;
  for (auto& link : links_) link->set_idle(idle);
}

// ---- definitions

Result<> ModelSession::check_new_decomposition(const std::string& name) const {
  AFTERBAY_TRY(check_usable());
  if (name.empty()) return fail(ErrorCode::invalid_argument, "a decomposition needs a name: it is empty");
  for (const Decomposition& known : decompositions_)
    if (known.name == name)
      return fail(ErrorCode::conflict, "decomposition '{}' is registered already", name);
  return {};
}

Result<> ModelSession::decomposition(const std::string& name, const Block& block, const Coverage& coverage) {
  AFTERBAY_TRY(check_new_decomposition(name));
  if (coverage.repeats != Repeats::refuse)
    return told(
        make_error(ErrorCode::invalid_argument,
                   "decomposition '{}': blocks must not overlap; repeats can be declared for maps only", name)
            .at_rank(place_.session_rank));
  if (auto good = model::check_block(name, block); !good)
    return told(std::move(good).error().at_rank(place_.session_rank));
  decompositions_.push_back(
      {static_cast<std::uint32_t>(decompositions_.size()), name, coverage, block, nullptr});
  return {};
}

Result<> ModelSession::decomposition(const std::string& name, const Map& map, const Coverage& coverage) {
  const observe::Timed timed(observed_.define);
  AFTERBAY_TRY(check_new_decomposition(name));
  auto runs = model::make_listed_runs(name, map, coverage.repeats);
  if (!runs) return told(std::move(runs).error().at_rank(place_.session_rank));
  auto part = std::make_shared<MapPart>(model::Index(map.global), std::move(*runs));
  decompositions_.push_back(
      {static_cast<std::uint32_t>(decompositions_.size()), name, coverage, {}, std::move(part)});
  return {};
}

Result<> ModelSession::send_decomposition(std::size_t server, const Decomposition& it) {
  if (!it.map)
    return send(server, wire::DefineDecomposition{it.id, it.name, it.coverage, it.block}, Wake::no);
  const model::Index& global = it.map->global();
  return send(
      server,
      wire::DefineMap{it.id,
                      it.name,
                      it.coverage,
                      {global.begin(), global.end()},
                      model::encode_offsets(it.map->runs()),
                      it.map->list() ? model::encode_offsets(*it.map->list()) : std::vector<std::byte>()},
      Wake::no);
}

Result<Collection*> ModelSession::collection(const std::string& name, const Schema& schema,
                                             const CollectionOptions& options) {
  AFTERBAY_TRY(check_usable());
  for (const auto& known : collections_)
    if (known->name() == name) return fail(ErrorCode::conflict, "collection '{}' is defined already", name);
  Collection::Definition definition{static_cast<std::uint32_t>(collections_.size()), name, schema, options};
  auto made = Collection::make(std::move(definition), config_, decompositions_,
                               {place_.model_rank, place_.model_size, links_.size(), &pools_});
  if (!made)
    return told(std::move(made)
                    .error()
                    .at_rank(place_.session_rank)
                    .add(fmt::format("defining collection '{}'", name)));
  Collection* const first = made->front().get();
  observe::Timer* const timer = profile_.timer(name, observed_.put);
  for (auto& in_pool : *made) {
    in_pool->put_timer = timer;
    collections_.push_back(std::move(in_pool));
  }
  return first;
}

std::vector<observe::CollectionRecord> ModelSession::account() const {
  std::vector<observe::CollectionRecord> records;
  for (const auto& collection : collections_)
    if (!collection->by_pool.empty()) records.push_back(collection->account());
  return records;
}

Result<> ModelSession::start() {
  AFTERBAY_TRY(check_usable());
  if (decompositions_sent_ == decompositions_.size() && collections_sent_ == collections_.size()) return {};
  const observe::Timed timed(observed_.define);
  warn_of_unknown_collections();
  ++define_serial_;
  const bool writes_files =
      std::ranges::any_of(collections_, [](const auto& it) { return traits_of(it->format()).publishes; });
  for (std::size_t s = 0; s < links_.size(); ++s) {
    for (std::size_t d = decompositions_sent_; d < decompositions_.size(); ++d)
      AFTERBAY_TRY(send_decomposition(s, decompositions_[d]));
    for (std::size_t c = collections_sent_; c < collections_.size(); ++c)
      if (collections_[c]->serves(s))
        AFTERBAY_TRY(send(s, collections_[c]->message(place_.model_rank == 0), Wake::no));
    AFTERBAY_TRY(
        send(s, wire::DefineEnd{define_serial_, static_cast<std::uint8_t>(writes_files ? 1 : 0)}, Wake::now));
    if (auto sent = links_[s]->flush(); !sent) return fail(explain(s, std::move(sent).error()));
  }
  const std::size_t first_new = std::exchange(collections_sent_, collections_.size());
  decompositions_sent_ = decompositions_.size();
  AFTERBAY_TRY(wait_until(
      [this] { return std::ranges::all_of(defined_, [this](auto n) { return n == define_serial_; }); },
      "the servers' answer to the definitions"));
  for (std::size_t c = first_new; c < collections_.size(); ++c) collections_[c]->make_likely_plans();
  return wait_for_all("all ranks to have the servers' answer to the definitions");
}

/// Settings for a collection that the model has not defined are most likely mistyped.
void ModelSession::warn_of_unknown_collections() const {
  if (place_.model_rank != 0) return;
  std::vector<std::string> names;
  for (const auto& collection : collections_) names.push_back(collection->name());
  for (const std::string& line : config::unknown_collections(config_, names)) logger_.warning("{}", line);
}
// ---- order and completion

/// Tells `server` that everything put so far is handed over, and forgets the open records.
Result<> ModelSession::end_records(std::size_t server, std::uint64_t step) {
  ended_.step = step;
  ended_.bounds.clear();
  for (auto& collection : collections_) {
    ServerState& state = collection->servers[server];
    state.open.clear();
    if (state.ended_seq == state.next_seq) continue;
    state.ended_seq = state.next_seq;
    ended_.bounds.push_back({collection->id(), state.next_seq});
  }
  ended_.waited_for_room_ns = links_[server]->waited_ns();
  ended_.waited_for_files_ns = waited_for_files_ns_;
  // A server that has nothing of this step need not hear of it: it may be stuck, and its queue full.
  if (!ended_.bounds.empty()) AFTERBAY_TRY(send(server, ended_, Wake::no));
  if (auto sent = links_[server]->flush(); !sent) return fail(explain(server, std::move(sent).error()));
  return {};
}

Result<> ModelSession::end_step() {
  const observe::TimedCall timed(inside_call_, observed_.end_step);
  AFTERBAY_TRY(check_no_slot_out("end_step"));
  AFTERBAY_TRY(poll());
  ++step_;
  if (arrive_) {
    AFTERBAY_TRY_ASSIGN(const Ticket written, flush());
    AFTERBAY_TRY(wait(written));
    return wait_for_all("all ranks to have the step written");
  }
  for (std::size_t s = 0; s < links_.size(); ++s) AFTERBAY_TRY(end_records(s, step_));
  return {};
}

Result<Ticket> ModelSession::flush() {
  const observe::TimedCall timed(inside_call_, observed_.flush);
  AFTERBAY_TRY(check_no_slot_out("flush"));
  AFTERBAY_TRY(poll());
  const std::uint64_t ticket = ++next_ticket_;
  const bool any = !open_files_.empty();
  pending_[ticket] = {links_.size(), any ? open_files_.front()->path : "", any ? open_files_.size() - 1 : 0};
  for (std::size_t s = 0; s < links_.size(); ++s) owe_[ticket].insert(s);
  for (std::size_t s = 0; s < links_.size(); ++s) {
    AFTERBAY_TRY(end_records(s, step_));
    AFTERBAY_TRY(send(s, wire::Flush{ticket, strings_put_[s]}, Wake::now));
    if (auto sent = links_[s]->flush(); !sent) return fail(explain(s, std::move(sent).error()));
  }
  return Ticket{ticket};
}

Result<Ticket> ModelSession::epoch(const std::string& name) {
  const observe::TimedCall timed(inside_call_, observed_.epoch);
  if (name.empty())
    return told(make_error(ErrorCode::invalid_argument, "an epoch needs a name: it is empty")
                    .at_rank(place_.session_rank));
  AFTERBAY_TRY(check_no_slot_out("epoch"));
  AFTERBAY_TRY(poll());
  wire::Epoch message{++next_ticket_, ++next_epoch_, name, 0, {}};
  last_epoch_ticket_ = message.ticket;
  for (const auto& file : open_files_) {
    std::uint64_t records = 0;
    for (const model::RecordSet& put : file->put) records = std::max(records, put.end());
    message.files.push_back({file->id, records});
  }
  pending_[message.ticket] = {links_.size(), fmt::format("epoch '{}'", name), 0};
  for (std::size_t s = 0; s < links_.size(); ++s) owe_[message.ticket].insert(s);
  for (std::size_t s = 0; s < links_.size(); ++s) {
    AFTERBAY_TRY(end_records(s, step_));
    message.strings = strings_put_[s];
    AFTERBAY_TRY(send(s, message, Wake::now));
    if (auto sent = links_[s]->flush(); !sent) return fail(explain(s, std::move(sent).error()));
  }
  return Ticket{message.ticket};
}

Result<> ModelSession::on_complete(Ticket ticket, std::function<void()> function) {
  AFTERBAY_TRY(is_complete(ticket));
  on_complete_[ticket.number].push_back(std::move(function));
  return {};
}

/// They may call the session, and register others.
void ModelSession::call_back() {
  std::vector<std::function<void()>> due;
  for (auto at = on_complete_.begin(); at != on_complete_.end();) {
    if (pending_.contains(at->first)) {
      ++at;
      continue;
    }
    std::ranges::move(at->second, std::back_inserter(due));
    at = on_complete_.erase(at);
  }
  for (const auto& function : due) function();
}

Result<Ticket> ModelSession::close(File& file) {
  const observe::TimedCall timed(inside_call_, observed_.close);
  if (file.closed) return Ticket{file.close_ticket};
  AFTERBAY_TRY(check_no_slot_out("close", &file));
  AFTERBAY_TRY(poll());
  file.closed = true;
  file.close_ticket = ++next_ticket_;
  pending_[file.close_ticket] = {file.servers.size(), file.path, 0};
  owe_[file.close_ticket].insert(file.servers.begin(), file.servers.end());
  destinations_.close(file.path, file.close_ticket);
  for (const std::size_t s : file.servers)
    std::erase_if(file.collection->servers[s].open,
                  [&](const ServerState::OpenRecord& record) { return record.file == file.id; });
  std::erase_if(open_files_, [&](const std::shared_ptr<File>& other) { return other->id == file.id; });
  for (const std::size_t s : file.servers) {
    AFTERBAY_TRY(send(s, wire::CloseFile{file.id, file.close_ticket}, Wake::now));
    if (auto sent = links_[s]->flush(); !sent) return fail(explain(s, std::move(sent).error()));
  }
  return Ticket{file.close_ticket};
}

Result<bool> ModelSession::is_complete(Ticket ticket) {
  if (ticket.number == 0 || ticket.number > next_ticket_)
    return fail(ErrorCode::invalid_argument,
                "there is no ticket {} in this session: close, flush and epoch give tickets, {} so far",
                ticket.number, next_ticket_);
  AFTERBAY_TRY(poll());
  return !pending_.contains(ticket.number);
}

Result<> ModelSession::wait(Ticket ticket) {
  const observe::TimedCall timed(inside_call_, observed_.wait);
  AFTERBAY_TRY_ASSIGN(const bool complete, is_complete(ticket));
  if (complete) return {};
  for (std::size_t s = 0; s < links_.size(); ++s) {
    AFTERBAY_TRY(send(s, wire::Waiting{ticket.number}, Wake::now));
    if (auto sent = links_[s]->flush(); !sent) return fail(explain(s, std::move(sent).error()));
  }
  const Pending pending = pending_.contains(ticket.number) ? pending_.at(ticket.number) : Pending();
  awaited_ = pending.file;
  awaited_ticket_ = ticket.number;
  const std::uint64_t begin = now_ns();
  auto reached = wait_until([&] { return !pending_.contains(ticket.number); },
                            fmt::format("ticket {}{}", ticket.number, pending.text()));
  waited_for_files_ns_ += now_ns() - begin;
  awaited_.clear();
  awaited_ticket_ = 0;
  return reached;
}

Result<> ModelSession::finalize() {
  if (finalized_ && !failure_) return {};
  const observe::TimedCall timed(inside_call_, observed_.finalize);
  AFTERBAY_TRY(check_usable());
  AFTERBAY_TRY(check_no_slot_out("finalize"));  // before any file is closed
  while (!open_files_.empty()) {
    const std::shared_ptr<File> file = open_files_.back();
    AFTERBAY_TRY(close(*file));
  }
  while (!inputs_.empty()) {
    const std::shared_ptr<Input> input = inputs_.back();
    AFTERBAY_TRY(close_input(*input));
  }
  for (std::size_t s = 0; s < links_.size(); ++s) {
    AFTERBAY_TRY(end_records(s, step_));
    AFTERBAY_TRY(send(s, wire::Finalize{}, Wake::now));
    if (auto sent = links_[s]->flush(); !sent) return fail(explain(s, std::move(sent).error()));
  }
  Pending unpublished;
  for (const auto& [ticket, one] : pending_) {
    if (one.file.empty()) continue;
    if (unpublished.file.empty())
      unpublished.file = one.file;
    else
      ++unpublished.more;
  }
  awaited_ = unpublished.file;
  AFTERBAY_TRY(wait_until([this] { return std::ranges::all_of(bye_, [](bool said) { return said; }); },
                          "the servers to publish all files" + unpublished.text()));
  std::uint64_t waited_ns = 0;
  for (const auto& link : links_) {
    waited_ns += link->waited_ns();
    observe::add(observed_.messages, link->messages());
    link->end();
  }
  account_for_room(waited_ns - std::min(waited_ns, room_accounted_ns_));
  finalized_ = true;
  return {};
}

void ModelSession::abandon(const std::string& reason, const Error* cause, bool reports) noexcept {
  if (finalized_) return;
  finalized_ = true;
  if (cause != nullptr && !failure_) last_error_ = *cause;
  std::vector<std::uint32_t> lost;
  for (std::size_t s = 0; s < links_.size(); ++s)
    if (lost_[s] || never_answered_[s]) lost.push_back(static_cast<std::uint32_t>(s));
  for (std::size_t s = 0; s < links_.size(); ++s) {
    if (lost_[s] && !never_answered_[s]) continue;  // it would be waited for in vain once more
    // One that comes late after all finds what others have said by then.
    const bool known = reported_ || (never_answered_[s] && (reports || lost.size() < links_.size()));
    try {
      const auto bytes = wire::encode(
          wire::Abandon{reason, failure_ ? failure_ : last_error_, failure_.has_value(), known, lost});
      if (links_[s]->send(bytes, transport::Wake::now)) (void)links_[s]->flush();
    } catch (...) {  // the process is on its way out; the server notices that too
    }
  }
  if (!failure_) failure_ = Error(ErrorCode::bad_state, "the session is over: " + reason);
}

bool ModelSession::await_failure(transport::Millis limit) noexcept {
  const std::uint64_t until = now_ns() + static_cast<std::uint64_t>(limit.count()) * 1'000'000;
  for (std::size_t s = 0; s < links_.size(); ++s) lost_[s] = lost_[s] || never_answered_[s];
  while (!told_by_server_ && now_ns() < until && std::ranges::find(lost_, false) != lost_.end()) {
    for (std::size_t s = 0; s < links_.size() && !told_by_server_; ++s) {
      if (lost_[s]) continue;
      const bool alive = links_[s]->check_alive().has_value();  // before: its last message may be there
      const auto message = links_[s]->receive();
      if (!message)
        lost_[s] = true;
      else if (*message)
        told_by_server_ = wire::kind_of(**message) == wire::Failed::kind;
      else if (!alive)
        lost_[s] = true;
      else if (!(idle_ && idle_()))
        links_[s]->wait(transport::Millis(5));
    }
  }
  return told_by_server_;
}

void ModelSession::release_links() noexcept {
  finalized_ = true;
  links_.clear();
}

}  // namespace afterbay::client
