// SPDX-License-Identifier: Apache-2.0
#include "client/model_session.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>
#include <utility>

#include "base/caller_terms.hpp"
#include "base/clock.hpp"

namespace afterbay::client {

using transport::Wake;

namespace {

constexpr int most_waits_for_lock = 500;  ///< number of waits of one millisecond

/// Lets links rest to those servers of a closed file that have no other open file.
void let_links_rest(SessionCore& core, const File& closed, std::span<const std::shared_ptr<File>> open) {
  for (const std::size_t s : closed.servers)
    if (std::ranges::none_of(open, [&](const auto& file) {
          return std::ranges::find(file->servers, s) != file->servers.end();
        }))
      core.link(s).rest();
}

}  // namespace

ModelSession::ModelSession(RankIdentity identity, const config::Config& config, Links links,
                           observe::Profile& profile, Logger logger)
    : config_(config),
      core_(std::move(identity), config, std::move(links),
            {.handle = [this](std::size_t server,
                              std::span<const std::byte> message) { return handle(server, message); },
             .add_work = [this](Error& error) { add_work(error); },
             .add_callers =
                 [this](Error& error) {
                   if (puts_.joint().started()) puts_.joint().add_work(error, true);
                 },
             .tend = [this] { return tend(); }}),
      observed_(profile),
      definitions_(core_, config, profile, std::move(logger)),
      server_choice_(core_),
      rank_puts_(core_, profile),
      puts_(
          core_, rank_puts_, definitions_, open_files_,
          {.deadline = config.deadline, .memory_bytes = config.memory.endpoint_bytes}, profile,
          [this] { return waited_for_files_ns_; }, [this] { return work(); }),
      reader_(core_, definitions_.readers(), config.memory.input_sizes(), profile,
              {.decomposition = [this](const std::string& name) -> Result<const Decomposition*> {
                 AFTERBAY_TRY(start());
                 return definitions_.decomposition(name);
               },
               .part_as_of_epoch = [this](const std::string& path) { return part_as_of_epoch(path); },
               .wait_for_output = [this](const std::string& path) { return wait_for_output(path); }}),
      endpoint_reads_(core_, reader_, puts_.joint()) {}

ModelSession::Observed::Observed(observe::Profile& profile) {
  define = profile.timer("define");  // reports list timers in this order
  (void)profile.timer("put");
  end_step = profile.timer("end_step");
  close = profile.timer("close");
  flush = profile.timer("flush");
  epoch = profile.timer("epoch");
  wait = profile.timer("wait");
  finalize = profile.timer("finalize");
  for (const char* const of_reader : {"open_input", "get", "prefetch"}) (void)profile.timer(of_reader);
  for (const std::string_view other : {std::string_view("bytes read"), observe::counters::bytes})
    (void)profile.counter(other);
  messages = profile.counter(observe::counters::messages);
}

// ---- definitions

Result<Collection*> ModelSession::collection(const std::string& name, const Schema& schema,
                                             const CollectionOptions& options,
                                             std::vector<AskedReduction> reductions) {
  AFTERBAY_TRY_ASSIGN(const Definitions::Collections added,
                      definitions_.add_collection(name, schema, options, std::move(reductions)));
  for (const auto& in_pool : added) puts_.endpoint().add_collection(*in_pool);
  return added.front().get();
}

Result<> ModelSession::start() {
  AFTERBAY_TRY(core_.check_usable());
  if (definitions_.are_sent()) return {};
  const observe::Timed timed(observed_.define);
  AFTERBAY_TRY_ASSIGN(const Definitions::Collections added, definitions_.send());
  for (const auto& collection : added)
    if (!definitions_.gives_maps_later(*collection)) puts_.endpoint().make_likely_plans(*collection);
  return core_.wait_for_all("all ranks to have the servers' answer to the definitions");
}

// ---- files

Result<std::shared_ptr<File>> ModelSession::open(Collection& collection, const FileName& name,
                                                 const SchemaChanges& changes, bool holds_states) {
  AFTERBAY_TRY(start());
  AFTERBAY_TRY_ASSIGN(std::string path, collection.path(name));
  path = std::filesystem::path(path).lexically_normal().string();  // one spelling per file
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
  const auto earlier = destinations_.find(file->path);
  AFTERBAY_TRY_ASSIGN(const bool assigned,
                      server_choice_.choose(*file, earlier ? std::optional(earlier->server) : std::nullopt));
  const Collection& in_pool = *file->collection;
  if (definitions_.lacks(file->server, in_pool)) {
    const observe::Timed timed(observed_.define);
    AFTERBAY_TRY(definitions_.define_at(in_pool, file->server));
    puts_.endpoint().make_likely_plans(in_pool);
    AFTERBAY_TRY(core_.wait_for_all("all ranks to have a server's answer to the definitions"));
  }
  file->servers.push_back(file->server);
  if (in_pool.pool().is_split())
    for (const std::size_t s : in_pool.pool().servers())
      if (s != file->server) file->servers.push_back(s);
  AFTERBAY_TRY(wait_for_older(*file));
  wire::OpenFile message;
  message.file = file->id;
  message.collection = in_pool.id();
  message.leader = static_cast<std::uint32_t>(file->server);
  message.assigned = assigned ? 1 : 0;
  message.path = file->path;
  file->holds_states = holds_states;
  message.holds_states = holds_states ? 1 : 0;
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

/// Two collections may give the same path to different servers, which do not know of each other's
/// files: the lowest rank, whose message makes the server create the file, waits until the older
/// file is published.
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

/// Only output that is not published yet matters for reading: see OutputDirectories::names_of.
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
          Error(ErrorCode::bad_state, "the file is closed on this rank: call records() before closing it")
              .in_file(file.path)
              .at_rank(core_.identity().session_rank));
    AFTERBAY_TRY(core_.send_now(file.server, wire::AskRecords{file.id}));
    AFTERBAY_TRY(core_.wait_until([&] { return file.records.has_value(); },
                                  fmt::format("{} to be opened", file.path)));
    AFTERBAY_TRY(core_.wait_for_all("all ranks to know the file's records"));
  }
  return *file.records;
}

