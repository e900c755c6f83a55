// SPDX-License-Identifier: Apache-2.0
#include "client/model_session.hpp"

#include <algorithm>
#include <filesystem>

#include "base/clock.hpp"
#include "base/suggest.hpp"
#include "config/names.hpp"
#include "model/decomposition.hpp"

namespace afterbay::client {

using transport::Wake;

ModelSession::ModelSession(RankIdentity identity, const config::Config& config, Links links,
                           observe::Profile& profile, Logger logger)
    : config_(config),
      core_(std::move(identity), config, std::move(links),
            {.handle = [this](std::size_t server,
                              std::span<const std::byte> message) { return handle(server, message); },
             .add_work = [this](Error& error) { add_work(error); }}),
      pools_(config, core_.identity().pool_of_server, core_.servers()),
      observed_(profile),
      endpoint_(core_, config.deadline, profile),
      logger_(std::move(logger)) {
  defined_.resize(core_.servers(), 0);
  input_memory_.resize(core_.servers());
}

/// Reports list timers in this order.
ModelSession::Observed::Observed(observe::Profile& profile)
    : define(profile.timer("define")),
      put(profile.timer("put")),
      end_step(profile.timer("end_step")),
      close(profile.timer("close")),
      flush(profile.timer("flush")),
      epoch(profile.timer("epoch")),
      wait(profile.timer("wait")),
      finalize(profile.timer("finalize")),
      open_input(profile.timer("open_input")),
      get(profile.timer("get")),
      prefetch(profile.timer("prefetch")),
      read_bytes(profile.counter("bytes read")),
      bytes(profile.counter(observe::counters::bytes)),
      messages(profile.counter(observe::counters::messages)) {}

// ---- definitions

Result<> ModelSession::check_new_decomposition(const std::string& name) const {
  AFTERBAY_TRY(core_.check_usable());
  if (name.empty()) return fail(ErrorCode::invalid_argument, "a decomposition needs a name: it is empty");
  for (const Decomposition& known : decompositions_)
    if (known.name == name)
      return fail(ErrorCode::conflict, "decomposition '{}' is registered already", name);
  return {};
}

Result<> ModelSession::decomposition(const std::string& name, const Block& block, const Coverage& coverage) {
  AFTERBAY_TRY(check_new_decomposition(name));
  if (coverage.repeats != Repeats::refuse)
    return core_.report_to_caller(
        make_error(ErrorCode::invalid_argument,
                   "decomposition '{}': blocks must not overlap; repeats can be declared for maps only", name)
            .at_rank(core_.identity().session_rank));
  if (auto good = model::check_block(name, block); !good)
    return core_.report_to_caller(std::move(good).error().at_rank(core_.identity().session_rank));
  decompositions_.push_back(
      {static_cast<std::uint32_t>(decompositions_.size()), name, coverage, block, nullptr});
  return {};
}

Result<> ModelSession::decomposition(const std::string& name, const Map& map, const Coverage& coverage) {
  const observe::Timed timed(observed_.define);
  AFTERBAY_TRY(check_new_decomposition(name));
  auto runs = model::make_listed_runs(name, map, coverage.repeats);
  if (!runs) return core_.report_to_caller(std::move(runs).error().at_rank(core_.identity().session_rank));
  auto part = std::make_shared<MapPart>(model::Index(map.global), std::move(*runs));
  decompositions_.push_back(
      {static_cast<std::uint32_t>(decompositions_.size()), name, coverage, {}, std::move(part)});
  return {};
}

Result<> ModelSession::send_decomposition(std::size_t server, const Decomposition& it) {
  if (!it.map)
    return core_.send(server, wire::DefineDecomposition{it.id, it.name, it.coverage, it.block}, Wake::no);
  const model::Index& global = it.map->global();
  return core_.send(
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
  AFTERBAY_TRY(core_.check_usable());
  for (const auto& known : collections_)
    if (known->name() == name) return fail(ErrorCode::conflict, "collection '{}' is defined already", name);
  Collection::Definition definition{static_cast<std::uint32_t>(collections_.size()), name, schema, options};
  auto made =
      Collection::make(std::move(definition), config_, decompositions_,
                       {core_.identity().model_rank, core_.identity().model_size, core_.servers(), &pools_});
  if (!made)
    return core_.report_to_caller(std::move(made)
                                      .error()
                                      .at_rank(core_.identity().session_rank)
                                      .add(fmt::format("defining collection '{}'", name)));
  Collection* const first = made->front().get();
  for (auto& in_pool : *made) {
    endpoint_.add_collection(*in_pool);
    collections_.push_back(std::move(in_pool));
  }
  return first;
}

std::vector<observe::CollectionRecord> ModelSession::collection_records() const {
  std::vector<observe::CollectionRecord> records;
  for (const auto& collection : collections_)
    if (!collection->by_pool.empty()) records.push_back(collection->record_for_report());
  return records;
}

Result<> ModelSession::start() {
  AFTERBAY_TRY(core_.check_usable());
  if (decompositions_sent_ == decompositions_.size() && collections_sent_ == collections_.size()) return {};
  const observe::Timed timed(observed_.define);
  warn_of_unknown_collections();
  ++define_serial_;
  const bool writes_files =
      std::ranges::any_of(collections_, [](const auto& it) { return it->format() != Format::memory; });
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    for (std::size_t d = decompositions_sent_; d < decompositions_.size(); ++d)
      AFTERBAY_TRY(send_decomposition(s, decompositions_[d]));
    for (std::size_t c = collections_sent_; c < collections_.size(); ++c)
      if (collections_[c]->serves(s))
        AFTERBAY_TRY(core_.send(s, collections_[c]->message(core_.identity().model_rank == 0), Wake::no));
    AFTERBAY_TRY(core_.send(
        s, wire::DefineEnd{define_serial_, static_cast<std::uint8_t>(writes_files ? 1 : 0)}, Wake::now));
    AFTERBAY_TRY(core_.flush(s));
  }
  const std::size_t first_new = std::exchange(collections_sent_, collections_.size());
  decompositions_sent_ = decompositions_.size();
  AFTERBAY_TRY(core_.wait_until(
      [this] { return std::ranges::all_of(defined_, [this](auto n) { return n == define_serial_; }); },
      "the servers' answer to the definitions"));
  for (std::size_t c = first_new; c < collections_.size(); ++c) endpoint_.make_likely_plans(*collections_[c]);
  return core_.wait_for_all("all ranks to have the servers' answer to the definitions");
}

/// Settings for a collection that the model has not defined are most likely mistyped.
void ModelSession::warn_of_unknown_collections() const {
  if (core_.identity().model_rank != 0) return;
  std::vector<std::string> names;
  for (const auto& collection : collections_) names.push_back(collection->name());
  for (const std::string& line : config::unknown_collections(config_, names)) logger_.warning("{}", line);
}
// ---- files

Result<std::shared_ptr<File>> ModelSession::open(Collection& collection, const FileName& name,
                                                 const SchemaChanges& changes) {
  AFTERBAY_TRY(start());
  AFTERBAY_TRY_ASSIGN(std::string path, collection.path(name));
  path = std::filesystem::path(path).lexically_normal().string();  // one spelling of one file
  if (!changes.empty())
    if (auto good = collection.check(changes); !good)
      return core_.report_to_caller(
          std::move(good).error().in_file(path).at_rank(core_.identity().session_rank));
  for (const auto& open : open_files_)
    if (open->path == path)
      return core_.report_to_caller(
          Error(ErrorCode::conflict,
                fmt::format("file '{}' is open already, in collection '{}': close it first, "
                            "or give the collections different names",
                            path, open->collection->name()))
              .in_file(path)
              .at_rank(core_.identity().session_rank));
  auto file = std::make_shared<File>();
  file->id = next_file_++;
  file->collection = &collection;
  file->path = std::move(path);
  AFTERBAY_TRY_ASSIGN(const bool assigned, choose_server(*file));
  const Collection& in_pool = *file->collection;
  file->servers.push_back(file->server);
  if (in_pool.is_split())
    for (const std::size_t s : in_pool.pool())
      if (s != file->server) file->servers.push_back(s);
  AFTERBAY_TRY(wait_for_older(*file));
  wire::OpenFile message;
  message.file = file->id;
  message.collection = in_pool.id();
  message.leader = static_cast<std::uint32_t>(file->server);
  message.assigned = assigned ? 1 : 0;
  message.path = file->path;
  if (core_.identity().model_rank == 0) {
    message.changes = changes;
    message.name = name;
  }
  for (const std::size_t s : file->servers)
    AFTERBAY_TRY(core_.send(s, message, core_.identity().model_rank == 0 ? Wake::on_node : Wake::no));
  file->opened_after_ticket = tickets_.last();
  open_files_.push_back(file);
  note_directory(file->path);
  return file;
}

/// Chooses the pool, too. A path that was written before goes to the server that wrote it, where the
/// collection may choose: that server publishes the older file first, without a wait here. A choice that
/// every rank makes alike. True: it was given to the server that has the least to write.
Result<bool> ModelSession::choose_server(File& file) {
  Collection& collection = *file.collection;
  if (const auto known = destinations_.find(file.path))
    for (Collection* const in_pool : collection.by_pool)
      if (in_pool->serves(known->server)) {
        file.collection = in_pool;
        file.server = known->server;
        return false;
      }
  const std::uint64_t nth = collection.files_dealt++;
  if (collection.takes_least_loaded_pool()) {
    AFTERBAY_TRY_ASSIGN(file.server, least_loaded(collection, nth));
    for (Collection* const in_pool : collection.by_pool)
      if (in_pool->serves(file.server)) file.collection = in_pool;
    ++file.collection->files_opened;
    AFTERBAY_TRY(ask_server(collection, nth + 1));
    return true;
  }
  Collection& chosen = *collection.by_pool[nth % collection.by_pool.size()];
  file.collection = &chosen;
  const std::uint64_t nth_in_pool = chosen.files_opened++;
  if (!chosen.takes_least_loaded()) {
    file.server = chosen.server_of(nth_in_pool);
    return false;
  }
  AFTERBAY_TRY_ASSIGN(file.server, least_loaded(chosen, nth_in_pool));
  AFTERBAY_TRY(ask_server(chosen, nth_in_pool + 1));
  return true;
}

/// What the choosing server has said: it was asked when the file before was opened, so that a rank waits
/// only if it opens one file right after the other.
Result<std::size_t> ModelSession::least_loaded(Collection& collection, std::uint64_t nth) {
  if (nth == 0) AFTERBAY_TRY(ask_server(collection, nth));
  AFTERBAY_TRY(core_.wait_until(
      [&] { return collection.assigned.contains(nth); },
      fmt::format("the choice of a server for a file of collection '{}'", collection.name())));
  AFTERBAY_TRY(core_.wait_for_all("all ranks to know the file's server"));
  const std::size_t server = collection.assigned.at(nth);
  collection.assigned.erase(nth);
  return server;
}

Result<> ModelSession::ask_server(Collection& collection, std::uint64_t nth) {
  if (core_.identity().model_rank != 0) return {};
  constexpr std::size_t asked = wire::choosing_server;
  const wire::AskServer question{collection.id(), nth, collection.expected_bytes(), collection.candidates()};
  AFTERBAY_TRY(core_.send_now(asked, question));
  return {};
}

/// Two collections may give the same path to different servers, which know nothing of each other: the rank
/// that begins files waits until the older one is published.
Result<> ModelSession::wait_for_older(const File& file) {
  const auto older = destinations_.find(file.path);
  const std::uint64_t ticket = core_.identity().model_rank == 0 ? closing_ticket(file.path) : 0;
  destinations_.begin(file.path, file.server);
  if (ticket == 0 || (older && older->server == file.server)) return {};
  return wait(Ticket{ticket});
}

std::uint64_t ModelSession::closing_ticket(const std::string& path) const {
  if (const auto known = destinations_.find(path)) return known->ticket;
  if (!destinations_.has_forgotten()) return 0;
  return tickets_.last_of(path);  // files that are not published yet have outstanding tickets
}

/// Only output that is not published yet matters to those that read: see output_names_of.
void ModelSession::note_directory(const std::string& path) {
  const auto directory_of = [](const std::string& file) {
    return std::filesystem::path(file).parent_path().string();
  };
  if (!output_directories_.add(directory_of(path))) return;
  std::set<std::string> used;
  for (const auto& file : open_files_) used.insert(directory_of(file->path));
  tickets_.for_each_first_file([&](const std::string& file) { used.insert(directory_of(file)); });
  output_directories_.keep(used);
}

Result<std::uint64_t> ModelSession::records(File& file) {
  AFTERBAY_TRY(core_.check_usable());
  if (!file.records) {
    if (file.closed)
      return core_.report_to_caller(
          Error(ErrorCode::bad_state, "the file is closed on this rank: ask before closing it")
              .in_file(file.path)
              .at_rank(core_.identity().session_rank));
    AFTERBAY_TRY(core_.send_now(file.server, wire::AskRecords{file.id}));
    AFTERBAY_TRY(core_.wait_until([&] { return file.records.has_value(); },
                                  fmt::format("{} to be opened", file.path)));
    AFTERBAY_TRY(core_.wait_for_all("all ranks to know the file's records"));
  }
  return *file.records;
}

// ---- order and completion

/// Tells `server` that everything put so far is handed over, and forgets the open records.
Result<> ModelSession::end_records(std::size_t server, std::uint64_t step) {
  ended_.step = step;
  ended_.bounds.clear();
  for (auto& collection : collections_) {
    if (const auto ended = collection->records().end_all(server))
      ended_.bounds.push_back({collection->id(), *ended});
  }
  ended_.waited_for_room_ns = core_.link(server).waited_ns();
  ended_.waited_for_files_ns = waited_for_files_ns_;
  // A server that has nothing of this step need not hear of it: it may be stuck, and its queue full.
  if (!ended_.bounds.empty()) AFTERBAY_TRY(core_.send(server, ended_, Wake::no));
  AFTERBAY_TRY(core_.flush(server));
  return {};
}

Result<> ModelSession::end_step() {
  const observe::TimedCall timed(inside_call_, observed_.end_step);
  AFTERBAY_TRY(endpoint_.check_no_slot_out("end_step"));
  AFTERBAY_TRY(core_.poll());
  core_.count_step();
  if (core_.is_synchronous()) {
    AFTERBAY_TRY_ASSIGN(const Ticket written, flush());
    AFTERBAY_TRY(wait(written));
    return core_.wait_for_all("all ranks to have the step written");
  }
  for (std::size_t s = 0; s < core_.servers(); ++s) AFTERBAY_TRY(end_records(s, core_.step()));
  return {};
}

Result<Ticket> ModelSession::flush() {
  const observe::TimedCall timed(inside_call_, observed_.flush);
  AFTERBAY_TRY(endpoint_.check_no_slot_out("flush"));
  AFTERBAY_TRY(core_.poll());
  AwaitedFiles files;
  if (!open_files_.empty()) files = {open_files_.front()->path, open_files_.size() - 1};
  const std::uint64_t ticket = tickets_.add(core_.all_servers(), std::move(files));
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    AFTERBAY_TRY(end_records(s, core_.step()));
    AFTERBAY_TRY(core_.send_now(s, wire::Flush{ticket, endpoint_.strings_put(s)}));
  }
  return Ticket{ticket};
}

