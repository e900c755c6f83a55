// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/receive_memory.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/rounding.hpp"
#include "base/units.hpp"
#include "transport/mpi/joint_segments.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::size_t most_spare_prompt = 64;
constexpr std::uint32_t least_credits = 2;                   // one segment travels while another is consumed
constexpr std::uint64_t least_prompt_bytes = 3 * alignment;  // a header and a short message
constexpr std::uint64_t most_bytes_of_servers = std::uint64_t{32} << 20;
constexpr std::uint64_t least_prompt_of_servers = std::uint64_t{1} << 10;

constexpr std::size_t least_large_buffers = 2;  // one for the slowest rank and one for the others
/// Parts of the memory, in sixteenths.
constexpr std::uint64_t prompt_share = 8;
constexpr std::uint64_t servers_share = 2;
constexpr std::uint64_t joined_share = 2;
constexpr std::uint64_t joint_share = 1;

std::uint64_t least_of_large(const LinkSizes& sizes) noexcept {
  return least_large_buffers * segment_capacity(sizes);
}
std::uint64_t least_of_servers(const LinkSizes& sizes, std::size_t servers) noexcept {
  return (std::max<std::size_t>(servers, 1) - 1) * std::min(sizes.credits, least_credits) *
         least_prompt_of_servers;
}
constexpr std::uint64_t least_of_joint = JointMemory::bytes_of(0);

/// A part: `share` sixteenths, or less if otherwise there would be too little for the least of the
/// others. Whether there are frontends does not count: model ranks do not know it of all servers,
/// and compute the same.
std::uint64_t part_of(const LinkSizes& sizes, std::size_t servers, std::uint64_t share, std::uint64_t least) {
  constexpr std::uint64_t all_shares = prompt_share + servers_share + joined_share + joint_share;
  const std::uint64_t reserved = least_of_large(sizes) + least_of_servers(sizes, servers) + least_of_joint;
  const std::uint64_t beyond = sizes.receive_bytes - std::min(sizes.receive_bytes, reserved);
  return std::min(sizes.receive_bytes * share / 16, least + beyond * share / all_shares);
}

LinkSizes shared(LinkSizes sizes, std::size_t senders, std::uint64_t bytes) noexcept {
  const std::uint64_t each = bytes / std::max<std::size_t>(senders, 1);
  const std::uint64_t credits = std::min(each / small_segment_bytes, std::uint64_t{sizes.credits});
  sizes.credits = std::max(static_cast<std::uint32_t>(credits), std::min(sizes.credits, least_credits));
  sizes.prompt_bytes = std::min(each / sizes.credits / alignment * alignment, small_segment_bytes);
  return sizes;
}

/// The pages of a new buffer are allocated by the system when they are written.
ReceiveMemory::Buffer make(std::uint64_t bytes, ReceiveMemory::Kind kind) {
  return {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes, kind};
}

}  // namespace

std::uint64_t least_receive_bytes(const LinkSizes& sizes, const Senders& senders) noexcept {
  return least_of_large(sizes) + least_of_servers(sizes, senders.servers) +
         (senders.relayed ? least_of_joint : 0);
}

Result<void> check_receive_bytes(const LinkSizes& sizes, const Senders& senders) {
  constexpr std::uint64_t multiple = 8192;  // as of the setting
  const std::uint64_t least = least_receive_bytes(sizes, senders);
  if (sizes.receive_bytes >= least) return {};
  std::string parts = fmt::format("{} for {} segments of memory.block", print_about(least_of_large(sizes)),
                                  least_large_buffers);
  if (senders.servers > 1)
    parts += fmt::format(", {} for messages of {} other server{}",
                         print_about(least_of_servers(sizes, senders.servers)), senders.servers - 1,
                         senders.servers == 2 ? "" : "s");
  if (senders.relayed)
    parts += fmt::format(", {} for joint messages of frontends", print_about(least_of_joint));
  return fail(ErrorCode::resources,
              "memory.receive is {}, but a server needs at least {} for what arrives over MPI ({}): raise "
              "memory.receive to {} or lower memory.block",
              print_bytes(sizes.receive_bytes), print_about(least), parts,
              print_bytes(rounded_up(least, multiple)));
}

