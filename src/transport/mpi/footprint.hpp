// SPDX-License-Identifier: Apache-2.0
// Footprint: the memory and the descriptors that a process takes for its pairs with other
// processes. The only place of these formulas: `afterbay check` prints them, and sessions compare
// them with what the node has before they open. They use the same geometry and sizes as the objects
// themselves; tests compare them with what the objects take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "transport/link.hpp"

namespace afterbay::transport {

/// Upper bounds in bytes. Memory that two processes share is counted once, at the one that creates
/// it.
struct Footprint {
  std::uint64_t data = 0;         ///< server: blocks, with a page per block; frontend: segments
  std::uint64_t tables = 0;       ///< in shared memory
  std::uint64_t frames = 0;       ///< server: entries of frames, of as many as may be declared
  std::uint64_t rings = 0;        ///< in shared memory, for messages of ranks on the node
  std::uint64_t receive = 0;      ///< all that arrives over MPI
  std::uint64_t reading = 0;      ///< data of files, in transit to ranks over MPI
  std::uint64_t joint = 0;        ///< frontend: small segments that it sends together
  std::uint64_t staging = 0;      ///< segments that are sent over MPI
  std::uint64_t ends = 0;         ///< objects on the heap: one per pair
  std::uint64_t page_tables = 0;  ///< for memory that this process shares; without huge pages
  std::uint64_t descriptors = 0;

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return data + tables + frames + rings + receive + reading + joint + staging + ends + page_tables;
  }
};

/// The pairs of an I/O server.
struct ServerPairs {
  std::size_t models = 0;        ///< model ranks of the session
  std::size_t near = 0;          ///< number of them that use its segment; the others send by MPI
  std::size_t servers = 0;       ///< servers that exchange messages, itself included; 0: they do not
  std::size_t near_servers = 0;  ///< number of them on its node, itself included
  bool relayed = false;          ///< model ranks send through frontends
};
/// `sizes.memory_bytes`: of this server.
Result<Footprint> footprint_of(const ServerPairs& pairs, const LinkSizes& sizes);

/// The pairs of a frontend.
struct FrontendPairs {
  std::size_t clients = 0;  ///< its model ranks
  std::size_t near = 0;     ///< number of them on its node
  std::size_t servers = 0;  ///< behind it
};
/// `bytes`: what it may take for segments; 0: see relay::divide.
Result<Footprint> footprint_of(const FrontendPairs& pairs, std::uint64_t bytes, const LinkSizes& sizes);

/// Servers whose segments a model rank uses, all alike.
struct SharedServers {
  std::size_t count = 0;
  std::uint64_t page_tables = 0;  ///< page tables of the rank for one of the segments
  std::uint64_t mapped = 0;       ///< what the rank notes about its pages, on the heap
};
/// `pairs`, `sizes`: of each server.
Result<SharedServers> shared_servers(std::size_t count, const ServerPairs& pairs, const LinkSizes& sizes);

/// The pairs of a model rank with servers.
struct ModelPairs {
  std::vector<SharedServers> shared = {};  ///< whose segment it uses
  std::size_t relayed = 0;                 ///< through frontends on its node
  std::size_t near_frontends = 0;          ///< number of these frontends
  std::uint64_t channel_bytes = 0;         ///< memory that they share with it, in sum
  std::size_t by_mpi = 0;                  ///< directly, or through frontends on other nodes

  [[nodiscard]] std::size_t shared_count() const noexcept {
    std::size_t sum = 0;
    for (const SharedServers& it : shared) sum += it.count;
    return sum;
  }
};
Footprint footprint_of(const ModelPairs& pairs, const LinkSizes& sizes);

/// The highest message tag that pairs through frontends use.
int most_relay_tag(std::size_t models, std::size_t servers) noexcept;
/// Fails (resources), with what to change, if MPI has no such tag. `most`: MPI's highest one.
Result<void> check_tags(std::size_t models, std::size_t servers, int most);

}  // namespace afterbay::transport
