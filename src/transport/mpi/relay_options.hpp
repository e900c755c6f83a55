// SPDX-License-Identifier: Apache-2.0
// The processes that a frontend connects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process_watch.hpp"
#include "transport/link.hpp"
#include "transport/relay/channel.hpp"

namespace afterbay::transport::network {

struct RelayOptions {
  struct Client {
    std::size_t peer = 0;             ///< number among all model ranks
    int rank = 0;                     ///< rank in the communicator
    std::string label;                ///< "model rank 3 (rank 3)"
    std::optional<std::size_t> slot;  ///< slot in the channel; none: by MPI
  };
  struct Server {
    std::size_t number = 0;  ///< number among all servers
    int rank = 0;
    std::string label;
    ProcessId process;      ///< if it runs on this machine
    std::string dedicated;  ///< the name of its process in errors if it has never answered
  };
  std::vector<Client> clients;
  std::vector<Server> servers;
  std::shared_ptr<relay::Channel> channel;  ///< null: no client on this node
  LinkSizes sizes;
  /// Large segments of ranks without a slot that may wait here, in addition to one per rank.
  std::uint32_t far_common = 0;
  /// About how many frontends send signs of life to each server.
  std::size_t frontends = 1;
  WaitPolicy policy;
  std::string label;  ///< this frontend as named in errors
};

}  // namespace afterbay::transport::network
