// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/footprint.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <list>
#include <memory>

#include "transport/mpi/client.hpp"
#include "transport/mpi/mpi_carrier.hpp"
#include "transport/mpi/receive_memory.hpp"
#include "transport/mpi/relay.hpp"
#include "transport/mpi/server.hpp"
#include "transport/mpi/staging.hpp"
#include "transport/relay/channel.hpp"
#include "transport/relay/relay_carrier.hpp"
#include "transport/shm/client.hpp"
#include "transport/shm/geometry.hpp"
#include "transport/shm/mapped_blocks.hpp"
#include "transport/shm/peer.hpp"

namespace afterbay::transport {
namespace {

constexpr std::uint64_t block_header = 16;  // malloc's, per allocation, with rounding
constexpr std::uint64_t label_bytes = 48;   // "model rank 12345 (rank 12345)"
constexpr std::uint64_t empty_deque_bytes = sizeof(std::deque<int>) + 512 + 64 + 2 * block_header;

template <class T>
constexpr std::uint64_t object() {
  return sizeof(T) + block_header;
}
constexpr std::uint64_t label() { return label_bytes + block_header; }
/// Memory of a port per end: the pointer, and its places in the lists of active ends.
constexpr std::uint64_t place_in_port = sizeof(void*) + 1;
/// The network's list of ends may have room for twice as many.
constexpr std::uint64_t mpi_peer = object<network::MpiPeer>() + 2 * sizeof(void*) + place_in_port;
constexpr std::uint64_t shm_peer = object<shm::ShmPeer>() + label() + place_in_port;
/// A link has two labels; one that shares memory copies the first for the rank's threads.
constexpr std::uint64_t link_common = 2 * label() + 2 * sizeof(void*);
constexpr std::uint64_t shm_link =
    object<shm::ShmClientLink>() + object<shm::Segment>() + 2 * sizeof(void*) + label() + link_common;
constexpr std::uint64_t staged_segments = empty_deque_bytes - sizeof(std::deque<int>);
constexpr std::uint64_t mpi_link = object<network::MpiClientLink>() + staged_segments +
                                   object<network::MpiCarrier>() + object<network::SegmentHeader>() +
                                   link_common;
constexpr std::uint64_t relay_link = object<network::MpiClientLink>() + staged_segments +
                                     object<relay::RelayCarrier>() + 2 * sizeof(std::list<int>) + link_common;

/// For a mapping of which all pages may be used, wherever it begins: tables of the lowest level,
/// and of the next.
constexpr std::uint64_t page_tables_for(std::uint64_t bytes) {
  constexpr std::uint64_t of_table = shm::MappedBlocks::table_covers / shm::page_bytes;  // entries
  const std::uint64_t lowest = bytes / shm::MappedBlocks::table_covers + 2;
  return (lowest + lowest / of_table + 2) * shm::page_bytes;
}
/// The part of a segment before its blocks.
std::uint64_t before_blocks(const shm::Geometry& geometry) {
  return std::min(geometry.classes[shm::large_blocks].at, geometry.classes[shm::small_blocks].at);
}

std::uint64_t staging_bytes(const LinkSizes& sizes, std::size_t links, bool large) {
  return network::Staging::most_bytes(sizes, links, large);
}

}  // namespace

Result<Footprint> footprint_of(const ServerPairs& pairs, const LinkSizes& sizes) {
  const std::size_t rings = pairs.near + pairs.near_servers;
  AFTERBAY_TRY_ASSIGN(const shm::Geometry geometry,
                      shm::make_geometry(sizes, pairs.models + pairs.servers, rings));
  Footprint it;
  std::uint64_t counters = 0;
  for (const shm::BlockClassGeometry& kind : geometry.classes) {
    it.data += kind.count * kind.stride();
    counters += std::uint64_t{kind.count} * kind.pieces * sizeof(std::uint32_t);
  }
  it.rings = rings * (geometry.sizes.ring_bytes + geometry.sizes.reply_bytes);
  it.tables = geometry.rings_at + geometry.blocks() * sizeof(shm::BlockMeta) + counters;
  it.frames = geometry.meta_at - geometry.frames_at;
  it.page_tables = page_tables_for(geometry.total_bytes);
  const std::size_t far = pairs.models - pairs.near;
  const std::size_t far_servers = pairs.servers - pairs.near_servers;
  const network::Senders senders{.models = pairs.models, .relayed = pairs.relayed, .servers = pairs.servers};
  if (far > 0 || far_servers > 0) AFTERBAY_TRY(network::check_receive_bytes(sizes, senders));
  if (far > 0) {
    const LinkSizes shared = network::shared_by(sizes, senders);
    it.receive = network::ReceiveMemory::most_bytes(shared, far) + shared.joint_bytes;
  }
  if (far_servers > 0) {
    const LinkSizes between = network::shared_by_servers(sizes, pairs.servers);
    it.receive += network::ReceiveMemory::most_prompt_bytes(between, far_servers);
    it.staging = staging_bytes(between, pairs.servers, false);
  }
  it.ends = (far + far_servers) * mpi_peer + rings * shm_peer;
  if (pairs.servers > 0) {
    const std::size_t others = pairs.near_servers - 1;
    it.ends += far_servers * mpi_link + others * (shm_link + shm::MappedBlocks::heap_bytes(geometry));
    it.page_tables += others * page_tables_for(before_blocks(geometry));  // it only sends messages
  }
  it.descriptors = 2 + (pairs.near_servers > 1 ? pairs.near_servers - 1 : 0);
  return it;
}

Result<Footprint> footprint_of(const FrontendPairs& pairs, std::uint64_t bytes, const LinkSizes& sizes) {
  AFTERBAY_TRY_ASSIGN(const relay::Shares shares, relay::divide(bytes, pairs.clients, pairs.servers, sizes));
  const relay::Shares near = relay::shares_of_near(shares, pairs.near, pairs.clients);
  Footprint it;
  if (pairs.near > 0) {
    const auto geometry = relay::channel_geometry(pairs.near, pairs.servers, near, sizes);
    it.data = geometry.total_bytes() - geometry.segments_at();
    it.tables = geometry.rings_at();
    it.rings = geometry.segments_at() - geometry.rings_at();
    it.descriptors = 2;
    it.page_tables = page_tables_for(geometry.total_bytes());
  }
  const std::size_t far = pairs.clients - pairs.near;
  it.receive = (far + shares.common - near.common) * network::segment_capacity(sizes) +
               far * sizes.credits * network::small_segment_bytes;
  if (far == 0) it.receive = 0;
  if (far > 0) it.reading = network::RelayedData::most_far_bytes;
  it.joint = network::JointSegments::usual_most_bytes;
  it.ends = pairs.clients * pairs.servers * network::RelaySizes::lane() +
            pairs.clients * (network::RelaySizes::client() + label()) +
            pairs.servers * (network::RelaySizes::server() + 2 * label());
  return it;
}

Result<SharedServers> shared_servers(std::size_t count, const ServerPairs& pairs, const LinkSizes& sizes) {
  AFTERBAY_TRY_ASSIGN(const shm::Geometry geometry, shm::make_geometry(sizes, pairs.models + pairs.servers,
                                                                       pairs.near + pairs.near_servers));
  SharedServers it{.count = count};
  const std::uint64_t blocks = page_tables_for(geometry.total_bytes - before_blocks(geometry));
  it.page_tables = page_tables_for(before_blocks(geometry)) +
                   std::min(blocks, shm::MappedBlocks::tables_of(geometry) * shm::page_bytes);
  it.mapped = shm::MappedBlocks::heap_bytes(geometry);
  return it;
}

Footprint footprint_of(const ModelPairs& pairs, const LinkSizes& sizes) {
  Footprint it;
  const std::size_t shared = pairs.shared_count();
  if (pairs.by_mpi > 0) {
    it.staging = staging_bytes(sizes, shared + pairs.relayed + pairs.by_mpi, true);
    it.reading = network::Staging::most_received_bytes;
  }
  it.ends = pairs.by_mpi * mpi_link + pairs.relayed * relay_link;
  for (const SharedServers& servers : pairs.shared) {
    it.ends += servers.count * (shm_link + servers.mapped);
    it.page_tables += servers.count * servers.page_tables;
  }
  if (pairs.near_frontends > 0)
    it.page_tables += page_tables_for(pairs.channel_bytes) + pairs.near_frontends * shm::page_bytes * 4;
  it.descriptors = shared + pairs.near_frontends;
  return it;
}

int most_relay_tag(std::size_t models, std::size_t servers) noexcept {
  return network::relay_data_tag(std::max(models, servers));
}

Result<void> check_tags(std::size_t models, std::size_t servers, int most) {
  if (most_relay_tag(models, servers) <= most) return {};
  return fail(ErrorCode::resources,
              "this MPI has message tags up to {} only, and with frontends {} model ranks and {} servers "
              "need tags up "
              "to {} (two per rank and server, after the first {}): use topology dedicated, or at most {} "
              "model ranks",
              most, models, servers, most_relay_tag(models, servers), network::first_relay_tag,
              std::max((most - network::first_relay_tag - 1) / 2, 0));
}

}  // namespace afterbay::transport
