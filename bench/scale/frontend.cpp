// SPDX-License-Identifier: Apache-2.0
// A frontend of ranks of its node: its shared memory with all segments in use, and its lanes; and
// the processor time that one note of a rank costs it.
#include <mpi.h>

#include <fmt/format.h>

#include "scale/emulation.hpp"
#include "session/link_sizes.hpp"
#include "transport/mpi/relay.hpp"
#include "transport/relay/channel.hpp"

namespace bench {

using namespace afterbay;

namespace {

constexpr int turns = 20'000;

/// Processor time of a turn in which one of all ranks has sent a header, in ns.
double turn_ns(transport::network::Relay& relay, transport::relay::ChannelEnd& rank) {
  double used = 0;
  for (int i = 0; i < turns; ++i) {
    transport::relay::Note note;
    note.segment = transport::relay::Note::header_only;
    note.header.kind = transport::network::SegmentKind::ping;
    must(rank.leave(note));
    const double begin = thread_cpu_s();
    relay.step();
    used += thread_cpu_s() - begin;
  }
  return used / turns * 1e9;
}

}  // namespace

nlohmann::json measure_frontend(const Case& it, const config::Config& config) {
  const std::size_t clients = it.clients == 0 ? 128 : it.clients;
  const transport::LinkSizes sizes = session::link_sizes(config.memory);
  const auto comm = std::make_shared<const mpi::Communicator>(
      must(mpi::Communicator::duplicate(MPI_COMM_SELF, config.deadline)));
  const Memory before = memory_now();
  const auto shares =
      must(transport::relay::divide(session::frontend_bytes(config), clients, it.servers, sizes));
  const auto geometry = transport::relay::channel_geometry(clients, it.servers, shares, sizes);
  transport::shm::SharedMemory memory = must(transport::shm::Mapping::create(geometry.total_bytes()));
  transport::network::RelayOptions options;
  options.channel = must(transport::relay::Channel::format(std::move(memory.mapping), geometry));
  options.sizes = sizes;
  options.label = "the frontend at rank 0";
  for (std::size_t c = 0; c < clients; ++c)
    options.clients.push_back({c, static_cast<int>(c), fmt::format("model rank {} (rank {})", c, c), c});
  for (std::size_t s = 0; s < it.servers; ++s)
    options.servers.push_back({s, 0, fmt::format("I/O server {} (rank {})", s, it.ranks + s), ProcessId{},
                               fmt::format("I/O server {} (rank {}) on host node{}", s, it.ranks + s, s)});
  auto channel = options.channel;
  // Never destroyed: it would wait for servers that do not exist.
  auto& relay = *new transport::network::Relay(comm, std::move(options));
  const Memory tables = memory_now();
  const double note_ns = [&] {
    auto* const rank =
        new transport::relay::ChannelEnd(channel, clients / 2, "the frontend", "here", config.deadline);
    return turn_ns(relay, *rank);
  }();
  for (std::uint32_t i = 0; i < geometry.segments(); ++i) {
    const auto segment = channel->segment(i);
    must(channel->allocate(segment, 0, segment.capacity));
  }
  const Memory after = memory_now();
  return {{"memory", grown(before.resident, after.resident)},
          {"tables", grown(before.heap, tables.heap)},
          {"clients", clients},
          {"turn_ns", note_ns}};
}

}  // namespace bench
