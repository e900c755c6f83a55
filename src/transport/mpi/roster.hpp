// SPDX-License-Identifier: Apache-2.0
// The participants of a session and the transport of each pair. Every rank sends a card to rank 0,
// which tells each rank about the ranks that it talks to.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/process_watch.hpp"
#include "base/rank_ranges.hpp"
#include "mpi/tree.hpp"
#include "transport/mpi/connect.hpp"
#include "transport/mpi/consult.hpp"
#include "wire/collective_messages.hpp"

namespace afterbay::transport::network {

/// What others need to know about a rank.
struct RankCard {
  std::int32_t rank = 0;
  std::uint8_t model = 0;
  std::uint8_t server = 0;
  std::uint8_t frontend = 0;
  std::uint8_t transport = 0;
  std::int32_t pool = 0;            ///< servers and frontends only
  std::int32_t declared_node = -1;  ///< -1: not declared
  std::uint64_t machine = 0;        ///< equal if processes can share memory
  std::uint64_t settings = 0;       ///< digest of the sizes, except the memory
  std::uint64_t memory_bytes = 0;   ///< servers and frontends only
  std::uint32_t pid = 0;
  std::uint64_t pid_space = 0;
  std::string host;                  ///< servers and frontends only
  std::vector<std::int32_t> routes;  ///< model ranks, by pool: ConnectOptions::frontends

  template <class A>
  void fields(A& a) {
    a(rank, model, server, frontend, transport, pool, declared_node, machine, settings, memory_bytes, pid,
      pid_space, host, routes);
  }
  [[nodiscard]] ProcessId process() const noexcept { return {pid, pid_space}; }
};

/// A number that is equal on two processes exactly if they can share memory. It is derived from the
/// host name, the boot id and the file system of /dev/shm, so that containers and emulated nodes
/// count as nodes.
std::uint64_t machine_number();

/// A frontend, for a model rank that sends through it.
struct Via {
  RankCard card;
  std::uint64_t clients = 0;          ///< its model ranks
  std::uint64_t near = 0;             ///< number of them that share memory with it
  std::optional<std::uint64_t> slot;  ///< this rank's place among these
  template <class A>
  void fields(A& a) {
    a(card, clients, near, slot);
  }
};

/// A model rank on the machine of a server, or of a frontend that it sends through.
struct NearModel {
  std::uint64_t model = 0;  ///< number of the model rank
  std::uint8_t shares = 0;  ///< whether the two share memory
  std::uint32_t pid = 0;
  std::uint64_t pid_space = 0;
  template <class A>
  void fields(A& a) {
    a(model, shares, pid, pid_space);
  }
};

/// Ranks in turn: rank i of `count` is assigned to entry i % frontends.size(); -1: to none.
struct Turns {
  std::uint64_t count = 0;
  std::vector<std::int32_t> frontends;
  template <class A>
  void fields(A& a) {
    a(count, frontends);
  }
};
/// A list, and back, in few entries if it repeats.
std::vector<Turns> to_turns(const std::vector<std::int32_t>& list);
std::vector<std::int32_t> from_turns(const std::vector<Turns>& turns);

/// Who sends to the servers of a pool through which frontend: the same for all servers of the pool.
struct PoolRoutes {
  std::int32_t pool = 0;
  std::vector<Turns> routes;        ///< the frontend of each model rank
  std::vector<RankCard> frontends;  ///< those frontends; ascending
  template <class A>
  void fields(A& a) {
    a(pool, routes, frontends);
  }
};

/// What one rank needs to know beyond what all know.
struct RankView {
  std::int64_t model = -1;                  ///< a model rank's number among the model ranks
  std::vector<Via> vias;                    ///< model ranks
  std::vector<NearModel> near;              ///< servers: ascending
  std::vector<std::uint64_t> clients;       ///< frontends: numbers of their model ranks
  std::vector<std::uint64_t> near_clients;  ///< frontends: those that share memory with them
  template <class A>
  void fields(A& a) {
    a(model, vias, near, clients, near_clients);
  }
};

/// What consecutive ranks are told, in one message to the lowest of them. What is the same for all
/// servers of a pool is in it once, whatever the number of servers.
struct Views {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::views);
  std::vector<std::int32_t> models;  ///< first and last ranks of ranges of model ranks
  std::vector<RankCard> servers;     ///< all servers; ascending
  std::vector<PoolRoutes> relayed;   ///< pools behind frontends that have servers among these ranks
  std::vector<RankView> views;       ///< in rank order
  template <class A>
  void fields(A& a) {
    a(models, servers, relayed, views);
  }
  /// The part for the ranks from `first` to `end` - 1. `lowest`: the lowest rank of all.
  [[nodiscard]] Views part(int lowest, int first, int end) const;
};

