// SPDX-License-Identifier: Apache-2.0
// ReceiveMemory: a server's buffers for segments that arrive over MPI. They are bounded, whatever
// the number of senders: each rank and each other server has memory of its own for its credits of
// prompt segments (at most LinkSizes::prompt_bytes), and other segments need one of a number of
// large buffers. A segment for which there is none stays with its sender
// (design/0075-receive-memory-of-a-server.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {

/// Who sends to a server; equal at all processes.
struct Senders {
  std::size_t models = 0;   ///< model ranks of the session
  bool relayed = false;     ///< they send through frontends
  std::size_t servers = 0;  ///< servers that exchange messages; 0: they do not
};

/// The least `receive_bytes` of a server: two large buffers, two segments of 1 KiB for each other
/// server if they exchange messages, and two joint messages if ranks send through frontends.
std::uint64_t least_receive_bytes(const LinkSizes& sizes, const Senders& senders) noexcept;
/// Fails (resources), with the calculation and the value that suffices, if `receive_bytes` is less.
Result<void> check_receive_bytes(const LinkSizes& sizes, const Senders& senders);

/// Divides `receive_bytes` of a server. Half of it is for prompt segments of the ranks: `credits`
/// and `prompt_bytes` are such that they need no more. If ranks send through frontends, a 16th is
/// for joint messages, at most what JointMemory needs. Frontends join segments of up to
/// most_joined_bytes; if prompt ones are shorter, an eighth is for the others. If servers exchange
/// messages, an eighth is for these: see shared_by_servers. The rest is for large buffers, two at
/// least. If it is little, the parts share what is left beyond the least of each, in the same
/// proportions. All parts together are at most `receive_bytes`, if that is least_receive_bytes.
LinkSizes shared_by(LinkSizes sizes, const Senders& senders) noexcept;
inline LinkSizes shared_by(const LinkSizes& sizes, std::size_t models) noexcept {
  return shared_by(sizes, Senders{.models = models});
}
/// The same for pairs of servers, whose segments are all prompt. With very many servers their
/// memory is what they need for two segments of 1 KiB each, if that is more than their share.
LinkSizes shared_by_servers(LinkSizes sizes, std::size_t servers) noexcept;

/// Used by one thread.
class ReceiveMemory {
 public:
  enum class Kind : std::uint8_t {
    header,  ///< for a header or a word, as long as it is
    prompt,
    joined,  ///< longer than a prompt one, from a joint message, as long as it is
    large,
  };
  struct Buffer {
    std::unique_ptr<std::byte[]> data;
    std::uint64_t capacity = 0;
    Kind kind = Kind::header;
  };

  /// `sizes`: see shared_by. `senders`: number of ranks that send to this server.
  ReceiveMemory(const LinkSizes& sizes, std::size_t senders);

  /// For all prompt segments of `senders` ranks.
  [[nodiscard]] static std::uint64_t most_prompt_bytes(const LinkSizes& sizes, std::size_t senders) noexcept {
    return senders * sizes.credits * sizes.prompt_bytes;
  }
  /// Number of large buffers: at least one for the slowest rank and one for the others.
  [[nodiscard]] static std::size_t large_count(const LinkSizes& sizes, std::size_t senders) noexcept;
  /// Maximum size of all buffers, without those for headers and words and without what joint
  /// messages and other servers have of `receive_bytes`. See check_receive_bytes.
  [[nodiscard]] static std::uint64_t most_bytes(const LinkSizes& sizes, std::size_t senders) noexcept {
    return most_prompt_bytes(sizes, senders) + sizes.joined_bytes +
           large_count(sizes, senders) * segment_capacity(sizes);
  }

  [[nodiscard]] Kind kind_of(std::uint64_t segment_bytes) const noexcept {
    if (!holds_items(segment_bytes)) return Kind::header;
    return segment_bytes <= prompt_bytes_ ? Kind::prompt : Kind::large;
  }
  /// Large buffers that are not in use.
  [[nodiscard]] std::size_t free_large() const noexcept { return free_; }
  /// A buffer for a segment; if that needs a large one, there must be a free one.
  Buffer take(std::uint64_t segment_bytes);
  /// For a segment from a joint message. Fails if that is not prompt and more than
  /// LinkSizes::joined_bytes would be in use: the frontends' allowances prevent this.
  Result<Buffer> take_joined(std::uint64_t segment_bytes);
  void give_back(Buffer buffer);
  /// Bytes of the buffers that exist, without those for headers and words.
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept {
    return (spare_large_.size() + total_ - free_) * large_bytes_ + prompt_ * prompt_bytes_ + joined_;
  }
  /// The maximum of these bytes so far.
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }

 private:
  std::uint64_t large_bytes_;
  std::uint64_t prompt_bytes_;
  std::uint64_t most_joined_;
  std::size_t free_;
  std::size_t total_;
  std::size_t prompt_ = 0;    ///< number of prompt buffers that exist
  std::uint64_t joined_ = 0;  ///< bytes of joined ones
  std::uint64_t peak_bytes_ = 0;
  std::vector<Buffer> spare_large_;
  std::vector<Buffer> spare_prompt_;
};

}  // namespace afterbay::transport::network
