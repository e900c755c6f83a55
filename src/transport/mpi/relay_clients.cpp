// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/relay_clients.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/rank_names.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::size_t most_watched = 32;  // in one call: looking at a process is a system call

}  // namespace

RelayClients::RelayClients(const RelayOptions& options) : options_(options), states_(options.clients.size()) {
  for (std::size_t c = 0; c < states_.size(); ++c) {
    const auto slot = of(c).slot;
    if (!slot) continue;
    relay::RankSlot& shared = options_.channel->slot(*slot);
    states_[c].notes = std::make_unique<shm::RingReader>(shared.up, options_.channel->up_ring(*slot),
                                                         shared.up_is_full, shared.bell);
    states_[c].down = std::make_unique<shm::RingWriter>(shared.down, options_.channel->down_ring(*slot));
    if (*slot >= by_slot_.size()) by_slot_.resize(*slot + 1);
    by_slot_[*slot] = c;
  }
}

void RelayClients::set_life(std::size_t client, Life life) {
  states_[client].life = life;
  ++gone_;
}

void RelayClients::end(std::size_t client) {
  if (is_present(client)) set_life(client, Life::ended);
}

bool RelayClients::take_notes(const TakeNote& take) {
  if (!options_.channel) return false;
  options_.channel->marks().take([this](std::size_t slot) {
    if (slot < by_slot_.size()) writing_.add(by_slot_[slot]);
  });
  bool any = false;
  writing_.visit([&](std::size_t client) {
    any = read(client, take) || any;
    return false;  // until its rank marks it again
  });
  return any;
}

bool RelayClients::read(std::size_t client, const TakeNote& take) {
  ++rings_read_;
  bool any = false;
  shm::RingReader& notes = *states_[client].notes;
  while (const auto message = notes.front()) {
    relay::Note note;
    if (message->size() >= sizeof note) {
      std::memcpy(&note, message->data(), sizeof note);
      any = take(client, note, message->subspan(sizeof note)) || any;
    }
    notes.pop();
  }
  return any;
}

/// A rank that died after it had written to its ring, and before it marked it, is found here.
bool RelayClients::has_note(std::size_t client) {
  if (!states_[client].notes->front()) return false;
  writing_.add(client);
  return true;
}

void RelayClients::watch(const ForClient& left, const ForClient& reclaim) {
  for (std::size_t n = std::min(size(), most_watched); n > 0; --n) {
    const std::size_t client = std::exchange(next_watched_, (next_watched_ + 1) % size());
    if (is_near(client)) watch_one(client, left, reclaim);
  }
}

void RelayClients::watch_one(std::size_t client, const ForClient& left, const ForClient& reclaim) {
  State& it = states_[client];
  if (it.life != Life::present) {
    if (it.reclaimed || has_note(client)) return;
    it.reclaimed = true;
    reclaim(client);
    return;
  }
  const relay::RankSlot& slot = options_.channel->slot(*of(client).slot);
  const shm::Life life = slot.life.load(std::memory_order_acquire);
  if (life == shm::Life::absent) return;
  if (life == shm::Life::ended) {
    if (!has_note(client)) set_life(client, Life::ended);
  } else {
    if (!it.process) it.process.emplace(slot.process);
    if (!it.process->running()) set_life(client, Life::died);
  }
  if (it.life != Life::present) left(client);
}

void RelayClients::keep(std::size_t client, Bytes answer) {
  states_[client].kept.push_back(std::move(answer));
  answering_.add(client);
}

bool RelayClients::write_answers(const std::function<void(const Bytes& answer)>& written) {
  bool any = false;
  answering_.visit([&](std::size_t client) {
    any = write(client, written) || any;
    return !states_[client].kept.empty();
  });
  return any;
}

bool RelayClients::write(std::size_t client, const std::function<void(const Bytes& answer)>& written) {
  State& it = states_[client];
  if (it.kept.empty()) return false;
  relay::RankSlot& slot = options_.channel->slot(*of(client).slot);
  bool moved = false;
  // From now on the rank rings when it has read.
  slot.down_is_full.store(1, std::memory_order_seq_cst);
  while (!it.kept.empty()) {
    const std::size_t before = std::exchange(it.kept_sent, it.down->write(it.kept.front(), it.kept_sent));
    moved = moved || it.kept_sent != before || it.down->message_done();
    if (!it.down->message_done()) break;
    written(it.kept.front());
    it.kept.pop_front();
    it.kept_sent = 0;
  }
  if (it.kept.empty()) slot.down_is_full.store(0, std::memory_order_relaxed);
  if (moved) slot.bell.ring();
  return moved;
}

std::string RelayClients::names_of_present() const {
  std::vector<int> present;
  std::string one;
  for (std::size_t c = 0; c < size(); ++c) {
    if (!is_present(c)) continue;
    present.push_back(static_cast<int>(of(c).peer));
    one = of(c).label;
  }
  return present.size() == 1 ? one : "model " + name_ranks(std::move(present));
}

}  // namespace afterbay::transport::network
