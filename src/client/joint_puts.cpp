// SPDX-License-Identifier: Apache-2.0
#include "client/joint_puts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "base/caller_terms.hpp"

namespace afterbay::client {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds between_checks{50};
constexpr milliseconds settling_slice{2};  ///< the session's thread also sends for the others

std::string name_of_put(const Handover& handover) {
  const model::VariableLayout& layout = handover.file->collection->layout().variables[handover.variable];
  return fmt::format(
      "variable '{}'{} of {}", handover.file->collection->schema().variables[handover.variable].name,
      layout.record ? fmt::format(", record {}", said_index(handover.record)) : "", handover.file->path);
}

/// `put`: its name, which `by` begins.
Error left_out(const Member& ahead, const std::string& put, const Member& by, std::uint64_t step) {
  return make_error(
      ErrorCode::bad_state,
      "{} has ended step {} without its part of {}, which {} puts in that step, and has put into "
      "a later one: every endpoint must put its part before it ends the step",
      ahead.text(), said_index(step), put, by.text());
}

Error begins_late(const JointRecords::Open& later, const std::string& put, const Member& by,
                  std::uint64_t step) {
  return make_error(
      ErrorCode::bad_state,
      "{} would begin in step {}, where {} is, but this rank has begun {} of {} in step {}: records of a "
      "collection begin in the order of their steps. Let one thread put into every record of a step first, "
      "and "
      "let the session end the steps of earlier endpoints before new ones go on",
      put, said_index(step), by.text(),
      later.fixed ? std::string("the variables without records")
                  : fmt::format("record {}", said_index(later.record)),
      later.file->path, said_index(later.step));
}

/// The put that lacks a part, of the earliest step in which one does; null if none does. Endpoints
/// that are ahead may have begun puts of later steps before. `file`: of this file only, unless
/// null.
const JointPut* oldest_incomplete(const std::map<std::uint64_t, JointPut*>& open, const File* file) {
  const JointPut* oldest = nullptr;
  for (const auto& [number, put] : open) {
    if (put->is_complete() || (file != nullptr && put->handover().file != file)) continue;
    if (oldest == nullptr || put->step() < oldest->step()) oldest = put;
  }
  return oldest;
}

bool lacks_room(const JointPut& put) {
  return put.is_direct() && !put.is_complete() && put.missing_values() > put.lent();
}

/// The position from which on threads may still reserve memory (ClientLink::hold).
std::uint64_t oldest_position(const std::map<std::uint64_t, JointPut*>& open) {
  std::uint64_t oldest = transport::ClientLink::no_position;
  for (const auto& [number, put] : open)
    if (lacks_room(*put)) oldest = std::min(oldest, put->handover().position);
  return oldest;
}

/// Whether what is collected for the session's thread may wait for a part of this member, which
/// must not wait for the memory then.
bool owes_buffered(const std::map<std::uint64_t, JointPut*>& open, const Team& team, const Member& member) {
  return std::ranges::any_of(open, [&](const auto& entry) {
    return entry.second->buffered_bytes() != 0 && team.may_owe(member, *entry.second);
  });
}

/// The puts of steps before this one that were begun by refused calls only.
std::vector<JointPut*> unused_before(const std::map<std::uint64_t, JointPut*>& open, std::uint64_t step) {
  std::vector<JointPut*> unused;
  for (const auto& [number, put] : open)
    if (put->step() < step && !put->is_complete() && !put->has_contributions()) unused.push_back(put);
  return unused;
}

std::string missing_parts(const JointPut& put, const Team& team) {
  std::string text = fmt::format("{} of {} values of {} are missing", put.missing_values(), put.all_values(),
                                 name_of_put(put.handover()));
  const std::string without = team.without(put);
  return without.empty() ? text : text + ": " + without;
}

/// The last records of the file that were begun on this rank, and by whom; "" if no endpoint did.
std::string begun_records(const JointRecords& records, const Team& team, std::uint64_t file) {
  constexpr std::size_t most_named = 8;
  std::vector<std::string> texts;
  bool by_endpoints = false;
  for (const JointRecords::Begun& it : records.last_begun()) {
    if (it.file != file) continue;
    by_endpoints = by_endpoints || it.by != 0;
    const std::string what =
        it.fixed ? "the variables without records" : fmt::format("record {}", said_index(it.record));
    texts.push_back(fmt::format("{} by {} in step {}", what, team.name_of(it.by), said_index(it.step)));
  }
  if (!by_endpoints) return "";
  if (texts.size() > most_named) texts.erase(texts.begin(), texts.end() - most_named);
  return fmt::format("begun on this rank, in this order: {}", fmt::join(texts, ", "));
}

}  // namespace

