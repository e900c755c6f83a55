// SPDX-License-Identifier: Apache-2.0
// Transports between real processes: set-up, data and messages over shared memory, MPI and both.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>

#include "base/clock.hpp"
#include "base/process_watch.hpp"
#include "ranks/rank_test.hpp"
#include "ranks/transport_exercise.hpp"
#include "transport/mpi/receive_memory.hpp"
#include "transport/mpi/server.hpp"
#include "transport/shm/port.hpp"

namespace afterbay::testing {
namespace {

using transport::Connection;
using transport::ConnectOptions;
using transport::TransportChoice;
using namespace std::chrono_literals;
using Counts = std::map<std::string, int>;

/// The last `servers` ranks are I/O servers.
ConnectOptions dedicated(int servers, TransportChoice choice = TransportChoice::automatic) {
  ConnectOptions options;
  options.comm = comm();
  options.server = rank() >= size() - servers;
  options.model = !options.server;
  options.transport = choice;
  options.sizes = tight_sizes();
  options.policy.deadline = 30s;
  return options;
}

Connection connected(const ConnectOptions& options) {
  auto connection = transport::connect(options);
  EXPECT_TRUE(connection) << connection.error().text();
  return connection ? *std::move(connection) : Connection();
}

RANK_TEST(TransportRanks, two_ranks_share_memory, 2) {
  Connection connection = connected(dedicated(1));
  if (!connection.port) {
    EXPECT_EQ(transports(connection), (Counts{{"shm", 1}}));
  } else {
    EXPECT_EQ(connection.port->transport_of(0), "shm");
  }
  run_exercise(connection, {});
}

RANK_TEST(TransportRanks, shared_memory_with_two_servers, 5) {
  Connection connection = connected(dedicated(2, TransportChoice::shm));
  run_exercise(connection, {});
}

RANK_TEST(TransportRanks, mpi_between_two_ranks, 2) {
  Connection connection = connected(dedicated(1, TransportChoice::mpi));
  if (!connection.port) {
    EXPECT_EQ(transports(connection), (Counts{{"mpi", 1}}));
  } else {
    EXPECT_EQ(connection.port->transport_of(0), "mpi");
  }
  run_exercise(connection, {});
}

RANK_TEST(TransportRanks, mpi_with_two_servers, 5) {
  Connection connection = connected(dedicated(2, TransportChoice::mpi));
  Exercise exercise;
  exercise.message_bytes = 150'000;  // more than a segment
  run_exercise(connection, exercise);
}

RANK_TEST(TransportRanks, mpi_with_one_staging_segment, 3) {
  ConnectOptions options = dedicated(1, TransportChoice::mpi);
  options.sizes.segments = options.sizes.credits = 1;
  options.sizes.memory_bytes = 2 * options.sizes.block_bytes;
  Connection connection = connected(options);
  run_exercise(connection, {});
}

/// Blocks that are larger than a small segment, and parts that fill several of those.
transport::LinkSizes large_segments() {
  transport::LinkSizes sizes = tight_sizes();
  sizes.block_bytes = sizes.segment_bytes = 1 << 20;
  sizes.memory_bytes = 2 * sizes.block_bytes;
  return sizes;
}
Exercise large_parts() {
  Exercise exercise;
  exercise.words = 8000;
  exercise.message_bytes = 150'000;
  return exercise;
}

// A put to one server waits until the data of another have been sent.
RANK_TEST(TransportRanks, mpi_with_more_servers_than_staging_segments, 5) {
  ConnectOptions options = dedicated(3, TransportChoice::mpi);
  options.sizes = large_segments();
  options.sizes.segments = 1;
  options.sizes.credits = 2;
  Connection connection = connected(options);
  run_exercise(connection, large_parts());
}

// Most segments wait at their senders.
RANK_TEST(TransportRanks, mpi_with_two_receive_buffers_for_five_ranks, 6) {
  ConnectOptions options = dedicated(1, TransportChoice::mpi);
  options.sizes = large_segments();
  options.sizes.receive_bytes = transport::network::least_receive_bytes(options.sizes, {.models = 5});
  Connection connection = connected(options);
  Exercise exercise = large_parts();
  exercise.records = 8;
  run_exercise(connection, exercise);
}

/// The setting with which prompt segments have `prompt` bytes, and with two large buffers beside
/// them: there is less than a third.
std::uint64_t receive_bytes_for(std::uint64_t prompt, const transport::LinkSizes& sizes) {
  using namespace transport::network;
  return least_receive_bytes(sizes, {.models = 1, .relayed = true}) + (prompt * 13 + 7) / 8;
}

/// At servers: what arrived never took more than the formula and the setting say.
void expect_bounded(const Connection& connection, const transport::LinkSizes& sizes, std::size_t models) {
  if (!connection.port) return;
  const auto* const port = dynamic_cast<const transport::shm::Port*>(connection.port.get());
  ASSERT_NE(port, nullptr);
  const transport::LinkSizes shared = transport::network::shared_by(sizes, models);
  EXPECT_GT(port->receive_peak_bytes(), 0u);
  EXPECT_LE(port->receive_peak_bytes(), transport::network::ReceiveMemory::most_bytes(shared, models));
  EXPECT_LE(port->receive_peak_bytes(), sizes.receive_bytes);
  EXPECT_EQ(transport::network::ReceiveMemory::large_count(shared, models), 2u);
}

// As with very many ranks: each may send a few hundred bytes that do not wait for a large buffer,
// or nothing. Messages and parts of all sizes arrive.
RANK_TEST(TransportRanks, mpi_with_little_memory_for_small_segments, 6) {
  for (const std::uint64_t prompt : {10'000, 4'000, 2'000, 0}) {
    ConnectOptions options = dedicated(1, TransportChoice::mpi);
    options.sizes = large_segments();
    options.sizes.receive_bytes = receive_bytes_for(prompt, options.sizes);
    const std::uint64_t each = transport::network::shared_by(options.sizes, 5).prompt_bytes;
    ASSERT_LT(each, 1024u);
    ASSERT_EQ(each > 0, prompt > 0);
    Connection connection = connected(options);
    Exercise exercise;
    exercise.words = 20;
    run_exercise(connection, exercise);
    expect_bounded(connection, options.sizes, 5);
  }
}

RANK_TEST(TransportRanks, mpi_with_little_memory_for_small_segments_of_two_servers, 5) {
  ConnectOptions options = dedicated(2, TransportChoice::mpi);
  options.sizes = large_segments();
  options.sizes.receive_bytes = receive_bytes_for(2'500, options.sizes);
  Connection connection = connected(options);
  run_exercise(connection, large_parts());
  expect_bounded(connection, options.sizes, 3);
}

std::vector<std::size_t> data_sizes() {
  std::vector<std::size_t> sizes{0, 1, 63, 64, 65, 4000, 65'535, 65'536, 65'537, 300'000, 5'000'000, 0, 2};
  for (std::size_t i = 0; i < 40; ++i) sizes.push_back(i * i * 700);
  return sizes;
}

RANK_TEST(TransportData, mpi_between_two_ranks, 2) {
  Connection connection = connected(dedicated(1, TransportChoice::mpi));
  run_data_exercise(connection, data_sizes());
}

RANK_TEST(TransportData, mpi_with_two_servers, 5) {
  Connection connection = connected(dedicated(2, TransportChoice::mpi));
  run_data_exercise(connection, data_sizes());
}

// The rank does not receive: what was sent is left to MPI, and nothing waits.
RANK_TEST(TransportData, a_rank_that_ends_without_receiving_holds_up_nobody, 3) {
  Connection connection = connected(dedicated(1, TransportChoice::mpi));
  if (!connection.port) {
    barrier();
    connection = {};
    barrier();
    return;
  }
  const auto memory = std::make_shared<std::vector<std::byte>>(1 << 20);
  int sent = 0;
  for (int i = 0; i < 6; ++i) {
    transport::OutgoingData data{{std::span(*memory)}, memory, [&] { ++sent; }};
    connection.port->send_data(static_cast<std::size_t>(i % 2), std::vector<std::byte>(10), std::move(data));
  }
  connection.port->wait(20ms);
  EXPECT_TRUE(connection.port->sending());
  barrier();
  const std::uint64_t begin = now_ns();
  connection.port.reset();
  EXPECT_LT(now_ns() - begin, 5'000'000'000U);
  EXPECT_GT(memory.use_count(), 1) << "MPI may still read it";
  EXPECT_EQ(sent, 0);
  barrier();
}

// Nodes 0 0 1 1, with a server on each.
RANK_TEST(TransportRanks, both_transports_by_declared_nodes, 6) {
  ConnectOptions options = dedicated(2);
  options.declared_node = rank() % 2;
  Connection connection = connected(options);
  if (!connection.port) {
    EXPECT_EQ(transports(connection), (Counts{{"shm", 1}, {"mpi", 1}}));
  } else {
    const std::string first = rank() % 2 == 0 ? "shm" : "mpi";
    EXPECT_EQ(connection.port->transport_of(0), first);
    EXPECT_NE(connection.port->transport_of(1), first);
  }
  run_exercise(connection, {});
}

// A rank on another node waits for room. Before, the server read frames that a rank beside it had
// completed only when woken by something else.
RANK_TEST(TransportRanks, a_frame_completed_while_a_rank_on_another_node_waits_wakes_the_server, 3) {
  ConnectOptions options = dedicated(1);
  options.sizes.memory_bytes = 2 * options.sizes.block_bytes;  // one of them is reserved for the
                                                               // slowest rank
  options.declared_node = rank() == 1 ? 1 : 0;
  Connection connection = connected(options);
  const transport::FrameSlot near{0, 0, 200, 0, 1}, far{1, 0, 200, 0, 2};
  if (connection.port) {
    transport::ServerPort& port = *connection.port;
    transport::FramePool& pool = port.frames();
    port.set_scatter([](auto, const auto&, auto, std::span<const std::byte> packed, std::byte* frame) {
      std::ranges::copy(packed, frame);
      return true;
    });
    ASSERT_TRUE(pool.declare(std::vector<transport::FrameDeclaration>{{200, {1}}, {200, {1}}}));
    barrier();
    barrier();  // the rank beside the server holds its frame
    while (port.waiting_for_room() == 0) {
      EXPECT_FALSE(port.peek(1));
      port.wait(1ms);
    }
    EXPECT_EQ(port.waiting_for_room(), 1U);
    while (port.peek(0)) port.pop(0);
    port.wait(0ms);  // rings that came before
    barrier();       // now it completes the frame
    const std::uint64_t begin = now_ns();
    port.wait(10s);
    EXPECT_LT(now_ns() - begin, 5'000'000'000U);
    EXPECT_TRUE(port.peek(0));
    pool.release(*pool.find(0, 0));
    while (!port.peek(1)) port.wait(1ms);
    EXPECT_EQ(port.waiting_for_room(), 0U);
    barrier();
    return;
  }
  transport::ClientLink& link = *connection.links[0];
  barrier();
  if (rank() == 0) {
    ASSERT_TRUE(link.reserve(near, 0, 200, true));
    barrier();
    barrier();
    ASSERT_TRUE(link.commit(near, 0));
  } else {
    barrier();
    ASSERT_TRUE(link.reserve(far, 0, 200, true));
    ASSERT_TRUE(link.commit(far, 0));
    ASSERT_TRUE(link.flush());
    barrier();
  }
  barrier();  // neither sends anything before the server has seen the frame
}

RANK_TEST(TransportRanks, inline_servers_on_every_rank, 3) {
  ConnectOptions options = dedicated(0);
  options.server = true;
  Connection connection = connected(options);
  run_exercise(connection, {});
}

RANK_TEST(TransportRanks, an_inline_server_on_one_rank_of_another_node, 3) {
  ConnectOptions options = dedicated(0);
  options.server = rank() == 1;
  options.declared_node = rank();
  Connection connection = connected(options);
  EXPECT_EQ(transports(connection), (rank() == 1 ? Counts{{"shm", 1}} : Counts{{"mpi", 1}}));
  run_exercise(connection, {});
}

RANK_TEST(TransportRanks, two_sessions_in_the_same_processes, 3) {
  Connection first = connected(dedicated(1));
  Connection second = connected(dedicated(1, TransportChoice::mpi));
  run_exercise(second, {});
  run_exercise(first, {});
}

RANK_TEST(TransportRanks, a_session_may_follow_another, 3) {
  for (int i = 0; i < 3; ++i) {
    Connection connection =
        connected(dedicated(1, i == 1 ? TransportChoice::mpi : TransportChoice::automatic));
    run_exercise(connection, {});
  }
}

std::vector<std::string> host_names() {
  std::vector<char> own(MPI_MAX_PROCESSOR_NAME);
  std::vector<char> all(own.size() * static_cast<std::size_t>(size()));
  int length = 0;
  MPI_Get_processor_name(own.data(), &length);
  const int bytes = static_cast<int>(own.size());
  MPI_Allgather(own.data(), bytes, MPI_CHAR, all.data(), bytes, MPI_CHAR, comm());
  std::vector<std::string> names;
  for (int r = 0; r < size(); ++r) names.emplace_back(all.data() + static_cast<std::size_t>(r) * own.size());
  return names;
}

// On one machine all pairs share memory; transport_nodes_test.sh runs these on several nodes.
RANK_TEST(TransportNodes, pairs_share_memory_within_a_node_only, 6) {
  const auto hosts = host_names();
  Connection connection = connected(dedicated(2));
  for (std::size_t s = 0; s < connection.links.size(); ++s)
    EXPECT_EQ(connection.links[s]->name(),
              (hosts[4 + s] == hosts[static_cast<std::size_t>(rank())] ? "shm" : "mpi"));
  Exercise exercise;
  exercise.message_bytes = 100'000;
  run_exercise(connection, exercise);
}

RANK_TEST(TransportNodes, an_inline_server_on_every_rank, 4) {
  ConnectOptions options = dedicated(0);
  options.server = true;
  Connection connection = connected(options);
  run_exercise(connection, {});
}

RANK_TEST(TransportNodes, forced_shared_memory_between_nodes_is_refused, 4) {
  const auto hosts = host_names();
  const auto connection = transport::connect(dedicated(1, TransportChoice::shm));
  if (std::ranges::count(hosts, hosts[0]) == 4) {
    EXPECT_TRUE(connection);
    return;
  }
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(connection.error().message, ::testing::HasSubstr("different nodes"));
}

/// Seconds of processor time that this process has used.
double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Share of a core that this process uses while `wait` is called again and again for two seconds.
double cpu_share(const std::function<void()>& wait) {
  const double cpu = cpu_seconds();
  const std::uint64_t begin = now_ns();
  while (now_ns() - begin < 2'000'000'000) wait();
  return (cpu_seconds() - cpu) / (static_cast<double>(now_ns() - begin) * 1e-9);
}

void expect_idle(TransportChoice choice) {
  Connection connection = connected(dedicated(1, choice));
  const double share = connection.port ? cpu_share([&] { connection.port->wait(200ms); })
                                       : cpu_share([&] { connection.links[0]->wait(200ms); });
  std::printf("rank %d idle: %.3f %% of a core\n", rank(), share * 100);
  EXPECT_LT(share, connection.port ? 0.01 : 0.03);
  MPI_Request request = MPI_REQUEST_NULL;  // a barrier that does not spin beside ranks that still
                                           // measure
  MPI_Ibarrier(comm(), &request);
  for (int done = 0; done == 0; ::usleep(1000)) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

RANK_TEST(TransportIdle, a_server_with_shared_memory_uses_no_core, 3) { expect_idle(TransportChoice::shm); }
RANK_TEST(TransportIdle, a_server_with_mpi_uses_less_than_a_hundredth_of_a_core, 3) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "processor time says nothing about a build with sanitizers";
#endif
  expect_idle(TransportChoice::mpi);
}

RANK_TEST(TransportSetUp, full_shared_memory_is_reported_on_all_ranks, 3) {
  ConnectOptions options = dedicated(1);
  options.sizes.block_bytes = 4 << 20;
  options.sizes.memory_bytes = std::uint64_t{1} << 44;
  const auto connection = transport::connect(options);
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, ErrorCode::no_space);
  EXPECT_EQ(connection.error().rank, 2);
  EXPECT_THAT(connection.error().message, ::testing::HasSubstr("MiB of memory are free"));
  EXPECT_THAT(connection.error().message, ::testing::HasSubstr("memory.server"));
}

// All blocks are usable, each process sees the data of the others, and memory is allocated during
// use.
RANK_TEST(TransportMemory, grows_to_its_full_size_when_it_is_needed, 4) {
  ConnectOptions options = dedicated(1);
  options.sizes.memory_bytes = 256 * options.sizes.block_bytes;
  options.sizes.instances = 256;
  Connection connection = connected(options);
  const std::uint64_t bytes = options.sizes.block_bytes;
  if (connection.port) {
    EXPECT_EQ(connection.port->frames().allocated_bytes(), 0u);
    ASSERT_TRUE(connection.port->frames().declare(std::vector<transport::FrameDeclaration>{{bytes, {3}}}));
  }
  barrier();
  for (std::uint64_t seq = 0; !connection.links.empty() && seq < 256; ++seq) {
    const transport::FrameSlot slot{0, seq, bytes, 0, seq};
    const auto landing = connection.links[0]->reserve(slot, 0, bytes, true);
    ASSERT_TRUE(landing) << landing.error().text();
    const auto mine = static_cast<std::uint64_t>(rank());
    std::memset(landing->base + mine * 4096, static_cast<int>(seq + mine), 4096);
    ASSERT_TRUE(connection.links[0]->commit(slot, 0));
  }
  barrier();
  if (!connection.port) return;
  const transport::FramePool& frames = connection.port->frames();
  EXPECT_EQ(frames.used_bytes(), frames.capacity_bytes());
  EXPECT_EQ(frames.allocated_bytes(), frames.capacity_bytes());
  EXPECT_EQ(frames.memory_error(), 0);
  for (std::uint64_t seq = 0; seq < 256; ++seq) {
    const auto view = frames.find(0, seq);
    ASSERT_TRUE(view);
    for (std::uint64_t r = 0; r < 3; ++r)
      EXPECT_EQ(view->buffer[r * 4096 + 4095], std::byte(static_cast<unsigned char>(seq + r)));
  }
}

RANK_TEST(TransportSetUp, different_sizes_are_refused, 3) {
  ConnectOptions options = dedicated(1);
  if (rank() == 1) options.sizes.ring_bytes *= 2;
  const auto connection = transport::connect(options);
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, ErrorCode::conflict);
  EXPECT_EQ(connection.error().rank, 1);
}

RANK_TEST(TransportSetUp, no_server_is_refused, 2) {
  const auto connection = transport::connect(dedicated(0));
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, ErrorCode::invalid_argument);
}

RANK_TEST(TransportSetUp, a_rank_that_does_not_come_is_not_waited_for_ever, 2) {
  ConnectOptions options = dedicated(1);
  options.policy.deadline = 500ms;
  if (rank() == 1) {
    const auto connection = transport::connect(options);
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().code, ErrorCode::timed_out);
  }
  barrier();
}

/// Before, a server that had ended itself took this for a clean end.
RANK_TEST(TransportEnds, a_peer_over_mpi_that_died_has_not_ended, 2) {
  Connection connection = connected(dedicated(1, TransportChoice::mpi));
  if (auto* const port = dynamic_cast<transport::shm::Port*>(connection.port.get())) {
    const pid_t child = fork();
    if (child == 0) {
      pause();
      _exit(0);
    }
    transport::network::MpiPeerOptions options;
    options.process = {static_cast<std::uint32_t>(child), own_process().space};
    std::atomic<std::uint64_t> progress{0};
    transport::network::MpiPeer peer(connection.communicators.front(), *port, progress, options);
    EXPECT_TRUE(peer.check_alive().has_value());
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(peer.check_alive().has_value());
    EXPECT_FALSE(peer.has_ended());
    peer.forget();
  }
  barrier();
}

RANK_TEST(TransportEnds, a_client_is_told_that_a_server_over_mpi_has_ended, 2) {
  Connection connection = connected(dedicated(1, TransportChoice::mpi));
  if (connection.port) {
    connection.port.reset();
  } else {
    const std::uint64_t begin = now_ns();
    Result<void> alive;
    while (alive && now_ns() - begin < 10'000'000'000) {
      connection.links[0]->wait(10ms);
      alive = connection.links[0]->check_alive();
    }
    ASSERT_FALSE(alive);
    EXPECT_EQ(alive.error().code, ErrorCode::peer_lost);
  }
  barrier();
}

// The server is alive and answers but takes no data: the rank waits for room until it is informed
// of the failure.
RANK_TEST(TransportEnds, a_failed_server_ends_waits_over_mpi, 2) {
  ConnectOptions options = dedicated(1, TransportChoice::mpi);
  Connection connection = connected(options);
  MPI_Request informed = MPI_REQUEST_NULL;
  if (connection.port) {
    const std::uint64_t begin = now_ns();
    while (!connection.port->peek(0) && now_ns() - begin < 30'000'000'000) connection.port->wait(10ms);
    EXPECT_TRUE(connection.port->peek(0)) << "no message arrives";
    for (int i = 0; i < 50; ++i) connection.port->wait(10ms);  // meanwhile the rank runs out of room
    connection.port->fail();
    MPI_Ibarrier(comm(), &informed);
    for (int done = 0; done == 0; MPI_Test(&informed, &done, MPI_STATUS_IGNORE)) connection.port->wait(10ms);
  } else {
    Result<void> sent;
    const std::vector<std::byte> message(30'000);
    int taken = -1;
    for (; sent; ++taken) sent = connection.links[0]->send(message, transport::Wake::now);
    EXPECT_EQ(sent.error().code, ErrorCode::bad_state) << sent.error().text();
    EXPECT_GT(taken, 0);
    MPI_Ibarrier(comm(), &informed);
    MPI_Wait(&informed, MPI_STATUS_IGNORE);
  }
  barrier();
}

RANK_TEST(TransportEnds, a_silent_server_over_mpi_ends_waits_at_the_deadline, 2) {
  ConnectOptions options = dedicated(1, TransportChoice::mpi);
  options.policy.first_answer = 1s;  // the deadline also bounds each step of the set-up
  Connection connection = connected(options);
  if (!connection.port) {
    Result<void> sent;
    const std::vector<std::byte> message(30'000);
    while (sent) sent = connection.links[0]->send(message, transport::Wake::now);
    EXPECT_EQ(sent.error().code, ErrorCode::timed_out) << sent.error().text();
  }
  barrier();
}

}  // namespace
}  // namespace afterbay::testing
