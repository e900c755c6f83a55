// SPDX-License-Identifier: Apache-2.0
// Files and what is put into them.
#include <algorithm>
#include <filesystem>

#include "base/caller_terms.hpp"
#include "base/clock.hpp"
#include "client/model_session.hpp"
#include "model/changes.hpp"

namespace afterbay::client {
namespace {

using transport::Wake;
constexpr std::size_t most_open_records =
    32;  ///< of one collection on one server; half of LinkSizes::instances

}  // namespace

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
  file->path = std::move(path);
  AFTERBAY_TRY_ASSIGN(const bool assigned, choose_server(*file));
  file->servers.push_back(file->server);
  if (collection.is_split())
    for (const std::size_t s : collection.pool())
      if (s != file->server) file->servers.push_back(s);
  AFTERBAY_TRY(wait_for_older(*file));
  wire::OpenFile message;
  message.file = file->id;
  message.collection = collection.id();
  message.leader = static_cast<std::uint32_t>(file->server);
  message.assigned = assigned ? 1 : 0;
  message.path = file->path;
  if (place_.model_rank == 0) {
    message.changes = changes;
    message.name = name;
  }
  for (const std::size_t s : file->servers)
    AFTERBAY_TRY(send(s, message, place_.model_rank == 0 ? Wake::on_node : Wake::no));
  file->opened_after_ticket = next_ticket_;
  open_files_.push_back(file);
  output_directories_.try_emplace(std::filesystem::path(file->path).parent_path().string());
  return file;
}

/// A path that was written before goes to the server that wrote it, where the collection may choose: that
/// server publishes the older file first, without a wait here. A choice that every rank makes alike.
/// True: it was given to the server that has the least to write.
Result<bool> ModelSession::choose_server(File& file) {
  Collection& collection = *file.collection;
  const auto known = destinations_.find(std::hash<std::string>()(file.path));
  if (known != destinations_.end() && collection.serves(known->second.server)) {
    file.server = known->second.server;
    return false;
  }
  const std::uint64_t nth = collection.files_opened++;
  if (!collection.takes_least_loaded()) {
    file.server = collection.server_of(nth);
    return false;
  }
  AFTERBAY_TRY_ASSIGN(file.server, least_loaded(collection, nth));
  AFTERBAY_TRY(ask_server(collection, nth + 1));
  return true;
}

/// What the pool's first server has said: it was asked when the file before was opened, so that a rank waits
/// only where it opens one file right after the other.
Result<std::size_t> ModelSession::least_loaded(Collection& collection, std::uint64_t nth) {
  if (nth == 0) AFTERBAY_TRY(ask_server(collection, nth));
  AFTERBAY_TRY(
      wait_until([&] { return collection.assigned.contains(nth); },
                 fmt::format("the choice of a server for a file of collection '{}'", collection.name())));
  AFTERBAY_TRY(wait_for_all("all ranks to know the file's server"));
  const std::size_t server = collection.assigned.at(nth);
  collection.assigned.erase(nth);
  return server;
}

Result<> ModelSession::ask_server(Collection& collection, std::uint64_t nth) {
  if (place_.model_rank != 0) return {};
  const std::size_t first = collection.pool().front();
  AFTERBAY_TRY(send(first, wire::AskServer{collection.id(), nth, collection.expected_bytes()}, Wake::now));
  if (auto sent = links_[first]->flush(); !sent) return fail(explain(first, std::move(sent).error()));
  return {};
}

/// Two collections may give the same path to different servers, which know nothing of each other: the rank
/// that begins files waits until the older one is published.
Result<> ModelSession::wait_for_older(const File& file) {
  Destination& it = destinations_[std::hash<std::string>()(file.path)];
  const Destination older = std::exchange(it, {file.server, 0});
  if (older.ticket == 0 || older.server == file.server || place_.model_rank != 0) return {};
  return wait(Ticket{older.ticket});
}

