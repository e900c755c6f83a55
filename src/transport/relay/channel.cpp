// SPDX-License-Identifier: Apache-2.0
#include "transport/relay/channel.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/units.hpp"

namespace afterbay::transport::relay {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t most_note_bytes = 128;      // including the ring's own header
constexpr std::size_t most_small_segments = 16;     // per rank
constexpr std::uint32_t most_noted_segments = 256;  // common ones
constexpr std::size_t most_noted_headers = 512;     // without a segment
constexpr std::uint64_t least_default_bytes = std::uint64_t{512} << 20;
constexpr Millis longest_turn{1000};  // for one turn of a working frontend
constexpr Millis look_at_turns{10};
constexpr Millis look_at_frontend{10};  // whether it is alive, while its ring is full
// For a rank that may wait for a segment that it has used before.
constexpr std::size_t enough_in_transit = 8;           // segments, as many as over MPI with the defaults
constexpr std::uint64_t allocation_ns_per_kib = 2400;  // for new shared memory: 0.43 GB/s were measured
constexpr unsigned new_after_wait = 8;

constexpr std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + page - 1) / page * page; }
constexpr std::uint64_t slots_at() { return whole_pages(sizeof(ChannelHeader)); }

}  // namespace

std::uint64_t ChannelGeometry::marks_at() const noexcept {
  return slots_at() + whole_pages(ranks * sizeof(RankSlot));
}
std::uint64_t ChannelGeometry::pairs_at() const noexcept {
  return marks_at() + whole_pages(shm::Marks::bytes_for(ranks));
}
std::uint64_t ChannelGeometry::states_at() const noexcept {
  return pairs_at() + whole_pages(std::uint64_t{ranks} * servers * sizeof(PairState));
}
std::uint64_t ChannelGeometry::rings_at() const noexcept {
  return states_at() + whole_pages(segments() * sizeof(SegmentState));
}
std::uint64_t ChannelGeometry::segments_at() const noexcept {
  return rings_at() + whole_pages(ranks * (up_bytes + down_bytes));
}
std::uint64_t ChannelGeometry::total_bytes() const noexcept {
  return segments_at() + small_segments() * small_bytes +
         (std::uint64_t{ranks} + shares.common) * segment_bytes;
}

Result<Shares> divide(std::uint64_t bytes, std::size_t ranks, std::size_t servers, const LinkSizes& sizes) {
  const std::uint64_t large = whole_pages(network::segment_capacity(sizes));
  const auto small = static_cast<std::uint32_t>(std::min(2 * servers, most_small_segments));
  const std::uint64_t of_a_rank = large + small * network::small_segment_bytes;
  const std::uint64_t own = ranks * of_a_rank;
  if (bytes == 0) bytes = std::max(least_default_bytes, own + ranks / 2 * large);
  if (bytes < own)
    return fail(ErrorCode::resources,
                "memory.frontend is {}, but a frontend needs {} for each of its {} model ranks ({} for a "
                "segment, and {} of {} for {} servers), {} in all: raise memory.frontend or "
                "frontends_per_node, or lower memory.block",
                print_bytes(bytes), print_bytes(of_a_rank), ranks, print_bytes(large), small,
                print_bytes(network::small_segment_bytes), servers, print_bytes(own));
  return Shares{small, static_cast<std::uint32_t>(std::min<std::uint64_t>((bytes - own) / large, 1U << 20))};
}

Shares shares_of_near(const Shares& shares, std::size_t near, std::size_t clients) noexcept {
  Shares part = shares;
  part.common = static_cast<std::uint32_t>(shares.common * near / clients);
  return part;
}

ChannelGeometry channel_geometry(std::size_t ranks, std::size_t servers, const Shares& shares,
                                 const LinkSizes& sizes) {
  ChannelGeometry geometry;
  geometry.ranks = static_cast<std::uint32_t>(ranks);
  geometry.servers = static_cast<std::uint32_t>(servers);
  geometry.shares = shares;
  geometry.capacity = network::segment_capacity(sizes);
  geometry.segment_bytes = whole_pages(geometry.capacity);
  geometry.small_bytes = network::small_segment_bytes;
  // A note for each segment that the rank usually has, and for headers; if it has more, it waits
  // for the frontend to read.
  const std::uint64_t notes = shares.small + 1 + std::min(shares.common, most_noted_segments) +
                              std::min(2 * servers, most_noted_headers);
  geometry.up_bytes = std::bit_ceil(std::max<std::uint64_t>(page, notes * most_note_bytes));
  geometry.down_bytes = std::bit_ceil(std::max<std::uint64_t>(page, sizes.reply_bytes));
  return geometry;
}