Result<Ticket> ModelSession::epoch(const std::string& name) {
  const observe::TimedCall timed(inside_call_, observed_.epoch);
  if (name.empty())
    return core_.report_to_caller(
        make_error(ErrorCode::invalid_argument, "an epoch needs a name: it is empty")
            .at_rank(core_.identity().session_rank));
  AFTERBAY_TRY(endpoint_.check_no_slot_out("epoch"));
  AFTERBAY_TRY(core_.poll());
  last_epoch_ticket_ = tickets_.add(core_.all_servers(), {fmt::format("epoch '{}'", name)});
  wire::Epoch message{last_epoch_ticket_, ++next_epoch_, name, 0, {}};
  for (const auto& file : open_files_) {
    std::uint64_t records = 0;
    for (const model::RecordSet& put : file->put) records = std::max(records, put.end());
    message.files.push_back({file->id, records});
  }
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    AFTERBAY_TRY(end_records(s, core_.step()));
    message.strings = endpoint_.strings_put(s);
    AFTERBAY_TRY(core_.send_now(s, message));
  }
  return Ticket{message.ticket};
}

Result<> ModelSession::on_complete(Ticket ticket, std::function<void()> function) {
  AFTERBAY_TRY(is_complete(ticket));
  tickets_.on_complete(ticket.number, std::move(function));
  return {};
}