JointPuts::JointPuts(SessionCore& core, RankPuts& puts, DirectPuts& rank, SharedLinks& links,
                     const Limits& limits, observe::Profile& profile, std::function<Result<>()> sessions_work)
    : core_(core),
      puts_(puts),
      rank_(rank),
      limits_(limits),
      sessions_work_(std::move(sessions_work)),
      bytes_(profile.counter(observe::counters::bytes)),
      links_(links),
      records_(links) {}

// ---- the team

void JointPuts::start(std::vector<JointRecords::Open> open,
                      std::map<const File*, std::uint64_t> ended_records) {
  const MutexLock lock(mutex_);
  if (started_.load(std::memory_order_relaxed)) return;
  links_.start();
  records_.start(std::move(open), std::move(ended_records), core_.step());
  for (const auto& member : team_.members()) member->steps = core_.step();
  started_.store(true, std::memory_order_release);
}

Result<> JointPuts::leave(Member& member) {
  Result<> ended;
  {
    const MutexLock lock(mutex_);
    team_.leave(member, last_number_);
    ended = end_steps();
  }
  moved();
  send();
  return ended;
}

Result<> JointPuts::end_step(Member& member) {
  Result<> ended;
  {
    const MutexLock lock(mutex_);
    ++member.steps;
    ended = end_steps();
  }
  moved();
  send();
  return ended;
}

/// Ends the records of the steps that all members have ended. A put of such a step that is not
/// complete lacks a part that nobody will hand over.
Result<> JointPuts::end_steps() {
  const std::uint64_t ended = team_.ended_steps();
  for (JointPut* const put : unused_before(open_, ended)) {  // no caller of these steps can repeat them
    const Handover& of = put->handover();
    of.file->put[of.variable].erase(of.record);
    remove(*put);
  }
  std::uint64_t done = ended;
  for (const auto& [number, put] : open_) done = std::min(done, put->step());
  // The session's thread will forward those that are complete.
  if (const JointPut* const put = oldest_incomplete(open_, nullptr); put != nullptr && put->step() < ended)
    return fail(fail_with_locked(make_error(
        ErrorCode::bad_state,
        "step {} has ended, but a part of this rank was not handed over: {}; every endpoint must "
        "put its part before it ends the step, and the parts of all endpoints must cover that of the rank",
        said_index(put->step()), missing_parts(*put, team_))));
  records_.end_steps(done);
  team_.forget_closed(open_.empty() ? last_number_ + 1 : open_.begin()->first);
  return {};
}

// ---- puts

Result<> JointPuts::check_usable() const {
  if (!failed_.load(std::memory_order_acquire)) return {};
  const MutexLock lock(mutex_);
  return fail(*failure_);
}

Result<const PutPlan*> JointPuts::whole(const Collection& collection, std::uint32_t variable) {
  const MutexLock lock(mutex_);
  std::unique_ptr<PutPlans>& plans = whole_[&collection];
  if (!plans) plans = std::make_unique<PutPlans>(collection, nullptr);
  return plans->stored_plan(variable);
}

