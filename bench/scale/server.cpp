// SPDX-License-Identifier: Apache-2.0
// A server: its memory, its processor time while it is idle, and that of messages.
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "common/timing.hpp"
#include "scale/emulated_server.hpp"
#include "scale/recorder.hpp"
#include "session/link_sizes.hpp"
#include "transport/mpi/receive_memory.hpp"

namespace bench {

using namespace afterbay;

namespace {

constexpr double idle_s = 4;
constexpr std::size_t most_active = 100;
constexpr int records = 64;

/// At most half of all, so that no record is ever complete: a message costs the most then.
std::size_t active_of(const Case& it) {
  const std::size_t wanted = it.clients == 0 ? most_active : it.clients;
  return std::min(wanted, std::max<std::size_t>(it.ranks / 2, 1));
}

/// What a rank of the emulated model defines: a field that all ranks share in equal blocks.
std::vector<transport::Bytes> definitions_of(std::size_t rank, const Case& it, const config::Config& config) {
  static observe::Profile profile(false);
  Recording recording;
  client::ModelSession::Links links;
  links.push_back(std::make_unique<Recorder>(recording));
  client::ModelSession session(
      {static_cast<int>(rank), static_cast<int>(rank), static_cast<int>(it.ranks), {}, {}}, config,
      std::move(links), profile, Logger({"scale", "model", 0}, LogLevel::error));
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", it.ranks * it.points);
  schema.variable("field", Type::float32, {"time", "x"}).on("grid");
  Block block;
  block.global = {it.ranks * it.points};
  block.start = {rank * it.points};
  block.count = {it.points};
  must(session.decomposition("grid", block, {}));
  must(session.collection("history", schema, {.file = "history.nc", .store = "memory"}));
  (void)session.start();  // the recorder ends it
  return std::move(recording.messages);
}

void define(EmulatedServer& server, const Case& it, const config::Config& config) {
  for (std::size_t r = 0; r < it.ranks; ++r) {
    for (const transport::Bytes& message : definitions_of(r, it, config)) server.send_encoded(r, message);
    server.work();
  }
  server.work();
  server.check();
}

}  // namespace

/// Half of the active ranks are on the server's node and use its segment; the other half, and all
/// that are silent, are ends of the network. All memory for segments that arrive is in use.
nlohmann::json measure_server_memory(const Case& it, const config::Config& config) {
  const std::size_t active = active_of(it);
  const std::size_t near = (active + 1) / 2;
  const transport::LinkSizes sizes =
      transport::network::shared_by(session::link_sizes(config.memory), it.ranks);
  const Memory before = memory_now();
  auto& server = *new EmulatedServer(it.ranks, near, it.servers, config);
  const Memory tables = memory_now();
  for (std::size_t r = 0; r < near; ++r) must(server.segment().allocate_rings(r));
  server.work();
  transport::network::ReceiveMemory receive(sizes, it.ranks - near);
  std::vector<transport::network::ReceiveMemory::Buffer> buffers;
  const auto fill = [&](std::uint64_t bytes) {
    buffers.push_back(receive.take(bytes));
    std::memset(buffers.back().data.get(), 1, buffers.back().capacity);
  };
  while (receive.free_large() > 0) fill(transport::network::segment_capacity(sizes));
  for (std::size_t i = 0; i < (active - near) * sizes.credits; ++i) fill(sizes.prompt_bytes);
  const Memory after = memory_now();
  return {{"memory", grown(before.resident, after.resident)},
          {"tables", grown(before.heap, tables.heap)},
          {"receive", receive.allocated_bytes()},
          {"segment", server.geometry().total_bytes},
          {"active", active}};
}

/// Nobody sends anything. The server looks at the network, as if there were ranks on other nodes.
nlohmann::json measure_idle(const Case& it, const config::Config& config) {
  auto& server = *new EmulatedServer(it.ranks, active_of(it), it.servers, config);
  assert_role(ingest_thread);
  const double settled = now_s() + 1;
  while (now_s() < settled)
    if (!server.server().step()) server.server().wait();
  const double begin = now_s();
  const double cpu = process_cpu_s();
  while (now_s() < begin + idle_s)
    if (!server.server().step()) server.server().wait();
  return {{"cpu_share", (process_cpu_s() - cpu) / (now_s() - begin)}};
}

nlohmann::json measure_ingest(const Case& it, const config::Config& config) {
  const std::size_t active = active_of(it);
  auto& server = *new EmulatedServer(it.ranks, it.ranks, it.servers, config);
  define(server, it, config);
  for (std::size_t r = 0; r < active; ++r) {
    wire::OpenFile open;
    open.path = "history.nc";
    if (r == 0) open.name = FileName{.name = "history.nc"};
    server.send(r, open);
  }
  server.work();
  server.check();
  // Many ranks are active: what a message costs.
  std::uint64_t messages = 0;
  double cpu = 0;
  std::uint64_t seq = 0;
  for (int i = 0; i < records; ++i, ++seq) {
    for (std::size_t r = 0; r < active; ++r) {
      server.send(r, wire::BeginRecord{0, seq, 0, seq});
      server.send(r, wire::Put{0, seq, 0});
      server.send(r, wire::EndRecords{seq, {{0, seq + 1}}, 0, 0});
      messages += 3;
    }
    cpu += server.work();
  }
  server.check();
  // One rank is active: what a pass for one message costs.
  double one_cpu = 0;
  int passes = 0;
  for (int i = 0; i < 10 * records; ++i, ++passes) {
    server.send(active - 1, wire::EndRecords{seq, {{0, seq + 1}}, 0, 0});
    one_cpu += server.work();
  }
  // All ranks flush: some of them wait for records that others have not put yet.
  double flush_cpu = 0;
  for (std::size_t r = 0; r < it.ranks; ++r) {
    server.send(r, wire::Flush{1, 0});
    if (r % most_active == 0) flush_cpu += server.work();
  }
  flush_cpu += server.work();
  server.check();
  return {{"message_ns", cpu / static_cast<double>(messages) * 1e9},
          {"pass_ns", one_cpu / passes * 1e9},
          {"flush_ns", flush_cpu / static_cast<double>(it.ranks) * 1e9},
          {"active", active}};
}

}  // namespace bench