Channel::Channel(shm::Mapping mapping, const ChannelGeometry& geometry)
    : mapping_(std::move(mapping)), geometry_(geometry) {
  std::byte* const base = mapping_.data();
  header_ = std::launder(reinterpret_cast<ChannelHeader*>(base));
  slots_ = std::launder(reinterpret_cast<RankSlot*>(base + slots_at()));
  marks_ = reinterpret_cast<std::atomic<std::uint64_t>*>(base + geometry_.marks_at());
  pairs_ = std::launder(reinterpret_cast<PairState*>(base + geometry_.pairs_at()));
  states_ = std::launder(reinterpret_cast<SegmentState*>(base + geometry_.states_at()));
}

Result<std::shared_ptr<Channel>> Channel::format(shm::Mapping mapping, const ChannelGeometry& geometry) {
  AFTERBAY_TRY(mapping.allocate({{0, geometry.segments_at()}}));
  std::byte* const base = mapping.data();
  auto* const header = new (base) ChannelHeader;
  for (std::uint32_t r = 0; r < geometry.ranks; ++r) new (base + slots_at() + r * sizeof(RankSlot)) RankSlot;
  for (std::size_t i = 0; i < shm::Marks::bytes_for(geometry.ranks) / sizeof(std::uint64_t); ++i)
    new (base + geometry.marks_at() + i * sizeof(std::uint64_t)) std::atomic<std::uint64_t>(0);
  for (std::uint32_t p = 0; p < geometry.ranks * geometry.servers; ++p)
    new (base + geometry.pairs_at() + p * sizeof(PairState)) PairState;
  for (std::uint32_t i = 0; i < geometry.segments(); ++i)
    new (base + geometry.states_at() + i * sizeof(SegmentState)) SegmentState;
  header->frontend = own_process();
  header->life.store(shm::Life::present, std::memory_order_release);
  return std::shared_ptr<Channel>(new Channel(std::move(mapping), geometry));
}

std::shared_ptr<Channel> Channel::attach(shm::Mapping mapping, const ChannelGeometry& geometry) {
  return std::shared_ptr<Channel>(new Channel(std::move(mapping), geometry));
}

network::SegmentMemory Channel::segment(std::uint32_t number) const noexcept {
  std::byte* const base = mapping_.data() + geometry_.segments_at();
  const std::uint32_t small = geometry_.small_segments();
  if (number < small) return {base + number * geometry_.small_bytes, geometry_.small_bytes, number, false, 0};
  const std::uint64_t at = small * geometry_.small_bytes + (number - small) * geometry_.segment_bytes;
  return {base + at, geometry_.capacity, number, true, 0};
}

bool Channel::may_use(std::size_t rank, std::uint32_t number) const noexcept {
  return number < geometry_.segments() && state(number).is_held_by(rank);
}

void Channel::give_back(std::uint32_t number, std::size_t rank) const noexcept {
  state(number).free();
  announce_free(number, rank);
}

void Channel::announce_free(std::uint32_t number, std::size_t rank) const noexcept {
  slot(rank).bell.ring();
  if (number < geometry_.first_common()) return;
  for (std::uint32_t r = 0; r < geometry_.ranks; ++r)
    if (slot(r).wants_segment.load(std::memory_order_seq_cst) != 0) slot(r).bell.ring();
}

std::span<std::byte> Channel::up_ring(std::size_t rank) const noexcept {
  const std::uint64_t at = geometry_.rings_at() + rank * (geometry_.up_bytes + geometry_.down_bytes);
  return {mapping_.data() + at, geometry_.up_bytes};
}

std::span<std::byte> Channel::down_ring(std::size_t rank) const noexcept {
  const std::span<std::byte> up = up_ring(rank);
  return {up.data() + up.size(), geometry_.down_bytes};
}

ChannelEnd::ChannelEnd(std::shared_ptr<Channel> channel, std::size_t rank, std::string frontend,
                       std::string host, Millis deadline)
    : channel_(std::move(channel)),
      rank_(rank),
      frontend_(std::move(frontend)),
      host_(std::move(host)),
      deadline_(deadline),
      slot_(channel_->slot(rank)),
      up_(slot_.up, channel_->up_ring(rank)),
      down_(slot_.down, channel_->down_ring(rank), slot_.down_is_full, channel_->header().doorbell),
      arrived_(channel_->geometry().servers),
      data_(channel_->geometry().servers),
      allocated_(channel_->geometry().segments()),
      process_(channel_->header().frontend),
      bell_seen_(slot_.bell.count()) {
  slot_.process = own_process();
  slot_.life.store(shm::Life::present, std::memory_order_release);
}