/// All cards; on rank 0 only, and only while the session is opened.
class Company {
 public:
  explicit Company(std::vector<RankCard> cards);

  [[nodiscard]] const std::vector<RankCard>& cards() const noexcept { return cards_; }
  [[nodiscard]] const RankCard& card(int rank) const { return cards_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::vector<int>& models() const noexcept { return models_; }    ///< ranks, ascending
  [[nodiscard]] const std::vector<int>& servers() const noexcept { return servers_; }  ///< ranks, ascending
  [[nodiscard]] const std::vector<int>& frontends() const noexcept { return frontends_; }
  /// The number of servers behind a frontend.
  [[nodiscard]] std::size_t servers_behind(int frontend) const;
  /// The numbers of the model ranks that send through a frontend.
  [[nodiscard]] const std::vector<std::uint64_t>& clients(int frontend) const;

  /// Whether the ranks' data are consistent.
  [[nodiscard]] Result<void> check(const Manner& manner) const;
  [[nodiscard]] RankView view_of(int rank) const;
  /// What the ranks from `first` to `end` - 1 are told.
  [[nodiscard]] Views views(int first, int end) const;

 private:
  [[nodiscard]] int via(int model, int pool) const;
  [[nodiscard]] Result<void> check_shared(const Manner& manner) const;

  std::vector<RankCard> cards_;
  std::vector<int> models_;
  std::vector<int> servers_;
  std::vector<int> frontends_;
  std::map<int, std::vector<std::uint64_t>> clients_;               ///< by frontend
  std::map<std::uint64_t, std::vector<std::uint64_t>> by_machine_;  ///< numbers of model ranks
  std::map<int, std::vector<Turns>> routes_;                        ///< by pool, if it has frontends
};

/// What a rank knows about the others.
class Roster {
 public:
  using Check = std::function<Result<void>(const Company& all)>;
  /// Collective. Fails in the same way on all ranks if their data are inconsistent, or if `check`,
  /// which rank 0 calls, fails.
  static Result<Roster> exchange(mpi::Tree& tree, const Manner& manner, const ConnectOptions& options,
                                 const Check& check);

  [[nodiscard]] std::size_t models() const noexcept { return models_.size(); }
  /// The rank of a model rank.
  [[nodiscard]] int model_rank(std::size_t model) const noexcept { return models_.at(model); }
  /// This rank's number among the model ranks.
  [[nodiscard]] std::size_t own_number() const noexcept { return static_cast<std::size_t>(view_.model); }
  /// The servers in the order of their ranks.
  [[nodiscard]] const std::vector<RankCard>& servers() const noexcept { return servers_; }
  [[nodiscard]] const RankView& view() const noexcept { return view_; }
  /// Servers behind frontends: who sends to them; null: model ranks send directly.
  [[nodiscard]] const PoolRoutes* relayed() const noexcept { return relayed_ ? &*relayed_ : nullptr; }
  /// Servers behind frontends: the frontend of each model rank; otherwise empty.
  [[nodiscard]] std::vector<std::int32_t> routes() const;
  /// The frontend through which this model rank sends to the servers of a pool; null: directly.
  [[nodiscard]] const Via* via(int pool) const;
  /// Whether this rank shares memory with another one (else it uses MPI).
  [[nodiscard]] bool shares_memory(const RankCard& other) const noexcept;
  /// The process, if it can be watched from this rank.
  [[nodiscard]] ProcessId watchable(const RankCard& other) const noexcept;
  /// The machines of the ranks below each child in the tree.
  [[nodiscard]] bool below_is_on(std::size_t child, std::uint64_t machine) const;
  [[nodiscard]] const RankCard& self() const noexcept { return self_; }

 private:
  RankCard self_;
  RankRanges models_;
  std::vector<RankCard> servers_;
  RankView view_;
  std::optional<PoolRoutes> relayed_;
  std::vector<std::vector<std::uint64_t>> machines_;  ///< by child in the tree, ascending
};

/// Whether two ranks share memory.
bool share_memory(const RankCard& a, const RankCard& b) noexcept;

}  // namespace afterbay::transport::network