/// All servers of a file count its collection's records alike.
Result<std::uint64_t> ModelSession::begin_record(File& file, std::uint64_t record, bool fixed) {
  auto& states = file.collection->servers;
  const ServerState& leader = states[file.server];
  for (auto it = leader.open.rbegin(); it != leader.open.rend(); ++it)
    if (it->file == file.id && it->record == record && it->fixed == fixed) return it->seq;
  if (leader.open.size() >= most_open_records) AFTERBAY_TRY(drop_oldest_record(file));
  const std::uint64_t seq = leader.next_seq;
  for (const std::size_t s : file.servers) {
    states[s].next_seq = seq + 1;
    states[s].open.push_back({file.id, record, fixed, seq});
    AFTERBAY_TRY(send(s, wire::BeginRecord{file.collection->id(), seq, file.id, record, fixed}, Wake::no));
  }
  return seq;
}

/// Too many are open: the oldest is taken to be complete, on every rank alike.
Result<> ModelSession::drop_oldest_record(File& file) {
  for (const std::size_t s : file.servers) {
    ServerState& state = file.collection->servers[s];
    state.ended_seq = state.open.front().seq + 1;
    state.open.erase(state.open.begin());
    AFTERBAY_TRY(send(s, wire::EndRecords{step_, {{file.collection->id(), state.ended_seq}}}, Wake::no));
  }
  return {};
}

Result<Handover> ModelSession::begin(File& file, std::string_view variable, std::uint64_t record, Type type,
                                     const MemoryLayout& memory) {
  AFTERBAY_TRY(check_open(file));
  Collection& collection = *file.collection;
  AFTERBAY_TRY_ASSIGN(const std::uint32_t index, collection.framed_variable(variable));
  AFTERBAY_TRY_ASSIGN(const PutPlan* const plan, collection.plan(index, type, memory));
  AFTERBAY_TRY_ASSIGN(record, collection.record_of(index, record));
  AFTERBAY_TRY_ASSIGN(const std::uint64_t seq, begin_record(file, record, !collection.has_records(index)));
  ++position_;
  for (const std::size_t s : file.servers) links_[s]->set_position(position_);
  remember_put(file, index, record);
  return Handover{&file, index, plan, record, seq, position_};
}

void ModelSession::remember_put(const File& file, std::uint32_t variable, std::uint64_t record) {
  if (last_put_.file != file.id) last_put_.path = file.path;
  last_put_.file = file.id;
  last_put_.collection = file.collection;
  last_put_.variable = variable;
  last_put_.record = record;
}

std::size_t ModelSession::owner(const Handover& handover, const PiecePlan& part) const {
  const Collection& collection = *handover.file->collection;
  return collection.owner(collection.layout().pieces[part.piece].frame, handover.file->server);
}

transport::FrameSlot ModelSession::slot(const Handover& handover, const PiecePlan& part) const {
  const Collection& collection = *handover.file->collection;
  const model::Piece& piece = collection.layout().pieces[part.piece];
  const model::Frame& frame = collection.layout().frames[piece.frame];
  transport::FrameSlot slot;
  slot.frame = collection.servers[owner(handover, part)].first_frame + piece.frame;
  slot.seq = handover.seq;
  slot.bytes = frame.bytes;
  slot.phase = collection.layout().phase(frame, handover.record);
  slot.position = handover.position;
  return slot;
}

Result<bool> ModelSession::has_room(const Handover& handover) {
  for (const std::size_t server : handover.file->servers) {
    std::vector<transport::FrameSlot> slots;
    std::uint64_t bytes = 0;
    for (const PiecePlan& part : handover.plan->pieces) {
      if (owner(handover, part) != server) continue;
      slots.push_back(slot(handover, part));
      bytes += part.packed_bytes;
    }
    if (slots.empty()) continue;
    auto room = links_[server]->make_room(slots, bytes);
    if (!room) return fail(explain(server, std::move(room).error()));
    if (!*room) return false;
  }
  return true;
}