/// They may call the session, and register others.
void ModelSession::call_back() {
  for (const auto& function : tickets_.take_due()) function();
}

Result<Ticket> ModelSession::close(File& file) {
  const observe::TimedCall timed(inside_call_, observed_.close);
  if (file.closed) return Ticket{file.close_ticket};
  AFTERBAY_TRY(endpoint_.check_no_slot_out("close", &file));
  AFTERBAY_TRY(core_.poll());
  file.closed = true;
  file.close_ticket = tickets_.add({file.servers.begin(), file.servers.end()}, {file.path});
  destinations_.close(file.path, file.close_ticket);
  for (const std::size_t s : file.servers) file.collection->records().end_file(s, file.id);
  std::erase_if(open_files_, [&](const std::shared_ptr<File>& other) { return other->id == file.id; });
  for (const std::size_t s : file.servers) {
    AFTERBAY_TRY(core_.send_now(s, wire::CloseFile{file.id, file.close_ticket}));
  }
  return Ticket{file.close_ticket};
}

Result<bool> ModelSession::is_complete(Ticket ticket) {
  AFTERBAY_TRY(tickets_.check(ticket));
  AFTERBAY_TRY(core_.poll());
  return tickets_.is_complete(ticket.number);
}

Result<> ModelSession::wait(Ticket ticket) {
  const observe::TimedCall timed(inside_call_, observed_.wait);
  AFTERBAY_TRY_ASSIGN(const bool complete, is_complete(ticket));
  if (complete) return {};
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    AFTERBAY_TRY(core_.send_now(s, wire::Waiting{ticket.number}));
  }
  const AwaitedFiles files = tickets_.files_of(ticket.number);
  const std::uint64_t begin = now_ns();
  auto reached = core_.wait_until([&] { return tickets_.is_complete(ticket.number); },
                                  {.what = fmt::format("ticket {}{}", ticket.number, files.text()),
                                   .file = files.first,
                                   .servers = [&] { return tickets_.unanswered(ticket.number); }});
  waited_for_files_ns_ += now_ns() - begin;
  return reached;
}