Result<JointPuts::Opened> JointPuts::open(const Member& member, const Wanted& wanted) {
  File& file = *wanted.file;
  const std::uint32_t variable = wanted.variable;
  const std::uint64_t record = wanted.record;
  const PutKey key{&file, variable, record, wanted.step};
  // A put may end at any time for a caller that owes it no value.
  if (!wanted.has_no_values)
    if (const auto known = quick_.find(key); known.first != nullptr) return Opened{known.first, known.second};
  AFTERBAY_TRY_ASSIGN(const PutPlan* const plan, whole(*file.collection, variable));
  const bool direct = links_.is_direct(file);
  const std::uint64_t bytes = direct || plan->pieces.empty()
                                  ? 0
                                  : file.collection->variable(variable).mine.points() * size_of(plan->type);
  StallClock clock(limits_.deadline, moves_.load(std::memory_order_relaxed));
  for (;;) {
    Result<> begun;
    bool waits = false;
    std::uint64_t patience = 1;  // in deadlines
    {
      MutexLock lock(mutex_);
      if (failure_) return fail(*failure_);
      const auto open = std::ranges::find_if(open_, [&](const auto& entry) { return entry.second->is(key); });
      if (open != open_.end()) {
        if (wanted.has_no_values) open->second->note_contribution();
        return Opened{open->second, open->first};
      }
      if (file.closed)
        return fail(ErrorCode::bad_state, "the file was closed meanwhile on this rank: open it again");
      if (file.put.empty()) file.put.resize(file.collection->schema().variables.size());
      if (file.put[variable].contains(record)) {
        if (wanted.has_no_values) return Opened{};
        const auto other = std::ranges::find_if(open_, [&](const auto& entry) {
          const JointPut& put = *entry.second;
          return put.handover().file == &file && put.handover().variable == variable &&
                 put.handover().record == record;
        });
        if (other != open_.end())
          return fail(ErrorCode::conflict,
                      "{} was begun in step {}, but {} is in step {}: a new endpoint starts in the session's "
                      "current step, and must be opened before the session ends the step",
                      name_of_put({&file, variable, plan, record, 0, 0}), said_index(other->second->step()),
                      member.text(), said_index(wanted.step));
        return fail(
            ErrorCode::conflict,
            "{} was put already on this rank, in this step or an earlier one: it can be put once while the "
            "file is open",
            name_of_put({&file, variable, plan, record, 0, 0}));
      }
      const auto name = [&] { return name_of_put({&file, variable, plan, record, 0, 0}); };
      const int decomposition = file.collection->variable(variable).decomposition;
      if (const Member* const ahead = team_.ahead_of(decomposition, wanted.step);
          ahead != nullptr && !plan->pieces.empty())
        return fail(fail_with_locked(left_out(*ahead, name(), member, wanted.step)));
      if (const auto* const later = records_.begun_later(file, record, wanted.step, wanted.fixed))
        return fail(begins_late(*later, name(), member, wanted.step));
      std::string waits_for;
      if (bytes != 0 && buffered_bytes_ != 0 && !wanted.has_begun_others &&
          buffered_bytes_ + bytes > limits_.memory_bytes && !owes_buffered(open_, team_, member)) {
        waits_for = fmt::format(
            "{} bytes of {} (memory.endpoints) hold puts that wait for the thread that uses the session: it "
            "must call it now and then, for instance end_step",
            buffered_bytes_, limits_.memory_bytes);
      } else {
        const auto seq = records_.seq_of(member.number, file, record, wanted.step, wanted.fixed,
                                         [this, &wanted](const JointRecords::Open& oldest) {
                                           assert_held(mutex_);
                                           return may_end(oldest, wanted.step);
                                         });
        if (seq) {
          JointPut* const put =
              begin(key, {&file, variable, plan, record, *seq, direct ? puts_.take_position() : 0});
          if (wanted.has_no_values) put->note_contribution();
          if (put->all_values() == 0)
            begun = finish(*put);
          else
            quick_.add(key, put);
          if (put->number() != 0 || !begun) {
            if (!begun) return fail(std::move(begun).error());
            return Opened{put, put->number()};
          }
        } else {
          if (records_.oldest_step(file) >= wanted.step)
            return fail(ErrorCode::bad_state,
                        "{} records of collection '{}' have been begun in this step: with endpoints a step "
                        "can have no "
                        "more, because the first of them ends when all endpoints have ended the step",
                        CollectionRecords::most_open, file.collection->name());
          waits_for = fmt::format(
              "{} records of collection '{}' have been begun, and the oldest has not ended: {}",
              CollectionRecords::most_open, file.collection->name(), team_.late(member.steps + 1));
          // Then it has a deadline of its own, and its error says what it waits for.
          if (const char* const call = links_.lock().call(); call != nullptr && !has_sessions_thread()) {
            waits_for += fmt::format("; the session is in {}", call);
            patience = 2;
          }
        }
      }
      if (!waits_for.empty()) {
        if (!wanted.may_wait) return fail(ErrorCode::would_block, "{}", waits_for);
        const std::uint64_t stalled_ns = clock.stalled_ns(moves_.load(std::memory_order_relaxed));
        if (stalled_ns >= patience * clock.limit_ns())
          return fail(fail_with_locked(
              make_error(ErrorCode::timed_out, "waited {} s to begin {}: {}", stalled_ns / 1'000'000'000,
                         name_of_put({&file, variable, plan, record, 0, 0}), waits_for)));
        ++waiters_;
        changed_.wait_for(lock, has_sessions_thread() ? settling_slice : between_checks);
        --waiters_;
      }
      waits = !waits_for.empty();
    }
    if (waits) {
      AFTERBAY_TRY(work());
      continue;
    }
    moved();
    send();
    return Opened{};  // nobody holds a value: nothing is left to do
  }
}

