// SPDX-License-Identifier: Apache-2.0
#include "ranks/transport_exercise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <span>

#include "base/clock.hpp"
#include "wire/archive.hpp"
#include "wire/frame_messages.hpp"

namespace afterbay::testing {
namespace {

using namespace std::chrono_literals;
using transport::ClientLink;
using transport::FrameSlot;
using transport::ServerPort;

constexpr std::uint64_t time_limit_ns = 60'000'000'000;

struct Note {
  static constexpr wire::Kind kind{101};
  std::uint64_t number = 0;
  std::vector<std::byte> text;
  template <class A>
  void fields(A& a) {
    a(number, text);
  }
};
struct Bye {
  static constexpr wire::Kind kind{102};
  std::uint64_t contributions = 0;
  template <class A>
  void fields(A& a) {
    a(contributions);
  }
};

std::uint64_t word_of(std::size_t peer, std::uint32_t frame, std::uint32_t piece, std::uint64_t seq) {
  return (((seq * 64 + frame) * 16 + piece) * 64 + peer + 1) * 0x9E37'79B9'7F4A'7C15ULL;
}

/// Every third rank holds nothing of a piece.
bool holds(std::size_t peer, std::uint32_t frame, std::uint32_t piece, std::size_t peers) {
  return peers < 3 || (peer + frame + piece) % 3 != 0;
}

FrameSlot slot_of(const Exercise& e, std::size_t peers, std::uint32_t frame, std::uint64_t seq) {
  return {frame, seq, std::uint64_t{e.pieces} * peers * e.words * 8, seq % 4 * 8, seq};
}

/// One server's part.
class Served {
 public:
  Served(ServerPort& port, const Exercise& exercise)
      : port_(port), e_(exercise), notes_(port.peers()), left_(port.peers()) {
    port_.set_scatter([this](std::size_t peer, const FrameSlot&, std::uint32_t piece,
                             std::span<const std::byte> packed, std::byte* frame) {
      std::memcpy(frame + (piece * port_.peers() + peer) * e_.words * 8, packed.data(), packed.size());
      ++scattered_;
      return packed.size() == e_.words * 8;
    });
    std::vector<transport::FrameDeclaration> frames(e_.frames);
    for (std::uint32_t f = 0; f < e_.frames; ++f) {
      frames[f].bytes = slot_of(e_, port_.peers(), f, 0).bytes;
      for (std::uint32_t p = 0; p < e_.pieces; ++p) {
        std::uint32_t expected = 0;
        for (std::size_t r = 0; r < port_.peers(); ++r) expected += holds(r, f, p, port_.peers());
        frames[f].expected.push_back(expected);
      }
    }
    const auto first = port_.frames().declare(frames);
    EXPECT_TRUE(first) << first.error().text();
  }

  /// Handles messages that have arrived; true: there were some.
  bool serve_once() {
    bool did = port_.pump();
    for (std::size_t peer = 0; peer < port_.peers(); ++peer)
      while (const auto message = port_.peek(peer)) {
        handle(peer, *message);
        port_.pop(peer);
        did = true;
      }
    return did;
  }
  [[nodiscard]] bool done() const { return left_ == 0; }
  void serve_to_the_end() {
    const std::uint64_t begin = now_ns();
    while (!done() && now_ns() - begin < time_limit_ns) {
      serve_once();
      port_.wait(100ms);
    }
    check_end();
  }
  void check_end() const {
    EXPECT_TRUE(done());
    EXPECT_EQ(frames_seen_, e_.records * e_.frames);
    EXPECT_EQ(port_.frames().used_bytes(), 0u);
  }

 private:
  void handle(std::size_t peer, std::span<const std::byte> message) {
    const auto kind = wire::kind_of(message);
    if (kind == wire::FrameReady::kind) return check_frame(wire::decode<wire::FrameReady>(message).value());
    if (kind == Note::kind) {
      const Note note = wire::decode<Note>(message).value();
      EXPECT_EQ(note.number, notes_[peer]++);
      EXPECT_TRUE(std::ranges::all_of(note.text, [&](std::byte b) { return b == std::byte(note.number); }));
      return;
    }
    ASSERT_EQ(kind, Bye::kind);
    EXPECT_EQ(notes_[peer], e_.records);
    port_.send(peer, wire::encode(Bye{wire::decode<Bye>(message).value().contributions}));
    port_.forget(peer);
    --left_;
  }

  void check_frame(const wire::FrameReady& ready) {
    const auto view = port_.frames().find(ready.frame, ready.seq);
    ASSERT_TRUE(view);
    const auto* words = reinterpret_cast<const std::uint64_t*>(view->buffer.data() + ready.seq % 4 * 8);
    for (std::uint32_t p = 0; p < e_.pieces; ++p)
      for (std::size_t r = 0; r < port_.peers(); ++r)
        for (std::uint32_t w = 0; holds(r, ready.frame, p, port_.peers()) && w < e_.words; ++w)
          ASSERT_EQ(words[(p * port_.peers() + r) * e_.words + w], word_of(r, ready.frame, p, ready.seq) + w);
    port_.frames().release(*view);
    ++frames_seen_;
  }

