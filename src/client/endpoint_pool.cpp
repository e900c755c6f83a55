// SPDX-License-Identifier: Apache-2.0
#include "client/endpoint_pool.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"

namespace afterbay::client {
namespace {

constexpr std::chrono::milliseconds look_for_failure{100};
/// Interval of looks for work that endpoints leave to the session's thread.
constexpr std::chrono::milliseconds look_for_work{2};

}  // namespace

EndpointPool::EndpointPool(JointPuts& puts, int session_rank) : puts_(puts), session_rank_(session_rank) {}

Result<> EndpointPool::add(std::shared_ptr<PartEndpoint> endpoint) {
  std::optional<std::uint64_t> steps;
  auto at_rest = endpoint->check_at_rest("making a pool", steps);
  if (!steps) return at_rest;
  entries_.push_back({.endpoint = std::move(endpoint), .steps = *steps});
  return {};
}

EndpointPool::Entry* EndpointPool::first_free() {
  Entry* first = nullptr;
  std::uint64_t slowest = ~std::uint64_t{0};
  for (Entry& entry : entries_) {
    if (entry.endpoint->is_closed()) continue;
    slowest = std::min(slowest, entry.steps);
    const auto turn = [](const Entry& it) { return std::pair(it.steps, it.given_back); };
    if (!entry.lent && (first == nullptr || turn(entry) < turn(*first))) first = &entry;
  }
  return first != nullptr && first->steps - slowest <= 1 ? first : nullptr;
}

tl::unexpected<Error> EndpointPool::none_free(ErrorCode code, std::string what) {
  constexpr std::size_t most_named = 8;
  std::size_t lent = 0;
  std::string names;
  std::size_t open = 0;
  for (const Entry& entry : entries_) {
    if (entry.endpoint->is_closed()) continue;
    ++open;
    if (!entry.lent || ++lent > most_named) continue;
    names += (names.empty() ? "" : ", ") + entry.endpoint->member().text();
  }
  if (lent > most_named) names += fmt::format(" and {} more", lent - most_named);
  std::string text = fmt::format("{}: {} are lent", what, names);
  if (lent < open) text += ", and the others are more than a step ahead of them";
  return fail(
      Error(code, text + ": give them back when their tasks have ended the step").at_rank(session_rank_));
}

Result<std::size_t> EndpointPool::take(bool may_wait) {
  const auto progress = [&] {
    return puts_.in_team([](Team& team) { return team.progress_of_endpoints(); });
  };
  std::optional<StallClock> clock;
  for (;;) {
    AFTERBAY_TRY(puts_.check_usable());
    const std::uint64_t puts = may_wait ? progress() : 0;
    {
      MutexLock lock(mutex_);
      if (Entry* const entry = first_free()) {
        entry->lent = true;
        return static_cast<std::size_t>(entry - entries_.data());
      }
      if (std::ranges::all_of(entries_, [](const Entry& entry) { return entry.endpoint->is_closed(); }))
        return fail(
            make_error(ErrorCode::bad_state,
                       "all {} endpoints of the pool have been closed: open others, and a pool of them",
                       entries_.size())
                .at_rank(session_rank_));
      if (!may_wait) return none_free(ErrorCode::would_block, "no endpoint of the pool is free");
      if (!clock) clock.emplace(puts_.limits().deadline, puts + changes_);
      if (clock->expired(puts + changes_))
        return none_free(ErrorCode::timed_out, fmt::format("waited {} s for an endpoint of the pool",
                                                           clock->limit_ns() / 1'000'000'000));
      changed_.wait_for(lock, puts_.has_sessions_thread() ? look_for_work : look_for_failure);
    }
    AFTERBAY_TRY(puts_.work());
  }
}

Result<> EndpointPool::give_back(std::size_t number) {
  const auto refused = [&](std::string text) {
    return fail(Error(ErrorCode::bad_state, std::move(text)).at_rank(session_rank_));
  };
  if (number >= entries_.size())
    return refused(
        fmt::format("number {} was given back to a pool of {} endpoints", number, entries_.size()));
  Result<> ended;
  {
    const MutexLock lock(mutex_);
    Entry& entry = entries_[number];
    if (!entry.lent)
      return refused(fmt::format("{} was given back, but is not lent", entry.endpoint->member().text()));
    std::optional<std::uint64_t> steps;
    ended = entry.endpoint->check_at_rest("giving back", steps);
    if (!steps) return ended;  // a thread is in a call of it: it is not free
    entry.steps = *steps;
    entry.lent = false;
    entry.given_back = ++changes_;
  }
  changed_.notify_all();
  return ended;
}

}  // namespace afterbay::client