/// Returns how many values the file's type could not hold.
Result<std::uint64_t> ModelSession::copy_pieces(const Handover& handover, const void* data) {
  std::uint64_t out_of_range = 0;
  std::size_t last = handover.file->server;
  for (const PiecePlan& part : handover.plan->pieces) {
    const std::size_t server = owner(handover, part);
    if (server != last) links_[last]->set_position(handover.position + 1);  // served, frames ascend
    last = server;
    AFTERBAY_TRY_ASSIGN(const std::uint64_t bad, copy_piece(handover, part, data));
    out_of_range += bad;
  }
  return out_of_range;
}

Result<std::uint64_t> ModelSession::copy_piece(const Handover& handover, const PiecePlan& part,
                                               const void* data) {
  const model::FileLayout& layout = handover.file->collection->layout();
  const model::Piece& piece = layout.pieces[part.piece];
  const std::uint32_t in_frame = part.piece - layout.frames[piece.frame].first_piece;
  const std::size_t server = owner(handover, part);
  transport::ClientLink& link = *links_[server];
  const transport::FrameSlot place = slot(handover, part);
  auto landing = link.reserve(place, in_frame, part.packed_bytes, true);
  if (!landing) return fail(explain(server, std::move(landing).error()));
  const model::Kernel kernel = handover.plan->kernel;
  const std::uint64_t bad = landing->packed ? part.pack(data, landing->base, kernel)
                                            : part.gather(data, landing->base + piece.frame_offset, kernel);
  if (auto done = link.commit(place, in_frame); !done) return fail(explain(server, std::move(done).error()));
  return bad;
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
              said_index(record));
}

/// After the last piece: the log entry by which the server knows who has put what.
Result<> ModelSession::finish(const Handover& handover) {
  const File& file = *handover.file;
  for (const std::size_t s : file.servers) links_[s]->set_position(handover.position + 1);
  // The lowest rank tells of every put: a record is one even where nobody holds a point of it.
  if (handover.plan->pieces.empty() && place_.model_rank != 0) return {};
  observe::add(observed_.bytes, handover.plan->packed_bytes);
  const wire::Put message{file.collection->id(), handover.seq, handover.variable};
  return file.collection->for_each_told(handover.variable, file.server,
                                        [&](std::size_t s) { return send(s, message, Wake::no); });
}

std::uint64_t ModelSession::waited_for_room_ns(const File& file) const {
  std::uint64_t sum = 0;
  for (const std::size_t s : file.servers) sum += links_[s]->waited_ns();
  return sum;
}

/// Adds a wait that is over now: one that came in several parts is drawn as one.
void ModelSession::account_for_room(std::uint64_t waited_ns) {
  if (waited_ns == 0) return;
  const std::uint64_t now = now_ns();
  if (observe::Timer* const timer = profile_.wait("room in the server", observed_.put))
    timer->add(now - waited_ns, now);
  room_accounted_ns_ += waited_ns;
}

Result<bool> ModelSession::put(File& file, std::string_view variable, std::uint64_t record, const void* data,
                               Type type, const MemoryLayout& memory, bool may_wait) {
  observe::Timed timed(file.collection->put_timer);
  const auto failed = [&](Error error) {
    return told(error.in_file(file.path).in_variable(std::string(variable)).at_rank(place_.session_rank));
  };
  if (auto open = check_open(file); !open) return failed(std::move(open).error());
  const std::uint64_t waited_before_ns = waited_for_room_ns(file);
  auto handover = begin(file, variable, record, type, memory);
  if (!handover) return failed(std::move(handover).error());
  if (data == nullptr && !handover->plan->pieces.empty())
    return failed(make_error(ErrorCode::invalid_argument,
                             "the data pointer is null, but this rank holds {} points",
                             file.collection->variable(handover->variable).mine.points()));
  if (!may_wait) {
    auto room = has_room(*handover);
    if (!room) return failed(std::move(room).error());
    if (!*room) {
      --position_;  // the same put comes again
      return false;
    }
  }
  if (auto marked = mark_put(file, handover->variable, handover->record); !marked)
    return failed(std::move(marked).error());
  auto out_of_range = copy_pieces(*handover, data);
  if (!out_of_range) return failed(std::move(out_of_range).error());
  if (auto finished = finish(*handover); !finished) return failed(std::move(finished).error());
  account_for_room(waited_for_room_ns(file) - waited_before_ns);
  timed.bytes(handover->plan->packed_bytes);
  if (*out_of_range > 0)
    return failed(make_error(
        ErrorCode::wrong_type,
        "{} values of type {} are out of range of the file's type {}; the rest of the field was written",
        *out_of_range, name_of(type), name_of(file.collection->schema().variables[handover->variable].type)));
  return true;
}

