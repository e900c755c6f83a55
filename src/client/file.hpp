// SPDX-License-Identifier: Apache-2.0
// An output file as a model rank sees it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/collection.hpp"
#include "model/record_set.hpp"

namespace afterbay::client {

struct File {
  std::uint64_t id = 0;
  Collection* collection = nullptr;
  /// The server that creates it; the only writer unless the collection is split.
  std::size_t server = 0;
  std::vector<std::size_t> servers;  ///< all servers that write it, beginning with `server`
  std::string path;
  std::atomic<bool> closed{false};  ///< read by endpoints
  std::uint64_t close_ticket = 0;
  std::uint64_t opened_after_ticket = 0;  ///< the last ticket issued before it was opened
  /// Number of records when it was opened; empty: not known yet.
  std::optional<std::uint64_t> records;
  std::vector<model::RecordSet> put;          ///< one per variable: the records that this rank has put
  std::vector<model::RecordSet> strings_put;  ///< the same for string variables, which only the session puts
};

}  // namespace afterbay::client