LinkSizes shared_by(LinkSizes sizes, const Senders& senders) noexcept {
  if (senders.servers > 0) {
    const LinkSizes between = shared_by_servers(sizes, senders.servers);
    sizes.between_bytes = ReceiveMemory::most_prompt_bytes(between, senders.servers - 1);
  }
  sizes = shared(sizes, senders.models, part_of(sizes, senders.servers, prompt_share, 0));
  if (sizes.prompt_bytes < least_prompt_bytes) sizes.prompt_bytes = 0;
  if (!senders.relayed) return sizes;
  sizes.joint_bytes = JointMemory::bytes_of(part_of(sizes, senders.servers, joint_share, least_of_joint));
  if (sizes.prompt_bytes < most_joined_bytes)
    sizes.joined_bytes = part_of(sizes, senders.servers, joined_share, 0);
  return sizes;
}

LinkSizes shared_by_servers(LinkSizes sizes, std::size_t servers) noexcept {
  const std::uint64_t bytes = part_of(sizes, servers, servers_share, least_of_servers(sizes, servers));
  sizes = shared(sizes, servers, std::min(bytes, most_bytes_of_servers));
  sizes.prompt_bytes = std::max(sizes.prompt_bytes, least_prompt_of_servers);
  return sizes;
}

ReceiveMemory::ReceiveMemory(const LinkSizes& sizes, std::size_t senders)
    : large_bytes_(segment_capacity(sizes)),
      prompt_bytes_(sizes.prompt_bytes),
      most_joined_(sizes.joined_bytes),
      free_(large_count(sizes, senders)),
      total_(free_) {}

std::size_t ReceiveMemory::large_count(const LinkSizes& sizes, std::size_t senders) noexcept {
  const std::uint64_t small =
      most_prompt_bytes(sizes, senders) + sizes.joined_bytes + sizes.joint_bytes + sizes.between_bytes;
  const std::uint64_t left = sizes.receive_bytes - std::min(sizes.receive_bytes, small);
  return static_cast<std::size_t>(
      std::max<std::uint64_t>(left / segment_capacity(sizes), least_large_buffers));
}

ReceiveMemory::Buffer ReceiveMemory::take(std::uint64_t segment_bytes) {
  const Kind kind = kind_of(segment_bytes);
  if (kind == Kind::header) return make(segment_bytes, kind);
  const bool large = kind == Kind::large;
  if (large) --free_;
  auto& spare = large ? spare_large_ : spare_prompt_;
  if (!spare.empty()) {
    Buffer buffer = std::move(spare.back());
    spare.pop_back();
    return buffer;
  }
  prompt_ += large ? 0 : 1;
  peak_bytes_ = std::max(peak_bytes_, allocated_bytes());
  return make(large ? large_bytes_ : prompt_bytes_, kind);
}

Result<ReceiveMemory::Buffer> ReceiveMemory::take_joined(std::uint64_t segment_bytes) {
  if (kind_of(segment_bytes) != Kind::large) return take(segment_bytes);
  if (segment_bytes > most_joined_ - std::min(most_joined_, joined_))
    return fail(ErrorCode::internal, "{} bytes of joined segments arrived while {} of {} were in use",
                segment_bytes, joined_, most_joined_);
  joined_ += segment_bytes;
  peak_bytes_ = std::max(peak_bytes_, allocated_bytes());
  return make(segment_bytes, Kind::joined);
}

void ReceiveMemory::give_back(Buffer buffer) {
  if (buffer.kind == Kind::joined) {
    joined_ -= buffer.capacity;
  } else if (buffer.kind == Kind::large) {
    ++free_;
    spare_large_.push_back(std::move(buffer));
  } else if (buffer.kind == Kind::prompt) {
    if (spare_prompt_.size() < most_spare_prompt)
      spare_prompt_.push_back(std::move(buffer));
    else
      --prompt_;
  }
}

}  // namespace afterbay::transport::network
