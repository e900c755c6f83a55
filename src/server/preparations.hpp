// SPDX-License-Identifier: Apache-2.0
// What a server makes before the first file is opened, and the answer to the ranks that waits for it.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "server/catalog.hpp"
#include "wire/server_answers.hpp"

namespace afterbay::server {

struct Preparations {
  std::deque<const ServedCollection*> structures;  ///< of their files, still to be made
  bool making_structure = false;
  std::size_t under_way = 0;  ///< tasks of workers
  bool has_scratch = false;
  bool has_journal = false;
  std::optional<wire::Defined> answer;  ///< to be sent
};

}  // namespace afterbay::server