/// Does nothing in other threads.
Result<> JointPuts::work() {
  if (!has_sessions_thread()) return {};
  if (links_.lock().is_in_call_here()) return sessions_work_();
  if (!links_.lock().try_lock()) return {};
  auto done = sessions_work_();
  links_.lock().unlock();
  send();
  return done;
}

/// Too many records of the collection are open: as for a session that is the only caller, the
/// oldest is assumed to be complete. With endpoints it is not known what they will put until they
/// have ended the step.
bool JointPuts::may_end(const JointRecords::Open& record, std::uint64_t step) const {
  const bool is_known = team_.has_only_session() || (record.file->is_the_sessions && record.step < step);
  return is_known && std::ranges::none_of(open_, [&](const auto& entry) {
           return entry.second->handover().file == record.file && entry.second->handover().seq == record.seq;
         });
}

JointPut* JointPuts::begin(const PutKey& key, const Handover& handover) {
  if (objects_.free.empty()) objects_.free.push_back(&objects_.all.emplace_back());
  JointPut* const put = objects_.free.back();
  objects_.free.pop_back();
  put->begin(++last_number_, key, handover, links_.is_direct(*key.file));
  open_.emplace(last_number_, put);
  buffered_bytes_ += put->buffered_bytes();
  handover.file->note_put(handover.file->put[key.variable], key.record);
  find_oldest();
  return put;
}

Result<> JointPuts::announce(File& file, std::uint64_t record, std::uint64_t step,
                             std::optional<std::uint32_t> reduced) {
  // Gives false if another record must end before.
  const auto announce_now = [&]() AFTERBAY_REQUIRES(mutex_) -> Result<bool> {
    if (reduced) {
      if (file.put.empty()) file.put.resize(file.collection->schema().variables.size());
      if (file.put[*reduced].contains(record))
        return fail(
            ErrorCode::conflict,
            "record {} of the variable was put already: a record can be put once while a file is open",
            said_index(record));
    }
    const auto seq =
        records_.seq_of(0, file, record, step, false, [this, step](const JointRecords::Open& oldest) {
          assert_held(mutex_);
          return may_end(oldest, step);
        });
    if (!seq && records_.oldest_step(file) >= step)
      return fail(ErrorCode::bad_state,
                  "{} records of collection '{}' have been begun in this step, which can have no more",
                  CollectionRecords::most_open, file.collection->name());
    if (!seq) return false;
    if (!reduced) return true;
    file.put[*reduced].insert(record);
    if (!file.collection->variable(*reduced).contributes() && core_.identity().model_rank != 0) return true;
    const wire::Put message{file.collection->id(), *seq, *reduced};
    AFTERBAY_TRY(
        file.collection->for_each_server_of(*reduced, file.server, [&](std::size_t server) -> Result<> {
          links_.add(server, message);
          return {};
        }));
    return true;
  };
  StallClock clock(limits_.deadline, moves_.load(std::memory_order_relaxed));
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (failure_) return fail(*failure_);
      AFTERBAY_TRY_ASSIGN(const bool announced, announce_now());
      if (announced) return {};
      if (clock.expired(moves_.load(std::memory_order_relaxed)))
        return fail(fail_with_locked(make_error(
            ErrorCode::timed_out,
            "waited {} s to begin a record of collection '{}': {} have been begun, and the oldest has not "
            "ended: {}",
            clock.limit_ns() / 1'000'000'000, file.collection->name(), CollectionRecords::most_open,
            team_.late(step))));
      ++waiters_;
      if (links_.any_thread_sends()) changed_.wait_for(lock, settling_slice);
      --waiters_;
    }
    if (!links_.any_thread_sends()) core_.link(0).wait(transport::Millis(1));
    AFTERBAY_TRY(sessions_work_());
  }
}

