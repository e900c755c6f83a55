// SPDX-License-Identifier: Apache-2.0
// ServerIdentity: identifies a server and its run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/caller_terms.hpp"

namespace afterbay::server {

struct ServerIdentity {
  int number = 0;                               ///< number of this server in the session
  int session_rank = 0;                         ///< rank of its process in the session
  std::vector<int> session_ranks;               ///< session ranks of the model ranks, in model-rank order
  int servers = 1;                              ///< number of servers in the session
  std::string session = {};                     ///< name of the session
  std::string run = {};                         ///< name of the run in the journal
  Terms terms = Terms::c;                       ///< the terms of the model ranks, for messages
  std::vector<std::uint64_t> slab_shares = {};  ///< by server: see config::slab_shares
};

}  // namespace afterbay::server
