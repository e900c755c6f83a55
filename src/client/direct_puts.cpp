// SPDX-License-Identifier: Apache-2.0
#include "client/direct_puts.hpp"

#include <algorithm>
#include <utility>

#include "base/caller_terms.hpp"
#include "base/clock.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {

using transport::Wake;

namespace {

Result<std::uint32_t> string_variable(const Collection& collection, std::string_view variable) {
  AFTERBAY_TRY_ASSIGN(const std::uint32_t v, collection.index_of(variable));
  const Variable& found = collection.schema().variables[v];
  if (found.type == Type::string && found.constant.empty()) return v;
  return fail(Error(ErrorCode::wrong_type,
                    fmt::format("variable '{}' is of type {}{}, not a string variable to be put", variable,
                                name_of(found.type), found.constant.empty() ? "" : " and constant"))
                  .in_variable(std::string(variable)));
}

}  // namespace

DirectPuts::DirectPuts(SessionCore& core, RankPuts& rank, std::chrono::milliseconds deadline,
                       observe::Profile& profile)
    : core_(core),
      rank_(rank),
      bytes_(profile.counter(observe::counters::bytes)),
      message_bytes_(profile.counter(observe::counters::message_bytes)),
      deadline_(deadline),
      profile_(profile),
      timer_(profile.timer("put")) {}

void DirectPuts::add_collection(const Collection& collection) {
  plans_.emplace_back(collection, profile_.timer(collection.name(), timer_));
}

tl::unexpected<Error> DirectPuts::report(Error error, const File& file, std::string_view variable) {
  error.in_file(file.path).in_variable(std::string(variable)).at_rank(core_.identity().session_rank);
  return core_.report_to_caller(std::move(error));
}

/// Fails if the file takes no more puts. The end of the session, which closes all files, is checked
/// first, so that the error names it.
Result<> DirectPuts::check_open(const File& file) const {
  AFTERBAY_TRY(core_.check_usable());
  if (file.closed)
    return fail(ErrorCode::bad_state, "the file is closed on this rank: open it again before putting");
  return {};
}

// ---- records

/// All servers of a file number its collection's records alike.
Result<std::uint64_t> DirectPuts::begin_record(File& file, std::uint64_t record, bool fixed) {
  CollectionRecords& records = file.collection->records();
  if (const auto open = records.find(file.server, file.id, record, fixed)) return *open;
  if (records.is_full(file.server)) {
    AFTERBAY_TRY(rank_.check_oldest_not_lent(file));
    AFTERBAY_TRY(end_oldest_record(file));
  }
  const std::uint64_t seq = records.next_seq(file.server);
  for (const std::size_t s : file.servers) {
    records.begin(s, {file.id, record, fixed, seq});
    const wire::BeginRecord message = file.message(seq, record, fixed);
    AFTERBAY_TRY(core_.send(s, message, Wake::no, encoded_));
  }
  return seq;
}

/// Too many records are open: the oldest is assumed to be complete, on every rank alike.
Result<> DirectPuts::end_oldest_record(File& file) {
  for (const std::size_t s : file.servers) {
    const std::uint64_t ended = file.collection->records().end_oldest(s);
    const wire::EndRecords message{core_.step(), {{file.collection->id(), ended}}};
    AFTERBAY_TRY(core_.send(s, message, Wake::no, encoded_));
  }
  return {};
}

Result<Handover> DirectPuts::begin(File& file, std::string_view variable, std::uint64_t record, Type type,
                                   const MemoryLayout& memory) {
  AFTERBAY_TRY(check_open(file));
  PutPlans& plans = plans_of(file);
  AFTERBAY_TRY_ASSIGN(const std::uint32_t index, plans.framed_variable(variable));
  AFTERBAY_TRY_ASSIGN(const PutPlan* const plan, plans.plan(index, type, memory));
  AFTERBAY_TRY_ASSIGN(record, plans.record_of(index, record));
  AFTERBAY_TRY_ASSIGN(const std::uint64_t seq, begin_record(file, record, !plans.has_records(index)));
  rank_.remember_put(file, index, record);
  return Handover{&file, index, plan, record, seq, 0};
}

