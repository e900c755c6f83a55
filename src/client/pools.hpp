// SPDX-License-Identifier: Apache-2.0
// The pools of servers on a model rank, and the choice of a pool per collection. Every rank defines
// the same collections in the same order, so that the choices agree without messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace afterbay::client {

class Pools {
 public:
  struct Pool {
    std::string name;                        ///< empty if there is only one pool
    config::Config config;                   ///< the settings that apply to this pool
    std::vector<std::size_t> servers;        ///< their numbers in the session, ascending
    std::vector<std::uint64_t> slab_shares;  ///< shares of these servers: see config::slab_shares
    std::size_t collections = 0;             ///< number of collections assigned so far
    /// Sum of one file per collection; for a collection in several pools, this pool's share.
    std::uint64_t expected_bytes = 0;
  };

  /// `pool_of_server`: one entry per server of the session; empty: `servers` in one pool.
  /// `slab_shares` likewise; empty: equal.
  Pools(const config::Config& config, const std::vector<std::size_t>& pool_of_server, std::size_t servers,
        std::span<const std::uint64_t> slab_shares = {});

  /// Chooses the pools for the next collection, whose files are expected to have this size: those
  /// that its settings name, in that order, otherwise one pool.
  std::vector<Pool*> choose(const config::CollectionSettings& settings, std::uint64_t expected_bytes);
  /// The servers that read files.
  [[nodiscard]] const std::vector<std::size_t>& readers() const noexcept { return readers_; }

 private:
  [[nodiscard]] std::size_t choose_by_size(std::uint64_t expected_bytes);

  config::PoolChoice choice_;
  std::vector<Pool> pools_;
  std::vector<std::size_t> readers_;
  std::size_t turn_ = 0;  ///< number of collections without a named pool
};

}  // namespace afterbay::client