Result<> JointPuts::deliver_to_piece(JointPut& put, std::size_t piece, std::uint64_t values) {
  if (!put.add_to_piece(piece, values)) return {};
  const Handover& handover = put.handover();
  const PieceSite& site = handover.plan->pieces[piece].site;
  const std::size_t server = handover.owner(site);
  const transport::FrameSlot slot = handover.slot(site);
  AFTERBAY_TRY_ASSIGN(const bool frame_complete, links_.end(server)->count(slot, site.in_frame));
  if (frame_complete) {
    links_.add(server, Outbox::Ready{slot});
    send();
  }
  if (handover.plan->pieces.size() == 1) return {};
  const MutexLock lock(mutex_);
  pass_pieces(put);
  return {};
}

/// States on all links how far the put has come, so that memory that is short goes to the rank that
/// is behind.
void JointPuts::pass_pieces(JointPut& put) {
  const std::vector<PiecePlan>& pieces = put.handover().plan->pieces;
  std::size_t first = put.first_missing();
  while (first < pieces.size() && put.has_piece(first)) ++first;
  if (first == put.first_missing()) return;
  put.set_first_missing(first);
  if (first == pieces.size() || oldest_.load(std::memory_order_relaxed) != put.number()) return;
  publish(put);
}

void JointPuts::publish(JointPut& put) {
  const Handover& handover = put.handover();
  const PieceSite& next = handover.plan->pieces[put.first_missing()].site;
  const auto state = [&](std::size_t server, std::uint32_t frame) {
    if (auto* const end = links_.end(server)) end->publish(handover.position, frame);
  };
  put.advance_to(next.frame, state);
  state(handover.owner(next), handover.slot(next).frame);
}

Result<> JointPuts::deliver(JointPut& put, std::uint64_t values) {
  if (!put.add(values)) return {};
  Result<> done;
  {
    const MutexLock lock(mutex_);
    done = finish(put);
    if (done) done = end_steps();
  }
  moved();
  send();
  return done;
}

void JointPuts::lend(JointPut& put, std::int64_t values) {
  const MutexLock lock(mutex_);
  put.lend(values);
  find_oldest();
}

/// All values of the rank are there.
Result<> JointPuts::finish(JointPut& put) {
  observe::add(bytes_, put.handover().plan->packed_bytes);
  put.set_complete();
  if (!put.is_direct()) return {};  // see `forward`
  const Handover& handover = put.handover();
  // The lowest rank reports every put: a record exists even if no rank holds a point of it.
  if (!handover.plan->pieces.empty() || core_.identity().model_rank == 0) {
    const wire::Put message{handover.file->collection->id(), handover.seq, handover.variable,
                            put.largest_error()};
    AFTERBAY_TRY(handover.file->collection->for_each_server_of(handover.variable, handover.file->server,
                                                               [&](std::size_t server) -> Result<> {
                                                                 links_.add(server, message);
                                                                 return {};
                                                               }));
  }
  remove(put);
  return {};
}

void JointPuts::remove(JointPut& put) {
  open_.erase(put.number());
  buffered_bytes_ -= put.buffered_bytes();
  put.end();
  objects_.free.push_back(&put);
  find_oldest();
}