void DirectPuts::take_position(Handover& handover) {
  handover.position = rank_.take_position();
  for (const std::size_t s : handover.file->servers) core_.link(s).set_position(handover.position);
}

std::vector<DirectPuts::Share> DirectPuts::shares(const Handover& handover) {
  std::vector<Share> all;
  for (const std::size_t server : handover.file->servers) {
    Share share{server, {}, 0};
    for (const PiecePlan& part : handover.plan->pieces) {
      if (handover.owner(part.site) != server) continue;
      share.slots.push_back(handover.slot(part.site));
      share.packed_bytes += part.packed_bytes;
    }
    if (!share.slots.empty()) all.push_back(std::move(share));
  }
  return all;
}

/// For a put that may not wait. A refusal concerns this put only: the session continues.
Result<> DirectPuts::check_fits(const Handover& handover) const {
  for (const Share& share : shares(handover)) AFTERBAY_TRY(core_.link(share.server).check_fits(share.slots));
  return {};
}

Result<bool> DirectPuts::has_room(const Handover& handover, transport::RoomFor use) {
  for (const Share& share : shares(handover)) {
    auto room = core_.link(share.server).make_room(share.slots, share.packed_bytes, use);
    if (!room) return fail(core_.explain(share.server, std::move(room).error()));
    if (!*room) return false;
  }
  return true;
}

/// Refuses values that the file's type cannot hold, before anything is copied: committed data may
/// already be on the way to the file.
Result<> DirectPuts::check_range(const Handover& handover, const void* data) {
  const PutPlan& plan = *handover.plan;
  if (!plan.may_be_out_of_range) return {};
  std::uint64_t bad = 0;
  for (const PiecePlan& part : plan.pieces) bad += part.out_of_range(data, plan.kernel, range_scratch_);
  if (plan.packing != nullptr) plan.packing->take_largest_error();  // discards the error of a trial
  if (bad == 0) return {};
  return fail(ErrorCode::wrong_type,
              "{} values of type {} are out of range of {}; no value of the put was taken: put "
              "the record again with other values",
              bad, name_of(plan.type), limits_of(*handover.file->collection, handover.variable));
}

Result<> DirectPuts::copy_pieces(const Handover& handover, const void* data) {
  std::size_t passed = ranges_before(handover);
  for (const PiecePlan& part : handover.plan->pieces) {
    advance_to(handover, part.site.frame, passed, [&](std::size_t server, std::uint32_t frame) {
      core_.link(server).advance(handover.position, frame);
    });
    AFTERBAY_TRY(copy_piece(handover, part, data));
  }
  rank_.record_wait_for_room(std::exchange(waited_for_room_ns_, 0));
  return {};
}

Result<> DirectPuts::copy_piece(const Handover& handover, const PiecePlan& part, const void* data) {
  const std::size_t server = handover.owner(part.site);
  transport::ClientLink& link = core_.link(server);
  const transport::FrameSlot place = handover.slot(part.site);
  const std::uint64_t waited_before_ns = link.waited_ns();
  auto landing = link.reserve(place, part.site.in_frame, part.packed_bytes, true);
  waited_for_room_ns_ += link.waited_ns() - waited_before_ns;
  if (!landing) return fail(core_.explain(server, std::move(landing).error()));
  const model::Kernel kernel = handover.plan->kernel;
  if (landing->packed) {
    part.pack(data, landing->base, kernel);
    observe::add(message_bytes_, part.packed_bytes);
  } else {
    announce(link, handover, part, landing->base + part.site.frame_offset);
    part.gather(data, landing->base + part.site.frame_offset, kernel);
  }
  if (auto done = link.commit(place, part.site.in_frame); !done)
    return fail(core_.explain(server, std::move(done).error()));
  return {};
}

