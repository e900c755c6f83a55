// SPDX-License-Identifier: Apache-2.0
// Recorder: a link that keeps what a model rank sends to a server and never answers.
#pragma once

#include <vector>

#include "transport/link.hpp"

namespace bench {

/// The messages that one rank sent to one server.
struct Recording {
  bool keeps = true;  ///< false: messages are only counted
  std::vector<afterbay::transport::Bytes> messages;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

class Recorder final : public afterbay::transport::ClientLink {
  using Bytes = afterbay::transport::Bytes;
  using Millis = afterbay::transport::Millis;
  template <class T>
  using Result = afterbay::Result<T>;
  using Slot = afterbay::transport::FrameSlot;

 public:
  explicit Recorder(Recording& to) : to_(to) {}
  Result<void> send(std::span<const std::byte> message, afterbay::transport::Wake) override {
    ++to_.count;
    to_.bytes += message.size();
    if (to_.keeps) to_.messages.emplace_back(message.begin(), message.end());
    return {};
  }
  Result<void> send_ahead(std::span<const std::byte> message) override {
    return send(message, afterbay::transport::Wake::now);
  }
  Result<void> flush() override { return {}; }
  Result<afterbay::transport::Landing> reserve(const Slot&, std::uint32_t, std::uint64_t, bool) override {
    return afterbay::transport::Landing{};
  }
  Result<bool> make_room(std::span<const Slot>, std::uint64_t, afterbay::transport::RoomFor) override {
    return true;
  }
  [[nodiscard]] Result<void> check_fits(std::span<const Slot>) const override { return {}; }
  Result<void> commit(const Slot&, std::uint32_t) override { return {}; }
  void set_position(std::uint64_t) override {}
  void advance(std::uint64_t, std::uint32_t) override {}
  /// Ends the rank's wait for an answer.
  Result<std::optional<Bytes>> receive() override {
    return afterbay::fail(afterbay::ErrorCode::stopped, "recorded");
  }
  void wait(Millis) override {}
  [[nodiscard]] std::uint64_t progress() const override { return 0; }
  Result<void> check_alive() override { return {}; }
  void hurry(std::uint64_t) override {}
  void set_idle(std::function<bool()>) override {}
  [[nodiscard]] std::string name() const override { return "recorder"; }
  [[nodiscard]] std::uint64_t waited_ns() const override { return 0; }
  [[nodiscard]] std::uint64_t messages() const override { return to_.count; }

 private:
  Recording& to_;
};

}  // namespace bench