Result<std::optional<std::string>> ModelSession::part_as_of_epoch(const std::string& path) {
  const std::vector<std::string> names = output_directories_.names_of(path);
  const auto open = std::ranges::find_if(
      open_files_, [&](const auto& file) { return std::ranges::find(names, file->path) != names.end(); });
  if (open == open_files_.end()) return std::nullopt;
  const std::string& collection = (*open)->collection->name();
  if (!config_.settings_for(collection).readable.value_or(false))
    return fail(ErrorCode::bad_state,
                "this session has the file open for output, and nobody may read it yet: set "
                "collections.{}.readable to on, or close it first",
                collection);
  if (last_epoch_ticket_ <= (*open)->opened_after_ticket)
    return fail(
        ErrorCode::bad_state,
        "this session has the file open for output, in collection '{}', and there was no epoch since it was "
        "opened: there is no state to read",
        collection);
  const std::string part = (*open)->path + ".part";
  AFTERBAY_TRY(wait(Ticket{last_epoch_ticket_}));
  return part;
}

Result<> ModelSession::wait_for_output(const std::string& path) {
  for (const std::string& name : output_directories_.names_of(path)) {
    for (const auto& open : open_files_)
      if (open->path == name)
        return fail(
            ErrorCode::bad_state,
            "this session has the file open for output, in collection '{}': close it first, or read it as "
            "it was published last (AsOf::published)",
            open->collection->name());
    if (const std::uint64_t ticket = closing_ticket(name)) AFTERBAY_TRY(wait(Ticket{ticket}));
  }
  return {};
}

// ---- order and completion

Result<> ModelSession::end_records(std::size_t server, bool within_step) {
  if (puts_.joint().started()) return core_.flush(server);  // JointPuts ends records
  puts_.count_cut();
  ended_.step = core_.step();
  ended_.bounds.clear();
  for (const auto& collection : definitions_.collections())
    if (const auto ended = collection->records().end_all(server))
      ended_.bounds.push_back({collection->id(), *ended});
  ended_.waited_for_room_ns = core_.link(server).waited_ns();
  ended_.waited_for_files_ns = waited_for_files_ns_;
  ended_.within_step = within_step ? 1 : 0;
  // A server that received nothing in this step gets no message: it may be stuck with a full queue.
  if (!ended_.bounds.empty()) AFTERBAY_TRY(core_.send(server, ended_, Wake::no));
  return core_.flush(server);
}