/// Tells the link which pages this rank is about to write.
void DirectPuts::announce(transport::ClientLink& link, const Handover& handover, const PiecePlan& part,
                          const std::byte* to) {
  if (link.is_announced(to, part.announced)) return;
  part.visit_written_ranges(size_of(handover.plan->file_type),
                            [&](std::uint64_t at, std::uint64_t bytes, transport::Writes pages) {
                              link.will_write(to + at, bytes, pages);
                            });
}

/// Refuses a second put of a record: its bytes may already be on the way to the file.
Result<> DirectPuts::check_not_put(const File& file, const PutRecords& put, std::uint32_t variable,
                                   std::uint64_t record) {
  if (put.empty() || !put[variable].contains(record)) return {};
  if (!file.collection->layout().variables[variable].record)
    return fail(ErrorCode::conflict, "the variable was put already: it can be put once while a file is open");
  return fail(ErrorCode::conflict,
              "record {} of the variable was put already: a record can be put once while a file is open",
              said_index(record));
}

void DirectPuts::mark_put(const File& file, PutRecords& put, std::uint32_t variable, std::uint64_t record) {
  if (put.empty()) put.resize(file.collection->schema().variables.size());
  file.note_put(put[variable], record);
}

/// After the last piece: sends the log entry that tells the server what this rank has put.
Result<> DirectPuts::finish(const Handover& handover) {
  const File& file = *handover.file;
  for (const std::size_t s : file.servers) core_.link(s).set_position(handover.position + 1);
  // The lowest rank reports every put: a record exists even if no rank holds a point of it.
  if (handover.plan->pieces.empty() && core_.identity().model_rank != 0) return {};
  observe::add(bytes_, handover.plan->packed_bytes);
  const model::PackingRows* const packing = handover.plan->packing.get();
  const wire::Put message{file.collection->id(), handover.seq, handover.variable,
                          packing != nullptr ? packing->take_largest_error() : handover.largest_error};
  return file.collection->for_each_server_of(handover.variable, file.server, [&](std::size_t s) {
    return core_.send(s, message, Wake::no, encoded_);
  });
}

Result<bool> DirectPuts::put(File& file, std::string_view variable, std::uint64_t record, const void* data,
                             Type type, const MemoryLayout& memory, bool may_wait) {
  observe::Timed timed(plans_of(file).timer());
  const auto failed = [&](Error error) { return report(std::move(error), file, variable); };
  if (auto open = check_open(file); !open) return failed(std::move(open).error());
  auto handover = begin(file, variable, record, type, memory);
  if (!handover) return failed(std::move(handover).error());
  if (data == nullptr && !handover->plan->pieces.empty())
    return failed(make_error(ErrorCode::invalid_argument,
                             "the data pointer is null, but this rank holds {} points",
                             file.collection->variable(handover->variable).mine.points()));
  if (auto good = check_range(*handover, data); !good) return failed(std::move(good).error());
  if (!may_wait)
    if (auto fits = check_fits(*handover); !fits) return failed(std::move(fits).error());
  if (auto is_new = check_not_put(file, file.put, handover->variable, handover->record); !is_new)
    return failed(std::move(is_new).error());
  take_position(*handover);
  if (!may_wait && !waited_too_long_for_room(*handover)) {
    auto room = has_room(*handover, transport::RoomFor::put);
    if (!room) return failed(std::move(room).error());
    if (!*room) {
      rank_.return_position();
      return false;
    }
  }
  mark_put(file, file.put, handover->variable, handover->record);
  if (auto copied = copy_pieces(*handover, data); !copied) return failed(std::move(copied).error());
  if (auto finished = finish(*handover); !finished) return failed(std::move(finished).error());
  timed.bytes(handover->plan->packed_bytes);
  return true;
}

