// SPDX-License-Identifier: Apache-2.0
#include "server/shutdown/shutdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/signal_catcher.hpp"
#include "server/records.hpp"

namespace afterbay::server {
namespace {

constexpr std::uint64_t goodbye_after_failure_ns = 2'000'000'000;
constexpr std::uint64_t ranks_give_up_together_ns = 200'000'000;
/// Divisor: this part of the grace period is reserved for the work at its end.
constexpr std::uint64_t reserve_share = 5;

std::uint64_t nanoseconds(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(time.count()) * 1'000'000;
}

}  // namespace

Shutdown::Shutdown(const config::Config& config, Host host)
    : config_(config),
      host_(std::move(host)),
      deadline_ns_(nanoseconds(config.deadline)),
      ended_(host_.ranks, false) {}

// ---- model ranks

void Shutdown::rank_ended(std::size_t peer) {
  host_.forget_link(peer);
  if (ended_[peer]) return;
  ended_[peer] = true;
  ++ended_count_;
  host_.rank_ended(peer);
}

void Shutdown::rank_gave_up(std::size_t peer, const std::optional<Error>& cause, std::string reason,
                            std::uint64_t now_ns) {
  if (failed_at_ns_) return rank_ended(peer);
  if (!gave_up_) {
    Error error(ErrorCode::peer_lost, cause ? cause->text() : std::string());
    if (cause) error.in_file(cause->file).in_variable(cause->variable);
    gave_up_ = {std::move(error), std::move(reason), {}, now_ns};
  }
  gave_up_->peers.push_back(peer);
  host_.forget_link(peer);  // it may close its link before the others have given up
  if (gave_up_->peers.size() + ended_count_ == host_.ranks) report_ranks_that_gave_up();
}

void Shutdown::report_ranks_that_gave_up() {
  if (!gave_up_) return;
  GaveUp all = *std::exchange(gave_up_, std::nullopt);
  std::vector<int> ranks(all.peers.begin(), all.peers.end());
  std::ranges::sort(ranks);
  const std::string after = all.error.message.empty() ? "" : ", after: " + all.error.message;
  all.error.message = fmt::format(
      "{}{} gave up: {}{}", text_of_ranks(ranks),
      ranks.size() > 1 ? fmt::format(" ({} of {})", ranks.size(), host_.ranks) : "", all.reason, after);
  if (!failed_at_ns_) host_.fail_for_rank(std::move(all.error), all.peers.front());
  for (const std::size_t peer : all.peers) rank_ended(peer);
}

void Shutdown::watch_ranks_that_gave_up(std::uint64_t now_ns) {
  if (gave_up_ && now_ns - gave_up_->since_ns > ranks_give_up_together_ns) report_ranks_that_gave_up();
}

// ---- a stop of the run

void Shutdown::watch(std::uint64_t now_ns) {
  if (signal_ && !stop_ && !failed_at_ns_ && phase_ == Phase::running)
    if (const int number = signal_()) begin_stop(name_of_signal(number), now_ns);
  if (!stop_) return;
  if (!failed_at_ns_ &&
      (host_.drained(stop_->last_file) || now_ns + stop_->grace_ns / reserve_share > stop_->until_ns))
    host_.fail(stop_error());
  if (now_ns < stop_->until_ns) return;
  end_writing();
  give_up_ranks();
}

void Shutdown::begin_stop(const char* why, std::uint64_t now_ns) {
  const std::uint64_t grace_ns = nanoseconds(config_.stop.grace);
  stop_ = Stop{why, now_ns + grace_ns, grace_ns, host_.last_file()};
  host_.run_by_priority();
  host_.warn(fmt::format(
      "I/O server {} was asked to stop ({}): it publishes the files that the ranks have closed within {} s "
      "(the setting "
      "'stop.grace')",
      host_.server, why, static_cast<double>(config_.stop.grace.count()) / 1000));
}

Error Shutdown::stop_error() const {
  const std::vector<std::string> open = host_.open_paths();
  Error error =
      make_error(ErrorCode::stopped,
                 "the run was asked to stop ({}): files that all ranks had closed are published, others "
                 "are not; end the model",
                 stop_->why);
  if (!open.empty())
    error.in_file(open.front())
        .add(fmt::format("not complete: {}{}", open.front(),
                         open.size() > 1 ? fmt::format(" and {} more files", open.size() - 1) : ""));
  return error;
}

Error Shutdown::cause_of_failure(Error error, std::uint64_t now_ns) {
  if (error.code == ErrorCode::stopped && !stop_) begin_stop("as another server was", now_ns);
  // Ranks also receive the signal, and may end because of it.
  if (stop_ && error.code == ErrorCode::peer_lost) error = stop_error().add(error.text());
  return error;
}

void Shutdown::session_failed(std::uint64_t now_ns) { failed_at_ns_ = now_ns; }

void Shutdown::watch_failed(std::uint64_t now_ns) {
  if (!stop_ && failed_at_ns_ && now_ns - *failed_at_ns_ > deadline_ns_) give_up_ranks();
}

void Shutdown::end_writing() {
  out_of_time_ = true;
  host_.cut_off_disk();
}

Result<> Shutdown::check_time(const std::string& path) const {
  if (!out_of_time_) return {};
  return fail(ErrorCode::stopped, "{} could not be written in the remaining time", path);
}

// ---- the end

bool Shutdown::advance(std::uint64_t now_ns) {
  if (phase_ == Phase::finished || !all_ranks_ended()) return false;
  if (phase_ == Phase::running) {
    if (!host_.nothing_left()) return false;
    phase_ = Phase::said_goodbye;
    host_.say_goodbye();
    goodbye_until_ns_ = now_ns + (failed_at_ns_ ? goodbye_after_failure_ns : deadline_ns_);
    if (stop_) goodbye_until_ns_ = std::max(goodbye_until_ns_, stop_->until_ns);
  }
  if (host_.sending() && now_ns < goodbye_until_ns_) return false;
  phase_ = Phase::finished;
  return true;
}

}  // namespace afterbay::server
