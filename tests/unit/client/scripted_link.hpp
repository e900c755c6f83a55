// SPDX-License-Identifier: Apache-2.0
// ScriptedLink: a model rank's end of a link whose server is written in the test. For tests only.
#pragma once

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
#include "wire/archive.hpp"

namespace afterbay::test {

class ScriptedLink final : public transport::ClientLink {
 public:
  using Landing = transport::Landing;
  using FrameSlot = transport::FrameSlot;

  /// What the server does; each test sets what it needs.
  std::deque<transport::Bytes> answers;  ///< received one by one
  std::optional<Error> refuses_send;
  std::optional<Error> dead;
  std::uint64_t progress_made = 0;
  std::string silent;  ///< see ClientLink::never_heard
  bool has_room = true;
  bool far = false;                   ///< shares no memory: data come with messages
  std::deque<transport::Bytes> data;  ///< data of those answers that have some, in order

  /// What the rank did.
  std::vector<transport::Bytes> sent;
  std::vector<FrameSlot> reserved;
  std::vector<std::uint64_t> positions;
  std::vector<std::uint64_t> hurried;                                 ///< ends of waits
  std::vector<std::pair<const std::byte*, std::uint64_t>> noted;      ///< ranges with few written pages
  std::uint64_t generation = 1;                                       ///< generation of announcements
  std::vector<std::pair<const std::byte*, std::uint64_t>> announced;  ///< ranges that it will write to
  std::map<std::uint32_t, std::vector<std::byte>> frames;  ///< by frame; every record in the same place

  template <class Message>
  void answer(const Message& message) {
    answers.push_back(wire::encode(message));
  }
  /// The messages of one kind, decoded.
  template <class Message>
  [[nodiscard]] std::vector<Message> all_sent() const {
    std::vector<Message> found;
    for (const auto& bytes : sent)
      if (wire::kind_of(bytes) == Message::kind) found.push_back(wire::decode<Message>(bytes).value());
    return found;
  }

  Result<void> send(std::span<const std::byte> message, transport::Wake) override {
    if (refuses_send) return fail(*refuses_send);
    sent.emplace_back(message.begin(), message.end());
    return {};
  }
  Result<void> send_ahead(std::span<const std::byte> message) override {
    return send(message, transport::Wake::now);
  }
  Result<void> flush() override { return {}; }
  Result<Landing> reserve(const FrameSlot& slot, std::uint32_t, std::uint64_t, bool) override {
    reserved.push_back(slot);
    auto& frame = frames[slot.frame];
    frame.resize(slot.phase + slot.bytes);
    return Landing{frame.data() + slot.phase, false};
  }
  /// All frames come to lie in one block.
  bool is_announced(const std::byte* /*from*/, transport::AnnouncedBlocks& known) override {
    return known.note(generation, 0);
  }
  void will_write(const std::byte* from, std::uint64_t bytes, transport::Writes pages) override {
    (pages == transport::Writes::most_pages ? announced : noted).emplace_back(from, bytes);
  }
  Result<bool> make_room(std::span<const FrameSlot>, std::uint64_t, transport::RoomFor) override {
    return has_room;
  }
  [[nodiscard]] Result<void> check_fits(std::span<const FrameSlot>) const override { return {}; }
  Result<void> commit(const FrameSlot&, std::uint32_t) override { return {}; }
  void set_position(std::uint64_t position) override { positions.push_back(position); }
  void advance(std::uint64_t, std::uint32_t) override {}
  Result<std::optional<transport::Bytes>> receive() override {
    if (answers.empty()) return std::nullopt;
    transport::Bytes first = std::move(answers.front());
    answers.pop_front();
    return first;
  }
  [[nodiscard]] transport::ReceivedData take_data() override {
    if (data.empty()) return {};
    const auto first = std::make_shared<const transport::Bytes>(std::move(data.front()));
    data.pop_front();
    return {*first, first};
  }
  [[nodiscard]] bool packs() const override { return far; }
  void wait(transport::Millis) override {}
  [[nodiscard]] std::uint64_t progress() const override { return progress_made; }
  Result<void> check_alive() override {
    if (dead) return fail(*dead);
    return {};
  }
  [[nodiscard]] std::string never_heard() const override { return silent; }
  void hurry(std::uint64_t end_ns) override { hurried.push_back(end_ns); }
  void set_idle(std::function<bool()>) override {}
  [[nodiscard]] std::string name() const override { return "scripted"; }
  [[nodiscard]] std::uint64_t waited_ns() const override { return 0; }
  [[nodiscard]] std::uint64_t messages() const override { return sent.size(); }
};

}  // namespace afterbay::test