Result<> DirectPuts::forward(const Handover& handover, const void* data) {
  for (const std::size_t s : handover.file->servers) core_.link(s).set_position(handover.position);
  rank_.remember_put(*handover.file, handover.variable, handover.record);
  AFTERBAY_TRY(copy_pieces(handover, data));
  return finish(handover);
}

/// A rank that repeats the same try_put also waits. After half the deadline it waits as `put` does:
/// its frames are then handed over one after the other, so that it makes progress although other
/// ranks, which are ahead, hold the memory that it would need at once; and the servers see that it
/// waits.
bool DirectPuts::waited_too_long_for_room(const Handover& handover) {
  const std::uint64_t now = now_ns();
  if (refused_.position != handover.position || refused_.seq != handover.seq)
    refused_ = {handover.position, handover.seq, now};
  return now - refused_.since_ns > static_cast<std::uint64_t>(deadline_.count()) * 500'000;
}

Result<> DirectPuts::put_strings(File& file, std::string_view variable, std::uint64_t record,
                                 std::span<const std::string> values) {
  observe::Timed timed(plans_of(file).timer());
  const auto failed = [&](Error error) { return report(std::move(error), file, variable); };
  if (auto open = check_open(file); !open) return failed(std::move(open).error());
  auto index = string_variable(*file.collection, variable);
  if (!index) return failed(std::move(index).error());
  const model::VariableLayout& layout = file.collection->layout().variables[*index];
  if (values.size() != layout.shape.product())
    return failed(make_error(ErrorCode::invalid_argument, "expected {} strings, found {}",
                             layout.shape.product(), values.size()));
  const auto known = plans_of(file).record_of(*index, record);
  if (!known) return failed(known.error());
  if (auto is_new = check_not_put(file, file.strings_put, *index, *known); !is_new)
    return failed(std::move(is_new).error());
  mark_put(file, file.strings_put, *index, *known);
  rank_.count_strings(file);
  rank_.remember_put(file, *index, *known);
  if (core_.identity().model_rank != 0) return {};
  const wire::PutStrings message{file.id, *known, *index, {values.begin(), values.end()}};
  if (auto sent = core_.send(file.server, message, Wake::now, encoded_); !sent)
    return failed(std::move(sent).error());
  return {};
}

Result<> DirectPuts::begin(File& file, std::uint64_t record) {
  AFTERBAY_TRY(check_open(file));
  AFTERBAY_TRY(begin_record(file, record, false));
  return {};
}

Result<> DirectPuts::put_reduced(File& file, std::string_view variable, std::uint64_t record) {
  const auto done = [&]() -> Result<> {
    AFTERBAY_TRY(check_open(file));
    AFTERBAY_TRY_ASSIGN(const std::uint32_t index, file.collection->index_of(variable));
    AFTERBAY_TRY(check_not_put(file, file.put, index, record));
    AFTERBAY_TRY_ASSIGN(const std::uint64_t seq, begin_record(file, record, false));
    mark_put(file, file.put, index, record);
    rank_.remember_put(file, index, record);
    if (!file.collection->variable(index).contributes() && core_.identity().model_rank != 0) return {};
    const wire::Put message{file.collection->id(), seq, index};
    return file.collection->for_each_server_of(
        index, file.server, [&](std::size_t s) { return core_.send(s, message, Wake::no, encoded_); });
  }();
  if (!done) return report(done.error(), file, variable);
  return {};
}

// ---- slots

