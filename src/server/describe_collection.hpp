// SPDX-License-Identifier: Apache-2.0
// What a server finds out about its pieces of a collection from the decompositions: which ranks
// contribute, which points nobody writes, which pieces are handed over packed.
#pragma once

#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/served_collection.hpp"
#include "server/served_decompositions.hpp"

namespace afterbay::server {

/// Before maps are checked: finds the dimensions of maps in the variables, and which points this
/// server needs.
Result<> find_needs(ServedCollection& collection, const ServedDecompositions& decompositions)
    AFTERBAY_REQUIRES(ingest_thread);
/// Afterwards: sets `fill_values`, `packed`, `expected` and `fills`. Adds the positions in new
/// packed cuts.
void describe(ServedCollection& collection, const ServedDecompositions& decompositions,
              std::vector<ServedMap::Packings>& packings) AFTERBAY_REQUIRES(ingest_thread);

}  // namespace afterbay::server