ChannelEnd::~ChannelEnd() { end(); }

void ChannelEnd::end() {
  slot_.life.store(shm::Life::ended, std::memory_order_seq_cst);
  channel_->header().doorbell.ring();
}

std::optional<network::SegmentMemory> ChannelEnd::take_one(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t i = first; i < first + count; ++i) {
    const SegmentState::Turn turn = channel_->state(i).take(rank_);
    if (turn == 0) continue;
    network::SegmentMemory taken = channel_->segment(i);
    taken.turn = turn;
    return taken;
  }
  return std::nullopt;
}

/// A common segment whose pages are mapped.
std::optional<network::SegmentMemory> ChannelEnd::take_used(const network::SegmentRequest& request) {
  const ChannelGeometry& geometry = channel_->geometry();
  for (std::uint32_t i = 0; i < geometry.shares.common; ++i) {
    const std::uint32_t number = geometry.first_common() + i;
    if (allocated_[number] < request.bytes) continue;
    if (const auto taken = take_one(number, 1)) return taken;
  }
  return std::nullopt;
}

/// For as long as it takes to allocate one: so a wait in vain costs no more than was to be saved.
/// After that it takes several without waiting.
bool ChannelEnd::waits_for_used(const network::SegmentRequest& request) {
  if (!request.may_wait || request.large_held < enough_in_transit) return false;
  if (new_without_wait_ > 0) {
    --new_without_wait_;
    return false;
  }
  const std::uint64_t now = now_ns();
  if (awaits_used_ns_ == 0) awaits_used_ns_ = now;
  if (now - awaits_used_ns_ < request.bytes * allocation_ns_per_kib / 1024) return true;
  new_without_wait_ = new_after_wait;
  return false;
}

/// The rank's own one first: its pages are mapped.
std::optional<network::SegmentMemory> ChannelEnd::take_large(const network::SegmentRequest& request,
                                                             bool leaves_own) {
  const ChannelGeometry& geometry = channel_->geometry();
  slot_.wants_segment.store(1, std::memory_order_seq_cst);
  std::optional<network::SegmentMemory> taken;
  if (!leaves_own) taken = take_one(geometry.small_segments() + static_cast<std::uint32_t>(rank_), 1);
  if (!taken) taken = take_used(request);
  if (!taken && waits_for_used(request)) return std::nullopt;
  if (!taken) taken = take_one(geometry.first_common(), geometry.shares.common);
  if (taken) slot_.wants_segment.store(0, std::memory_order_relaxed);
  return taken;
}

std::optional<network::SegmentMemory> ChannelEnd::take(const network::SegmentRequest& request) {
  const ChannelGeometry& geometry = channel_->geometry();
  const std::uint32_t small = geometry.shares.small;
  const auto taken = network::lend(
      request, geometry.small_bytes, geometry.servers > 1,
      [&] { return take_one(static_cast<std::uint32_t>(rank_) * small, small); },
      [&](bool leaves_own) { return take_large(request, leaves_own); });
  if (taken) awaits_used_ns_ = 0;
  return taken;
}

void ChannelEnd::give_back(const network::SegmentMemory& segment) { channel_->state(segment.number).free(); }

Result<void> ChannelEnd::allocate(const network::SegmentMemory& segment, std::uint64_t bytes) {
  std::uint64_t& allocated = allocated_[segment.number];
  if (bytes <= allocated) return {};
  const std::uint64_t to = network::allocation_for(bytes, allocated, segment.capacity);
  AFTERBAY_TRY(channel_->allocate(segment, allocated, to));
  allocated = to;
  return {};
}

/// After something was written to the ring.
void ChannelEnd::ring_doorbell() noexcept {
  channel_->marks().set(rank_);
  channel_->header().doorbell.ring();
}

Result<void> ChannelEnd::leave(const Note& note, std::span<const std::byte> message) {
  const auto head = std::as_bytes(std::span(&note, 1));
  note_.assign(head.begin(), head.end());
  note_.insert(note_.end(), message.begin(), message.end());
  const std::size_t written = up_.write(note_, 0);
  ring_doorbell();
  if (up_.message_done()) return {};
  slot_.up_is_full.store(1, std::memory_order_seq_cst);  // from now on the frontend rings when it has read
  auto done = write_rest(written);
  slot_.up_is_full.store(0, std::memory_order_relaxed);
  return done;
}

