// SPDX-License-Identifier: Apache-2.0
#include "client/rank_puts.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/caller_terms.hpp"
#include "base/clock.hpp"

namespace afterbay::client {

RankPuts::RankPuts(SessionCore& core, observe::Profile& profile)
    : core_(core), profile_(profile), timer_(profile.timer("put")), strings_put_(core.servers(), 0) {}

void RankPuts::remember_put(const File& file, std::uint32_t variable, std::uint64_t record) {
  if (last_put_.file != file.id || file.holds_samples()) last_put_.path = file.path;
  last_put_.file = file.id;
  last_put_.collection = file.collection;
  last_put_.variable = variable;
  last_put_.record = record;
}

void RankPuts::add_last_put(Error& error) const {
  if (last_put_.collection == nullptr) return;
  const std::string& name = last_put_.collection->schema().variables[last_put_.variable].name;
  error.in_file(last_put_.path);
  if (error.file == last_put_.path) error.in_variable(name);
  error.add(fmt::format("the last put of this rank was record {} of variable '{}' in {}",
                        said_index(last_put_.record), name, last_put_.path));
}

std::uint64_t RankPuts::add_slot(SlotOut slot) {
  slots_out_.emplace(++last_slot_, std::move(slot));
  return last_slot_;
}

Result<> RankPuts::check_no_slot_out(const char* call, const File* file) {
  for (const auto& [number, slot] : slots_out_)
    if (file == nullptr || slot.file == file->id)
      return core_.report_to_caller(make_error(ErrorCode::bad_state,
                                               "{} while a slot is out ({}): commit it or destroy it first",
                                               call, slot.what)
                                        .at_rank(core_.identity().session_rank));
  return {};
}

/// When a record ends, its memory returns to the server and is used for other frames.
Result<> RankPuts::check_oldest_not_lent(const File& file) const {
  const std::uint64_t oldest = file.collection->records().oldest(file.server);
  for (const auto& [number, slot] : slots_out_)
    if (slot.collection == file.collection && slot.seq == oldest &&
        (slot.server == file.server || file.collection->pool().is_split()))
      return fail(ErrorCode::bad_state,
                  "at most {} records of a collection can be begun per step, and the oldest cannot be ended "
                  "to begin another while a slot is out ({}): commit it or destroy it first",
                  CollectionRecords::most_open, slot.what);
  return {};
}

void RankPuts::record_wait_for_room(std::uint64_t waited_ns) {
  if (waited_ns == 0) return;
  const std::uint64_t now = now_ns();
  if (observe::Timer* const timer = profile_.wait("room in the server", timer_))
    timer->add(now - waited_ns, now);
  recorded_waits_ns_ += waited_ns;
}

}  // namespace afterbay::client
