// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/client.hpp"

#include <algorithm>
#include <utility>

#include "base/caller_terms.hpp"
#include "transport/shm/frame_table.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::uint64_t most_part_bytes = 64u << 10;  // per message part
constexpr mpi::BackOff::Time shortest_pause{20};
constexpr mpi::BackOff::Time longest_pause{10'000};
// For all links of a rank together: for segments in transit when they are closed, and for the last
// messages to frontends of a session that ends in order.
constexpr Millis farewell{2000};
constexpr Millis last_words{500};

/// Waiting for a segment that only the caller can complete would never end.
Result<void> check_open_parts(const MpiClientOptions& options, const Carrier& carrier,
                              const StagedSegments& segments, std::uint64_t bytes) {
  const HeldSegments held = options.rank_links->held(carrier.memory());
  if (segments.sending() || held.by_caller < carrier.segments()) return {};
  return fail(ErrorCode::resources,
              "{}: acquired parts fill all {} staging segments of {} bytes, there is no room for {} more "
              "bytes; commit some first or raise {}",
              options.server, carrier.segments(), carrier.capacity(), bytes, carrier.setting());
}

Error stalled_error(const MpiClientOptions& options, Carrier& carrier, Millis patience,
                    const std::string& never_heard) {
  const HeldSegments held = options.rank_links->held(carrier.memory());
  const bool another = !held.server.empty() && held.server != options.server;
  return make_error(
      ErrorCode::timed_out,
      "{}: no sign of progress for {} ms while waiting for it to take one of {} staging segments; is it "
      "stuck, or the network down?{}{}{}",
      options.server, patience.count(), carrier.segments(),
      another ? fmt::format(" {} of them hold data for {}.", held.most, held.server) : "",
      note_of_stuck(carrier.stuck_between()), note_of_silence(never_heard));
}

}  // namespace

MpiClientLink::MpiClientLink(std::unique_ptr<Carrier> carrier, MpiClientOptions options)
    : carrier_(std::move(carrier)),
      options_(std::move(options)),
      capacity_(carrier_->capacity()),
      segments_(*carrier_),
      replies_(carrier_->credits()),
      process_(options_.process),
      quiet_(shortest_pause, longest_pause) {
  options_.rank_links->add(*this);
}

MpiClientLink::~MpiClientLink() {
  options_.rank_links->remove(*this);
  if (!carrier_->usable()) return;
  if (!ended_) static_cast<void>(flush());
  const std::uint64_t end =
      std::min(options_.rank_links->end_of_departure().after(std::min(farewell, options_.policy.deadline)),
               options_.policy.end_ns);
  mpi::BackOff back_off;
  while (under_way() && check_alive() && poll() && now_ns() < end) {
    options_.rank_links->keep_moving(*this);  // the others use the same time
    if (!(idle_ && idle_()))
      carrier_->pause(back_off, longest_pause, segments_.sending() || carrier_->receiving());
  }
  if (!ended_) carrier_->leave(end);
}

void MpiClientLink::end() {
  if (!std::exchange(ended_, true)) carrier_->end(options_.rank_links->end_of_last_words().after(last_words));
}

bool MpiClientLink::under_way() {
  const Result<bool> header_left = carrier_->header_sent();
  return (header_left && !*header_left) || segments_.under_way();
}

Result<void> MpiClientLink::poll() {
  AFTERBAY_TRY(segments_.complete(waiting_));
  AFTERBAY_TRY_ASSIGN(const bool arrived, replies_.take(*carrier_, options_.server));
  if (replies_.take_pong()) order_.note_pong();
  AFTERBAY_TRY_ASSIGN(const std::uint32_t sent, segments_.send_ready(replies_.credits(), order_));
  replies_.use_credits(sent);
  segments_sent_ += sent;
  if (arrived || sent > 0) quiet_.reset();
  return {};
}

void MpiClientLink::set_position(std::uint64_t position) {
  options_.rank_links->note(position);
  order_.follow(shm::order_of(position, 0));
}

void MpiClientLink::advance(std::uint64_t position, std::uint32_t frame) {
  order_.follow(shm::order_of(position, frame));
}

/// Another link of this rank may wait for the memory of this one.
bool MpiClientLink::catch_up(std::uint64_t /*position*/) {
  if (ended_) return false;
  segments_.release_unused();
  return flush() && under_way();  // an error is returned by the link's own next call
}

HeldSegments MpiClientLink::held(const void* memory) const {
  HeldSegments all;
  if (memory == carrier_->memory()) all = segments_.held();
  if (all.segments == 0) return all;
  all.server = options_.server;
  all.progress = replies_.progress();
  return all;
}

