// SPDX-License-Identifier: Apache-2.0
// The ranks and servers that a frontend still serves, their state, and its end.
#include <algorithm>
#include <span>

#include "base/rank_names.hpp"
#include "transport/mpi/relay.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::uint64_t longest_silence_ns = 1'000'000'000;  // without a sign of life from a
                                                             // frontend
constexpr std::uint64_t hear_ns = 50'000'000;
constexpr std::size_t most_watched = 32;  // processes of ranks, in one turn

std::uint64_t patience_ns(const WaitPolicy& policy, bool heard = true) {
  return static_cast<std::uint64_t>(policy.patience(heard).count()) * 1'000'000;
}

}  // namespace

Relay::Figures Relay::figures() const {
  Figures now = figures_;
  const std::uint64_t large = segment_capacity(options_.sizes);
  now.limit_bytes = options_.far_common * large;
  if (options_.channel)
    now.limit_bytes +=
        options_.channel->geometry().total_bytes() - options_.channel->geometry().segments_at();
  now.ranks = clients_.size();
  for (std::size_t c = 0; c < clients_.size(); ++c) {
    const auto slot = options_.clients[c].slot;
    if (!slot) now.limit_bytes += large;
    if (clients_[c].life != Life::present)
      ++now.ranks_ended;
    else if (slot ? options_.channel->slot(*slot).wants_segment.load(std::memory_order_relaxed) != 0
                  : arrivals_.holds_back(options_.clients[c].rank))
      ++now.ranks_full;
  }
  return now;
}

Relay::Awaited Relay::waits_for() const {
  if (lanes_.sending() > 0) return Awaited::transfers;
  return lanes_.waiting() > 0 ? Awaited::credits : Awaited::data;
}

/// The time between the start of the session and serve() does not count as silence.
void Relay::begin(std::uint64_t now) {
  begun_ = true;
  moved_ns_ = now;
  for (ServerState& it : servers_) it.heard_ns = std::max(it.heard_ns, now);
}

/// Some in each turn: looking at a process is a system call.
void Relay::watch_clients() {
  for (std::size_t n = std::min(clients_.size(), most_watched); n > 0; --n) {
    const std::size_t c = lanes_.next_client();
    ClientState& it = clients_[c];
    if (!it.notes) continue;
    if (it.life != Life::present) {
      if (!it.reclaimed && !it.notes->front()) reclaim(c);
      continue;
    }
    const relay::RankSlot& slot = options_.channel->slot(*options_.clients[c].slot);
    const shm::Life life = slot.life.load(std::memory_order_acquire);
    if (life == shm::Life::absent) continue;
    if (life == shm::Life::ended) {
      if (!it.notes->front()) it.life = Life::ended;
    } else {
      if (!it.process) it.process.emplace(slot.process);
      if (!it.process->running()) it.life = Life::died;
    }
    if (it.life != Life::present) lanes_.activate_client(c);
  }
}

/// A server answers a ping at once, even while it works.
void Relay::watch_servers(std::uint64_t now) {
  const std::uint64_t limit = patience_ns(options_.policy);
  for (std::size_t s = 0; s < servers_.size(); ++s) {
    ServerState& it = servers_[s];
    if (it.gone) continue;
    if (!it.process.running()) {
      it.gone = true;
      lanes_.activate_server(s);
      fail(make_error(ErrorCode::peer_lost, "{}, process {} on this machine, has died",
                      options_.servers[s].label, it.process.pid()));
      continue;
    }
    if (now - it.pinged_ns >= std::min(limit / 8, longest_silence_ns)) {
      it.pinged_ns = now;
      Lane& first = lane(0, s);
      lanes_.activate(0, s);
      if (first.headers.empty()) first.headers.push_back({SegmentKind::ping, 0, 0, first.order_sent});
    }
    if (now - it.heard_ns > patience_ns(options_.policy, it.heard) && !it.failed) {
      it.gone = true;
      lanes_.activate_server(s);
      if (!it.heard)
        fail(make_error(ErrorCode::timed_out, "waited {} ms for {};{}", (now - it.heard_ns) / 1'000'000,
                        options_.servers[s].label, note_of_silence(options_.servers[s].dedicated)));
      fail(make_error(ErrorCode::timed_out,
                      "{} has not answered for {} ms; is it stuck, or the network down?",
                      options_.servers[s].label, options_.policy.deadline.count()));
    }
  }
}

bool Relay::drained() {
  return lanes_.drained([this](const Lane& it, std::size_t server) {
    return servers_[server].gone ||
           (it.waiting.empty() && it.sending.empty() && it.headers.empty() && !it.header_request.active() &&
            it.words.empty() && !it.word_request.active() && it.told_end);
  });
}

/// MPI may need several looks to receive messages that servers sent long ago.
bool Relay::hear_failure() {
  const mpi::BackOff back_off;
  const std::uint64_t end = now_ns() + hear_ns;
  while (!server_failed() && now_ns() < end)
    if (!take_arrivals()) back_off.sleep();
  return server_failed();
}

void Relay::tell(std::span<const std::byte> to_servers, std::span<const std::byte> to_ranks) {
  const Bytes batch = make_batch({0, BatchHeader::failed, 0, 0}, to_ranks);
  for (std::size_t c = 0; c < clients_.size(); ++c)
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      if (c == 0) lane(c, s).words.push_back(make_word(to_servers, lane(c, s).order_sent));
      lanes_.activate(c, s);
      take_batch(c, s, batch);
    }
}

void Relay::let_go() {
  for (std::size_t c = 0; c < clients_.size(); ++c) {
    if (clients_[c].life != Life::present) continue;
    clients_[c].life = Life::ended;
    lanes_.activate_client(c);
    for (std::size_t s = 0; s < servers_.size(); ++s) drop(c, s);
  }
}

std::string Relay::missing_clients() const {
  std::vector<int> missing;
  std::string one;
  for (std::size_t c = 0; c < clients_.size(); ++c) {
    if (clients_[c].life != Life::present) continue;
    missing.push_back(static_cast<int>(options_.clients[c].peer));
    one = options_.clients[c].label;
  }
  return missing.size() == 1 ? one : "model " + name_ranks(std::move(missing));
}

void Relay::finish_if_done(std::uint64_t now) {
  const auto ended =
      std::ranges::count_if(clients_, [](const ClientState& it) { return it.life != Life::present; });
  const bool all = static_cast<std::size_t>(ended) == clients_.size();
  if (all && drained()) {
    finished_ = true;
    for (std::size_t c = 0; c < clients_.size(); ++c)
      if (clients_[c].life == Life::died)
        fail(make_error(ErrorCode::peer_lost, "{} has died", options_.clients[c].label));
    for (std::size_t s = 0; s < servers_.size(); ++s)
      if (servers_[s].failed)
        fail(make_error(ErrorCode::peer_lost, "{} has failed; its own message says why",
                        options_.servers[s].label));
    return;
  }
  const std::uint64_t patience = 2 * patience_ns(options_.policy);
  const bool over = failure_ && now - failed_ns_ > patience;
  const bool stuck = now - moved_ns_ > patience && (ended > 0 || server_failed());
  if (stuck && !all)
    fail(make_error(ErrorCode::peer_lost, "{} did not end the session, while others did", missing_clients()));
  else if (stuck)
    fail(make_error(ErrorCode::timed_out, "data from model ranks that have ended could not be forwarded"));
  finished_ = stuck || over;
}

}  // namespace afterbay::transport::network
