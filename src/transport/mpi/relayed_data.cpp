// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/relayed_data.hpp"

#include <cstring>

#include "mpi/check.hpp"

namespace afterbay::transport::network {

RelayedData::RelayedData(std::shared_ptr<const mpi::Communicator> comm,
                         std::shared_ptr<relay::Channel> channel, std::vector<Client> clients,
                         std::vector<std::size_t> servers, Host host)
    : comm_(std::move(comm)),
      channel_(std::move(channel)),
      clients_(std::move(clients)),
      servers_(std::move(servers)),
      host_(std::move(host)),
      states_(clients_.size()) {
  if (channel_) allocated_.resize(channel_->geometry().segments());
}

RelayedData::~RelayedData() {
  bool channel_in_use = false;
  for (State& state : states_)
    for (Item& it : state.items) {  // MPI may still access the memory
      if (it.receive.active() || it.send.active()) {
        channel_in_use = channel_in_use || it.segment.has_value();
        static_cast<void>(new Bytes(std::move(it.ring)));
        static_cast<void>(new std::shared_ptr<std::byte>(std::move(it.buffer)));
      }
      it.receive.abandon();
      it.send.abandon();
    }
  if (channel_in_use) static_cast<void>(new std::shared_ptr<relay::Channel>(channel_));
}

void RelayedData::arrived(std::size_t client, std::size_t server, std::size_t bytes, MPI_Message message) {
  Item& item = states_[client].items.emplace_back();
  item.server = server;
  item.bytes = bytes;
  item.message = message;
  active_.add(client);
}

bool RelayedData::uses(std::uint32_t segment) const {
  return std::ranges::any_of(states_, [segment](const State& state) {
    return std::ranges::any_of(state.items, [segment](const Item& it) {
      return it.segment && it.segment->number == segment && it.receive.active();
    });
  });
}

void RelayedData::hold(std::uint64_t bytes) {
  figures_.held_bytes += bytes;
  figures_.peak_bytes = std::max(figures_.peak_bytes, figures_.held_bytes);
}

/// Segments that the rank has returned.
void RelayedData::return_segments(std::size_t client) {
  std::erase_if(states_[client].lent, [&](const Lent& it) {
    const bool back = !channel_->state(it.memory.number).is_held(it.memory.turn);
    if (back) figures_.held_bytes -= it.bytes;
    return back;
  });
}

/// Only segments that all ranks share: a rank needs its own ones to put.
bool RelayedData::into_segment(std::size_t client, Item& item) {
  const relay::ChannelGeometry& geometry = channel_->geometry();
  State& state = states_[client];
  channel_->header().wants_segment.store(1, std::memory_order_seq_cst);  // ranks ring when they return one
  return_segments(client);
  const auto receiving =
      std::ranges::count_if(state.items, [](const Item& it) { return it.segment && it.receive.active(); });
  if (state.lent.size() + static_cast<std::size_t>(receiving) >= most_segments) return false;
  for (std::uint32_t i = 0; i < geometry.shares.common; ++i) {
    const std::uint32_t number = geometry.first_common() + i;
    const auto turn = channel_->state(number).take(*clients_[client].slot);
    if (turn == 0) continue;
    network::SegmentMemory memory = channel_->segment(number);
    memory.turn = turn;
    std::uint64_t& allocated = allocated_[number];
    if (item.bytes > allocated) {
      const std::uint64_t to = allocation_for(item.bytes, allocated, memory.capacity);
      if (!channel_->allocate(memory, allocated, to)) {  // no memory now: the ring needs none
        channel_->state(number).free();
        return false;
      }
      allocated = to;
    }
    item.segment = memory;
    return true;
  }
  return false;
}

bool RelayedData::into_ring(std::size_t client, Item& item) {
  const auto receiving =
      std::ranges::count_if(states_[client].items, [](const Item& it) { return !it.ring.empty(); });
  if (host_.kept(client) + static_cast<std::size_t>(receiving) >= most_kept) return false;
  item.ring.resize(sizeof(relay::Answer) + item.bytes);
  const relay::Answer answer{
      relay::Answer::Kind::data, static_cast<std::uint32_t>(item.server), 0, 0, item.bytes, 0};
  std::memcpy(item.ring.data(), &answer, sizeof answer);
  return true;
}

bool RelayedData::into_buffer(Item& item) {
  item.buffer = far_.take(item.bytes);
  return item.buffer != nullptr;
}

/// Finds memory for the message and begins to receive it; false: there is none now. The last resort
/// for a rank of which nothing is in progress is its ring, for one rank at a time: so that what it
/// waits for arrives although others, who may wait for this rank, have all common segments.
bool RelayedData::begin(std::size_t client, Item& item) {
  std::byte* to = nullptr;
  if (!clients_[client].slot) {
    if (!into_buffer(item)) return false;
    to = item.buffer.get();
  } else if (item.bytes <= small_segment_bytes) {
    if (!into_ring(client, item)) return false;
    to = item.ring.data() + sizeof(relay::Answer);
  } else if (item.bytes <= channel_->geometry().capacity && into_segment(client, item)) {
    to = item.segment->data;
  } else {
    const State& state = states_[client];
    const bool busy = !state.lent.empty() || host_.kept(client) != 0 || &state.items.front() != &item;
    if (large_in_ring_ || busy || !into_ring(client, item)) return false;
    large_in_ring_ = client;
    to = item.ring.data() + sizeof(relay::Answer);
  }
  hold(item.bytes);
  ++transfers_;
  begun_ =
      mpi::check(MPI_Imrecv(to, static_cast<int>(item.bytes), MPI_BYTE, &item.message, item.receive.handle()),
                 "MPI_Imrecv");
  return true;
}

/// What has been received. True: it can be forgotten.
Result<bool> RelayedData::pass_on(std::size_t client, Item& item) {
  if (item.forwarding) {
    AFTERBAY_TRY_ASSIGN(const bool sent, item.send.test_eagerly());
    if (!sent) return false;
    figures_.held_bytes -= item.bytes;
    --transfers_;
    return true;
  }
  if (!host_.is_present(client)) {
    if (item.segment) channel_->give_back(item.segment->number, *clients_[client].slot);
    figures_.held_bytes -= item.bytes;
    --transfers_;
    return true;
  }
  figures_.bytes += item.bytes;
  ++figures_.messages;
  if (item.buffer) {
    item.forwarding = true;
    AFTERBAY_TRY(mpi::check(
        MPI_Issend(item.buffer.get(), static_cast<int>(item.bytes), MPI_BYTE, clients_[client].rank,
                   relay_data_tag(servers_[item.server]), comm_->get(), item.send.handle()),
        "MPI_Issend"));
    return false;
  }
  --transfers_;
  if (item.segment) {
    const relay::Answer answer{relay::Answer::Kind::segment,
                               static_cast<std::uint32_t>(item.server),
                               item.segment->number,
                               0,
                               item.bytes,
                               item.segment->turn};
    Bytes note(sizeof answer);
    std::memcpy(note.data(), &answer, sizeof answer);
    states_[client].lent.push_back({*item.segment, item.bytes});
    host_.answer(client, std::move(note));
  } else {
    figures_.held_bytes -= item.bytes;
    ++figures_.through_rings;
    host_.answer(client, std::move(item.ring));
  }
  return true;
}

Result<bool> RelayedData::advance_client(std::size_t client) {
  State& state = states_[client];
  bool did = false;
  if (clients_[client].slot) return_segments(client);
  for (auto it = state.items.begin(); it != state.items.end();) {
    if (it->message != MPI_MESSAGE_NULL) {
      // Nobody takes it any more.
      if (!host_.is_present(client) || !begin(client, *it)) break;
      AFTERBAY_TRY(begun_);
      did = true;
    }
    if (!it->forwarding) {
      AFTERBAY_TRY_ASSIGN(const bool received, it->receive.test_eagerly());
      if (!received) {
        ++it;
        continue;
      }
      did = true;
    }
    AFTERBAY_TRY_ASSIGN(const bool done, pass_on(client, *it));
    did = did || done;
    it = done ? state.items.erase(it) : it + 1;
  }
  return did;
}

Result<bool> RelayedData::advance() {
  if (large_in_ring_ && !host_.is_present(*large_in_ring_)) large_in_ring_.reset();
  bool did = false;
  Result<void> result;
  // Set again below for those that still wait.
  if (channel_) channel_->header().wants_segment.store(0, std::memory_order_relaxed);
  active_.visit([&](std::size_t client) {
    auto moved = advance_client(client);
    if (!moved && result) result = fail(std::move(moved).error());
    did = did || (moved && *moved);
    const State& state = states_[client];
    const bool receives = !state.items.empty() && (host_.is_present(client) || transfers_ != 0);
    return receives || (!state.lent.empty() && host_.is_present(client));
  });
  AFTERBAY_TRY(result);
  return did;
}

}  // namespace afterbay::transport::network
