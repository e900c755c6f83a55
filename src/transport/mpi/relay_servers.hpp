// SPDX-License-Identifier: Apache-2.0
// RelayServers: the servers behind a frontend, as the frontend sees them: when it heard of each,
// and which have failed or are gone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/process_watch.hpp"
#include "base/result.hpp"
#include "transport/mpi/relay_options.hpp"

namespace afterbay::transport::network {

/// Used by one thread. Refers to the options.
class RelayServers {
 public:
  explicit RelayServers(const RelayOptions& options);

  [[nodiscard]] std::size_t size() const noexcept { return states_.size(); }
  [[nodiscard]] const RelayOptions::Server& of(std::size_t server) const { return options_.servers[server]; }
  [[nodiscard]] bool is_gone(std::size_t server) const { return states_[server].gone; }
  [[nodiscard]] bool has_failed(std::size_t server) const { return states_[server].failed; }
  [[nodiscard]] bool any_failed() const { return std::ranges::any_of(states_, &State::failed); }

  /// The time before this does not count as silence.
  void begin(std::uint64_t now);
  void note_message(std::size_t server, std::uint64_t now);
  /// It has said that it has failed or ended.
  void note_failure(std::size_t server) { states_[server].failed = true; }
  /// Looks after all of them. Calls `ping` for those from which a sign of life is due, and `lost`
  /// for those that are gone from now on.
  void watch(std::uint64_t now, const std::function<void(std::size_t server)>& ping,
             const std::function<void(std::size_t server, Error why)>& lost);

  /// Time between the signs of life of one frontend to one server.
  [[nodiscard]] static std::uint64_t between_pings_ns(std::size_t frontends, Millis deadline) noexcept;
  /// Memory of one of them.
  static std::size_t state_bytes() noexcept { return sizeof(State) + sizeof(RelayOptions::Server); }

 private:
  struct State {
    ProcessWatch process;
    std::uint64_t pinged_ns = 0;
    std::uint64_t heard_ns = 0;  ///< or when this frontend began to wait for it
    bool heard = false;
    bool failed = false;
    bool gone = false;
  };
  [[nodiscard]] Error silence_of(std::size_t server, std::uint64_t now) const;

  const RelayOptions& options_;
  std::vector<State> states_;
};

}  // namespace afterbay::transport::network
