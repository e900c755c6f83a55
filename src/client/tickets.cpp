// SPDX-License-Identifier: Apache-2.0
#include "client/tickets.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace afterbay::client {

std::string AwaitedFiles::text() const {
  if (first.empty()) return "";
  return more == 0 ? fmt::format(" ({})", first) : fmt::format(" ({} and {} more)", first, more);
}

std::uint64_t Tickets::add(std::set<std::size_t> servers, AwaitedFiles files) {
  outstanding_[++last_] = {std::move(servers), std::move(files)};
  return last_;
}

Result<> Tickets::check(Ticket ticket) const {
  if (ticket.number != 0 && ticket.number <= last_) return {};
  return fail(ErrorCode::invalid_argument,
              "there is no ticket {} in this session: close, flush and epoch return tickets, {} so far",
              ticket.number, last_);
}

void Tickets::answer(std::uint64_t number, std::size_t server) {
  const auto found = outstanding_.find(number);
  if (found == outstanding_.end()) return;
  found->second.servers.erase(server);
  if (found->second.servers.empty()) outstanding_.erase(found);
}

std::set<std::size_t> Tickets::unanswered(std::uint64_t number) const {
  const auto found = outstanding_.find(number);
  return found == outstanding_.end() ? std::set<std::size_t>() : found->second.servers;
}

AwaitedFiles Tickets::files_of(std::uint64_t number) const {
  const auto found = outstanding_.find(number);
  return found == outstanding_.end() ? AwaitedFiles() : found->second.files;
}

AwaitedFiles Tickets::all_files() const {
  AwaitedFiles all;
  for_each_first_file([&](const std::string& file) {
    if (all.first.empty())
      all.first = file;
    else
      ++all.more;
  });
  return all;
}

std::uint64_t Tickets::last_of(const std::string& path) const {
  std::uint64_t last = 0;
  for (const auto& [number, one] : outstanding_)
    if (one.files.first == path) last = number;
  return last;
}

void Tickets::on_complete(std::uint64_t number, std::function<void()> function) {
  on_complete_[number].push_back(std::move(function));
}

std::vector<std::function<void()>> Tickets::take_due() {
  std::vector<std::function<void()>> due;
  for (auto at = on_complete_.begin(); at != on_complete_.end();) {
    if (!is_complete(at->first)) {
      ++at;
      continue;
    }
    std::ranges::move(at->second, std::back_inserter(due));
    at = on_complete_.erase(at);
  }
  return due;
}

}  // namespace afterbay::client
