// SPDX-License-Identifier: Apache-2.0
#include "server/dispatcher.hpp"

#include <algorithm>
#include <numeric>

namespace afterbay::server {

std::uint64_t Dispatcher::Load::bytes() const {
  return std::accumulate(promised.begin(), promised.end(), backlog_bytes);
}

void Dispatcher::report(std::size_t server, std::uint64_t backlog_bytes, std::uint64_t files_ended) {
  Load& load = loads_[server];
  load.backlog_bytes = backlog_bytes;
  for (; load.files_ended < files_ended; ++load.files_ended)
    if (!load.promised.empty()) load.promised.pop_front();
}

std::size_t Dispatcher::assign(std::uint32_t collection, std::span<const std::uint32_t> servers,
                               std::uint64_t expected_bytes) {
  if (const auto opened = ahead_.find(collection); opened != ahead_.end())
    loads_[opened->second.first].promised.push_back(opened->second.second);
  const auto after = std::ranges::find_if(servers, [this](std::uint32_t it) { return it >= next_; });
  const auto first = static_cast<std::size_t>(after - servers.begin()) % servers.size();
  std::size_t best = servers[first];
  for (std::size_t i = 1; i < servers.size(); ++i) {
    const std::size_t other = servers[(first + i) % servers.size()];
    if (loads_[other].bytes() < loads_[best].bytes()) best = other;
  }
  next_ = best + 1;
  ahead_[collection] = {best, expected_bytes};
  return best;
}

}  // namespace afterbay::server
