// SPDX-License-Identifier: Apache-2.0
// Processes that are gone while something is on its way to or from them: nobody waits for it.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/process_watch.hpp"
#include "ranks/rank_test.hpp"
#include "ranks/transport_exercise.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/receive_memory.hpp"
#include "transport/mpi/relay.hpp"
#include "transport/relay/relay_carrier.hpp"
#include "wire/frame_messages.hpp"

namespace afterbay::testing {
namespace {

using namespace std::chrono_literals;
using namespace transport;
using ::testing::HasSubstr;

constexpr std::uint64_t limit_ns = 20'000'000'000;

/// A process that waits until it is killed.
class Process {
 public:
  Process() : child_(fork()) {
    if (child_ != 0) return;
    pause();
    _exit(0);
  }
  ~Process() { die(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  [[nodiscard]] ProcessId id() const { return {static_cast<std::uint32_t>(child_), own_process().space}; }
  void die() {
    if (child_ == 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  pid_t child_;
};

/// A frontend and its ranks in one process, and a server, rank 1, that receives nothing.
struct FrontendOfEight {
  static constexpr std::size_t ranks = 8;
  FrontendOfEight(const std::shared_ptr<const mpi::Communicator>& comm, const ProcessId& server) {
    const LinkSizes sizes = tight_sizes();
    const auto geometry = relay::channel_geometry(ranks, 1, {.small = 2, .common = 1}, sizes);
    network::RelayOptions options;
    options.channel =
        relay::Channel::format(shm::Mapping::anonymous(geometry.total_bytes()).value(), geometry).value();
    options.sizes = sizes;
    options.policy.deadline = options.policy.first_answer = 60s;
    options.label = "the frontend at rank 0";
    for (std::size_t c = 0; c < ranks; ++c)
      options.clients.push_back({c, static_cast<int>(100 + c), "model rank " + std::to_string(c), c});
    options.servers.push_back({0, 1, "I/O server 0 (rank 1)", server, ""});
    const auto channel = options.channel;
    relay = std::make_unique<network::Relay>(comm, std::move(options));
    for (std::size_t c = 0; c < ranks; ++c) {
      auto end = std::make_shared<relay::ChannelEnd>(channel, c, "the frontend", "host", 5000ms);
      links.push_back(std::make_unique<network::MpiClientLink>(
          std::make_unique<relay::RelayCarrier>(std::move(end), 0),
          network::MpiClientOptions{.sizes = sizes, .policy = {}, .process = {}}));
      links.back()->set_idle([this] { return relay->step(); });
    }
  }
  template <class Condition>
  bool step_until(Condition condition) {
    const std::uint64_t end = now_ns() + limit_ns;
    while (!condition() && now_ns() < end)
      if (!relay->step()) relay->wait(2ms);
    return condition();
  }

  std::unique_ptr<network::Relay> relay;
  std::vector<std::unique_ptr<ClientLink>> links;
};

/// The frontend has copied the segments, so that no lane knows of them any more.
RANK_TEST(TransportLostProcesses, a_server_dies_with_joint_segments_in_transit, 2) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  if (rank() == 0) {
    Process server;
    FrontendOfEight frontend(comm, server.id());
    for (auto& link : frontend.links) ASSERT_TRUE(link->send(Bytes(6000), Wake::now));
    ASSERT_TRUE(
        frontend.step_until([&] { return frontend.relay->figures().segments == FrontendOfEight::ranks; }));
    EXPECT_EQ(frontend.relay->figures().messages, 1u);
    EXPECT_EQ(frontend.relay->figures().held_bytes, 0u);
    EXPECT_FALSE(frontend.relay->failure());
    server.die();
    ASSERT_TRUE(frontend.step_until([&] { return frontend.relay->failure().has_value(); }));
    EXPECT_THAT(frontend.relay->failure()->message, HasSubstr("has died"));
    frontend.links.clear();
    EXPECT_TRUE(frontend.step_until([&] { return frontend.relay->finished(); }))
        << "what was on its way to the server counts no longer";
  }
  barrier();
  if (rank() == 1) {  // so that MPI can end
    Bytes message(network::most_joint_bytes);
    MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_BYTE, 0, network::joint_tag, comm->get(),
             MPI_STATUS_IGNORE);
  }
  barrier();
}

constexpr std::uint64_t block = 1 << 20;
constexpr std::uint64_t part = 600'000;
constexpr std::uint64_t lost_records = 20;
constexpr std::uint32_t own_frame = 0;     ///< frame of model rank 1 alone
constexpr std::uint32_t common_frame = 1;  ///< frame of both model ranks

void put(ClientLink& link, std::uint32_t frame, std::uint64_t seq, std::uint64_t position) {
  link.set_position(position);
  const FrameSlot slot{frame, seq, part, 0, position};
  const auto landing = link.reserve(slot, 0, part, true);
  ASSERT_TRUE(landing) << landing.error().text();
  std::memset(landing->base, static_cast<int>(seq), part);
  ASSERT_TRUE(link.commit(slot, 0));
  ASSERT_TRUE(link.flush());
}

/// Takes the records of model rank 1; then tells it.
void serve_other(ServerPort& port) {
  std::uint64_t complete = 0;
  const std::uint64_t end = now_ns() + limit_ns;
  while (complete < lost_records && now_ns() < end) {
    port.pump();
    for (std::size_t peer = 0; peer < port.peers(); ++peer)
      while (const auto message = port.peek(peer)) {
        const auto ready = wire::decode<wire::FrameReady>(*message).value();
        EXPECT_EQ(ready.frame, own_frame);
        const auto view = port.frames().find(ready.frame, ready.seq);
        ASSERT_TRUE(view);
        EXPECT_EQ(view->buffer[part - 1], static_cast<std::byte>(ready.seq));
        port.frames().release(*view);
        port.pop(peer);
        ++complete;
      }
    port.wait(2ms);
  }
  EXPECT_EQ(complete, lost_records);
  port.send(1, Bytes(8));
  while (port.sending() && now_ns() < end) port.wait(1ms);
}

/// Its segments wait for room with one of two receive buffers and one of two blocks, or have not
/// been received; the others go on with the rest.
RANK_TEST(TransportLostProcesses, a_far_rank_dies_while_the_session_goes_on, 3) {
  ConnectOptions options;
  options.comm = testing::comm();
  options.server = rank() == 2;
  options.model = !options.server;
  options.transport = TransportChoice::mpi;
  options.sizes = tight_sizes();
  options.sizes.block_bytes = options.sizes.segment_bytes = block;
  options.sizes.memory_bytes = 2 * block;
  options.sizes.receive_bytes = network::least_receive_bytes(options.sizes, {.models = 2});
  options.policy.deadline = 60s;
  auto connection = connect(options);
  ASSERT_TRUE(connection) << connection.error().text();
  ServerPort* const port = connection->port.get();
  if (port != nullptr) {
    port->set_scatter([](std::size_t, const FrameSlot&, std::uint32_t, std::span<const std::byte> packed,
                         std::byte* frame) {
      std::memcpy(frame, packed.data(), packed.size());
      return true;
    });
    ASSERT_TRUE(port->frames().declare(std::vector<FrameDeclaration>{{part, {1}}, {part, {2}}}));
  }
  barrier();
  if (rank() == 0)
    for (std::uint64_t seq = 0; seq < 4; ++seq) put(*connection->links[0], common_frame, seq, 100 + seq);
  for (const std::uint64_t end = now_ns() + limit_ns; port != nullptr && now_ns() < end;) {
    port->wait(2ms);
    if (port->waiting_for_room() > 0) break;
  }
  if (port != nullptr) {
    EXPECT_EQ(port->waiting_for_room(), 1u) << "the rank that dies has a segment in a receive buffer";
    port->forget(0);
  }
  barrier();  // rank 0 does nothing from here on
  if (rank() == 1) {
    ClientLink& link = *connection->links[0];
    for (std::uint64_t seq = 0; seq < lost_records; ++seq) put(link, own_frame, seq, seq);
    Result<std::optional<Bytes>> told = std::optional<Bytes>();
    for (const std::uint64_t end = now_ns() + limit_ns; told && !*told && now_ns() < end;) {
      link.wait(2ms);
      told = link.receive();
    }
    EXPECT_TRUE(told && *told);
  }
  if (port != nullptr) serve_other(*port);
  barrier();
}

}  // namespace
}  // namespace afterbay::testing
