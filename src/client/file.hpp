// SPDX-License-Identifier: Apache-2.0
// An output file as a model rank sees it.
#pragma once

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
  std::size_t server = 0;            ///< creates it; the only one that writes unless the collection is split
  std::vector<std::size_t> servers;  ///< all that write it, `server` first
  std::string path;
  bool closed = false;
  std::uint64_t close_ticket = 0;
  std::uint64_t opened_after_ticket = 0;  ///< the last ticket that was given out before it was opened
  std::optional<std::uint64_t> records;   ///< that it held when it was opened; empty: not known yet
  std::vector<model::RecordSet> put;      ///< one per variable: the records that this rank has put
};

}  // namespace afterbay::client
