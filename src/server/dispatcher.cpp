// SPDX-License-Identifier: Apache-2.0
#include "server/dispatcher.hpp"

#include <algorithm>
#include <numeric>

namespace afterbay::server {

std::uint64_t Dispatcher::Load::bytes() const {
  return std::accumulate(promised.begin(), promised.end(), backlog_bytes);
}

void Dispatcher::report(std::size_t server, std::uint64_t backlog_bytes, std::uint64_t files_ended) {
  Load& load = loads_[static_cast<std::uint32_t>(server)];
  load.backlog_bytes = backlog_bytes;
  for (; load.files_ended < files_ended; ++load.files_ended)
    if (!load.promised.empty()) load.promised.pop_front();
}

double Dispatcher::load_of(const wire::Candidate& candidate) {
  double bytes = 0;
  for (const std::uint32_t server : candidate.servers) bytes += static_cast<double>(loads_[server].bytes());
  return bytes / static_cast<double>(candidate.servers.size());
}

std::uint32_t Dispatcher::assign(std::uint32_t collection, std::span<const wire::Candidate> candidates,
                                 std::uint64_t expected_bytes) {
  if (const auto opened = ahead_.find(collection); opened != ahead_.end())
    loads_[opened->second.first].promised.push_back(opened->second.second);
  const auto after = std::ranges::find_if(
      candidates, [this](const wire::Candidate& it) { return it.servers.front() >= next_; });
  const auto first = static_cast<std::size_t>(after - candidates.begin()) % candidates.size();
  const wire::Candidate* best = &candidates[first];
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const wire::Candidate& other = candidates[(first + i) % candidates.size()];
    if (load_of(other) < load_of(*best)) best = &other;
  }
  next_ = best->servers.front() + 1;
  ahead_[collection] = {best->leader, expected_bytes};
  return best->leader;
}

}  // namespace afterbay::server