Result<void> MpiClientLink::check_holding(const void* memory) {
  return held(memory).segments == 0 ? Result<void>() : check_server();
}

Result<bool> MpiClientLink::make_item_room(std::uint64_t bytes, const FrameSlot* slot, bool may_wait) {
  for (;;) {
    if (Segment* const last = segments_.filling()) {
      if (last->room() >= bytes && !last->would_mix(bytes, slot, options_.sizes.prompt_bytes)) {
        AFTERBAY_TRY(carrier_->allocate(last->memory, last->used + bytes));
        return true;
      }
      if (last->holds_items())
        segments_.end_filling(*last, order_.latest());
      else
        segments_.release_unused();
    }
    AFTERBAY_TRY(segments_.complete(waiting_));
    auto begun = segments_.begin_another(bytes, may_wait);
    // Memory that was allocated before comes back.
    if (!begun && options_.rank_links->held(carrier_->memory()).segments != 0) return false;
    if (!begun || !*begun) return begun;
  }
}

Result<void> MpiClientLink::check_server() {
  if (replies_.server_failed())
    return fail(ErrorCode::bad_state, "{} has failed; its message says why", options_.server);
  return check_alive();
}

Result<void> MpiClientLink::wait_for_item_room(std::uint64_t bytes, const FrameSlot* slot) {
  const std::uint64_t begin = now_ns();
  const Millis patience = options_.policy.patience(never_heard().empty());
  const auto progress = [this] {
    return replies_.progress() + options_.rank_links->held(carrier_->memory()).progress;
  };
  StallClock stall(patience, progress());
  mpi::BackOff back_off;
  Result<void> result = check_open_parts(options_, *carrier_, segments_, bytes);
  waiting_ = true;
  while (result && (result = poll())) {
    const Result<bool> made = make_item_room(bytes, slot, slot != nullptr);
    if (!made) result = fail(made.error());
    if (!made || *made) break;
    result = check_server();
    if (result) result = options_.rank_links->check_holding(carrier_->memory());
    if (result) result = order_.ping_if_due(*carrier_, segments_);
    if (result && stall.expired(progress()))
      result = fail(stalled_error(options_, *carrier_, patience, never_heard()));
    options_.rank_links->keep_moving(*this);
    if (result && !(idle_ && idle_()))
      carrier_->pause(back_off, longest_pause, segments_.sending() || carrier_->receiving());
  }
  waiting_ = false;
  waited_ns_ += now_ns() - begin;
  return result;
}

Result<void> MpiClientLink::send(std::span<const std::byte> message, Wake wake) {
  std::size_t from = 0;
  do {
    const std::size_t bytes =
        std::min<std::size_t>({message.size() - from, most_part_bytes, capacity_ - 2 * alignment});
    AFTERBAY_TRY_ASSIGN(const bool made, make_item_room(item_bytes(bytes)));
    if (!made) AFTERBAY_TRY(wait_for_item_room(item_bytes(bytes)));
    const bool last = from + bytes == message.size();
    std::byte* at = segments_.append({last ? ItemKind::message : ItemKind::part, 0, bytes, {}});
    if (bytes != 0) std::memcpy(at, message.data() + from, bytes);
    from += bytes;
  } while (from < message.size());
  return wake == Wake::now ? flush() : poll();
}

Result<void> MpiClientLink::send_ahead(std::span<const std::byte> message) {
  if (message.size() > most_word_bytes) return send(message, Wake::now);
  AFTERBAY_TRY(check_server());
  AFTERBAY_TRY(carrier_->send_word(make_word(message, order_.stated())));
  quiet_.reset();
  return poll();
}

Result<void> MpiClientLink::flush() {
  if (order_.follows()) order_.follow(shm::order_of(options_.rank_links->position(), 0));
  if (Segment* const last = segments_.filling()) last->flush = last->flush || last->holds_items();
  AFTERBAY_TRY(poll());
  // Ranks ahead of this one may be waiting for its progress.
  return order_.state(*carrier_, segments_);
}