Result<DirectPuts::Acquired> DirectPuts::acquire(File& file, std::string_view variable, std::uint64_t record,
                                                 Type type) {
  const auto failed = [&](Error error) { return report(std::move(error), file, variable); };
  auto handover = begin(file, variable, record, type, {});
  if (!handover) return failed(std::move(handover).error());
  if (auto is_new = check_not_put(file, file.put, handover->variable, handover->record); !is_new)
    return failed(std::move(is_new).error());
  mark_put(file, file.put, handover->variable, handover->record);
  take_position(*handover);
  const std::uint64_t number =
      rank_.add_slot({file.id, file.collection, file.server, handover->seq,
                      fmt::format("{}, variable {}, record {}", file.path, variable, said_index(record))});
  Acquired slot{*handover, number, {}};
  auto frames = lend_frames(*handover);
  if (!frames) {
    forget(slot);
    return failed(std::move(frames).error());
  }
  slot.frames = *std::move(frames);
  // The model computes now. Ranks that are ahead do not wait for this one: it reserves nothing
  // until its next put or commit.
  for (const std::size_t s : file.servers) core_.link(s).set_position(handover->position + 1);
  return slot;
}

/// The addresses of this rank's pieces in the servers' frames, if data of the type can be computed
/// there and there is room for all pieces now. Otherwise the rank computes in its own array, as
/// ranks on other nodes do. A rank that waited here would hold the frames that it has already, and
/// those of other slots: ranks that each hold a part of the memory would wait for one another, and
/// a rank whose part is larger than the memory would wait forever.
Result<std::optional<std::vector<std::byte*>>> DirectPuts::lend_frames(const Handover& handover) {
  using Frames = std::optional<std::vector<std::byte*>>;
  if (!lies_in_frames(handover)) return Frames();
  AFTERBAY_TRY_ASSIGN(const bool room, has_room(handover, transport::RoomFor::slot));
  if (!room) return Frames();
  std::vector<std::byte*> frames;
  for (const PiecePlan& part : handover.plan->pieces) {
    const std::size_t server = handover.owner(part.site);
    transport::ClientLink& link = core_.link(server);
    auto landing = link.reserve(handover.slot(part.site), part.site.in_frame, part.packed_bytes, false);
    if (!landing) return fail(core_.explain(server, std::move(landing).error()));
    announce(link, handover, part, landing->base + part.site.frame_offset);
    frames.push_back(landing->base);
  }
  return Frames(std::move(frames));
}

/// Whether this rank can compute its part in the servers' frames.
bool DirectPuts::lies_in_frames(const Handover& handover) const {
  const Collection& collection = *handover.file->collection;
  const Type type = collection.schema().variables[handover.variable].type;
  const bool same_order = !model::needs_swap(collection.layout().big_endian) || size_of(type) == 1;
  // The points of a map are not contiguous in a frame.
  const bool on_map = collection.variable(handover.variable).map != nullptr;
  return handover.plan->type == type && handover.plan->packing == nullptr && same_order && !on_map &&
         std::ranges::none_of(handover.file->servers, [&](auto s) { return core_.link(s).packs(); });
}

Result<> DirectPuts::commit(const Acquired& slot, const void* buffer) {
  Handover handover = slot.handover;
  File& file = *handover.file;
  observe::Timed timed(plans_of(file).timer());
  AFTERBAY_TRY(core_.check_usable());
  const auto failed = [&](Error error) {
    return report(std::move(error), file, file.collection->schema().variables[handover.variable].name);
  };
  if (!slot.frames)
    if (auto good = check_range(handover, buffer); !good) return failed(std::move(good).error());
  forget(slot);
  take_position(handover);  // the put is now ordered after the puts since acquire
  if (!slot.frames) {
    if (auto copied = copy_pieces(handover, buffer); !copied) return failed(std::move(copied).error());
  }
  for (std::size_t i = 0; slot.frames && i < handover.plan->pieces.size(); ++i) {
    const PiecePlan& part = handover.plan->pieces[i];
    const std::size_t server = handover.owner(part.site);
    if (auto done = core_.link(server).commit(handover.slot(part.site), part.site.in_frame); !done)
      return failed(core_.explain(server, std::move(done).error()));
  }
  timed.bytes(handover.plan->packed_bytes);
  return finish(handover);
}

}  // namespace afterbay::client
