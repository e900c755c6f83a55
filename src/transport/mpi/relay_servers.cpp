// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/relay_servers.hpp"

#include "transport/link.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::uint64_t usual_silence_ns = 1'000'000'000;  // without a sign of life from a frontend
/// Interval of the signs of life that a server gets: the processor time that they take does not
/// grow with the number of frontends, until they are as rare as the deadline allows.
constexpr std::uint64_t between_any_ns = 10'000'000;
constexpr std::uint64_t least_in_deadline = 8;

std::uint64_t ns_of(Millis time) { return static_cast<std::uint64_t>(time.count()) * 1'000'000; }

}  // namespace

RelayServers::RelayServers(const RelayOptions& options) : options_(options), states_(options.servers.size()) {
  for (std::size_t s = 0; s < states_.size(); ++s) states_[s].process = ProcessWatch(of(s).process);
}

std::uint64_t RelayServers::between_pings_ns(std::size_t frontends, Millis deadline) noexcept {
  return std::min(ns_of(deadline) / least_in_deadline,
                  std::max(usual_silence_ns, frontends * between_any_ns));
}

void RelayServers::begin(std::uint64_t now) {
  for (State& it : states_) it.heard_ns = std::max(it.heard_ns, now);
}

void RelayServers::note_message(std::size_t server, std::uint64_t now) {
  states_[server].heard_ns = now;
  states_[server].heard = true;
}

/// A server answers a ping at once, even while it works.
void RelayServers::watch(std::uint64_t now, const std::function<void(std::size_t server)>& ping,
                         const std::function<void(std::size_t server, Error why)>& lost) {
  const std::uint64_t ping_ns = between_pings_ns(options_.frontends, options_.policy.deadline);
  for (std::size_t s = 0; s < states_.size(); ++s) {
    State& it = states_[s];
    if (it.gone) continue;
    if (!it.process.running()) {
      it.gone = true;
      lost(s, make_error(ErrorCode::peer_lost, "{}, process {} on this machine, has died", of(s).label,
                         it.process.pid()));
      continue;
    }
    if (now - it.pinged_ns >= ping_ns) {
      it.pinged_ns = now;
      ping(s);
    }
    if (now - it.heard_ns > ns_of(options_.policy.patience(it.heard)) && !it.failed) {
      it.gone = true;
      lost(s, silence_of(s, now));
    }
  }
}

Error RelayServers::silence_of(std::size_t server, std::uint64_t now) const {
  const State& it = states_[server];
  if (!it.heard)
    return make_error(ErrorCode::timed_out, "waited {} ms for {};{}", (now - it.heard_ns) / 1'000'000,
                      of(server).label, note_of_silence(of(server).dedicated));
  return make_error(ErrorCode::timed_out, "{} has not answered for {} ms; is it stuck, or the network down?",
                    of(server).label, options_.policy.deadline.count());
}

}  // namespace afterbay::transport::network
