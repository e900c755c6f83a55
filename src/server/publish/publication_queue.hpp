// SPDX-License-Identifier: Apache-2.0
// PublicationQueue: complete files that wait for a worker. The first available worker takes several
// of them, so that they share the waits for the disk.
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
    OutputFile* file = nullptr;       ///< valid until its publication is reported
    observe::Timer* timer = nullptr;  ///< for the duration; may be null
    int priority = 0;
    std::uint64_t bytes = 0;
  };

  /// `sharers`: number of workers that may publish at the same time. Each takes its share only.
  explicit PublicationQueue(std::size_t sharers) : sharers_(sharers == 0 ? 1 : sharers) {}

  void add(Waiting file) AFTERBAY_EXCLUDES(mutex_);
  /// Takes files of the highest waiting priority, in the order in which they were added: one
  /// worker's share, but at most 64, and at most 64 MiB unless a single file is larger. Empty if
  /// others have taken all.
  std::vector<Waiting> take() AFTERBAY_EXCLUDES(mutex_);

 private:
  std::size_t sharers_;
  Mutex mutex_;
  std::vector<Waiting> waiting_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::server