/// Slots have their room: ranks that are ahead need not wait for a put that lacks nothing else.
void JointPuts::find_oldest() {
  const auto found = std::ranges::find_if(open_, [](const auto& entry) { return lacks_room(*entry.second); });
  const std::uint64_t oldest = found == open_.end() ? last_number_ + 1 : found->first;
  if (oldest <= oldest_.load(std::memory_order_relaxed)) return;  // never falls
  oldest_.store(oldest, std::memory_order_release);
  team_.forget_closed(open_.empty() ? last_number_ + 1 : open_.begin()->first);
  if (found == open_.end()) return links_.publish(puts_.next_position());
  JointPut& put = *found->second;
  links_.publish(put.handover().position);
  if (put.handover().plan->pieces.empty()) return;
  pass_pieces(put);
  if (put.first_missing() < put.handover().plan->pieces.size()) publish(put);
}

Error JointPuts::fail_with(Error error) {
  const MutexLock lock(mutex_);
  return fail_with_locked(std::move(error));
}

Error JointPuts::fail_with_locked(Error error) {
  if (!failure_) {
    failure_ = std::move(error.at_rank(core_.identity().session_rank));
    failed_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
  return *failure_;
}

void JointPuts::moved() noexcept {
  moves_.fetch_add(1, std::memory_order_relaxed);
  if (waiters_.load(std::memory_order_seq_cst) != 0) changed_.notify_all();
}

// ---- under the session's lock

/// Whoever adds a letter while another thread sends leaves it to that thread, which looks again
/// after it has given up the lock.
void JointPuts::send() {
  if (!started() || !links_.any_thread_sends()) return;
  while (links_.has_letters() && links_.lock().try_lock()) {
    const bool good = !failed_.load(std::memory_order_acquire) && deliver_messages();
    links_.lock().unlock();
    if (!good) return;
  }
}

Result<> JointPuts::deliver_messages() {
  if (auto sent = links_.deliver(); !sent) return fail(fail_with(std::move(sent).error()));
  return {};
}

Result<> JointPuts::tend() {
  if (!started()) return {};
  if (core_.failure()) return fail(fail_with(*core_.failure()));
  if (auto usable = check_usable(); !usable) return fail(core_.record_failure(std::move(usable).error()));
  AFTERBAY_TRY(deliver_messages());
  AFTERBAY_TRY(forward());
  if (auto good = check_late(); !good) return fail(core_.record_failure(std::move(good).error()));
  if (links_.any_thread_sends()) return {};
  std::uint64_t next = 0;  // next position of a put through this thread
  std::uint64_t oldest = 0;
  {
    const MutexLock lock(mutex_);
    next = puts_.next_position();
    oldest = oldest_position(open_);
  }
  links_.hold(oldest);  // the other links follow
  links_.advance(next);
  return {};
}

/// The session does not wait for its endpoints in end_step: one that leaves out its part is found
/// here.
Result<> JointPuts::check_late() {
  const MutexLock lock(mutex_);
  if (team_.session()->steps <= records_.ended_steps()) {
    late_since_.reset();
    return {};
  }
  const std::uint64_t progress = team_.progress_of_endpoints();
  if (!late_since_) late_since_.emplace(limits_.deadline, progress);
  if (!late_since_->expired(progress)) return {};
  std::string what = team_.late(team_.session()->steps);
  if (const std::string lacking = incomplete(nullptr); !lacking.empty())
    what += (what.empty() ? "" : "; ") + lacking;
  return fail(
      fail_with_locked(make_error(ErrorCode::timed_out,
                                  "the endpoints of this rank made no progress for {} s while the session "
                                  "went on: {}",
                                  limits_.deadline.count() / 1000, what)));
}

/// Step by step, and in a step in the order in which the puts began: callers that have no part of a
/// variable may be in the next step already. Links take positions in ascending order only, so that
/// a put gets its position now.
Result<> JointPuts::forward() {
  for (;;) {
    JointPut* put = nullptr;
    Handover handover;
    std::uint64_t oldest = 0;
    {
      const MutexLock lock(mutex_);
      for (const auto& [number, open] : open_)
        if (put == nullptr || open->step() < put->step()) put = open;
      if (put == nullptr || put->is_direct() || !put->is_complete()) return {};
      handover = put->handover();
      handover.largest_error = put->largest_error();
      handover.position = puts_.take_position();
      oldest = oldest_position(open_);
    }
    AFTERBAY_TRY(deliver_messages());
    links_.hold(oldest);
    if (auto sent = rank_.forward(handover, put->rank_array()); !sent)
      return fail(fail_with(std::move(sent).error()));
    {
      const MutexLock lock(mutex_);
      remove(*put);
      if (auto ended = end_steps(); !ended) return ended;
    }
    moved();
    AFTERBAY_TRY(deliver_messages());
  }
}

Result<> JointPuts::settle(const char* call, File* closing, bool last) {
  if (!started()) return {};
  StallClock clock(limits_.deadline, moves_.load(std::memory_order_relaxed));
  for (;;) {
    AFTERBAY_TRY(sessions_work_());
    {
      MutexLock lock(mutex_);
      if (failure_) return fail(*failure_);
      const std::uint64_t steps = team_.session()->steps;
      const bool puts = std::ranges::any_of(open_, [&](const auto& entry) {
        return entry.second->step() < steps || entry.second->handover().file == closing;
      });
      if (team_.ended_steps() >= steps && !puts && !records_.has_before(steps)) {
        if (closing != nullptr) {
          // In one step with the check: no put may begin in a file that is being closed.
          closing->closed = true;
          records_.end_file(*closing);
        } else if (open_.empty() && (last ? team_.has_only_session() : !team_.has_had_endpoints())) {
          // Nobody is ahead of the session: these records belong to its current step.
          records_.end_all(!last);
        }
        break;
      }
      if (clock.expired(moves_.load(std::memory_order_relaxed))) {
        std::string what = team_.late(steps);
        if (const std::string lacking = incomplete(closing); !lacking.empty())
          what += (what.empty() ? "" : "; ") + lacking;
        if (what.empty()) what = "a record of a step that has ended is behind one of a later step";
        return fail(fail_with_locked(
            make_error(ErrorCode::timed_out,
                       "{} waited {} s for the endpoints of this rank, none of which made progress: {}", call,
                       clock.limit_ns() / 1'000'000'000, what)));
      }
      ++waiters_;
      if (links_.any_thread_sends()) changed_.wait_for(lock, settling_slice);
      --waiters_;
    }
    if (!links_.any_thread_sends()) core_.link(0).wait(transport::Millis(1));
  }
  return deliver_messages();
}

std::uint64_t JointPuts::ended_records(const File& file) const {
  const MutexLock lock(mutex_);
  return records_.ended(file);
}

void JointPuts::stop(const Error& error) noexcept {
  if (started()) (void)fail_with(error);
}

bool JointPuts::await_idle() noexcept {
  const std::uint64_t until = now_ns() + static_cast<std::uint64_t>(limits_.deadline.count()) * 1'000'000;
  const auto busy = [this] {
    const MutexLock lock(mutex_);
    return team_.is_busy();
  };
  while (busy() && now_ns() < until) std::this_thread::sleep_for(milliseconds(1));
  return !busy();
}

void JointPuts::add_work(Error& error, bool of_server) const {
  const MutexLock lock(mutex_);
  if (!open_.empty() && !(of_server && error.code == ErrorCode::conflict)) {
    error.in_file(open_.begin()->second->handover().file->path);
    if (std::string lacking = incomplete(nullptr); !lacking.empty()) {
      error.add(std::move(lacking));
      return;
    }
  }
  const JointRecords::KnownFile* const file = of_server ? records_.known_file(error.file) : nullptr;
  if (file == nullptr) return;
  std::string text;
  if (error.variable.empty()) {
    text = begun_records(records_, team_, file->id);
  } else if (const auto variable = file->collection->index_of(error.variable)) {
    text = team_.holders(file->collection->variable(*variable).decomposition);
    if (!text.empty()) text += fmt::format(" of the points of variable '{}' on this rank", error.variable);
  }
  if (!text.empty()) error.add(std::move(text));
}

/// What lacks a part; "" if nothing does.
std::string JointPuts::incomplete(const File* file) const {
  const JointPut* const put = oldest_incomplete(open_, file);
  return put == nullptr ? "" : missing_parts(*put, team_);
}

}  // namespace afterbay::client