Result<> ModelSession::end_step() {
  const observe::TimedCall timed(inside_call_, observed_.end_step);
  AFTERBAY_TRY(rank_puts_.check_no_slot_out("end_step"));
  AFTERBAY_TRY(core_.poll());
  AFTERBAY_TRY(puts_.end_step());
  AFTERBAY_TRY(tend());
  core_.count_step();
  for (std::size_t s = 0; s < core_.servers(); ++s) AFTERBAY_TRY(end_records(s));
  if (!core_.is_synchronous()) return {};
  AFTERBAY_TRY_ASSIGN(const Ticket written, flush());
  AFTERBAY_TRY(wait(written));
  return core_.wait_for_all("the step to be written on all ranks");
}

Result<Ticket> ModelSession::flush() {
  const observe::TimedCall timed(inside_call_, observed_.flush);
  AFTERBAY_TRY(rank_puts_.check_no_slot_out("flush"));
  AFTERBAY_TRY(core_.poll());
  AFTERBAY_TRY(puts_.check_nothing_begun("flush"));
  AFTERBAY_TRY(puts_.joint().settle("flush"));
  AwaitedFiles files;
  if (!open_files_.empty()) files = {open_files_.front()->path, open_files_.size() - 1};
  const std::uint64_t ticket = tickets_.add(core_.all_servers(), std::move(files));
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    AFTERBAY_TRY(end_records(s, true));
    AFTERBAY_TRY(core_.send_now(s, wire::Flush{ticket, rank_puts_.strings_put(s)}));
  }
  return Ticket{ticket};
}

Result<Ticket> ModelSession::epoch(const std::string& name) {
  const observe::TimedCall timed(inside_call_, observed_.epoch);
  if (name.empty())
    return core_.report_to_caller(
        make_error(ErrorCode::invalid_argument, "an epoch needs a name: it is empty")
            .at_rank(core_.identity().session_rank));
  AFTERBAY_TRY(rank_puts_.check_no_slot_out("epoch"));
  AFTERBAY_TRY(core_.poll());
  AFTERBAY_TRY(puts_.check_nothing_begun("epoch"));
  AFTERBAY_TRY(puts_.joint().settle("epoch"));
  last_epoch_ticket_ = tickets_.add(core_.all_servers(), {fmt::format("epoch '{}'", name)});
  wire::Epoch message{last_epoch_ticket_, ++next_epoch_, name, 0, {}};
  std::vector<std::vector<wire::Epoch::OpenFile>> files(core_.servers());
  for (const auto& file : open_files_) {
    std::uint64_t records = 0;
    if (puts_.joint().started())
      records = puts_.joint().ended_records(*file);
    else
      for (const model::RecordSet& put : file->put) records = std::max(records, put.end());
    for (const model::RecordSet& put : file->strings_put) records = std::max(records, put.end());
    for (const std::size_t s : file->servers) files[s].push_back({file->id, records});
  }
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    AFTERBAY_TRY(end_records(s, true));
    message.strings = rank_puts_.strings_put(s);
    message.files = std::move(files[s]);
    AFTERBAY_TRY(core_.send_now(s, message));
  }
  return Ticket{message.ticket};
}

Result<> ModelSession::on_complete(Ticket ticket, std::function<void()> function) {
  AFTERBAY_TRY(is_complete(ticket));
  tickets_.on_complete(ticket.number, std::move(function));
  return {};
}

Result<Ticket> ModelSession::close(File& file) {
  const observe::TimedCall timed(inside_call_, observed_.close);
  if (file.closed) return Ticket{file.close_ticket};
  AFTERBAY_TRY(rank_puts_.check_no_slot_out("close", &file));
  AFTERBAY_TRY(core_.poll());
  AFTERBAY_TRY(puts_.check_nothing_begun("close", &file));
  AFTERBAY_TRY(puts_.joint().settle("close", &file));
  file.closed = true;
  file.close_ticket = tickets_.add({file.servers.begin(), file.servers.end()}, {file.path});
  destinations_.close(file.path, file.close_ticket);
  if (!puts_.joint().started())
    for (const std::size_t s : file.servers) file.collection->records().end_file(s, file.id);
  std::erase_if(open_files_, [&](const std::shared_ptr<File>& other) { return other->id == file.id; });
  for (const std::size_t s : file.servers)
    AFTERBAY_TRY(core_.send_now(s, wire::CloseFile{file.id, file.close_ticket}));
  let_links_rest(core_, file, open_files_);
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
  for (const std::size_t s : tickets_.unanswered(ticket.number))
    AFTERBAY_TRY(core_.send_now(s, wire::Waiting{ticket.number}));
  const AwaitedFiles files = tickets_.files_of(ticket.number);
  const std::uint64_t begin = now_ns();
  auto reached = core_.wait_until([&] { return tickets_.is_complete(ticket.number); },
                                  Wait{.what = fmt::format("ticket {}{}", ticket.number, files.text()),
                                       .file = files.first,
                                       .servers = [&] { return tickets_.unanswered(ticket.number); }});
  waited_for_files_ns_ += now_ns() - begin;
  return reached;
}

