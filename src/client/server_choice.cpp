// SPDX-License-Identifier: Apache-2.0
#include "client/server_choice.hpp"

#include <algorithm>

namespace afterbay::client {

Result<bool> ServerChoice::choose(File& file, std::optional<std::size_t> earlier) {
  Collection& collection = *file.collection;
  if (Collection* const in_pool = earlier ? collection.in_pool_of(*earlier) : nullptr) {
    file.collection = in_pool;
    file.server = *earlier;
    return false;
  }
  const std::uint64_t nth = files_[collection.id()].dealt++;
  if (collection.takes_least_loaded_pool()) {
    AFTERBAY_TRY_ASSIGN(file.server, least_loaded(collection, nth));
    if (Collection* const in_pool = collection.in_pool_of(file.server)) file.collection = in_pool;
    ++files_[file.collection->id()].in_pool;
    AFTERBAY_TRY(ask(collection, nth + 1));
    return true;
  }
  Collection& chosen = *collection.by_pool()[nth % collection.by_pool().size()];
  file.collection = &chosen;
  const std::uint64_t nth_in_pool = files_[chosen.id()].in_pool++;
  if (!chosen.pool().takes_least_loaded()) {
    file.server = chosen.pool().server_of(nth_in_pool);
    return false;
  }
  AFTERBAY_TRY_ASSIGN(file.server, least_loaded(chosen, nth_in_pool));
  AFTERBAY_TRY(ask(chosen, nth_in_pool + 1));
  return true;
}

/// The answer of the choosing server. It is asked when the previous file is opened, so that a rank
/// waits only if it opens two files in quick succession.
Result<std::size_t> ServerChoice::least_loaded(const Collection& collection, std::uint64_t nth) {
  if (nth == 0) AFTERBAY_TRY(ask(collection, nth));
  auto& assigned = files_[collection.id()].assigned;
  AFTERBAY_TRY(core_.wait_until(
      [&] { return assigned.contains(nth); },
      fmt::format("the choice of a server for a file of collection '{}'", collection.name())));
  AFTERBAY_TRY(core_.wait_for_all("all ranks to know the file's server"));
  const std::size_t server = assigned.at(nth);
  assigned.erase(nth);
  return server;
}

Result<> ServerChoice::ask(const Collection& collection, std::uint64_t nth) {
  if (core_.identity().model_rank != 0) return {};
  const wire::AskServer question{collection.id(), nth, collection.expected_bytes(), candidates(collection)};
  return core_.send_now(wire::choosing_server, question);
}

/// The servers that may write the next file, sorted by their first servers.
std::vector<wire::Candidate> ServerChoice::candidates(const Collection& collection) {
  std::vector<wire::Candidate> candidates;
  if (!collection.takes_least_loaded_pool())
    collection.pool().add_candidates(candidates, files_[collection.id()].in_pool);
  else
    for (const Collection* const in_pool : collection.by_pool())
      in_pool->pool().add_candidates(candidates, files_[in_pool->id()].in_pool);
  std::ranges::sort(candidates, {}, [](const wire::Candidate& it) { return it.servers.front(); });
  return candidates;
}

}  // namespace afterbay::client
