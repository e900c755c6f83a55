// SPDX-License-Identifier: Apache-2.0
#include "session/frontend.hpp"

#include <unistd.h>

#include "base/clock.hpp"
#include "base/host.hpp"
#include "observe/prometheus.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::session {
namespace {

constexpr std::uint64_t frontend_sample_ns = 50'000'000;
// To tell the servers that the remaining ranks have ended.
constexpr transport::Millis last_words{500};
constexpr transport::Millis early_sleep{2};

observe::Sampler::Options sampler_options(const FrontendIdentity& identity, const config::Config& config) {
  observe::Sampler::Options options;
  if (identity.number >= config.statistics.frontends) return options;
  options.directory = config.statistics_directory();
  options.interval = config.statistics.interval;
  options.prometheus =
      observe::prometheus_path(config.report.prometheus, identity.number, identity.frontends, true);
  return options;
}

}  // namespace

FrontendRun::FrontendRun(std::unique_ptr<transport::network::Relay> relay, FrontendIdentity identity,
                         const config::Config& config, observe::Profile& profile, const Logger& logger)
    : relay_(std::move(relay)),
      identity_(std::move(identity)),
      host_(host_name()),
      started_at_s_(observe::time_of_day_s()),
      started_ns_(now_ns()),
      sampler_(sampler_options(identity_, config), logger),
      profile_(profile) {
  if (!profile.on()) return;
  work_timers_ = {profile.timer("take in"), profile.timer("send"), profile.timer("answer")};
  wait_timers_ = {profile.wait("data of model ranks"), profile.wait("credits of servers"),
                  profile.wait("transfers to servers")};
  relay_->set_listener(
      [this](Relay::Work work, std::uint64_t start_ns, std::uint64_t end_ns, std::uint64_t bytes) {
        end_wait(start_ns);
        work_timers_[static_cast<std::size_t>(work)]->add(start_ns, end_ns, bytes);
      });
}

observe::ServerState FrontendRun::state_now(const char* phase) const {
  const auto figures = relay_->figures();
  observe::ServerState state;
  state.identity.role = "frontend";
  state.identity.session = identity_.session;
  state.identity.run = identity_.run;
  state.identity.host = host_;
  state.identity.topology = "tiered";
  state.identity.server = identity_.number;
  state.identity.servers = identity_.frontends;
  state.identity.rank = identity_.session_rank;
  state.identity.pid = ::getpid();
  state.identity.model_ranks = static_cast<std::int64_t>(figures.ranks);
  state.identity.started_at_s = started_at_s_;
  state.phase = phase;
  state.elapsed_s = static_cast<double>(now_ns() - started_ns_) * 1e-9;
  state.backlog.bytes = figures.held_bytes;
  state.backlog.limit_bytes = figures.limit_bytes;
  state.backlog.peak_bytes = figures.peak_bytes;
  state.traffic.in_bytes = figures.bytes_in;
  state.traffic.out_bytes = figures.bytes;
  state.ranks.ended = figures.ranks_ended;
  state.ranks.waiting_for_room = figures.ranks_full;
  return state;
}

bool FrontendRun::step() {
  const bool did = relay_->step();
  const std::uint64_t now = now_ns();
  if (now >= next_sample_ns_) {
    next_sample_ns_ = now + frontend_sample_ns;
    sampler_.offer(state_now(relay_->failure() ? "failed" : "running"));
  }
  return did;
}

void FrontendRun::wait(transport::Millis most) {
  if (profile_.on()) {
    const Relay::Awaited reason = relay_->waits_for();
    if (wait_ && wait_->reason != reason) end_wait(now_ns());
    if (!wait_) wait_ = Wait{reason, now_ns()};
  }
  relay_->wait(most);
}

void FrontendRun::end_wait(std::uint64_t now) {
  if (!wait_) return;
  wait_timers_[static_cast<std::size_t>(wait_->reason)]->add(wait_->start_ns, now);
  wait_.reset();
}

void FrontendRun::end_early(const Error& why, transport::Millis limit) {
  const auto run_for = [this](transport::Millis most) {
    const std::uint64_t until = now_ns() + static_cast<std::uint64_t>(most.count()) * 1'000'000;
    while (!finished() && now_ns() < until)
      if (!step()) wait(early_sleep);
  };
  relay_->tell(wire::encode(wire::FrontendEnds{why}), wire::encode(wire::Failed{why, true}));
  run_for(limit);
  relay_->let_go();
  run_for(last_words);
}

Result<> FrontendRun::end() {
  end_wait(now_ns());
  sampler_.offer(state_now(relay_->failure() ? "failed" : "ended"));
  const auto figures = relay_->figures();
  observe::add(profile_.counter("bytes passed on"), figures.bytes);
  observe::add(profile_.counter("segments passed on"), figures.segments);
  observe::add(profile_.counter("messages passed on"), figures.messages);
  observe::add(profile_.counter("bytes passed on to readers"), figures.data_bytes);
  observe::peak(profile_.counter("peak bytes in transit to readers", observe::CounterKind::peak),
                figures.data_peak_bytes);
  observe::peak(profile_.counter("peak bytes held", observe::CounterKind::peak), figures.peak_bytes);
  if (relay_->failure()) return fail(*relay_->failure());
  return {};
}

observe::ServerHistory FrontendRun::history() const {
  observe::ServerHistory history;
  history.server = identity_.number;
  history.rank = identity_.session_rank;
  history.host = host_;
  history.backlog_limit_bytes = relay_->figures().limit_bytes;
  history.started_at_s = started_at_s_;
  history.points = sampler_.series();
  return history;
}

}  // namespace afterbay::session