/// The rest of the note, as the frontend reads what was written before.
Result<void> ChannelEnd::write_rest(std::size_t written) {
  const auto end = std::chrono::steady_clock::now() + deadline_;
  while (true) {
    const std::uint32_t seen = slot_.bell.prepare();
    const std::size_t before = std::exchange(written, up_.write(note_, written));
    if (written != before || up_.message_done()) ring_doorbell();
    auto checked = up_.message_done() ? Result<void>() : check_alive();
    if (checked && !up_.message_done() && std::chrono::steady_clock::now() > end)
      checked = fail(ErrorCode::timed_out, "{}: it has not read this rank's requests for {} ms; is it stuck?",
                     frontend_, deadline_.count());
    if (!checked || up_.message_done()) {
      slot_.bell.cancel();
      return checked;
    }
    slot_.bell.wait(seen, look_at_frontend);
  }
}

void ChannelEnd::collect() {
  while (const auto message = down_.front()) {
    Answer answer;
    if (message->size() >= sizeof answer) {
      std::memcpy(&answer, message->data(), sizeof answer);
      if (answer.server < arrived_.size()) take_answer(answer, message->subspan(sizeof answer));
    }
    down_.pop();
  }
}

void ChannelEnd::take_answer(const Answer& answer, std::span<const std::byte> rest) {
  if (answer.kind == Answer::Kind::batch) {
    arrived_[answer.server].emplace_back(rest.begin(), rest.end());
    return;
  }
  if (answer.kind == Answer::Kind::data) {
    const auto bytes = std::make_shared<const Bytes>(rest.begin(), rest.end());
    data_[answer.server].push_back({*bytes, bytes});
    return;
  }
  network::SegmentMemory memory = channel_->segment(answer.segment);
  memory.turn = answer.turn;
  // Faults its pages in at once; if that fails, each is when it is read.
  (void)allocate(memory, answer.bytes);
  std::shared_ptr<const void> keeper(memory.data, [channel = channel_, rank = rank_, memory](const void*) {
    if (!channel->state(memory.number).free(memory.turn)) return;
    channel->announce_free(memory.number, rank);
    if (channel->header().wants_segment.load(std::memory_order_seq_cst) != 0)
      channel->header().doorbell.ring();
  });
  data_[answer.server].push_back({{memory.data, answer.bytes}, std::move(keeper)});
}

std::optional<ReceivedData> ChannelEnd::next_data(std::size_t server) {
  if (data_[server].empty()) collect();
  if (data_[server].empty()) return std::nullopt;
  ReceivedData data = std::move(data_[server].front());
  data_[server].pop_front();
  return data;
}

std::optional<Bytes> ChannelEnd::next(std::size_t server) {
  if (arrived_[server].empty()) collect();
  if (arrived_[server].empty()) return std::nullopt;
  Bytes batch = std::move(arrived_[server].front());
  arrived_[server].pop_front();
  return batch;
}

/// Unless the bell has rung since the last sleep ended.
void ChannelEnd::sleep(std::chrono::nanoseconds most) {
  const std::uint32_t count = slot_.bell.prepare();
  if (count != bell_seen_)
    slot_.bell.cancel();
  else
    slot_.bell.wait(count, most);
  bell_seen_ = slot_.bell.count();
}

Result<void> ChannelEnd::check_alive() {
  if (channel_->header().life.load(std::memory_order_acquire) == shm::Life::ended)
    return fail(ErrorCode::peer_lost, "{} has ended; its own message says why", frontend_);
  if (process_.running()) return {};
  return fail(ErrorCode::peer_lost,
              "{}, process {} on this node, has died; see its output and the kernel log (out of memory?)",
              frontend_, process_.pid());
}

std::string ChannelEnd::stuck() const {
  const std::atomic<std::uint64_t>& turns = channel_->header().turns;
  const std::uint64_t seen = turns.load(std::memory_order_relaxed);
  if (seen == 0) return "";
  channel_->header().doorbell.ring();
  const auto end = std::chrono::steady_clock::now() + longest_turn;
  while (std::chrono::steady_clock::now() < end) {
    if (turns.load(std::memory_order_relaxed) != seen) return "";
    std::this_thread::sleep_for(look_at_turns);
  }
  return frontend_;
}

std::string ChannelEnd::never_began() const {
  if (channel_->header().turns.load(std::memory_order_relaxed) != 0) return "";
  return frontend_ + " on host " + host_;
}

}  // namespace afterbay::transport::relay
