// SPDX-License-Identifier: Apache-2.0
// PublicationQueue: complete files that wait for a worker. The worker that comes first takes several of them,
// so that they share the waits for the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/thread_safety.hpp"
#include "observe/profile.hpp"
#include "server/files/output_file.hpp"

namespace afterbay::server {

class PublicationQueue {
 public:
  struct Waiting {
    OutputFile* file = nullptr;       ///< stays until its publication is told
    observe::Timer* timer = nullptr;  ///< for the time that it takes; may be null
    int priority = 0;
    std::uint64_t bytes = 0;
  };

  /// `sharers`: the workers that may publish at once. Each takes its share only.
  explicit PublicationQueue(std::size_t sharers) : sharers_(sharers == 0 ? 1 : sharers) {}

  void add(Waiting file) AFTERBAY_EXCLUDES(mutex_);
  /// Of the highest priority that waits, in the order in which they came: as many as a worker's share, but no
  /// more than 64, and no more than 64 MiB unless one file alone is larger. Empty when others have taken all.
  std::vector<Waiting> take() AFTERBAY_EXCLUDES(mutex_);

 private:
  std::size_t sharers_;
  Mutex mutex_;
  std::vector<Waiting> waiting_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::server
