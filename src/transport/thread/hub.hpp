// SPDX-License-Identifier: Apache-2.0
// ThreadHub: one server port and its client links in one process, using the same segment code as
// between processes. For unit tests and for servers that run in a thread beside their model.
#pragma once

#include <memory>
#include <vector>

#include "transport/link.hpp"
#include "transport/rank_links.hpp"

namespace afterbay::transport {

struct ThreadHub {
  std::unique_ptr<ServerPort> port;                  ///< for the server's thread
  std::vector<std::unique_ptr<ClientLink>> clients;  ///< one per thread
  std::uint64_t segment_bytes = 0;                   ///< memory of the segment

  struct Options {
    LinkSizes sizes;
    WaitPolicy policy;
    std::size_t server = 0;  ///< the server's number, for messages
    /// One per client, for ranks that have links in several hubs; empty: none.
    std::vector<std::shared_ptr<RankLinks>> rank_links = {};
    std::size_t servers = 0;  ///< the last of these clients that are I/O servers: they only send
                              ///< messages
  };
  /// Port and links may be destroyed in any order.
  static Result<ThreadHub> make(std::size_t clients, const Options& options);
};

}  // namespace afterbay::transport
