// SPDX-License-Identifier: Apache-2.0
// ServerProfile: timers and counters of a server's work, for the report. Timers and counters are
// null if the profile is off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/ingest_thread.hpp"
#include "observe/profile.hpp"
#include "server/catalog.hpp"
#include "storage/store.hpp"

namespace afterbay::server {

class ServerProfile {
 public:
  struct Timers {
    observe::Timer *wait, *ingest, *create, *write, *publish, *epoch;
    observe::Counter *bytes, *written, *direct, *messages, *backlog, *files;
  };
  /// The timers of a collection's files.
  struct CollectionTimers {
    observe::Timer *write = nullptr, *fill = nullptr, *stages = nullptr, *statistics = nullptr,
                   *encode = nullptr, *library = nullptr, *disk = nullptr, *publish = nullptr;
    std::string kept;      ///< name of the counter of values that stages kept
    std::string unpacked;  ///< name of the counter of messages that could not be packed
  };

  ServerProfile(observe::Profile& profile, std::size_t workers);

  /// Any thread.
  [[nodiscard]] const Timers& timers() const noexcept { return timers_; }
  /// Makes the timers at the first call for a collection. The reference remains valid.
  const CollectionTimers& of(const ServedCollection& collection) AFTERBAY_REQUIRES(ingest_thread);

  // Any thread; some look up their timer or counter by name: not per frame.
  /// Adds the steps of a write that has just ended.
  void add(const storage::WriteCost& cost, const CollectionTimers& timers) const;
  /// Memory of all statistics over time; it is in the report only if there are some.
  void note_statistics(std::uint64_t bytes) {
    if (bytes > 0)
      observe::peak(profile_.counter(observe::counters::statistics_memory, observe::CounterKind::peak),
                    bytes);
  }
  /// Memory of what has arrived over MPI; it is in the report only if something has.
  void note_receive_memory(std::uint64_t bytes) {
    if (bytes > 0)
      observe::peak(profile_.counter(observe::counters::receive_memory, observe::CounterKind::peak), bytes);
  }
  /// The timer of preparations; it is in the report only if it was asked for.
  [[nodiscard]] observe::Timer* preparation() { return profile_.timer("prepare"); }
  /// A file of the collection was created, on a file system with a known name.
  void count_created(const ServedCollection& collection, const storage::File& file,
                     const storage::Striping& striping);
  /// A file of the collection was given up because the disk is full.
  void count_given_up(const ServedCollection& collection);
  /// Bytes of input that were read so far; 0 if the profile is off.
  [[nodiscard]] std::uint64_t bytes_read();

 private:
  observe::Profile& profile_;
  const Timers timers_;
  std::map<std::uint32_t, CollectionTimers> collections_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
