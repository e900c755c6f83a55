// SPDX-License-Identifier: Apache-2.0
// The server's implementation of Reducer::Host.
#include <utility>

#include "server/server.hpp"

namespace afterbay::server {

Reducer::Host Server::reducer_host() {
  return {.memory = memory_,
          .run = [this](WorkerTask task)
                     AFTERBAY_REQUIRES(ingest_thread) { workers_.submit(std::move(task)); },
          .write =
              [this](std::uint64_t id, std::uint64_t epochs, WorkerTask task)
                  AFTERBAY_REQUIRES(ingest_thread) {
                    OutputFile* const file = files_.find(id);
                    if (file == nullptr) return false;
                    OutputFiles::task_done(*file);
                    if (file->collection->existing == Existing::append)
                      epochs_.submit_after(epochs, *file, std::move(task));
                    else
                      files_.submit(*file, std::move(task));
                    return true;
                  },
          .check_wanted = [this](const OutputFile& file) { return check_wanted(file); },
          .hold = [](OutputFile& file) AFTERBAY_REQUIRES(ingest_thread) { ++file.pending; },
          .taken = [this](SampleTaken it) { post(std::move(it)); },
          .written = [this](FrameWritten it) { post(std::move(it)); },
          .account = [this](const storage::WriteCost& cost,
                            const CollectionTimers& timers) { account(cost, timers); }};
}

}  // namespace afterbay::server