  ServerPort& port_;
  Exercise e_;
  std::vector<std::uint64_t> notes_;
  std::size_t left_;
  std::uint64_t frames_seen_ = 0;
  std::uint64_t scattered_ = 0;
};

/// One model rank's part with all servers.
class Putting {
 public:
  Putting(std::vector<std::unique_ptr<ClientLink>>& links, std::size_t self, std::size_t peers,
          const Exercise& e)
      : links_(links), self_(self), peers_(peers), e_(e) {}

  void put_all() {
    for (std::uint64_t seq = 0; seq < e_.records; ++seq) {
      for (auto& link : links_) link->set_position(seq);
      for (auto& link : links_) {
        put_record(*link, seq);
        link->set_position(seq + 1);
      }
      for (auto& link : links_) ASSERT_TRUE(link->flush());
    }
    for (auto& link : links_) ASSERT_TRUE(link->send(wire::encode(Bye{count_}), transport::Wake::now));
  }

  /// True once all servers have answered.
  bool answered() {
    for (auto& link : links_) {
      const auto message = link->receive();
      EXPECT_TRUE(message) << message.error().text();
      if (!message || !*message) continue;
      const auto bye = wire::decode<Bye>(**message);
      EXPECT_TRUE(bye && bye->contributions == count_);
      ++answers_;
    }
    return answers_ == links_.size();
  }
  void wait_for_answers() {
    const std::uint64_t begin = now_ns();
    while (!answered() && now_ns() - begin < time_limit_ns) links_[answers_ % links_.size()]->wait(5ms);
    EXPECT_EQ(answers_, links_.size());
  }

 private:
  void put_record(ClientLink& link, std::uint64_t seq) {
    for (std::uint32_t f = 0; f < e_.frames; ++f)
      for (std::uint32_t p = 0; p < e_.pieces; ++p)
        if (holds(self_, f, p, peers_)) put_piece(link, slot_of(e_, peers_, f, seq), p);
    const std::size_t bytes = e_.message_bytes * (seq % 4) / 2;
    ASSERT_TRUE(link.send(wire::encode(Note{seq, std::vector<std::byte>(bytes, std::byte(seq))}),
                          seq % 2 == 0 ? transport::Wake::now : transport::Wake::with_flush));
  }

  void put_piece(ClientLink& link, const FrameSlot& slot, std::uint32_t piece) {
    const auto landing = link.reserve(slot, piece, e_.words * 8, true);
    ASSERT_TRUE(landing) << landing.error().text();
    auto* words = reinterpret_cast<std::uint64_t*>(landing->base);
    if (!landing->packed) words += (piece * peers_ + self_) * e_.words;
    for (std::uint32_t w = 0; w < e_.words; ++w) words[w] = word_of(self_, slot.frame, piece, slot.seq) + w;
    ASSERT_TRUE(link.commit(slot, piece));
    ++count_;
  }

