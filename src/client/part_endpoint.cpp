// SPDX-License-Identifier: Apache-2.0
#include "client/part_endpoint.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "base/caller_terms.hpp"
#include "base/clock.hpp"
#include "model/decomposition.hpp"
#include "model/values.hpp"

namespace afterbay::client {
namespace {

std::atomic<std::uint32_t> next_list{1};            ///< see Decomposition::list
constexpr transport::Millis between_looks{100};     ///< whether the session has failed
constexpr transport::Millis between_attempts{1};    ///< to use an endpoint that is in a call
constexpr transport::Millis with_sessions_work{2};  ///< between two looks at what endpoints have left

/// What a caller's part of the put needs of a server.
std::vector<transport::FrameSlot> slots_of(const JointPut& put, const PartPlan& plan, std::size_t server) {
  std::vector<transport::FrameSlot> all;
  for (const PartPiece& piece : plan.pieces)
    if (put.handover().owner(piece.site) == server) all.push_back(put.handover().slot(piece.site));
  return all;
}

/// Tells the server's end which pages a caller is about to write.
void announce(transport::ThreadEnd& end, const JointPut& put, const PartPiece& piece,
              const std::byte* frame) {
  if (end.is_announced(frame, piece.announced)) return;
  piece.visit_written_ranges(size_of(put.handover().plan->type),
                             [&](std::uint64_t at, std::uint64_t bytes, transport::Writes pages) {
                               end.will_write(frame + piece.site.frame_offset + at, bytes, pages);
                             });
}

}  // namespace

/// A call of this caller; refused if another thread is in one. If a slot is being destroyed, the
/// call waits for that: the caller made no mistake.
class PartEndpoint::Call {
 public:
  explicit Call(PartEndpoint& of, EndpointUse use = EndpointUse::in_call) : member_(*of.member_) {
    EndpointUse found = EndpointUse::none;
    while (!member_.use.compare_exchange_weak(found, use, std::memory_order_acq_rel)) {
      if (found == EndpointUse::in_call) return;
      if (found == EndpointUse::slot_dropped) std::this_thread::yield();
      found = EndpointUse::none;
    }
    taken_ = true;
  }
  ~Call() {
    if (taken_) member_.use.store(EndpointUse::none, std::memory_order_release);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  explicit operator bool() const noexcept { return taken_; }
  [[nodiscard]] tl::unexpected<Error> refusal(const char* call, int rank) const {
    return fail(
        make_error(ErrorCode::bad_state,
                   "{} by {} while another thread is in a call of it: an endpoint is used by one thread at a "
                   "time",
                   call, member_.text())
            .at_rank(rank));
  }

 private:
  Member& member_;
  bool taken_ = false;
};

PartEndpoint::PartEndpoint(JointPuts& puts, std::shared_ptr<Member> member, observe::Profile& profile,
                           int session_rank)
    : puts_(puts),
      member_(std::move(member)),
      profile_(profile),
      timer_(profile.timer("put")),
      session_rank_(session_rank),
      step_(member_->steps) {}

Result<> PartEndpoint::check_usable(const char* call) const {
  AFTERBAY_TRY(puts_.check_usable());
  if (!closed_) return {};
  return fail(make_error(ErrorCode::bad_state, "{} by {}, which has been closed", call, member_->text())
                  .at_rank(session_rank_));
}

tl::unexpected<Error> PartEndpoint::report(Error error, const File& file, std::string_view variable) const {
  error.in_file(file.path).in_variable(std::string(variable)).at_rank(session_rank_);
  error.add("by " + member_->text());
  return fail(std::move(error));
}

// ---- parts

Result<> PartEndpoint::add(EndpointPart part, const Decomposition* of) {
  Decomposition read_as;
  if (of != nullptr) read_as = *of;
  if (!part.whole) {
    read_as.list = next_list.fetch_add(1, std::memory_order_relaxed);
    read_as.block = part.block;
    read_as.map = part.map;
  }
  if (member_->number == 0) {  // the session has what no endpoint has, from put to put
    parts_.push_back(std::move(part));
    read_as_.push_back(std::move(read_as));
    return {};
  }
  auto after = puts_.in_team([&](Team& team) { return team.add(*member_, part, of); });
  if (!after) return fail(std::move(after).error().at_rank(session_rank_));
  part.after = *after;
  parts_.push_back(std::move(part));
  read_as_.push_back(std::move(read_as));
  return {};
}

Result<> PartEndpoint::add_block(const Decomposition& of, const Block& block) {
  const Call call(*this);
  if (!call) return call.refusal("registering a part", session_rank_);
  AFTERBAY_TRY(check_usable("registering a part"));
  const auto refused = [&](Error error) {
    return fail(std::move(error.add("by " + member_->text())).at_rank(session_rank_));
  };
  if (of.map)
    return refused(make_error(ErrorCode::wrong_type,
                              "decomposition '{}' is a map: register the endpoint's part as a map", of.name));
  if (auto good = model::check_block(of.name, block); !good) return refused(std::move(good).error());
  if (block.global != of.block.global)
    return refused(make_error(ErrorCode::invalid_argument,
                              "decomposition '{}' has the lengths {}, the endpoint's part {}", of.name,
                              said_lengths(of.block.global), said_lengths(block.global)));
  const model::Box mine = model::box_of(block);
  const model::Box rank = model::box_of(of.block);
  if (!mine.empty() && model::intersect(mine, rank) != mine)
    return refused(
        make_error(ErrorCode::invalid_argument,
                   "the endpoint's part {} of decomposition '{}' is not inside that of its rank, {}",
                   said_box(block.start, block.count), of.name, said_box(of.block.start, of.block.count)));
  EndpointPart part;
  part.decomposition = static_cast<int>(of.id);
  part.name = of.name;
  part.block = block;
  return add(std::move(part), &of);
}

Result<> PartEndpoint::add_map(const Decomposition& of, const Map& map) {
  const Call call(*this);
  if (!call) return call.refusal("registering a part", session_rank_);
  AFTERBAY_TRY(check_usable("registering a part"));
  const auto refused = [&](Error error) {
    return fail(std::move(error.add("by " + member_->text())).at_rank(session_rank_));
  };
  if (!of.map)
    return refused(make_error(ErrorCode::wrong_type,
                              "decomposition '{}' is a block: register the endpoint's part as a block",
                              of.name));
  if (model::Index(map.global) != of.map->global())
    return refused(make_error(
        ErrorCode::invalid_argument, "decomposition '{}' has the lengths {}, the endpoint's part {}", of.name,
        said_lengths({of.map->global().begin(), of.map->global().size}), said_lengths(map.global)));
  auto runs = model::make_listed_runs(of.name, map, of.coverage.repeats);
  if (!runs) return refused(std::move(runs).error());
  if (const auto foreign = model::outside(runs->ascending, of.map->described()); !foreign.empty())
    return refused(
        make_error(ErrorCode::invalid_argument,
                   "the endpoint's part of decomposition '{}' has points that its rank does not have, the "
                   "first of them with the linear index {}",
                   of.name, said_index(foreign.front().offset)));
  EndpointPart part;
  part.decomposition = static_cast<int>(of.id);
  part.name = of.name;
  // Points that other ranks hand over count for no endpoint either.
  const auto lost = model::outside(runs->ascending, of.map->runs());
  part.map = std::make_shared<MapPart>(of.map->global(), std::move(*runs));
  if (!lost.empty()) part.map->lose(lost);
  return add(std::move(part), &of);
}

Result<> PartEndpoint::add_whole(const Decomposition* of) {
  const Call call(*this);
  if (!call) return call.refusal("registering a part", session_rank_);
  AFTERBAY_TRY(check_usable("registering a part"));
  EndpointPart part;
  part.whole = true;
  if (of != nullptr) {
    part.decomposition = static_cast<int>(of->id);
    part.name = of->name;
    part.block = of->block;
  }
  return add(std::move(part), of);
}

// ---- puts

PartPlans& PartEndpoint::plans_of(const Collection& collection) {
  std::unique_ptr<PartPlans>& plans = plans_[&collection];
  if (!plans)
    plans = std::make_unique<PartPlans>(collection, parts_, profile_.timer(collection.name(), timer_));
  return *plans;
}

PartEndpoint::OfFile& PartEndpoint::of_file(const std::shared_ptr<File>& file) {
  for (auto it = files_.rbegin(); it != files_.rend(); ++it)
    if (it->file == file) return *it;
  OfFile made;
  made.file = file;
  made.put.resize(file->collection->schema().variables.size());
  files_.push_back(std::move(made));
  return files_.back();
}

Result<PartEndpoint::Target> PartEndpoint::target(const std::shared_ptr<File>& file,
                                                  std::string_view variable, std::uint64_t record, Type type,
                                                  const MemoryLayout& memory, const Section& section) {
  if (file->closed)
    return fail(ErrorCode::bad_state, "the file is closed on this rank: open it again before putting");
  const Collection& collection = *file->collection;
  PartPlans& plans = plans_of(collection);
  Target target;
  target.file = file;
  AFTERBAY_TRY_ASSIGN(target.variable, plans.framed_variable(variable));
  AFTERBAY_TRY_ASSIGN(target.record, plans.record_of(target.variable, record));
  target.fixed = !plans.has_records(target.variable);
  std::vector<const PutPlan*>& whole = whole_[&collection];
  if (whole.empty()) whole.resize(collection.schema().variables.size());
  if (whole[target.variable] == nullptr) {
    AFTERBAY_TRY_ASSIGN(whole[target.variable], puts_.whole(collection, target.variable));
  }
  AFTERBAY_TRY_ASSIGN(target.plan,
                      plans.plan(target.variable, *whole[target.variable], type, memory, section));
  target.bytes = size_of(whole[target.variable]->type);
  return target;
}

Result<> PartEndpoint::check_new(const Target& target) {
  if (target.plan->box.empty() && !target.plan->section.whole()) return {};  // no value is put twice
  const OfFile& known = of_file(target.file);
  const auto text = [&] {
    return target.fixed ? std::string("the variable")
                        : fmt::format("record {} of the variable", said_index(target.record));
  };
  if (std::ranges::find(abandoned_, PutKey{target.file.get(), target.variable, target.record, step_}) !=
      abandoned_.end())
    return fail(
        ErrorCode::conflict,
        "a slot of {} was acquired by this caller and destroyed without commit: its values are missing "
        "when the step ends",
        text());
  if (known.put[target.variable].contains(target.record))
    return fail(ErrorCode::conflict,
                "{} was put already by this caller: it can be put once while the file is open", text());
  for (const Begun& begun : known.begun) {
    if (begun.variable != target.variable || begun.record != target.record) continue;
    for (const model::Box& box : begun.boxes) {
      const model::Box common = model::intersect(box, target.plan->box);
      if (common.empty()) continue;
      return fail(
          ErrorCode::conflict, "the section {} of {} was put already by this caller",
          said_box({common.start.begin(), common.start.size}, {common.count.begin(), common.count.size}),
          text());
    }
  }
  return {};
}

/// Before anything is copied: committed data may already be on the way to the file.
Result<> PartEndpoint::check_range(const Target& target, const void* data, const char* again) {
  const Type type = target.plan->type;
  if (target.plan->values == 0 || !target.plan->may_be_out_of_range) return {};
  const std::uint64_t bad = target.plan->out_of_range(data, target.bytes, scratch_);
  if (target.plan->to_rank.packing != nullptr)
    target.plan->to_rank.packing->take_largest_error();  // discards the error of a trial
  if (bad == 0) return {};
  return fail(ErrorCode::wrong_type,
              "{} values of type {} are out of range of {}; no value of the put was taken: {} "
              "again with other values",
              bad, name_of(type), limits_of(*target.file->collection, target.variable), again);
}

/// Boxes that continue one another are joined, so that sections in order cost a comparison each.
bool PartEndpoint::note(const Target& target) {
  OfFile& of = of_file(target.file);
  const std::uint64_t all = plans_of(*target.file->collection).array(target.variable).points();
  const model::Box& box = target.plan->box;
  if (box.empty() && all != 0) return false;
  auto begun = std::ranges::find_if(of.begun, [&](const Begun& it) {
    return it.variable == target.variable && it.record == target.record;
  });
  if (begun == of.begun.end() && box.points() < all)
    begun = of.begun.insert(begun, {target.variable, target.record, {}, 0});
  if (begun == of.begun.end()) {
    target.file->note_put(of.put[target.variable], target.record);
    return true;
  }
  begun->points += box.points();
  if (begun->points == all) {
    of.begun.erase(begun);
    target.file->note_put(of.put[target.variable], target.record);
    return true;
  }
  if (!box.empty()) {
    if (!begun->boxes.empty()) {
      model::Box& last = begun->boxes.back();
      std::size_t differs = 0;
      std::size_t along = 0;
      for (std::size_t d = 0; d < box.rank(); ++d)
        if (last.start[d] != box.start[d] || last.count[d] != box.count[d]) {
          ++differs;
          along = d;
        }
      if (differs == 1 && last.start[along] + last.count[along] == box.start[along]) {
        last.count[along] += box.count[along];
        return false;
      }
    }
    begun->boxes.push_back(box);
  }
  return false;
}

Result<JointPut*> PartEndpoint::open(const Target& target, bool may_wait) {
  const bool owes_others = std::ranges::any_of(files_, [](const OfFile& of) { return !of.begun.empty(); });
  AFTERBAY_TRY_ASSIGN(const JointPuts::Opened opened,
                      puts_.open(*member_, {.file = target.file.get(),
                                            .variable = target.variable,
                                            .record = target.record,
                                            .step = step_,
                                            .fixed = target.fixed,
                                            .has_no_values = target.plan->values == 0,
                                            .has_begun_others = owes_others,
                                            .may_wait = may_wait}));
  if (opened.put == nullptr || target.plan->values == 0) return opened.put;
  const int decomposition = target.file->collection->variable(target.variable).decomposition;
  const auto part = std::ranges::find(parts_, decomposition, &EndpointPart::decomposition);
  if (part != parts_.end() && opened.number <= part->after)
    return fail(
        ErrorCode::conflict,
        "it was begun while these points belonged to an endpoint that has been closed, or to the session: "
        "the caller that gets them later puts them from the next record on");
  return opened.put;
}

/// After `open`, and after has_room if the call may not wait: values will follow.
bool PartEndpoint::contribute(JointPut& put, const Target& target) {
  if (member_->last_put.load(std::memory_order_relaxed) < put.number())
    member_->last_put.store(put.number(), std::memory_order_release);
  member_->put_steps.store(step_ + 1, std::memory_order_release);
  put.note_contribution();
  return note(target);
}

Result<bool> PartEndpoint::has_room(const JointPut& put, const PartPlan& plan) {
  if (!put.is_direct()) return true;
  for (const std::size_t server : put.handover().file->servers) {
    const auto wanted = slots_of(put, plan, server);
    if (wanted.empty()) continue;
    AFTERBAY_TRY(puts_.end_of(server).check_fits(wanted));
    auto room = puts_.end_of(server).make_room(wanted);
    if (!room) return fail(puts_.fail_with(std::move(room).error()));
    if (!*room) return false;
  }
  return true;
}

/// The start of the frame's data. The session's thread does the session's work meanwhile: servers
/// must hear of frames that are complete before there is room. Ends when the session has failed,
/// whatever the server does.
Result<std::byte*> PartEndpoint::room(const JointPut& put, const PartPiece& piece) {
  const Handover& handover = put.handover();
  transport::ThreadEnd& end = puts_.end_of(handover.owner(piece.site));
  const transport::FrameSlot slot = handover.slot(piece.site);
  JointPuts::TurnOf who(puts_, put, piece.number);
  transport::Millis most(0);
  std::optional<StallClock> clock;
  for (;;) {
    auto frame = end.reserve(slot, piece.site.in_frame, who, most);
    if (frame || frame.error().code != ErrorCode::would_block) return frame;
    AFTERBAY_TRY(puts_.check_usable());
    AFTERBAY_TRY(puts_.work());
    if (!clock) clock.emplace(puts_.limits().deadline, end.progress());
    const std::uint64_t stalled_ns = clock->stalled_ns(end.progress());
    if (stalled_ns > clock->limit_ns() / 2) who.stall();
    if (stalled_ns >= clock->limit_ns())
      return fail(ErrorCode::timed_out, "no progress for {} s while waiting for room: {}",
                  clock->limit_ns() / 1'000'000'000, frame.error().message);
    most = puts_.has_sessions_thread() ? with_sessions_work : between_looks;
  }
}

Result<> PartEndpoint::copy(JointPut& put, const PartPlan& plan, const void* data) {
  if (!put.is_direct()) {
    (void)plan.copy_to_rank(data, put.rank_array());
    put.note_error_of(plan.to_rank.packing.get());
    return {};
  }
  for (const PartPiece& piece : plan.pieces) {
    auto frame = room(put, piece);
    if (!frame) return fail(puts_.fail_with(std::move(frame).error()));
    announce(puts_.end_of(put.handover().owner(piece.site)), put, piece, *frame);
    (void)piece.copy(data, *frame + piece.site.frame_offset, plan.into_piece.kernel);
    put.note_error_of(plan.into_piece.packing.get());
    if (auto done = puts_.deliver_to_piece(put, piece.number, piece.values); !done)
      return fail(puts_.fail_with(std::move(done).error()));
  }
  return {};
}

Result<> PartEndpoint::deliver(JointPut& put, const Target& target, bool last) {
  if (last) put.note_member(member_->place);
  member_->puts.fetch_add(1, std::memory_order_relaxed);
  return puts_.deliver(put, target.plan->values);
}

/// As DirectPuts::waited_too_long_for_room.
bool PartEndpoint::waited_too_long(const Target& target) {
  const PutKey key{target.file.get(), target.variable, target.record, step_};
  const std::uint64_t now = now_ns();
  if (refused_.key != key) refused_ = {key, now};
  return now - refused_.since_ns > static_cast<std::uint64_t>(puts_.limits().deadline.count()) * 500'000;
}

Result<bool> PartEndpoint::put(const std::shared_ptr<File>& file, std::string_view variable,
                               std::uint64_t record, const void* data, Type type, const MemoryLayout& memory,
                               const Section& section, bool may_wait) {
  const Call call(*this);
  if (!call) return call.refusal("put", session_rank_);
  AFTERBAY_TRY(check_usable("put"));
  observe::Timed timed(plans_of(*file->collection).timer());
  const auto failed = [&](Error error) { return report(std::move(error), *file, variable); };
  auto target = this->target(file, variable, record, type, memory, section);
  if (!target) return failed(std::move(target).error());
  const PartPlan& plan = *target->plan;
  if (data == nullptr && plan.values != 0)
    return failed(make_error(ErrorCode::invalid_argument,
                             "the data pointer is null, but there are {} values to put", plan.values));
  if (auto good = check_range(*target, data, "put the record"); !good) return failed(std::move(good).error());
  if (auto is_new = check_new(*target); !is_new) return failed(std::move(is_new).error());
  const bool waits = may_wait || waited_too_long(*target);
  auto put = open(*target, waits);
  if (!put && !waits && put.error().code == ErrorCode::would_block) return false;
  if (!put) return failed(std::move(put).error());
  if (*put == nullptr || plan.values == 0) {
    note(*target);
    return true;
  }
  if (!waits) {
    auto room = has_room(**put, plan);
    if (!room) return failed(std::move(room).error());
    if (!*room) return false;
  }
  const bool last = contribute(**put, *target);
  if (auto copied = copy(**put, plan, data); !copied) return failed(std::move(copied).error());
  if (auto delivered = deliver(**put, *target, last); !delivered) return failed(std::move(delivered).error());
  timed.bytes(plan.values * target->bytes);
  return true;
}

// ---- slots

Result<PartEndpoint::Acquired> PartEndpoint::acquire(const std::shared_ptr<File>& file,
                                                     std::string_view variable, std::uint64_t record,
                                                     Type type) {
  const Call call(*this);
  if (!call) return call.refusal("acquire", session_rank_);
  AFTERBAY_TRY(check_usable("acquire"));
  const auto failed = [&](Error error) { return report(std::move(error), *file, variable); };
  auto target = this->target(file, variable, record, type, {}, {});
  if (!target) return failed(std::move(target).error());
  if (auto is_new = check_new(*target); !is_new) return failed(std::move(is_new).error());
  auto put = open(*target);
  if (!put) return failed(std::move(put).error());
  Acquired slot{++last_slot_, *put, file, target->variable, target->record, target->plan, {}, {}};
  slot.array = array(*file, target->variable);
  if (*put == nullptr || target->plan->values == 0) {
    note(*target);
    slot.put = nullptr;
    slots_out_.emplace(slot.number, file.get());
    return slot;
  }
  contribute(**put, *target);
  const Collection& collection = *file->collection;
  const Type in_file = collection.schema().variables[target->variable].type;
  const bool same_order = !model::needs_swap(collection.layout().big_endian) || size_of(in_file) == 1;
  const bool on_map = collection.variable(target->variable).map != nullptr;
  if ((*put)->is_direct() && in_file == type && target->plan->into_piece.packing == nullptr && same_order &&
      !on_map) {
    auto room = has_room(**put, *target->plan);
    if (!room && room.error().code != ErrorCode::resources) return failed(std::move(room).error());
    if (room && *room) {
      slot.frames.emplace();
      for (const PartPiece& piece : target->plan->pieces) {
        const JointPuts::TurnOf who(puts_, **put, piece.number);
        const Handover& handover = (*put)->handover();
        transport::ThreadEnd& end = puts_.end_of(handover.owner(piece.site));
        auto frame = end.reserve(handover.slot(piece.site), piece.site.in_frame, who, transport::Millis(0));
        if (!frame) return failed(puts_.fail_with(std::move(frame).error()));
        announce(end, **put, piece, *frame);
        slot.frames->push_back(*frame);
      }
      puts_.lend(**put, static_cast<std::int64_t>(target->plan->values));
    }
  }
  slots_out_.emplace(slot.number, file.get());
  return slot;
}

Result<> PartEndpoint::commit(const Acquired& slot, const void* buffer) {
  const Call call(*this);
  if (!call) return call.refusal("commit", session_rank_);
  AFTERBAY_TRY(check_usable("commit"));
  if (slot.put == nullptr) {
    slots_out_.erase(slot.number);
    return {};
  }
  const Collection& collection = *slot.file->collection;
  const Variable& in_schema = collection.schema().variables[slot.variable];
  observe::Timed timed(plans_of(collection).timer());
  const auto failed = [&](Error error) { return report(std::move(error), *slot.file, in_schema.name); };
  const Target target{slot.file, slot.variable, slot.record, false, slot.plan, size_of(in_schema.type)};
  if (!slot.frames) {
    if (auto good = check_range(target, buffer, "commit the slot"); !good)
      return failed(std::move(good).error());
    slots_out_.erase(slot.number);
    if (auto copied = copy(*slot.put, *slot.plan, buffer); !copied) return failed(std::move(copied).error());
  } else {
    slots_out_.erase(slot.number);
    for (const PartPiece& piece : slot.plan->pieces)
      if (auto done = puts_.deliver_to_piece(*slot.put, piece.number, piece.values); !done)
        return failed(puts_.fail_with(std::move(done).error()));
    puts_.lend(*slot.put, -static_cast<std::int64_t>(slot.plan->values));
  }
  timed.bytes(slot.plan->values * target.bytes);
  if (auto delivered = deliver(*slot.put, target, true); !delivered)
    return failed(std::move(delivered).error());
  return {};
}

/// By whichever thread destroys the slot: waits for the end of a call, which may wait for the
/// session's thread.
void PartEndpoint::forget(const Acquired& slot) noexcept {
  std::optional<Call> call;
  while (!call.emplace(*this, EndpointUse::slot_dropped)) {
    try {
      (void)puts_.work();  // errors are those of the session's next call
    } catch (...) {        // no memory: the next attempt may have some
    }
    std::this_thread::sleep_for(between_attempts);
  }
  if (slots_out_.erase(slot.number) == 0 || slot.put == nullptr) return;
  if (slot.frames) puts_.lend(*slot.put, -static_cast<std::int64_t>(slot.plan->values));
  try {
    abandoned_.push_back({slot.file.get(), slot.variable, slot.record, step_});
  } catch (...) {  // no memory: another message says that the values were put already
  }
}

// ---- reading

Result<> PartEndpoint::get(EndpointReads& reads, const std::shared_ptr<Input>& input,
                           std::string_view variable, const Selection& what, void* data, Type type,
                           const MemoryLayout& memory) {
  const Call call(*this);
  if (!call) return call.refusal("get", session_rank_);
  AFTERBAY_TRY(check_usable("get"));
  const auto failed = [&](Error error) {
    error.in_file(input->path).in_variable(std::string(variable)).at_rank(session_rank_);
    error.add("by " + member_->text());
    return fail(std::move(error));
  };
  // What can be wrong with the request is said at once.
  const auto index = input->variable(variable, false);
  if (!index) return failed(index.error());
  if (const auto record = input->record_of(*index, what.record, what.records); !record)
    return failed(record.error());
  EndpointReads::Request request{input, std::string(variable), what, {}, data, type, memory};
  if (!what.decomposition.empty()) {
    if (what.block)
      return failed(make_error(ErrorCode::invalid_argument,
                               "a decomposition ('{}') and a block are requested: give one of them",
                               what.decomposition));
    const auto part = std::ranges::find(parts_, what.decomposition, &EndpointPart::name);
    if (part == parts_.end())
      return failed(make_error(ErrorCode::bad_state,
                               "this endpoint has no part of decomposition '{}': register its part first",
                               what.decomposition));
    request.part = read_as_[static_cast<std::size_t>(part - parts_.begin())];
  }
  if (auto got = reads.get(std::move(request)); !got) return failed(std::move(got).error());
  return {};
}

// ---- steps

Result<> PartEndpoint::end_step() {
  const Call call(*this);
  if (!call) return call.refusal("end_step", session_rank_);
  AFTERBAY_TRY(check_usable("end_step"));
  AFTERBAY_TRY(check_nothing_begun("end_step"));
  std::erase_if(files_, [](const OfFile& of) { return of.file->closed.load(); });
  abandoned_.clear();
  ++step_;
  return puts_.end_step(*member_);
}

Result<> PartEndpoint::check_nothing_begun(const char* call, const File* file) {
  const auto concerns = [&](const File* other) { return file == nullptr || other == file; };
  const auto slots =
      std::ranges::count_if(slots_out_, [&](const auto& slot) { return concerns(slot.second); });
  if (slots != 0)
    return fail(make_error(ErrorCode::bad_state,
                           "{} of {} before {} of its slots {} committed: commit or destroy {} first", call,
                           member_->text(), slots, slots == 1 ? "is" : "are", slots == 1 ? "it" : "them")
                    .at_rank(session_rank_));
  for (const OfFile& of : files_) {
    if (of.begun.empty() || !concerns(of.file.get())) continue;
    const Begun& begun = of.begun.front();
    return fail(make_error(ErrorCode::bad_state,
                           "{} by {}, which has put {} of the {} elements of its part (record {}): put the "
                           "other sections first",
                           call, member_->text(), begun.points,
                           plans_of(*of.file->collection).array(begun.variable).points(),
                           said_index(begun.record))
                    .in_file(of.file->path)
                    .in_variable(of.file->collection->schema().variables[begun.variable].name)
                    .at_rank(session_rank_));
  }
  return {};
}

Result<> PartEndpoint::check_at_rest(const char* call, std::optional<std::uint64_t>& steps) {
  const Call mine(*this);
  if (!mine) return mine.refusal(call, session_rank_);
  steps = step_;
  return check_nothing_begun(call);
}

void PartEndpoint::contribute_after(int decomposition, std::uint64_t number) {
  const auto part = std::ranges::find(parts_, decomposition, &EndpointPart::decomposition);
  if (part != parts_.end()) part->after = std::max(part->after, number);
}

bool PartEndpoint::has_begun(int decomposition) const {
  return std::ranges::any_of(files_, [&](const OfFile& of) {
    return std::ranges::any_of(of.begun, [&](const Begun& it) {
      return of.file->collection->variable(it.variable).decomposition == decomposition;
    });
  });
}

void PartEndpoint::give_up() noexcept {
  if (closed_.exchange(true)) return;
  try {
    (void)puts_.leave(*member_);
  } catch (...) {  // no memory: the deadline reports what is missing
  }
}

Result<> PartEndpoint::close() {
  const Call call(*this);
  if (!call) return call.refusal("close", session_rank_);
  if (closed_) return {};
  AFTERBAY_TRY(puts_.check_usable());
  AFTERBAY_TRY(check_nothing_begun("close"));
  closed_ = true;
  return puts_.leave(*member_);
}

}  // namespace afterbay::client
