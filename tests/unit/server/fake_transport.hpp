// SPDX-License-Identifier: Apache-2.0
// A transport of one server without ranks: tests put messages in and look at what was sent.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/link.hpp"

namespace afterbay::test {

using transport::Bytes;

/// Takes declarations and has no memory.
class FakeFrames : public transport::FramePool {
 public:
  std::vector<transport::FrameDeclaration> declared;
  std::vector<std::uint64_t> released;  ///< running numbers
  std::uint64_t used = 0, peak = 0;
  int error = 0;  ///< error of the system, which refuses memory
  bool is_full = false;

  Result<std::uint32_t> declare(std::span<const transport::FrameDeclaration> frames) override {
    const auto first = static_cast<std::uint32_t>(declared.size());
    declared.insert(declared.end(), frames.begin(), frames.end());
    return first;
  }
  std::optional<transport::FrameView> acquire(const transport::FrameSlot&) override { return std::nullopt; }
  bool contribute(const transport::FrameView&, std::uint32_t) override { return false; }
  [[nodiscard]] std::optional<transport::FrameView> find(std::uint32_t, std::uint64_t) const override {
    return std::nullopt;
  }
  [[nodiscard]] transport::PieceState state(const transport::FrameView&, std::uint32_t) const override {
    return transport::PieceState::untouched;
  }
  void release(const transport::FrameView& view) override { released.push_back(view.seq); }
  bool allocate_ahead() override { return false; }
  [[nodiscard]] std::uint64_t capacity_bytes() const override { return 1000; }
  [[nodiscard]] std::uint64_t allocated_bytes() const override { return 800; }
  [[nodiscard]] int memory_error() const override { return error; }
  [[nodiscard]] bool is_short() const override { return is_full; }
  [[nodiscard]] std::uint64_t used_bytes() const override { return used; }
  [[nodiscard]] std::uint64_t peak_used_bytes() const override { return peak; }
  [[nodiscard]] std::uint64_t older_refusals() const override { return 0; }
  [[nodiscard]] std::uint64_t most_instances() const override { return 64; }
};

class FakePort : public transport::ServerPort {
 public:
  std::map<std::size_t, std::deque<Bytes>> arrived;  ///< by peer
  std::vector<std::pair<std::size_t, Bytes>> sent;   ///< to peers, in order
  std::vector<transport::OutgoingData> data;         ///< data of the messages that were sent with data
  std::deque<transport::LostPeer> lost;              ///< returned by `lost_peer`, in order
  std::vector<std::size_t> forgotten;
  FakeFrames pool;

  [[nodiscard]] std::size_t peers() const override { return 0; }
  [[nodiscard]] std::string transport_of(std::size_t) const override { return "fake"; }
  void ready(std::size_t first, std::size_t last, std::vector<std::size_t>& peers) override {
    for (const auto& [peer, messages] : arrived)
      if (peer >= first && peer < last && !messages.empty()) peers.push_back(peer);
  }
  std::optional<std::span<const std::byte>> peek(std::size_t peer) override {
    if (arrived[peer].empty()) return std::nullopt;
    return std::span<const std::byte>(arrived[peer].front());
  }
  void pop(std::size_t peer) override { arrived[peer].pop_front(); }
  void send(std::size_t peer, std::span<const std::byte> message) override {
    sent.emplace_back(peer, Bytes(message.begin(), message.end()));
  }
  void send_data(std::size_t peer, std::span<const std::byte> message,
                 transport::OutgoingData parts) override {
    send(peer, message);
    data.push_back(std::move(parts));
  }
  bool pump() override { return false; }
  [[nodiscard]] bool sending() const override { return false; }
  void wait(transport::Millis) override {}
  void wake() override {}
  std::optional<transport::LostPeer> lost_peer() override {
    if (lost.empty()) return std::nullopt;
    transport::LostPeer first = std::move(lost.front());
    lost.pop_front();
    return first;
  }
  void forget(std::size_t peer) override { forgotten.push_back(peer); }
  void fail() override {}
  void mark_progress() override {}
  [[nodiscard]] std::size_t waiting_for_room() const override { return 0; }
  transport::FramePool& frames() override { return pool; }
  void set_scatter(transport::Scatter) override {}
  [[nodiscard]] std::uint64_t messages() const override { return 0; }
  [[nodiscard]] std::uint64_t receive_peak_bytes() const override { return 0; }
};

/// What the other end of FakeLink has received; outlives the link.
struct FakeEnd {
  std::vector<Bytes> received;
  std::function<bool()> idle;  ///< what the sender does while it waits
  bool gone = false;
  bool waits_at_end = false;  ///< data is in transit when the link is closed
  bool closed = false;
  int receives_when_closed = 0;  ///< calls of the link after its end
};

class FakeLink : public transport::ClientLink {
 public:
  explicit FakeLink(FakeEnd& end) : end_(end) {}
  ~FakeLink() override {
    end_.closed = true;
    if (end_.waits_at_end) static_cast<void>(end_.idle());
  }

  Result<void> send(std::span<const std::byte> message, transport::Wake) override {
    if (end_.gone) return afterbay::fail(ErrorCode::peer_lost, "it is gone");
    end_.received.emplace_back(message.begin(), message.end());
    return {};
  }
  Result<void> send_ahead(std::span<const std::byte> message) override {
    return send(message, transport::Wake::no);
  }
  Result<void> flush() override { return {}; }
  Result<transport::Landing> reserve(const transport::FrameSlot&, std::uint32_t, std::uint64_t,
                                     bool) override {
    return transport::Landing{};
  }
  Result<bool> make_room(std::span<const transport::FrameSlot>, std::uint64_t, transport::RoomFor) override {
    return true;
  }
  [[nodiscard]] Result<void> check_fits(std::span<const transport::FrameSlot>) const override { return {}; }
  Result<void> commit(const transport::FrameSlot&, std::uint32_t) override { return {}; }
  void set_position(std::uint64_t) override {}
  void advance(std::uint64_t, std::uint32_t) override {}
  Result<std::optional<Bytes>> receive() override {
    if (end_.closed) ++end_.receives_when_closed;
    return std::nullopt;
  }
  void wait(transport::Millis) override {}
  [[nodiscard]] std::uint64_t progress() const override { return 0; }
  Result<void> check_alive() override { return {}; }
  void hurry(std::uint64_t) override {}
  void set_idle(std::function<bool()> idle) override { end_.idle = std::move(idle); }
  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] std::uint64_t waited_ns() const override { return 0; }
  [[nodiscard]] std::uint64_t messages() const override { return 0; }

 private:
  FakeEnd& end_;
};

}  // namespace afterbay::test