Result<> ModelSession::finalize() {
  if (core_.is_finalized()) return {};
  const observe::TimedCall timed(inside_call_, observed_.finalize);
  AFTERBAY_TRY(core_.check_usable());
  AFTERBAY_TRY(endpoint_.check_no_slot_out("finalize"));  // before any file is closed
  while (!open_files_.empty()) {
    const std::shared_ptr<File> file = open_files_.back();
    AFTERBAY_TRY(close(*file));
  }
  while (!inputs_.empty()) {
    const std::shared_ptr<Input> input = inputs_.back();
    AFTERBAY_TRY(close_input(*input));
  }
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    AFTERBAY_TRY(end_records(s, core_.step()));
    AFTERBAY_TRY(core_.send_now(s, wire::Finalize{}));
  }
  const AwaitedFiles unpublished = tickets_.all_files();
  AFTERBAY_TRY(core_.wait_until([this] { return core_.all_servers_ended(); },
                                {.what = "the servers to publish all files" + unpublished.text(),
                                 .file = unpublished.first,
                                 .servers = {}}));
  std::uint64_t waited_ns = 0;
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    transport::ClientLink& link = core_.link(s);
    waited_ns += link.waited_ns();
    observe::add(observed_.messages, link.messages());
    link.end();
  }
  endpoint_.record_wait_for_room(waited_ns - std::min(waited_ns, endpoint_.recorded_waits_ns()));
  core_.finish();
  return {};
}

void ModelSession::add_work(Error& error) const {
  endpoint_.add_last_put(error);
  if (!open_files_.empty()) {
    error.in_file(open_files_.front()->path);
    error.add(
        fmt::format("not complete: {}{}", open_files_.front()->path,
                    open_files_.size() > 1 ? fmt::format(" and {} more files", open_files_.size() - 1) : ""));
  }
}

}  // namespace afterbay::client