Result<std::uint64_t> ModelSession::records(File& file) {
  AFTERBAY_TRY(check_usable());
  if (!file.records) {
    if (file.closed)
      return told(Error(ErrorCode::bad_state, "the file is closed on this rank: ask before closing it")
                      .in_file(file.path)
                      .at_rank(place_.session_rank));
    AFTERBAY_TRY(send(file.server, wire::AskRecords{file.id}, Wake::now));
    if (auto sent = links_[file.server]->flush(); !sent)
      return fail(explain(file.server, std::move(sent).error()));
    AFTERBAY_TRY(
        wait_until([&] { return file.records.has_value(); }, fmt::format("{} to be opened", file.path)));
    AFTERBAY_TRY(wait_for_all("all ranks to know the file's records"));
  }
  return *file.records;
}

Result<> ModelSession::put_strings(File& file, std::string_view variable, std::uint64_t record,
                                   std::span<const std::string> values) {
  observe::Timed timed(file.collection->put_timer);
  const auto failed = [&](Error error) {
    return told(error.in_file(file.path).in_variable(std::string(variable)).at_rank(place_.session_rank));
  };
  if (auto open = check_open(file); !open) return failed(std::move(open).error());
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
  if (auto open = check_open(file); !open) return failed(std::move(open).error());
  auto index = file.collection->framed_variable(variable);
  if (!index) return failed(std::move(index).error());
  const bool same_type = file.collection->schema().variables[*index].type == type;
  const bool same_order = !model::needs_swap(file.collection->layout().big_endian) || size_of(type) == 1;
  const bool on_map = file.collection->variable(*index).map != nullptr;  // its points lie apart in the frames
  const bool far = std::ranges::any_of(file.servers, [&](auto s) { return links_[s]->packs(); });
  if (!same_type || !same_order || on_map || far) return std::optional<Direct>();
  auto handover = begin(file, variable, record, type, {});
  if (!handover) return failed(std::move(handover).error());
  if (auto marked = mark_put(file, handover->variable, handover->record); !marked)
    return failed(std::move(marked).error());
  Direct direct{*handover, {}};
  slots_out_[direct.handover.position] = {
      file.id, fmt::format("{}, variable {}, record {}", file.path, variable, said_index(record))};
  const model::FileLayout& layout = file.collection->layout();
  for (const PiecePlan& part : handover->plan->pieces) {
    const std::uint32_t in_frame = part.piece - layout.frames[layout.pieces[part.piece].frame].first_piece;
    const std::size_t server = owner(*handover, part);
    auto landing = links_[server]->reserve(slot(*handover, part), in_frame, part.packed_bytes, true);
    if (!landing) return failed(explain(server, std::move(landing).error()));
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
    const std::size_t server = owner(handover, part);
    if (auto done = links_[server]->commit(slot(handover, part), in_frame); !done)
      return fail(explain(server, std::move(done).error()));
  }
  timed.bytes(handover.plan->packed_bytes);
  return finish(handover);
}

}  // namespace afterbay::client
