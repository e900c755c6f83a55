// SPDX-License-Identifier: Apache-2.0
// The pools of servers as a model rank knows them, and which of them gets a collection. Every rank defines
// the same collections in the same order, so that their choices agree without a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace afterbay::client {

class Pools {
 public:
  struct Pool {
    std::string name;                  ///< empty: the only one
    config::Config config;             ///< as it is for this pool
    std::vector<std::size_t> servers;  ///< their numbers in the session, ascending
    std::size_t collections = 0;       ///< given to it so far
    std::uint64_t expected_bytes = 0;  ///< of one file of each; of those shared with other pools a part
  };

  /// `pool_of_server`: one entry a server of the session; empty: `servers` in one pool.
  Pools(const config::Config& config, const std::vector<std::size_t>& pool_of_server, std::size_t servers);

  /// The pools that get the next collection, whose files are expected to have so many bytes: those that are
  /// named for it, in that order, else one.
  std::vector<Pool*> choose(const config::CollectionSettings& settings, std::uint64_t expected_bytes);
  /// The servers that read files.
  [[nodiscard]] const std::vector<std::size_t>& readers() const noexcept { return readers_; }

 private:
  [[nodiscard]] std::size_t choose_by_size(std::uint64_t expected_bytes);

  config::PoolChoice choice_;
  std::vector<Pool> pools_;
  std::vector<std::size_t> readers_;
  std::size_t turn_ = 0;  ///< collections for which no pool was named
};

}  // namespace afterbay::client
