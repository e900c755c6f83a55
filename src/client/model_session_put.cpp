// SPDX-License-Identifier: Apache-2.0
// Files and what is put into them.
#include <filesystem>

#include "base/caller_terms.hpp"
#include "base/clock.hpp"
#include "client/model_session.hpp"

namespace afterbay::client {
namespace {

using transport::Wake;
/// Of one collection on one server: half of what may be in memory of any frame.
constexpr std::size_t most_open_records = transport::LinkSizes::least_instances / 2;

}  // namespace

Result<> File::check_not_put(std::uint32_t variable, std::uint64_t record) const {
  if (put.empty() || !put[variable].contains(record)) return {};
  if (!collection->layout().variables[variable].record)
    return fail(ErrorCode::conflict, "the variable was put already: it can be put once while a file is open");
  return fail(ErrorCode::conflict,
              "record {} of the variable was put already: a record can be put once while a file is open",
              said_index(record));
}

void File::mark_put(std::uint32_t variable, std::uint64_t record) {
  if (put.empty()) put.resize(collection->schema().variables.size());
  put[variable].insert(record);
}

Result<std::shared_ptr<File>> ModelSession::open(Collection& collection, const FileName& name,
                                                 const SchemaChanges& changes) {
  AFTERBAY_TRY(start());
  AFTERBAY_TRY_ASSIGN(std::string path, collection.path(name));
  path = std::filesystem::path(path).lexically_normal().string();  // one spelling of one file
  if (!changes.empty())
    if (auto good = collection.check(changes); !good)
      return told(std::move(good).error().in_file(path).at_rank(place_.session_rank));
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
  if (place_.model_rank == 0) {
    message.changes = changes;
    message.name = name;
  }
  for (const std::size_t s : file->servers)
    AFTERBAY_TRY(send(s, message, place_.model_rank == 0 ? Wake::on_node : Wake::no));
  file->opened_after_ticket = next_ticket_;
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
  constexpr std::size_t asked = wire::choosing_server;
  const wire::AskServer question{collection.id(), nth, collection.expected_bytes(), collection.candidates()};
  AFTERBAY_TRY(send(asked, question, Wake::now));
  if (auto sent = links_[asked]->flush(); !sent) return fail(explain(asked, std::move(sent).error()));
  return {};
}

/// Two collections may give the same path to different servers, which know nothing of each other: the rank
/// that begins files waits until the older one is published.
Result<> ModelSession::wait_for_older(const File& file) {
  const auto older = destinations_.find(file.path);
  const std::uint64_t ticket = place_.model_rank == 0 ? closing_ticket(file.path) : 0;
  destinations_.begin(file.path, file.server);
  if (ticket == 0 || (older && older->server == file.server)) return {};
  return wait(Ticket{ticket});
}

std::uint64_t ModelSession::closing_ticket(const std::string& path) const {
  if (const auto known = destinations_.find(path)) return known->ticket;
  if (!destinations_.has_forgotten()) return 0;
  std::uint64_t last = 0;  // files that are not published yet are still here
  for (const auto& [ticket, pending] : pending_)
    if (pending.file == path) last = ticket;
  return last;
}

/// Only output that is not published yet matters to those that read: see output_names_of.
void ModelSession::note_directory(const std::string& path) {
  const auto directory_of = [](const std::string& file) {
    return std::filesystem::path(file).parent_path().string();
  };
  if (!output_directories_.add(directory_of(path))) return;
  std::set<std::string> used;
  for (const auto& file : open_files_) used.insert(directory_of(file->path));
  for (const auto& [ticket, pending] : pending_)
    if (!pending.file.empty()) used.insert(directory_of(pending.file));
  output_directories_.keep(used);
}

/// All servers of a file count its collection's records alike.
Result<std::uint64_t> ModelSession::begin_record(File& file, std::uint64_t record, bool fixed) {
  auto& states = file.collection->servers;
  const ServerState& leader = states[file.server];
  for (auto it = leader.open.rbegin(); it != leader.open.rend(); ++it)
    if (it->file == file.id && it->record == record && it->fixed == fixed) return it->seq;
  if (leader.open.size() >= most_open_records) {
    AFTERBAY_TRY(check_oldest_not_lent(file));
    AFTERBAY_TRY(drop_oldest_record(file));
  }
  const std::uint64_t seq = leader.next_seq;
  for (const std::size_t s : file.servers) {
    states[s].next_seq = seq + 1;
    states[s].open.push_back({file.id, record, fixed, seq});
    AFTERBAY_TRY(send(s, wire::BeginRecord{file.collection->id(), seq, file.id, record, fixed}, Wake::no));
  }
  return seq;
}

/// Where a record ends, its memory goes back to the server and on to other frames.
Result<> ModelSession::check_oldest_not_lent(const File& file) const {
  const std::uint64_t oldest = file.collection->servers[file.server].open.front().seq;
  for (const auto& [number, slot] : slots_out_)
    if (slot.collection == file.collection && slot.seq == oldest &&
        (slot.server == file.server || file.collection->is_split()))
      return fail(
          ErrorCode::bad_state,
          "at most {} records of a collection can be begun per step, and the oldest cannot be ended to "
          "begin another while a slot is out ({}): commit it or destroy it before",
          most_open_records, slot.what);
  return {};
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
  remember_put(file, index, record);
  return Handover{&file, index, plan, record, seq, 0};
}

void ModelSession::take_position(Handover& handover) {
  handover.position = ++position_;
  for (const std::size_t s : handover.file->servers) links_[s]->set_position(position_);
}

/// All ranks serve the frames of a put in the same order, whichever server they belong to. Each rank says on
/// every link how far it has come in that order: the rank that is behind all others is so on all its links,
/// and gets the reserved blocks.
void ModelSession::advance_to(const Handover& handover, std::uint32_t frame) {
  const File& file = *handover.file;
  if (file.servers.size() == 1) return;  // reserve says it
  for (const std::size_t s : file.servers)
    links_[s]->advance(handover.position, file.collection->servers[s].first_frame + frame);
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

std::vector<ModelSession::Share> ModelSession::shares(const Handover& handover) const {
  std::vector<Share> all;
  for (const std::size_t server : handover.file->servers) {
    Share share{server, {}, 0};
    for (const PiecePlan& part : handover.plan->pieces) {
      if (owner(handover, part) != server) continue;
      share.slots.push_back(slot(handover, part));
      share.packed_bytes += part.packed_bytes;
    }
    if (!share.slots.empty()) all.push_back(std::move(share));
  }
  return all;
}

/// Of a put that may not wait. A refusal concerns this put only: the session goes on.
Result<> ModelSession::check_fits(const Handover& handover) const {
  for (const Share& share : shares(handover)) AFTERBAY_TRY(links_[share.server]->check_fits(share.slots));
  return {};
}

Result<bool> ModelSession::has_room(const Handover& handover, transport::RoomFor use) {
  for (const Share& share : shares(handover)) {
    auto room = links_[share.server]->make_room(share.slots, share.packed_bytes, use);
    if (!room) return fail(explain(share.server, std::move(room).error()));
    if (!*room) return false;
  }
  return true;
}

/// Refuses values that the file's type cannot hold, before anything is copied: what is committed may be on
/// its way to the file.
Result<> ModelSession::check_range(const Handover& handover, const void* data) {
  const PutPlan& plan = *handover.plan;
  const Type type = handover.file->collection->schema().variables[handover.variable].type;
  if (!model::may_be_out_of_range(plan.type, type)) return {};
  std::uint64_t bad = 0;
  for (const PiecePlan& part : plan.pieces) bad += part.out_of_range(data, plan.kernel, range_scratch_);
  if (bad == 0) return {};
  return fail(
      ErrorCode::wrong_type,
      "{} values of type {} are out of range of the file's type {}; nothing of the put was taken: put "
      "the record again with other values",
      bad, name_of(plan.type), name_of(type));
}

Result<> ModelSession::copy_pieces(const Handover& handover, const void* data) {
  for (const PiecePlan& part : handover.plan->pieces) AFTERBAY_TRY(copy_piece(handover, part, data));
  return {};
}

Result<> ModelSession::copy_piece(const Handover& handover, const PiecePlan& part, const void* data) {
  const model::FileLayout& layout = handover.file->collection->layout();
  const model::Piece& piece = layout.pieces[part.piece];
  const std::uint32_t in_frame = part.piece - layout.frames[piece.frame].first_piece;
  const std::size_t server = owner(handover, part);
  transport::ClientLink& link = *links_[server];
  const transport::FrameSlot place = slot(handover, part);
  advance_to(handover, piece.frame);
  auto landing = link.reserve(place, in_frame, part.packed_bytes, true);
  if (!landing) return fail(explain(server, std::move(landing).error()));
  const model::Kernel kernel = handover.plan->kernel;
  if (landing->packed)
    part.pack(data, landing->base, kernel);
  else
    part.gather(data, landing->base + piece.frame_offset, kernel);
  if (auto done = link.commit(place, in_frame); !done) return fail(explain(server, std::move(done).error()));
  return {};
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
  if (auto good = check_range(*handover, data); !good) return failed(std::move(good).error());
  if (!may_wait)
    if (auto fits = check_fits(*handover); !fits) return failed(std::move(fits).error());
  if (auto is_new = file.check_not_put(handover->variable, handover->record); !is_new)
    return failed(std::move(is_new).error());
  take_position(*handover);
  if (!may_wait && !waited_too_long_for_room(*handover)) {
    auto room = has_room(*handover, transport::RoomFor::put);
    if (!room) return failed(std::move(room).error());
    if (!*room) {
      --position_;  // the same put comes again
      return false;
    }
  }
  file.mark_put(handover->variable, handover->record);
  if (auto copied = copy_pieces(*handover, data); !copied) return failed(std::move(copied).error());
  if (auto finished = finish(*handover); !finished) return failed(std::move(finished).error());
  account_for_room(waited_for_room_ns(file) - waited_before_ns);
  timed.bytes(handover->plan->packed_bytes);
  return true;
}

/// A rank that tries the same put again and again waits as well. From half the deadline on it waits as `put`
/// does: its frames come one after the other then, so that it goes on though other ranks, which are ahead,
/// hold the memory that it would need at once; and servers see that it waits.
bool ModelSession::waited_too_long_for_room(const Handover& handover) {
  const std::uint64_t now = now_ns();
  if (refused_.position != handover.position || refused_.seq != handover.seq)
    refused_ = {handover.position, handover.seq, now};
  return now - refused_.since_ns > static_cast<std::uint64_t>(config_.deadline.count()) * 500'000;
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
  if (auto is_new = file.check_not_put(*index, *known); !is_new) return failed(std::move(is_new).error());
  file.mark_put(*index, *known);
  ++strings_put_[file.server];
  remember_put(file, *index, *known);
  if (place_.model_rank != 0) return {};
  const wire::PutStrings message{file.id, *known, *index, {values.begin(), values.end()}};
  if (auto sent = send(file.server, message, Wake::now); !sent) return failed(std::move(sent).error());
  return {};
}

}  // namespace afterbay::client
