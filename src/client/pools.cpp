// SPDX-License-Identifier: Apache-2.0
#include "client/pools.hpp"

#include <algorithm>
#include <numeric>

#include "config/slab_shares.hpp"

namespace afterbay::client {

Pools::Pools(const config::Config& config, const std::vector<std::size_t>& pool_of_server,
             std::size_t servers, std::span<const std::uint64_t> slab_shares)
    : choice_(config.servers.pool_choice) {
  for (const std::string& name : config.pools()) pools_.push_back({name, config.of_pool(name), {}, {}});
  for (std::size_t s = 0; s < servers; ++s)
    pools_[s < pool_of_server.size() ? pool_of_server[s] : 0].servers.push_back(s);
  for (Pool& pool : pools_) pool.slab_shares = config::slab_shares_of(pool.servers, slab_shares);
  readers_.resize(servers);
  std::iota(readers_.begin(), readers_.end(), std::size_t{0});
  for (const Pool& pool : pools_)
    if (!pool.name.empty() && pool.name == config.servers.input_pool) readers_ = pool.servers;
}

std::vector<Pools::Pool*> Pools::choose(const config::CollectionSettings& settings,
                                        std::uint64_t expected_bytes) {
  std::vector<Pool*> chosen;
  for (const std::string& name : settings.pools.value_or(std::vector<std::string>()))
    if (const auto named = std::ranges::find(pools_, name, &Pool::name); named != pools_.end())
      chosen.push_back(&*named);
  if (chosen.empty()) chosen.push_back(&pools_[choose_by_size(expected_bytes)]);
  for (Pool* const pool : chosen) {
    ++pool->collections;
    pool->expected_bytes += expected_bytes / chosen.size();
  }
  return chosen;
}

/// Chooses among the pools with the largest `collections_from_bytes` that the files reach.
std::size_t Pools::choose_by_size(std::uint64_t expected_bytes) {
  std::vector<std::size_t> fit;
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    const std::uint64_t from = pools_[p].config.servers.collections_from_bytes;
    if (from > expected_bytes) continue;
    const std::uint64_t best = fit.empty() ? from : pools_[fit.front()].config.servers.collections_from_bytes;
    if (from > best) fit.clear();
    if (from >= best) fit.push_back(p);
  }
  if (fit.empty()) return 0;
  if (choice_ == config::PoolChoice::turn) return fit[turn_++ % fit.size()];
  return *std::ranges::min_element(fit, {}, [this](std::size_t p) {
    return static_cast<double>(pools_[p].expected_bytes) / static_cast<double>(pools_[p].servers.size());
  });
}

}  // namespace afterbay::client
