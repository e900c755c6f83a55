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

std::uint64_t Dispatcher::last_choice(const wire::Candidate& candidate) {
  std::uint64_t last = 0;
  for (const std::uint32_t server : candidate.servers) last = std::max(last, loads_[server].chosen);
  return last;
}

std::uint32_t Dispatcher::assign(std::uint32_t collection, std::span<const wire::Candidate> candidates,
                                 std::uint64_t expected_bytes) {
  if (const auto opened = ahead_.find(collection); opened != ahead_.end())
    loads_[opened->second.first].promised.push_back(opened->second.second);
  const auto rank = [this](const wire::Candidate& it)
                        AFTERBAY_REQUIRES(ingest_thread) { return std::pair(load_of(it), last_choice(it)); };
  const wire::Candidate& best = *std::ranges::min_element(candidates, {}, rank);
  ++choices_;
  for (const std::uint32_t server : best.servers) loads_[server].chosen = choices_;
  ahead_[collection] = {best.leader, expected_bytes};
  return best.leader;
}

}  // namespace afterbay::server
