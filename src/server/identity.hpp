// SPDX-License-Identifier: Apache-2.0
// Identity: which server of which run this is.
#pragma once

#include <string>
#include <vector>

#include "base/caller_terms.hpp"

namespace afterbay::server {

struct Identity {
  int number = 0;                  ///< of this server in the session
  int session_rank = 0;            ///< of its process
  std::vector<int> session_ranks;  ///< of the model ranks, in model-rank order
  int servers = 1;                 ///< of the session
  std::string session = {};        ///< its name
  std::string run = {};            ///< name of the run in the journal
  Terms terms = Terms::c;          ///< of the model ranks, for messages
};

}  // namespace afterbay::server