Result<> ModelSession::finalize() {
  if (core_.is_finalized()) return {};
  const observe::TimedCall timed(inside_call_, observed_.finalize);
  AFTERBAY_TRY(core_.check_usable());
  AFTERBAY_TRY(rank_puts_.check_no_slot_out("finalize"));  // before any file is closed
  AFTERBAY_TRY(puts_.check_nothing_begun("finalize"));
  AFTERBAY_TRY(puts_.joint().settle("finalize", nullptr, true));
  while (!open_files_.empty()) {
    const std::shared_ptr<File> file = open_files_.back();
    AFTERBAY_TRY(close(*file));
  }
  AFTERBAY_TRY(reader_.close_all());
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    AFTERBAY_TRY(end_records(s));
    AFTERBAY_TRY(core_.send_now(s, wire::Finalize{}));
  }
  const AwaitedFiles unpublished = tickets_.all_files();
  AFTERBAY_TRY(core_.wait_until([this] { return core_.all_servers_ended(); },
                                Wait{.what = "the servers to publish all files" + unpublished.text(),
                                     .file = unpublished.first,
                                     .servers = {}}));
  std::uint64_t waited_ns = 0;
  for (std::size_t s = 0; s < core_.servers(); ++s) {
    transport::ClientLink& link = core_.link(s);
    waited_ns += link.waited_ns();
    observe::add(observed_.messages, link.messages());
    link.end();
  }
  rank_puts_.record_wait_for_room(waited_ns - std::min(waited_ns, rank_puts_.recorded_waits_ns()));
  core_.finish();
  stop_endpoints();
  return {};
}

Result<bool> ModelSession::tend() {
  if (!puts_.joint().started()) return false;
  AFTERBAY_TRY(puts_.joint().tend());
  endpoint_reads_.serve();
  return true;
}

Result<> ModelSession::work() {
  AFTERBAY_TRY(core_.poll());
  AFTERBAY_TRY(tend());
  return {};
}

Result<> ModelSession::progress() {
  AFTERBAY_TRY(work());
  for (std::size_t s = 0; s < core_.servers(); ++s) AFTERBAY_TRY(core_.flush(s));
  return {};
}

/// Endpoints leave their calls first: one thread at a time uses the links. If one holds them for
/// long, for example because the server has stopped reading, the servers are told all the same.
void ModelSession::abandon(const std::string& reason, const Error* cause, bool reports) noexcept {
  SessionLock& lock = puts_.joint().links().lock();
  bool locked = false;
  if (puts_.joint().started() && !lock.is_in_call_here()) {
    puts_.joint().stop(cause != nullptr ? *cause
                                        : Error(ErrorCode::bad_state, "the session is over: " + reason));
    for (int i = 0; i < most_waits_for_lock && !locked; ++i)
      if (locked = lock.try_lock(); !locked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  core_.abandon(reason, cause, reports);
  if (locked) lock.unlock();
}

void ModelSession::stop_endpoints() noexcept {
  puts_.joint().stop(core_.failure() ? *core_.failure()
                                     : Error(ErrorCode::bad_state, "the session has been finalized"));
}

void ModelSession::release_links() noexcept {
  stop_endpoints();
  // An endpoint that is still in a call uses them.
  if (puts_.joint().await_idle()) core_.release_links();
}

void ModelSession::add_work(Error& error) const {
  if (puts_.joint().started())
    puts_.joint().add_work(error);
  else
    rank_puts_.add_last_put(error);
  if (!open_files_.empty()) {
    error.in_file(open_files_.front()->path);
    error.add(
        fmt::format("not complete: {}{}", open_files_.front()->path,
                    open_files_.size() > 1 ? fmt::format(" and {} more files", open_files_.size() - 1) : ""));
  }
}

}  // namespace afterbay::client
