// SPDX-License-Identifier: Apache-2.0
// A model rank that sends to all servers by MPI: its session, its links, and all of its staging
// memory in use.
#include <mpi.h>

#include <fmt/format.h>

#include "client/model_session.hpp"
#include "scale/emulation.hpp"
#include "session/link_sizes.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/mpi_carrier.hpp"
#include "transport/mpi/staging.hpp"

namespace bench {

using namespace afterbay;

nlohmann::json measure_model_rank(const Case& it, const config::Config& config) {
  const transport::LinkSizes sizes = session::link_sizes(config.memory);
  const auto comm = std::make_shared<const mpi::Communicator>(
      must(mpi::Communicator::duplicate(MPI_COMM_SELF, config.deadline)));
  const auto* const profile = new observe::Profile(false);
  const Memory before = memory_now();

  const auto staging = must(transport::network::Staging::make(sizes, it.servers, true));
  const transport::network::MpiShared shared{staging, std::make_shared<transport::network::ProbeRound>(comm)};
  const auto links_of_rank = std::make_shared<transport::RankLinks>();
  client::ModelSession::Links links;
  for (std::size_t s = 0; s < it.servers; ++s)
    links.push_back(std::make_unique<transport::network::MpiClientLink>(
        std::make_unique<transport::network::MpiCarrier>(comm, shared, sizes.credits,
                                                         transport::network::MpiRoute{.rank = 0}),
        transport::network::MpiClientOptions{
            .server = fmt::format("I/O server {} (rank {})", s, it.ranks + s),
            .sizes = sizes,
            .rank_links = links_of_rank,
            .dedicated = fmt::format("I/O server {} (rank {}) on host node{}", s, it.ranks + s, s)}));
  client::RankIdentity identity{0, 0, static_cast<int>(it.ranks), std::vector<std::size_t>(it.servers), {}};
  // Never destroyed: its links would wait for servers that do not exist.
  new client::ModelSession(std::move(identity), config, std::move(links),
                           const_cast<observe::Profile&>(*profile),
                           Logger({"scale", "model", 0}, config.log));
  const Memory tables = memory_now();
  for (const std::uint64_t bytes : {std::uint64_t{1}, staging->capacity()})
    while (const auto segment = staging->take({.bytes = bytes}))
      must(staging->allocate(*segment, segment->capacity));
  const Memory after = memory_now();
  return {{"memory", grown(before.resident, after.resident)},
          {"tables", grown(before.heap, tables.heap)},
          {"staging", staging->allocated_bytes()},
          {"messages_to_all", it.servers}};
}

}  // namespace bench
