// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/joint_segments.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/thread_safety.hpp"
#include "mpi/check.hpp"

namespace afterbay::transport::network {

std::optional<std::vector<JointPart>> parts_of_joint(std::span<const std::byte> message) {
  std::vector<JointPart> parts;
  while (!message.empty()) {
    if (message.size() < sizeof(JointHeader)) return std::nullopt;
    const auto header = read_header<JointHeader>(message.data());
    if (header.bytes > most_joined_bytes || joint_part_bytes(header.bytes) > message.size())
      return std::nullopt;
    parts.push_back(
        {static_cast<std::size_t>(header.peer), message.subspan(sizeof(JointHeader), header.bytes)});
    message = message.subspan(joint_part_bytes(header.bytes));
  }
  return parts;
}

JointSegments::JointSegments(std::shared_ptr<const mpi::Communicator> comm, const std::vector<int>& servers,
                             std::uint64_t most_bytes, std::uint64_t prompt_bytes)
    : comm_(std::move(comm)),
      ranks_(servers),
      shares_(servers.size()),
      prepared_(servers.size()),
      most_bytes_(most_bytes),
      prompt_bytes_(prompt_bytes) {}

JointSegments::~JointSegments() {
  for (Sent& it : sent_) it.leave_behind();
}

namespace {

/// MPI may still read it, until the process ends.
void keep_to_the_end(Bytes message) {
  static Mutex mutex;
  static auto& kept = *new std::vector<Bytes>;
  const MutexLock lock(mutex);
  kept.push_back(std::move(message));
}

}  // namespace

void JointSegments::Sent::leave_behind() {
  if (request.active()) keep_to_the_end(std::move(message));
  request.abandon();
}

void JointSegments::drop(std::size_t server) {
  std::erase(begun_, server);
  bytes_ -= prepared_[server].capacity();
  prepared_[server] = {};
  std::erase_if(sent_, [&](Sent& it) {
    if (it.server != server) return false;
    bytes_ -= it.message.capacity();
    it.leave_behind();
    return true;
  });
}

Result<bool> JointSegments::add(std::size_t server, std::size_t peer, std::span<const std::byte> segment) {
  if (segment.size() > most_joined_bytes) return false;
  Share& share = shares_[server];
  const std::uint64_t counted = counts(segment.size()) ? segment.size() : 0;
  if (share.used + counted > std::max(share.allowed, share.used)) return false;
  const std::uint64_t more = joint_part_bytes(segment.size());
  if (prepared_[server].size() + more > most_joint_bytes) AFTERBAY_TRY(flush(server));
  AFTERBAY_TRY_ASSIGN(const bool fits, reserve(server, prepared_[server].size() + more));
  if (!fits) return false;
  Bytes& message = prepared_[server];
  if (message.empty()) begun_.push_back(server);
  share.used += counted;
  const std::size_t at = message.size();
  const JointHeader header{peer, segment.size()};
  message.resize(at + more);
  std::memcpy(message.data() + at, &header, sizeof header);
  std::memcpy(message.data() + at + sizeof header, segment.data(), segment.size());
  return true;
}

/// Messages get memory as they grow, so that there can be one for each of a thousand servers.
Result<bool> JointSegments::reserve(std::size_t server, std::size_t size) {
  constexpr std::size_t least_capacity = 1024;
  constexpr std::size_t looks = 16;  // at a time, however many are in transit
  const std::size_t has = prepared_[server].capacity();
  if (size <= has) return true;
  const std::size_t capacity = std::bit_ceil(std::max(size, least_capacity));
  const auto fits = [&] { return bytes_ - has + capacity <= most_bytes_; };
  if (!fits()) AFTERBAY_TRY(look(looks));
  if (!fits() && !begun_.empty() && begun_.front() != server) {
    AFTERBAY_TRY(flush(begun_.front()));
    AFTERBAY_TRY(look(looks));
  }
  if (!fits()) return false;
  prepared_[server].reserve(capacity);
  bytes_ = bytes_ - has + prepared_[server].capacity();
  return true;
}

Result<void> JointSegments::flush(std::size_t server) {
  if (prepared_[server].empty()) return {};
  begun_.erase(std::ranges::find(begun_, server));  // mostly the first
  Sent& it = sent_.emplace_back();
  it.server = server;
  it.message = std::exchange(prepared_[server], {});
  ++messages_;
  return mpi::check(MPI_Isend(it.message.data(), static_cast<int>(it.message.size()), MPI_BYTE,
                              ranks_[server], joint_tag, comm_->get(), it.request.handle()),
                    "MPI_Isend");
}

Result<bool> JointSegments::flush_all() {
  const bool any = !begun_.empty();
  while (!begun_.empty()) AFTERBAY_TRY(flush(begun_.front()));
  return any;
}

Result<bool> JointSegments::in_transit() {
  AFTERBAY_TRY(look(sent_.size()));
  return !sent_.empty();
}

/// A message to one server does not hold up those to others.
Result<void> JointSegments::look(std::size_t most) {
  for (std::size_t left = std::min(most, sent_.size()); left > 0; --left) {
    Sent it = std::move(sent_.front());
    sent_.pop_front();
    const Result<bool> done = it.request.test();
    if (done && *done) {
      bytes_ -= it.message.capacity();
    } else {
      sent_.push_back(std::move(it));
      AFTERBAY_TRY(done);
    }
  }
  return {};
}

std::uint64_t JoinedMemory::raise(std::uint64_t share) noexcept {
  const std::uint64_t wanted = std::min(std::max(2 * share, first_bytes), most_share_bytes);
  if (wanted <= share || frontends_ == 0) return share;
  const std::uint64_t equal = bytes_ / 2 / frontends_ / unit_bytes * unit_bytes;
  const std::uint64_t from = std::max(share, std::min(wanted, equal));
  const std::uint64_t more = std::min(wanted - from, free_ / unit_bytes * unit_bytes);
  free_ -= more;
  return from + more;
}

JointArrivals::~JointArrivals() {
  for (Waiting& it : waiting_) {
    if (it.request.active()) static_cast<void>(new Bytes(std::move(it.message)));  // MPI may still write it
    it.request.abandon();
  }
}

Result<void> JointArrivals::add(Found found) {
  waiting_.emplace_back().found = found;
  if (found.tag == joint_tag && found.bytes > most_joint_bytes)
    return fail(ErrorCode::internal, "a frontend sent {} bytes of small segments at once, more than {}",
                found.bytes, most_joint_bytes);
  return {};
}

Result<void> JointArrivals::begin_receives() {
  for (Waiting& it : waiting_) {
    if (memory_.free == 0 || receiving_ == most_receiving) return {};
    if (!it.is_found_only()) continue;
    --memory_.free;
    ++receiving_;
    it.message.resize(it.found.bytes);
    AFTERBAY_TRY(mpi::check(MPI_Imrecv(it.message.data(), static_cast<int>(it.found.bytes), MPI_BYTE,
                                       &it.found.message, it.request.handle()),
                            "MPI_Imrecv"));
  }
  return {};
}

Result<void> JointArrivals::deliver(const std::function<Result<void>(std::span<const std::byte>)>& joint,
                                    const std::function<Result<void>(const Found&)>& single) {
  while (!waiting_.empty()) {
    AFTERBAY_TRY(begin_receives());
    Waiting& first = waiting_.front();
    if (first.is_found_only()) return {};
    AFTERBAY_TRY_ASSIGN(const bool done, first.request.test_eagerly());
    if (!done) return {};
    const Waiting it = std::move(first);
    waiting_.pop_front();
    if (it.found.tag == joint_tag) {
      ++memory_.free;
      --receiving_;
      AFTERBAY_TRY(joint(it.message));
    } else {
      AFTERBAY_TRY(single(it.found));
    }
  }
  return {};
}

}  // namespace afterbay::transport::network
