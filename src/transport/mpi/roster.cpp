// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/roster.hpp"

#include <sys/stat.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/host.hpp"
#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {
namespace {

/// FNV-1a.
std::uint64_t digest(std::string_view text, std::uint64_t value = 0xCBF2'9CE4'8422'2325ULL) {
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01B3ULL;
  return value;
}

std::uint64_t digest_of(const LinkSizes& s) {
  return digest(fmt::format("{} {} {} {} {} {} {} {} {} {} {}", s.block_bytes, s.small_block_bytes,
                            std::bit_cast<std::uint64_t>(s.small_share), s.ring_bytes, s.reply_bytes,
                            s.instances, s.max_frames, s.segment_bytes, s.segments, s.credits,
                            s.receive_bytes));
}

std::span<const std::byte> bytes_of(const RankCard& card) {
  return {reinterpret_cast<const std::byte*>(&card), sizeof card};
}

}  // namespace

std::uint64_t machine_number() {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(name, &length);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return digest(fmt::format("{} {} {}", std::string_view(name, static_cast<std::size_t>(length)), boot,
                            own_process().space));
}

Result<Roster> Roster::exchange(const mpi::Communicator& comm, const ConnectOptions& options) {
  RankCard own;
  own.model = options.model;
  own.server = options.server;
  own.transport = static_cast<std::uint8_t>(options.transport);
  own.declared_node = options.declared_node.value_or(-1);
  own.machine = machine_number();
  own.settings = digest_of(options.sizes);
  own.frontend = options.frontend;
  own.pool = options.pool;
  own.memory_bytes = options.frontend ? options.frontend_bytes : options.sizes.memory_bytes;
  own.process = own_process();
  host_name().copy(own.host.data(), own.host.size() - 1);
  AFTERBAY_TRY_ASSIGN(const auto all, comm.all_gather(bytes_of(own), options.policy.deadline));
  Roster roster;
  roster.cards_.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].size() != sizeof(RankCard))
      return fail(ErrorCode::conflict, "rank {} uses another version of the library than rank {}", i,
                  comm.rank());
    std::memcpy(&roster.cards_[i], all[i].data(), sizeof(RankCard));
    if (roster.cards_[i].model != 0) roster.models_.push_back(static_cast<int>(i));
    if (roster.cards_[i].frontend != 0) roster.frontends_.push_back(static_cast<int>(i));
    if (roster.cards_[i].server != 0) roster.servers_.push_back(static_cast<int>(i));
  }
  roster.routes_ = options.frontends;
  AFTERBAY_TRY(roster.check());
  return roster;
}

Result<void> Roster::check() const {
  if (models_.empty() || servers_.empty())
    return fail(ErrorCode::invalid_argument,
                "of {} ranks {} are model ranks and {} I/O servers: at least one of each is needed",
                cards_.size(), models_.size(), servers_.size());
  for (std::size_t i = 1; i < cards_.size(); ++i) {
    if (cards_[i].settings != cards_[0].settings || cards_[i].transport != cards_[0].transport)
      return fail(
          make_error(
              ErrorCode::conflict,
              "rank {} has other transport settings (sizes or choice of transport) than rank 0; give all "
              "ranks the same configuration",
              i)
              .at_rank(static_cast<int>(i)));
    if ((cards_[i].declared_node < 0) != (cards_[0].declared_node < 0))
      return fail(ErrorCode::conflict,
                  "rank {} and rank 0 differ in whether their node is declared; declare all or none", i);
  }
  if (static_cast<TransportChoice>(cards_[0].transport) != TransportChoice::shm) return {};
  for (const int server : servers_)
    for (const int model : models_)
      if (!same_machine(model, frontend_of(model, server).value_or(server)))
        return fail(ErrorCode::invalid_argument,
                    "shared memory is set for all pairs, but model rank {} and the I/O server at rank "
                    "{} run on "
                    "different nodes (or in different containers); use the transport `auto`, or "
                    "place an I/O "
                    "server on each node",
                    model, server);
  return {};
}

std::optional<int> Roster::frontend_of(int model, int server) const {
  const auto pool = static_cast<std::size_t>(card(server).pool);
  if (pool >= routes_.size() || routes_[pool][static_cast<std::size_t>(model)] < 0) return std::nullopt;
  return routes_[pool][static_cast<std::size_t>(model)];
}

bool Roster::shares_memory(int model, int server) const {
  if (model == server) return true;
  switch (static_cast<TransportChoice>(card(model).transport)) {
    case TransportChoice::shm: return true;
    case TransportChoice::mpi: return false;
    case TransportChoice::automatic: break;
  }
  return same_machine(model, server) && card(model).declared_node == card(server).declared_node;
}

ProcessId Roster::watchable(int rank, int from) const {
  return same_machine(rank, from) ? card(rank).process : ProcessId{};
}

}  // namespace afterbay::transport::network