  std::vector<std::unique_ptr<ClientLink>>& links_;
  std::size_t self_;
  std::size_t peers_;
  Exercise e_;
  std::uint64_t count_ = 0;
  std::size_t answers_ = 0;
};

/// Number of model ranks, and this rank's number among them.
std::pair<std::size_t, std::size_t> count_models(bool model) {
  int before = 0;
  int all = 0;
  const int own = model ? 1 : 0;
  MPI_Exscan(&own, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return {static_cast<std::size_t>(all), rank == 0 ? 0 : static_cast<std::size_t>(before)};
}

}  // namespace

transport::LinkSizes tight_sizes() {
  transport::LinkSizes sizes;
  sizes.block_bytes = 64 << 10;
  sizes.small_block_bytes = 16 << 10;
  sizes.memory_bytes = 6 * sizes.block_bytes;
  sizes.small_share = 0.0;
  sizes.ring_bytes = 8 << 10;
  sizes.reply_bytes = 4 << 10;
  sizes.instances = 4;
  sizes.max_frames = 64;
  sizes.segment_bytes = 64 << 10;
  return sizes;
}

std::map<std::string, int> transports(const transport::Connection& connection) {
  std::map<std::string, int> count;
  for (const auto& link : connection.links) ++count[link->name()];
  return count;
}

void run_exercise(transport::Connection& connection, const Exercise& exercise) {
  const auto [peers, self] = count_models(!connection.links.empty());
  std::optional<Served> served;
  if (connection.port) served.emplace(*connection.port, exercise);
  MPI_Barrier(MPI_COMM_WORLD);  // frames are declared everywhere
  if (connection.links.empty()) return served->serve_to_the_end();

  Putting putting(connection.links, self, peers, exercise);
  if (served)
    for (auto& link : connection.links) link->set_idle([&] { return served->serve_once(); });
  putting.put_all();
  putting.wait_for_answers();
  if (!served) return;
  const std::uint64_t begin = now_ns();
  while (!served->done() && now_ns() - begin < time_limit_ns) {
    served->serve_once();
    connection.port->wait(2ms);
  }
  served->check_end();
  for (auto& link : connection.links) link->set_idle(nullptr);
}

namespace {

std::byte byte_of(std::size_t peer, std::size_t number, std::size_t at) {
  return static_cast<std::byte>((peer * 31 + number * 7 + at / 251) % 256);
}

/// In three parts of different lengths, in reverse order in memory.
transport::OutgoingData parts_of(const std::shared_ptr<std::vector<std::byte>>& memory, std::size_t bytes) {
  transport::OutgoingData data;
  const std::size_t first = bytes / 5, second = bytes / 2;
  data.parts = {std::span(*memory).subspan(bytes - first, first),
                std::span(*memory).subspan(bytes - first - second, second),
                std::span(*memory).subspan(0, bytes - first - second)};
  data.keeper = memory;
  return data;
}

/// Contents such that the parts in their order are byte_of.
std::shared_ptr<std::vector<std::byte>> memory_for(std::size_t peer, std::size_t number, std::size_t bytes) {
  auto memory = std::make_shared<std::vector<std::byte>>(bytes);
  std::size_t at = 0;
  for (const auto& part : parts_of(memory, bytes).parts)
    for (std::size_t i = 0; i < part.size(); ++i)
      (*memory)[static_cast<std::size_t>(part.data() - memory->data()) + i] = byte_of(peer, number, at++);
  return memory;
}

void serve_data(ServerPort& port, const std::vector<std::size_t>& sizes) {
  constexpr std::size_t most_in_transit = 5;
  std::vector<std::size_t> next(port.peers()), in_transit(port.peers());
  std::vector<std::weak_ptr<std::vector<std::byte>>> memories;
  std::size_t left = port.peers() * sizes.size();
  const std::uint64_t begin = now_ns();
  while (left > 0 && now_ns() - begin < time_limit_ns) {
    bool did = port.pump();
    for (std::size_t peer = 0; peer < port.peers(); ++peer)
      while (next[peer] < sizes.size() && in_transit[peer] < most_in_transit) {
        const std::size_t number = next[peer]++;
        const auto memory = memory_for(peer, number, sizes[number]);
        memories.emplace_back(memory);
        auto data = parts_of(memory, sizes[number]);
        data.sent = [&, peer] {
          --in_transit[peer];
          --left;
        };
        ++in_transit[peer];
        port.send_data(peer, wire::encode(Note{number, std::vector<std::byte>(number % 3)}), std::move(data));
        if (number % 4 == 0) port.send(peer, wire::encode(Bye{number}));
        did = true;
      }
    if (!did) port.wait(10ms);
  }
  EXPECT_EQ(left, 0u);
  for (const auto& memory : memories) EXPECT_TRUE(memory.expired()) << "memory that was sent is kept";
  while (port.sending() && now_ns() - begin < time_limit_ns) port.wait(1ms);
}

void receive_data(std::vector<std::unique_ptr<ClientLink>>& links, std::size_t self,
                  const std::vector<std::size_t>& sizes) {
  const std::size_t words = (sizes.size() + 3) / 4;
  std::size_t arrived = 0, arrived_words = 0;
  std::deque<transport::ReceivedData> kept;
  std::vector<std::vector<bool>> seen(links.size(), std::vector<bool>(sizes.size()));
  const std::uint64_t begin = now_ns();
  while ((arrived < links.size() * sizes.size() || arrived_words < links.size() * words) &&
         now_ns() - begin < time_limit_ns) {
    bool any = false;
    for (std::size_t s = 0; s < links.size(); ++s) {
      const auto message = links[s]->receive();
      ASSERT_TRUE(message) << message.error().text();
      if (!*message) continue;
      any = true;
      transport::ReceivedData data = links[s]->take_data();
      EXPECT_TRUE(links[s]->take_data().bytes.empty());
      if (wire::kind_of(**message) == Bye::kind) {
        EXPECT_TRUE(data.bytes.empty());
        ++arrived_words;
        continue;
      }
      const Note note = wire::decode<Note>(**message).value();
      ASSERT_LT(note.number, sizes.size());
      EXPECT_FALSE(seen[s][note.number]);
      seen[s][note.number] = true;
      ASSERT_EQ(data.bytes.size(), sizes[note.number]);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < data.bytes.size(); ++i)
        wrong += data.bytes[i] == byte_of(self, note.number, i) ? 0 : 1;
      EXPECT_EQ(wrong, 0u) << note.number;
      ++arrived;
      kept.push_back(std::move(data));
      if (kept.size() > 2) kept.pop_front();
    }
    if (!any) {
      kept.clear();
      links[arrived % links.size()]->wait(2ms);
    }
  }
  EXPECT_EQ(arrived, links.size() * sizes.size());
  EXPECT_EQ(arrived_words, links.size() * words) << "messages without data";
}

}  // namespace

void run_data_exercise(transport::Connection& connection, const std::vector<std::size_t>& sizes) {
  const auto [peers, self] = count_models(!connection.links.empty());
  if (connection.port)
    serve_data(*connection.port, sizes);
  else
    receive_data(connection.links, self, sizes);
}

}  // namespace afterbay::testing