Result<Landing> MpiClientLink::reserve(const FrameSlot& slot, std::uint32_t piece, std::uint64_t packed_bytes,
                                       bool may_wait) {
  const std::uint64_t bytes = item_bytes(packed_bytes);
  if (bytes > capacity_ - alignment)
    return fail(ErrorCode::resources,
                "{}: a part of {} bytes does not fit into a staging segment of {} bytes (memory.block)",
                options_.server, packed_bytes, capacity_);
  options_.rank_links->note(slot.position);
  order_.follow(shm::order_of(slot.position, slot.frame));
  AFTERBAY_TRY_ASSIGN(bool made, make_item_room(bytes, &slot, may_wait));
  if (!made) {
    AFTERBAY_TRY(poll());
    AFTERBAY_TRY_ASSIGN(made, make_item_room(bytes, &slot, may_wait));
    if (!made) {
      if (!may_wait) {
        AFTERBAY_TRY(check_server());
        return fail(ErrorCode::would_block, "{}: all {} staging segments are full now", options_.server,
                    carrier_->segments());
      }
      AFTERBAY_TRY(wait_for_item_room(bytes, &slot));
    }
  }
  return Landing{segments_.append_open_part(slot, piece, packed_bytes), true};
}

Result<bool> MpiClientLink::make_room(std::span<const FrameSlot> slots, std::uint64_t packed_bytes,
                                      RoomFor /*use*/) {
  AFTERBAY_TRY(poll());
  const std::uint64_t bytes = packed_bytes + slots.size() * 2 * alignment;
  std::size_t frames = slots.empty() ? 0 : 1;
  for (std::size_t i = 1; i < slots.size(); ++i)
    frames += slots[i].frame != slots[i - 1].frame || slots[i].seq != slots[i - 1].seq ? 1 : 0;
  if (const Segment* const last = segments_.filling(); last != nullptr && last->room() >= bytes) {
    const std::uint64_t most = options_.sizes.prompt_bytes;
    const bool mixes = frames > 1 || last->would_mix(bytes, slots.empty() ? nullptr : slots.data(), most);
    if (!mixes || last->used + bytes <= most) return true;
  }
  const bool small = alignment + bytes <= small_segment_bytes;
  const std::size_t needed = alignment + bytes <= options_.sizes.prompt_bytes ? 1 : frames;
  const bool fits =
      needed <= carrier_->segments() && bytes / std::max<std::size_t>(frames, 1) <= capacity_ - alignment;
  const std::uint64_t each = small ? alignment + bytes : small_segment_bytes + 1;
  if (fits && segments_.set_aside(needed, each)) return true;
  // What all links have staged comes free when it has been sent.
  AFTERBAY_TRY(flush());
  options_.rank_links->keep_moving(*this);
  if (fits && segments_.set_aside(needed, each)) return true;
  // A put that needs more segments than there are waits for its own data.
  if (options_.rank_links->held(carrier_->memory()).segments == 0) return true;
  AFTERBAY_TRY(check_server());
  return false;
}

Result<void> MpiClientLink::commit(const FrameSlot& slot, std::uint32_t piece) {
  const Segment* const segment = segments_.close_part(slot, piece);
  if (segment == nullptr)
    return fail(ErrorCode::internal,
                "{}: piece {} of frame {} of record number {} is committed but not reserved", options_.server,
                piece, slot.frame, said_index(slot.seq));
  return segment->is_due() ? poll() : Result<void>();
}

Result<std::optional<Bytes>> MpiClientLink::receive() {
  if (replies_.empty()) AFTERBAY_TRY(poll());
  data_ = {};
  if (replies_.empty()) return std::nullopt;
  Replies::Message first = replies_.pop();
  data_ = std::move(first.data);
  return std::move(first.bytes);
}

void MpiClientLink::wait(Millis most) {
  const std::uint64_t end =
      now_ns() + static_cast<std::uint64_t>(std::max<Millis::rep>(most.count(), 0)) * 1'000'000;
  while (flush() && replies_.empty()) {
    options_.rank_links->keep_moving(*this);
    if ((idle_ && idle_()) || !order_.ping_if_due(*carrier_, segments_)) return;
    const std::uint64_t now = now_ns();
    if (now >= end) return;
    carrier_->pause(quiet_, std::chrono::nanoseconds(end - now),
                    segments_.sending() || carrier_->receiving());
  }
}

std::string MpiClientLink::never_heard() const {
  if (replies_.heard()) return "";
  const std::string before = carrier_->never_heard();
  return before.empty() ? options_.dedicated : before;
}

Result<void> MpiClientLink::check_alive() {
  if (replies_.server_ended())
    return fail(ErrorCode::peer_lost, "{} has ended; its own message says why", options_.server);
  if (!process_.running())
    return fail(
        ErrorCode::peer_lost,
        "{}, process {} on this machine, has died; see its output and the kernel log (out of memory?)",
        options_.server, process_.pid());
  return carrier_->check_alive();
}

}  // namespace afterbay::transport::network
