// SPDX-License-Identifier: Apache-2.0
// Preparations of a server before the first file is opened, and the answer to the ranks that waits
// for them.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "server/catalog.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::server {

struct Preparations {
  /// Collections whose file structures must still be made.
  std::deque<const ServedCollection*> structures;
  bool making_structure = false;
  std::size_t under_way = 0;  ///< number of tasks of workers
  bool has_scratch = false;
  bool has_journal = false;
  std::optional<wire::Defined> answer;  ///< to be sent when all is ready
};

}  // namespace afterbay::server
