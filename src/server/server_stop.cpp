// SPDX-License-Identifier: Apache-2.0
// Stopping in order, because a signal asks for it: what is complete is published first, then the ranks learn
// of it. (A model that hears of it at once may end the job in the middle of its restart files.)
#include <algorithm>

#include "base/signal_catcher.hpp"
#include "server/server.hpp"

namespace afterbay::server {

namespace {

/// Part of the grace period that is left for what runs when it ends.
constexpr std::uint64_t reserve_share = 5;

}  // namespace

void Server::look_for_stop() {
  if (stop_signal_ && !stopping_ && !failure_ && !said_goodbye_)
    if (const int number = stop_signal_()) begin_stop(name_of_signal(number));
  if (!stopping_) return;
  const std::uint64_t now = now_ns();
  if (!failure_ && (drained() || now + stopping_->grace_ns / reserve_share > stopping_->until_ns))
    fail(stop_error());
  if (now < stopping_->until_ns) return;
  end_writing();
  peers_ended_ = peers_.size();
}

/// What is not published by now never will be.
void Server::end_writing() {
  out_of_time_ = true;
  space_.cut_off();
}

void Server::begin_stop(const char* why) {
  const auto grace_ns = static_cast<std::uint64_t>(config_.stop.grace.count()) * 1'000'000;
  stopping_ =
      Stopping{why, now_ns() + grace_ns, grace_ns, files_.all().empty() ? 0 : files_.all().rbegin()->first};
  workers_.run_by_priority();
  const std::string text = fmt::format(
      "I/O server {} was asked to stop ({}): it publishes what the ranks have closed within {} s (the "
      "setting "
      "'stop.grace')",
      identity_.number, why, static_cast<double>(config_.stop.grace.count()) / 1000);
  warn(text);
}

/// Everything that ranks had closed, or had begun to close, when the signal came is published.
bool Server::drained() const {
  return std::ranges::none_of(files_.all(), [this](const auto& entry) {
    return entry.first <= stopping_->last_file && entry.second.closed_by > 0;
  });
}

Error Server::stop_error() const {
  std::vector<std::string> open;
  for (const auto& [id, file] : files_.all())
    if (file.ending != Ending::no_space) open.push_back(file.path);
  Error error =
      make_error(ErrorCode::stopped,
                 "the run was asked to stop ({}): what all ranks had closed is published, the rest is "
                 "not; end the model",
                 stopping_->why);
  if (!open.empty())
    error.in_file(open.front())
        .add(fmt::format("not complete: {}{}", open.front(),
                         open.size() > 1 ? fmt::format(" and {} more files", open.size() - 1) : ""));
  return error;
}

}  // namespace afterbay::server
