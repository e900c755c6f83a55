// SPDX-License-Identifier: Apache-2.0
#include "client/model_session.hpp"

#include <algorithm>
#include <filesystem>

#include "base/clock.hpp"
#include "base/suggest.hpp"
#include "config/names.hpp"
#include "model/changes.hpp"
#include "model/decomposition.hpp"

namespace afterbay::client {
namespace {

constexpr std::size_t most_open_records =
    32;  ///< of one collection on one server; half of LinkSizes::instances
using transport::Wake;

/// Servers notice first what is missing and say it better; a rank that hears nothing gives up later.
std::chrono::milliseconds patience(const config::Config& config) {
  return config.deadline + config.deadline / 4;
}

}  // namespace

ModelSession::ModelSession(Place place, const config::Config& config, Links links, observe::Profile& profile,
                           Logger logger)
    : place_(place),
      config_(config),
      links_(std::move(links)),
      profile_(profile),
      logger_(std::move(logger)) {
  defined_.resize(links_.size(), 0);
  bye_.resize(links_.size(), false);
  lost_.resize(links_.size(), false);
  strings_put_.resize(links_.size(), 0);
  observed_.define = profile_.timer("define");
  observed_.put = profile_.timer("put");
  observed_.end_step = profile_.timer("end_step");
  observed_.close = profile_.timer("close");
  observed_.flush = profile_.timer("flush");
  observed_.wait = profile_.timer("wait");
  observed_.finalize = profile_.timer("finalize");
  observed_.bytes = profile_.counter(observe::counters::bytes);
  observed_.messages = profile_.counter(observe::counters::messages);
}

void ModelSession::set_idle(std::function<bool()> idle) {
  idle_ = idle;
  for (auto& link : links_) link->set_idle(idle);
}

// ---- definitions

Result<> ModelSession::decomposition(const std::string& name, const Block& block, const Coverage& coverage) {
  AFTERBAY_TRY(check_usable());
  for (const Decomposition& known : decompositions_)
    if (known.name == name)
      return fail(ErrorCode::conflict, "decomposition '{}' is registered already", name);
  if (auto good = model::check_block(name, block); !good)
    return told(std::move(good).error().at_rank(place_.session_rank));
  decompositions_.push_back({static_cast<std::uint32_t>(decompositions_.size()), name, block, coverage});
  return {};
}

Result<Collection*> ModelSession::collection(const std::string& name, const Schema& schema,
                                             const CollectionOptions& options) {
  AFTERBAY_TRY(check_usable());
  for (const auto& known : collections_)
    if (known->name() == name) return fail(ErrorCode::conflict, "collection '{}' is defined already", name);
  Collection::Definition definition{static_cast<std::uint32_t>(collections_.size()), name, schema, options};
  auto made =
      Collection::make(std::move(definition), config_, decompositions_, place_.model_rank, links_.size());
  if (!made)
    return told(std::move(made)
                    .error()
                    .at_rank(place_.session_rank)
                    .add(fmt::format("defining collection '{}'", name)));
  (*made)->put_timer = profile_.timer(name, observed_.put);
  collections_.push_back(std::move(*made));
  return collections_.back().get();
}

Result<> ModelSession::start() {
  AFTERBAY_TRY(check_usable());
  if (decompositions_sent_ == decompositions_.size() && collections_sent_ == collections_.size()) return {};
  const observe::Timed timed(observed_.define);
  warn_of_unknown_collections();
  ++define_serial_;
  for (std::size_t s = 0; s < links_.size(); ++s) {
    for (std::size_t d = decompositions_sent_; d < decompositions_.size(); ++d) {
      const Decomposition& it = decompositions_[d];
      AFTERBAY_TRY(send(s, wire::DefineDecomposition{it.id, it.name, it.coverage, it.block}, Wake::no));
    }
    for (std::size_t c = collections_sent_; c < collections_.size(); ++c)
      if (collections_[c]->serves(s))
        AFTERBAY_TRY(send(s, collections_[c]->message(place_.model_rank == 0), Wake::no));
    AFTERBAY_TRY(send(s, wire::DefineEnd{define_serial_}, Wake::now));
    if (auto sent = links_[s]->flush(); !sent) return fail(explain(s, std::move(sent).error()));
  }
  decompositions_sent_ = decompositions_.size();
  collections_sent_ = collections_.size();
  AFTERBAY_TRY(wait_until(
      [this] { return std::ranges::all_of(defined_, [this](auto n) { return n == define_serial_; }); },
      "the servers' answer to the definitions"));
  return wait_for_all("all ranks to have the servers' answer to the definitions");
}

/// Settings for a collection that the model has not defined are most likely mistyped.
void ModelSession::warn_of_unknown_collections() const {
  if (place_.model_rank != 0) return;
  std::vector<std::string> names;
  for (const auto& collection : collections_) names.push_back(collection->name());
  for (const std::string& line : config::unknown_collections(config_, names)) logger_.warning("{}", line);
}

// ---- files and records

Result<std::shared_ptr<File>> ModelSession::open(Collection& collection, const FileName& name,
                                                 const SchemaChanges& changes) {
  AFTERBAY_TRY(start());
  AFTERBAY_TRY_ASSIGN(std::string path, collection.path(name));
  path = std::filesystem::path(path).lexically_normal().string();  // one spelling of one file
  if (!changes.empty())
    if (auto changed = model::apply(collection.schema(), changes); !changed)
      return told(std::move(changed).error().in_file(path).at_rank(place_.session_rank));
  for (const auto& open : open_files_)
    if (open->path == path)
      return told(Error(ErrorCode::conflict,
                        fmt::format("file '{}' is open already, in collection '{}': close it first, "
                                    "or give the collections different names",
                                    path, open->collection->name()))
                      .in_file(path)
                      .at_rank(place_.session_rank));
  auto file = std::make_shared<File>();
  file->id = next_file_++;
  file->collection = &collection;
  file->server = choose_server(collection, path);
  file->path = std::move(path);
  AFTERBAY_TRY(wait_for_older(*file));
  wire::OpenFile message{file->id, collection.id(), file->path, std::nullopt};
  if (place_.model_rank == 0) message.changes = changes;
  AFTERBAY_TRY(send(file->server, message, place_.model_rank == 0 ? Wake::with_flush : Wake::no));
  open_files_.push_back(file);
  return file;
}

/// A path that was written before goes to the server that wrote it, where the collection may choose: that
/// server publishes the older file first, without a wait here. A choice that every rank makes alike.
std::size_t ModelSession::choose_server(Collection& collection, const std::string& path) {
  const auto known = destinations_.find(std::hash<std::string>()(path));
  if (known != destinations_.end() && collection.serves(known->second.server)) return known->second.server;
  return collection.server_of(collection.files_opened++);
}

/// Two collections may give the same path to different servers, which know nothing of each other: the rank
/// that begins files waits until the older one is published.
Result<> ModelSession::wait_for_older(const File& file) {
  Destination& it = destinations_[std::hash<std::string>()(file.path)];
  const Destination older = std::exchange(it, {file.server, 0});
  if (older.ticket == 0 || older.server == file.server || place_.model_rank != 0) return {};
  return wait(Ticket{older.ticket});
}

Result<std::uint64_t> ModelSession::begin_record(File& file, std::uint64_t record, bool fixed) {
  ServerState& state = file.collection->servers[file.server];
  for (auto it = state.open.rbegin(); it != state.open.rend(); ++it)
    if (it->file == file.id && it->record == record && it->fixed == fixed) return it->seq;
  if (state.open.size() >= most_open_records) {  // the oldest is taken to be complete, on every rank alike
    state.ended_seq = state.open.front().seq + 1;
    state.open.erase(state.open.begin());
    AFTERBAY_TRY(
        send(file.server, wire::EndRecords{step_, {{file.collection->id(), state.ended_seq}}}, Wake::no));
  }
  const std::uint64_t seq = state.next_seq++;
  state.open.push_back({file.id, record, fixed, seq});
  AFTERBAY_TRY(
      send(file.server, wire::BeginRecord{file.collection->id(), seq, file.id, record, fixed}, Wake::no));
  return seq;
}

Result<Handover> ModelSession::begin(File& file, std::string_view variable, std::uint64_t record, Type type,
                                     const MemoryLayout& memory) {
  AFTERBAY_TRY(check_usable());
  if (file.closed)
    return fail(ErrorCode::bad_state, "the file is closed on this rank: open it again before putting");
  Collection& collection = *file.collection;
  AFTERBAY_TRY_ASSIGN(VariableState* const state, collection.framed_variable(variable));
  AFTERBAY_TRY_ASSIGN(const PutPlan* const plan, collection.plan(*state, type, memory));
  const bool fixed = !collection.layout().variables[state->index].record;
  AFTERBAY_TRY_ASSIGN(record, collection.record_of(state->index, record));
  AFTERBAY_TRY_ASSIGN(const std::uint64_t seq, begin_record(file, record, fixed));
  links_[file.server]->set_position(++position_);
  remember_put(file, state->index, record);
  return Handover{&file, state, plan, record, seq, position_};
}

void ModelSession::remember_put(const File& file, std::uint32_t variable, std::uint64_t record) {
  if (last_put_.file != file.id) last_put_.path = file.path;
  last_put_.file = file.id;
  last_put_.collection = file.collection;
  last_put_.variable = variable;
  last_put_.record = record;
}

transport::FrameSlot ModelSession::slot(const Handover& handover, const PiecePlan& part) const {
  const Collection& collection = *handover.file->collection;
  const model::Piece& piece = collection.layout().pieces[part.piece];
  const model::Frame& frame = collection.layout().frames[piece.frame];
  transport::FrameSlot slot;
  slot.frame = collection.servers[handover.file->server].first_frame + piece.frame;
  slot.seq = handover.seq;
  slot.bytes = frame.bytes;
  slot.phase = collection.layout().phase(frame, handover.record);
  slot.position = handover.position;
  return slot;
}

Result<bool> ModelSession::has_room(const Handover& handover) {
  std::vector<transport::FrameSlot> slots;
  for (const PiecePlan& part : handover.plan->pieces) slots.push_back(slot(handover, part));
  const std::size_t server = handover.file->server;
  auto room = links_[server]->make_room(slots, handover.plan->packed_bytes);
  if (!room) return fail(explain(server, std::move(room).error()));
  return *room;
}

/// Returns how many values the file's type could not hold.
Result<std::uint64_t> ModelSession::copy_pieces(const Handover& handover, const void* data) {
  const model::FileLayout& layout = handover.file->collection->layout();
  const std::size_t server = handover.file->server;
  transport::ClientLink& link = *links_[server];
  std::uint64_t out_of_range = 0;
  for (const PiecePlan& part : handover.plan->pieces) {
    const model::Piece& piece = layout.pieces[part.piece];
    const std::uint32_t in_frame = part.piece - layout.frames[piece.frame].first_piece;
    const transport::FrameSlot place = slot(handover, part);
    auto landing = link.reserve(place, in_frame, part.packed_bytes, true);
    if (!landing) return fail(explain(server, std::move(landing).error()));
    out_of_range += landing->packed ? model::execute(part.pack, data, landing->base, handover.plan->kernel)
                                    : model::execute(part.gather, data, landing->base + piece.frame_offset,
                                                     handover.plan->kernel);
    if (auto done = link.commit(place, in_frame); !done)
      return fail(explain(server, std::move(done).error()));
  }
  return out_of_range;
}

/// Refuses a second put of a record: its bytes may be on their way to the file already.
Result<> ModelSession::mark_put(File& file, std::uint32_t variable, std::uint64_t record) {
  if (file.put.empty()) file.put.resize(file.collection->schema().variables.size());
  if (!file.put[variable].contains(record)) {
    file.put[variable].insert(record);
    return {};
  }
  if (!file.collection->layout().variables[variable].record)
    return fail(ErrorCode::conflict, "the variable was put already: it can be put once while a file is open");
  return fail(ErrorCode::conflict,
              "record {} of the variable was put already: a record can be put once while a file is open",
              record);
}

/// After the last piece: the log entry by which the server knows who has put what.
Result<> ModelSession::finish(const Handover& handover) {
  links_[handover.file->server]->set_position(handover.position + 1);
  if (handover.plan->pieces.empty()) return {};
  observe::add(observed_.bytes, handover.plan->packed_bytes);
  return send(handover.file->server,
              wire::Put{handover.file->collection->id(), handover.seq, handover.variable->index}, Wake::no);
}

Result<bool> ModelSession::put(File& file, std::string_view variable, std::uint64_t record, const void* data,
                               Type type, const MemoryLayout& memory, bool may_wait) {
  observe::Timed timed(file.collection->put_timer);
  const auto failed = [&](Error error) {
    return told(error.in_file(file.path).in_variable(std::string(variable)).at_rank(place_.session_rank));
  };
  auto handover = begin(file, variable, record, type, memory);
  if (!handover) return failed(std::move(handover).error());
  if (data == nullptr && !handover->plan->pieces.empty())
    return failed(make_error(ErrorCode::invalid_argument,
                             "the data pointer is null, but this rank holds {} points",
                             handover->variable->mine.points()));
  if (!may_wait) {
    auto room = has_room(*handover);
    if (!room) return failed(std::move(room).error());
    if (!*room) {
      --position_;  // the same put comes again
      return false;
    }
  }
  if (auto marked = mark_put(file, handover->variable->index, handover->record); !marked)
    return failed(std::move(marked).error());
  auto out_of_range = copy_pieces(*handover, data);
  if (!out_of_range) return failed(std::move(out_of_range).error());
  if (auto finished = finish(*handover); !finished) return failed(std::move(finished).error());
  timed.bytes(handover->plan->packed_bytes);
  if (*out_of_range > 0)
    return failed(make_error(
        ErrorCode::wrong_type,
        "{} values of type {} are out of range of the file's type {}; the rest of the field was written",
        *out_of_range, name_of(type),
        name_of(file.collection->schema().variables[handover->variable->index].type)));
  return true;
}

Result<> ModelSession::put_strings(File& file, std::string_view variable, std::uint64_t record,
                                   std::span<const std::string> values) {
  observe::Timed timed(file.collection->put_timer);
  const auto failed = [&](Error error) {
    return told(error.in_file(file.path).in_variable(std::string(variable)).at_rank(place_.session_rank));
  };
  if (auto usable = check_usable(); !usable) return failed(std::move(usable).error());
  if (file.closed)
    return failed(
        Error(ErrorCode::bad_state, "the file is closed on this rank: open it again before putting"));
  auto index = file.collection->string_variable(variable);
  if (!index) return failed(std::move(index).error());
  const model::VariableLayout& layout = file.collection->layout().variables[*index];
  if (values.size() != layout.shape.product())
    return failed(make_error(ErrorCode::invalid_argument, "expected {} strings, found {}",
                             layout.shape.product(), values.size()));
  const auto known = file.collection->record_of(*index, record);
  if (!known) return failed(known.error());
  if (auto marked = mark_put(file, *index, *known); !marked) return failed(std::move(marked).error());
  ++strings_put_[file.server];
  remember_put(file, *index, *known);
  if (place_.model_rank != 0) return {};
  const wire::PutStrings message{file.id, *known, *index, {values.begin(), values.end()}};
  if (auto sent = send(file.server, message, Wake::now); !sent) return failed(std::move(sent).error());
  return {};
}

Result<std::optional<ModelSession::Direct>> ModelSession::acquire(File& file, std::string_view variable,
                                                                  std::uint64_t record, Type type) {
  const auto failed = [&](Error error) {
    return told(error.in_file(file.path).in_variable(std::string(variable)).at_rank(place_.session_rank));
  };
  if (auto state = file.collection->framed_variable(variable); !state)
    return failed(std::move(state).error());
  const bool same_type = file.collection->schema().find_variable(variable)->type == type;
  const bool same_order = !model::needs_swap(file.collection->layout().big_endian) || size_of(type) == 1;
  if (!same_type || !same_order || links_[file.server]->name() == "mpi") return std::optional<Direct>();
  auto handover = begin(file, variable, record, type, {});
  if (!handover) return failed(std::move(handover).error());
  if (auto marked = mark_put(file, handover->variable->index, handover->record); !marked)
    return failed(std::move(marked).error());
  Direct direct{*handover, {}};
  slots_out_[direct.handover.position] = {
      file.id, fmt::format("{}, variable {}, record {}", file.path, variable, record)};
  const model::FileLayout& layout = file.collection->layout();
  for (const PiecePlan& part : handover->plan->pieces) {
    const std::uint32_t in_frame = part.piece - layout.frames[layout.pieces[part.piece].frame].first_piece;
    auto landing = links_[file.server]->reserve(slot(*handover, part), in_frame, part.packed_bytes, true);
    if (!landing) return failed(explain(file.server, std::move(landing).error()));
    direct.frames.push_back(landing->base);
  }
  return std::optional<Direct>(std::move(direct));
}

void ModelSession::forget(const Direct& direct) noexcept { slots_out_.erase(direct.handover.position); }

/// Memory that was lent must not go back to the server while the model may write to it.
Result<> ModelSession::check_no_slot_out(const char* call, const File* file) {
  for (const auto& [position, slot] : slots_out_)
    if (file == nullptr || slot.file == file->id)
      return told(make_error(ErrorCode::bad_state,
                             "{} while a slot is out ({}): commit it or destroy it before", call, slot.what)
                      .at_rank(place_.session_rank));
  return {};
}

Result<> ModelSession::commit(const Direct& direct) {
  forget(direct);
  const Handover& handover = direct.handover;
  observe::Timed timed(handover.file->collection->put_timer);
  AFTERBAY_TRY(check_usable());
  const model::FileLayout& layout = handover.file->collection->layout();
  for (const PiecePlan& part : handover.plan->pieces) {
    const std::uint32_t in_frame = part.piece - layout.frames[layout.pieces[part.piece].frame].first_piece;
    if (auto done = links_[handover.file->server]->commit(slot(handover, part), in_frame); !done)
      return fail(explain(handover.file->server, std::move(done).error()));
  }
  timed.bytes(handover.plan->packed_bytes);
  return finish(handover);
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
  AFTERBAY_TRY(send(server, ended_, Wake::no));
  if (auto sent = links_[server]->flush(); !sent) return fail(explain(server, std::move(sent).error()));
  return {};
}

Result<> ModelSession::end_step() {
  const observe::Timed timed(observed_.end_step);
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
  const observe::Timed timed(observed_.flush);
  AFTERBAY_TRY(check_no_slot_out("flush"));
  AFTERBAY_TRY(poll());
  const std::uint64_t ticket = ++next_ticket_;
  const bool any = !open_files_.empty();
  pending_[ticket] = {links_.size(), any ? open_files_.front()->path : "", any ? open_files_.size() - 1 : 0};
  for (std::size_t s = 0; s < links_.size(); ++s) {
    AFTERBAY_TRY(end_records(s, step_));
    AFTERBAY_TRY(send(s, wire::Flush{ticket, strings_put_[s]}, Wake::now));
    if (auto sent = links_[s]->flush(); !sent) return fail(explain(s, std::move(sent).error()));
  }
  return Ticket{ticket};
}

Result<Ticket> ModelSession::close(File& file) {
  const observe::Timed timed(observed_.close);
  if (file.closed) return Ticket{file.close_ticket};
  AFTERBAY_TRY(check_no_slot_out("close", &file));
  AFTERBAY_TRY(poll());
  file.closed = true;
  file.close_ticket = ++next_ticket_;
  pending_[file.close_ticket] = {1, file.path, 0};
  if (const auto it = destinations_.find(std::hash<std::string>()(file.path)); it != destinations_.end())
    it->second.ticket = file.close_ticket;
  auto& open = file.collection->servers[file.server].open;
  std::erase_if(open, [&](const ServerState::OpenRecord& record) { return record.file == file.id; });
  std::erase_if(open_files_, [&](const std::shared_ptr<File>& other) { return other->id == file.id; });
  AFTERBAY_TRY(send(file.server, wire::CloseFile{file.id, file.close_ticket}, Wake::now));
  if (auto sent = links_[file.server]->flush(); !sent)
    return fail(explain(file.server, std::move(sent).error()));
  return Ticket{file.close_ticket};
}

Result<bool> ModelSession::is_complete(Ticket ticket) {
  if (ticket.number == 0 || ticket.number > next_ticket_)
    return fail(ErrorCode::invalid_argument,
                "there is no ticket {} in this session: close and flush give tickets, {} so far",
                ticket.number, next_ticket_);
  AFTERBAY_TRY(poll());
  return !pending_.contains(ticket.number);
}

Result<> ModelSession::wait(Ticket ticket) {
  const observe::Timed timed(observed_.wait);
  AFTERBAY_TRY_ASSIGN(const bool complete, is_complete(ticket));
  if (complete) return {};
  for (std::size_t s = 0; s < links_.size(); ++s) {
    AFTERBAY_TRY(send(s, wire::Waiting{ticket.number}, Wake::now));
    if (auto sent = links_[s]->flush(); !sent) return fail(explain(s, std::move(sent).error()));
  }
  const Pending pending = pending_.contains(ticket.number) ? pending_.at(ticket.number) : Pending();
  awaited_ = pending.file;
  auto reached = wait_until([&] { return !pending_.contains(ticket.number); },
                            fmt::format("ticket {}{}", ticket.number, pending.text()));
  awaited_.clear();
  return reached;
}

Result<> ModelSession::finalize() {
  if (finalized_) return {};
  const observe::Timed timed(observed_.finalize);
  AFTERBAY_TRY(check_usable());
  while (!open_files_.empty()) {
    const std::shared_ptr<File> file = open_files_.back();
    AFTERBAY_TRY(close(*file));
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
  for (const auto& link : links_) {
    const std::uint64_t now = now_ns();
    if (observe::Timer* const timer = profile_.wait("room in the server", observed_.put);
        timer && link->waited_ns() > 0)
      timer->add(now - link->waited_ns(), now);
    observe::add(observed_.messages, link->messages());
  }
  finalized_ = true;
  return {};
}

void ModelSession::abandon(const std::string& reason) noexcept {
  if (finalized_) return;
  finalized_ = true;
  for (std::size_t s = 0; s < links_.size(); ++s) {
    if (lost_[s]) continue;  // it would be waited for in vain once more
    try {
      const auto bytes =
          wire::encode(wire::Abandon{reason, failure_ ? failure_ : last_error_, failure_.has_value()});
      if (links_[s]->send(bytes, transport::Wake::now)) (void)links_[s]->flush();
    } catch (...) {  // the process is on its way out; the server notices that too
    }
  }
}

void ModelSession::release_links() noexcept {
  finalized_ = true;
  links_.clear();
}

// ---- links

Result<> ModelSession::check_usable() const {
  if (failure_) return fail(*failure_);
  if (finalized_) return fail(ErrorCode::bad_state, "the session has been finalized");
  return {};
}

template <class Message>
Result<> ModelSession::send(std::size_t server, const Message& message, transport::Wake wake) {
  wire::encode(message, encoded_);
  if (auto sent = links_[server]->send(encoded_, wake); !sent)
    return fail(explain(server, std::move(sent).error()));
  return {};
}

Result<> ModelSession::poll() {
  AFTERBAY_TRY(check_usable());
  for (std::size_t s = 0; s < links_.size(); ++s) {
    for (;;) {
      auto message = links_[s]->receive();
      if (!message) return fail(explain(s, std::move(message).error()));
      if (!*message) break;
      AFTERBAY_TRY(handle(s, **message));
    }
  }
  return {};
}

Result<> ModelSession::handle(std::size_t server, std::span<const std::byte> message) {
  const auto kind = wire::kind_of(message);
  if (kind == wire::Defined::kind) {
    AFTERBAY_TRY_ASSIGN(const wire::Defined defined, wire::decode<wire::Defined>(message));
    for (const auto& base : defined.bases)
      collections_.at(base.collection)->servers[server].first_frame = base.first_frame;
    defined_[server] = defined.serial;
  } else if (kind == wire::Done::kind) {
    AFTERBAY_TRY_ASSIGN(const wire::Done done, wire::decode<wire::Done>(message));
    if (const auto it = pending_.find(done.ticket); it != pending_.end() && --it->second.servers == 0)
      pending_.erase(it);
  } else if (kind == wire::Bye::kind) {
    bye_[server] = true;
  } else if (kind == wire::Failed::kind) {
    AFTERBAY_TRY_ASSIGN(wire::Failed failed, wire::decode<wire::Failed>(message));
    // A server that lost a rank may have no file of this session open: then this rank says what it was busy
    // with.
    const bool names_no_file = failed.error.code == ErrorCode::peer_lost && failed.error.file.empty();
    return fail(remember(names_no_file ? with_work(std::move(failed.error)) : std::move(failed.error)));
  } else {
    return fail(
        remember(make_error(ErrorCode::internal, "I/O server {} sent a message of unknown kind", server)));
  }
  return {};
}

Error ModelSession::remember(Error error) {
  if (!failure_) failure_ = std::move(error);
  return *failure_;
}

tl::unexpected<Error> ModelSession::told(Error error) {
  last_error_ = error;
  return fail(std::move(error));
}

Error ModelSession::explain(std::size_t server, Error error) {
  if (failure_) return *failure_;
  if (error.code == ErrorCode::would_block) return error;
  lost_[server] = error.code != ErrorCode::bad_state;  // that is a server which still speaks
  const std::uint64_t until = now_ns() + 1'000'000'000;
  do {  // a server that failed says why right after
    for (;;) {
      auto message = links_[server]->receive();
      if (!message || !*message) break;
      if (!handle(server, **message) && failure_) return *failure_;
    }
    if (error.code != ErrorCode::bad_state) break;
    links_[server]->wait(transport::Millis(50));
  } while (now_ns() < until);
  return remember(with_work(std::move(error.at_rank(place_.session_rank))));
}

std::string ModelSession::Pending::text() const {
  if (file.empty()) return "";
  return more == 0 ? fmt::format(" ({})", file) : fmt::format(" ({} and {} more)", file, more);
}

Error ModelSession::with_work(Error error) const {
  if (!awaited_.empty()) error.in_file(awaited_);
  if (last_put_.collection != nullptr) {
    const std::string& name = last_put_.collection->schema().variables[last_put_.variable].name;
    error.in_file(last_put_.path);
    if (error.file == last_put_.path) error.in_variable(name);
    error.add(fmt::format("the last that this rank put was record {} of variable '{}' in {}",
                          last_put_.record, name, last_put_.path));
  }
  if (!open_files_.empty()) {
    error.in_file(open_files_.front()->path);
    error.add(
        fmt::format("not complete: {}{}", open_files_.front()->path,
                    open_files_.size() > 1 ? fmt::format(" and {} more files", open_files_.size() - 1) : ""));
  }
  return error;
}

std::uint64_t ModelSession::progress() const {
  std::uint64_t sum = 0;
  for (const auto& link : links_) sum += link->progress();
  return sum;
}

/// Synchronous: serves until all ranks have what they waited for.
Result<> ModelSession::wait_for_all(const std::string& what) {
  if (!arrive_) return {};
  AFTERBAY_TRY_ASSIGN(const auto all_here, arrive_());
  Result<> tested;
  AFTERBAY_TRY(wait_until(
      [&] {
        const Result<bool> here = all_here();
        if (!here) tested = fail(here.error());
        return !here || *here;
      },
      what, transport::Millis(1)));
  return tested;
}

Result<> ModelSession::wait_until(const std::function<bool()>& reached, const std::string& what,
                                  transport::Millis slice) {
  StallClock clock(patience(config_), progress());
  for (std::size_t turn = 0;; ++turn) {
    AFTERBAY_TRY(poll());
    if (reached()) return {};
    for (std::size_t s = 0; s < links_.size(); ++s)
      if (auto alive = links_[s]->check_alive(); !alive && !bye_[s]) {
        AFTERBAY_TRY(poll());  // it may have said goodbye, or why it went
        if (reached()) return {};
        if (!bye_[s])
          return fail(explain(s, std::move(alive).error().add(fmt::format("while waiting for {}", what))));
      }
    if (clock.expired(progress()))
      return fail(remember(
          with_work(make_error(ErrorCode::timed_out,
                               "waited {} s for {}, and I/O server{} made no progress (deadline {} s)",
                               clock.limit_ns() / 1'000'000'000, what,
                               links_.size() == 1 ? " 0" : fmt::format("s 0 to {}", links_.size() - 1),
                               config_.deadline.count() / 1000)
                        .at_rank(place_.session_rank))));
    if (idle_ && idle_()) continue;
    const auto turns = static_cast<transport::Millis::rep>(links_.size() > 1 ? 5 : 1);
    links_[turn % links_.size()]->wait(std::max(slice / turns, transport::Millis(1)));
  }
}

}  // namespace afterbay::client
