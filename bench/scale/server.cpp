// SPDX-License-Identifier: Apache-2.0
// A server: its memory, its processor time while it is idle, and that of messages.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "base/rounding.hpp"
#include "common/timing.hpp"
#include "scale/emulated_server.hpp"
#include "scale/recorder.hpp"
#include "session/link_sizes.hpp"
#include "transport/mpi/receive_memory.hpp"
#include "transport/mpi/relay_servers.hpp"

namespace bench {

using namespace afterbay;

namespace {

constexpr double idle_s = 4;
constexpr double settling_s = 4;  ///< an end looks less often at what its rank does not receive
constexpr std::size_t most_active = 100;
constexpr int records = 64;
constexpr std::uint64_t records_in_memory = 2;
/// Each emulated rank encodes its definitions for each server of a divided collection.
constexpr std::size_t most_defined_servers = 4;

/// At most half of all, so that no record is ever complete: a message costs the most then.
std::size_t active_of(const Case& it) {
  const std::size_t wanted = it.clients == 0 ? most_active : it.clients;
  return std::min(wanted, std::max<std::size_t>(it.ranks / 2, 1));
}

/// What is defined, and by how many servers it is written.
struct Defined {
  std::size_t fields = 1;
  std::size_t servers = 1;
};

/// What a rank of the emulated model defines: fields that all ranks share in equal blocks; to the
/// first server.
std::vector<transport::Bytes> definitions_of(std::size_t rank, const Case& it, const Defined& defined,
                                             const config::Config& config) {
  static observe::Profile profile(false);
  std::vector<Recording> recordings(defined.servers);
  client::ModelSession::Links links;
  for (Recording& recording : recordings) {
    recording.keeps = links.empty();
    links.push_back(std::make_unique<Recorder>(recording));
  }
  client::ModelSession session({static_cast<int>(rank),
                                static_cast<int>(rank),
                                static_cast<int>(it.ranks),
                                std::vector<std::size_t>(defined.servers),
                                {}},
                               config, std::move(links), profile,
                               Logger({"scale", "model", 0}, LogLevel::error));
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", it.ranks * it.points);
  for (std::size_t f = 0; f < defined.fields; ++f)
    schema.variable(fmt::format("field{}", f), Type::float32, {"time", "x"}).on("grid");
  Block block;
  block.global = {it.ranks * it.points};
  block.start = {rank * it.points};
  block.count = {it.points};
  must(session.decomposition("grid", block, {}));
  must(session.collection("history", schema, {.file = "history.nc", .store = "memory"}));
  (void)session.start();  // the recorder ends it
  return std::move(recordings.front().messages);
}

void define(EmulatedServer& server, const Case& it, const Defined& defined, const config::Config& config) {
  for (std::size_t r = 0; r < it.ranks; ++r) {
    for (const transport::Bytes& message : definitions_of(r, it, defined, config))
      server.send_encoded(r, message);
    server.work();
  }
  server.work();
  server.check();
}

/// The ranks open a file.
void open_file(EmulatedServer& server, const std::vector<std::size_t>& ranks) {
  for (const std::size_t r : ranks) {
    wire::OpenFile open;
    open.path = "history.nc";
    if (r == 0) open.name = FileName{.name = "history.nc"};
    server.send(r, open);
  }
  server.work();
  server.check();
}

/// The links of a server with these settings.
EmulatedServer::Links links_of(const config::Config& config) {
  return {.relayed = config.servers.topology == config::Topology::tiered, .fellows = config.servers_talk()};
}

}  // namespace

/// Half of the active ranks are on the server's node and use its segment (tiered: none); the other
/// half, and all that are silent, are ends of the network. All ranks define a collection with many
/// fields; the active ones put two records of it, flush and close the file. All memory for segments
/// that arrive is in use. Blocks, which are memory.server, do not count.
nlohmann::json measure_server_memory(const Case& it, const config::Config& config) {
  const EmulatedServer::Links with = links_of(config);
  const std::size_t active = active_of(it);
  const std::size_t near = with.relayed ? 0 : (active + 1) / 2;
  const transport::LinkSizes given = session::link_sizes(config.memory);
  const std::size_t talking = with.fellows ? it.servers : 0;
  const transport::LinkSizes sizes =
      transport::network::shared_by(given, {.models = it.ranks, .relayed = with.relayed, .servers = talking});
  const Memory before = memory_now();
  auto& server = *new EmulatedServer(it.ranks, near, it.servers, config, with);
  const Memory tables = memory_now();
  for (std::size_t r = 0; r < near; ++r) must(server.segment().allocate_rings(r));
  const bool divided = config.servers.placement == config::Placement::slab;
  define(server, it, {it.fields, divided ? std::min(it.servers, most_defined_servers) : 1}, config);
  std::vector<std::size_t> putting(active);
  for (std::size_t i = 0; i < active; ++i) putting[i] = i;
  open_file(server, putting);
  for (std::uint64_t seq = 0; seq < records_in_memory; ++seq)
    for (const std::size_t r : putting) {
      server.send(r, wire::BeginRecord{0, seq, 0, seq});
      for (std::uint32_t field = 0; field < it.fields; ++field) server.send(r, wire::Put{0, seq, field});
      server.send(r, wire::EndRecords{seq, {{0, seq + 1}}, 0, 0});
      server.work();
    }
  const Memory put = memory_now();
  for (const std::size_t r : putting) server.send(r, wire::Flush{1, 0});
  for (const std::size_t r : putting) server.send(r, wire::CloseFile{0, 2});
  server.work();
  server.check();

  // As the networks do.
  std::vector<transport::network::ReceiveMemory::Buffer> buffers;
  std::uint64_t received = 0;
  const auto fill = [&](transport::network::ReceiveMemory& from, std::uint64_t bytes) {
    buffers.push_back(from.take(bytes));
    std::memset(buffers.back().data.get(), 1, buffers.back().capacity);
    received += buffers.back().capacity;
  };
  transport::network::ReceiveMemory of_ranks(sizes, it.ranks - near);
  while (of_ranks.free_large() > 0) fill(of_ranks, transport::network::segment_capacity(sizes));
  if (sizes.prompt_bytes > 0)
    for (std::size_t i = 0; i < (it.ranks - near) * sizes.credits; ++i) fill(of_ranks, sizes.prompt_bytes);
  const transport::LinkSizes between = transport::network::shared_by_servers(given, talking);
  transport::network::ReceiveMemory of_servers(between, talking);
  for (std::size_t i = 1; i < talking; ++i)
    for (std::uint32_t credit = 0; credit < between.credits; ++credit) fill(of_servers, between.prompt_bytes);
  transport::Bytes joint(sizes.joint_bytes + sizes.joined_bytes, std::byte{1});
  const Memory after = memory_now();
  const std::uint64_t blocks = server.block_bytes();
  return {{"memory", grown(before.resident + blocks, after.resident)},
          {"tables", grown(before.heap, tables.heap)},
          {"defined", grown(tables.heap, put.heap)},
          {"receive", received + joint.size()},
          {"segment", server.geometry().total_bytes},
          {"active", active}};
}

/// Nobody sends anything but signs of life of frontends. The server looks at the network, as if
/// there were ranks on other nodes, and at its links to other servers, if it has any. What the
/// emulated frontends take does not count.
nlohmann::json measure_idle(const Case& it, const config::Config& config) {
  const EmulatedServer::Links with = links_of(config);
  auto& server = *new EmulatedServer(it.ranks, with.relayed ? 0 : active_of(it), it.servers, config, with);
  assert_role(ingest_thread);
  const std::size_t frontends = with.relayed ? divided_up(it.ranks, EmulatedServer::frontend_ranks) : 0;
  const double period_s = 1e-9 * static_cast<double>(transport::network::RelayServers::between_pings_ns(
                                     frontends, config.deadline));
  double others_s = 0;
  std::size_t pings = 0;
  // Those that are due come together, before each wait.
  const auto idle_for = [&](double time) {
    const double begin = now_s();
    others_s = 0;
    pings = 0;
    while (now_s() < begin + time) {
      const double due = (now_s() - begin) / period_s * static_cast<double>(frontends);
      for (; static_cast<double>(pings) < due; ++pings) others_s += server.ping(pings % frontends);
      if (!server.server().step()) server.server().wait();
      others_s += server.take_answers();
    }
  };
  idle_for(1);
  const double begin = now_s();
  const double cpu = process_cpu_s();
  idle_for(idle_s);
  const double used = process_cpu_s() - cpu - others_s;
  const double time = now_s() - begin;
  server.check();
  return {{"cpu_share", used / time}, {"pings_per_s", static_cast<double>(pings) / time}};
}

/// All ranks are on other nodes. They have sent their definitions, and compute: none receives the
/// server's answer.
nlohmann::json measure_computing(const Case& it, const config::Config& config) {
  auto& server = *new EmulatedServer(it.ranks, 0, it.servers, config);
  assert_role(ingest_thread);
  server.let_ranks_compute();
  define(server, it, {}, config);
  const auto idle_for = [&server](double time) {
    for (const double end = now_s() + time; now_s() < end;)
      if (!server.server().step()) server.server().wait();
  };
  idle_for(settling_s);
  const double begin = now_s();
  const double cpu = process_cpu_s();
  idle_for(idle_s);
  const double used = process_cpu_s() - cpu;
  const double time = now_s() - begin;
  server.check();
  return {{"cpu_share", used / time}, {"pending", server.pending_answers()}};
}

nlohmann::json measure_ingest(const Case& it, const config::Config& config) {
  const std::size_t active = active_of(it);
  auto& server = *new EmulatedServer(it.ranks, it.ranks, it.servers, config);
  define(server, it, {}, config);
  std::vector<std::size_t> ranks(active);
  for (std::size_t i = 0; i < active; ++i) ranks[i] = i;
  open_file(server, ranks);
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
