// SPDX-License-Identifier: Apache-2.0
// Overflow: frames that wait for a worker. When the server's memory is full, they are spilled to a
// file on the node and read back when their turn comes, or dropped.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "config/config.hpp"
#include "server/frame_task.hpp"
#include "server/scratch_buffers.hpp"
#include "server/thread_functions.hpp"

namespace afterbay::server {

/// An unnamed file, which is removed when the process ends. Any thread may read and write different
/// slots.
class SpillFile {
 public:
  /// Makes a file for `slots` of `slot_bytes`. Fails with the system's error and the directory.
  static Result<std::unique_ptr<SpillFile>> make(const std::string& directory, std::uint64_t slot_bytes,
                                                 std::uint64_t slots);
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  ~SpillFile();

  /// A free slot; nullopt if the quota is used up. Used by the same thread as give_back.
  std::optional<std::uint64_t> take();
  void give_back(std::uint64_t slot) { free_.push_back(slot); }
  /// Whole pages, in memory that is aligned to pages.
  Result<> write(std::uint64_t slot, std::span<const std::byte> frame) const;
  Result<> read(std::uint64_t slot, std::span<std::byte> frame) const;

 private:
  SpillFile(int descriptor, std::string directory, std::uint64_t slot_bytes, std::uint64_t slots)
      : descriptor_(descriptor), directory_(std::move(directory)), slot_bytes_(slot_bytes), slots_(slots) {}

  int descriptor_;
  std::string directory_;
  std::uint64_t slot_bytes_;
  std::uint64_t slots_;
  std::uint64_t used_ = 0;
  std::vector<std::uint64_t> free_;
};

class Overflow {
 public:
  struct Hooks {
    AnyThreadFunction<void(const transport::FrameView&)> release;  ///< any thread
    AnyThreadFunction<void()> moved;                               ///< there is room; any thread
    AnyThreadFunction<void(std::string)> warn;                     ///< any thread
  };
  struct Frame;
  using Handle = std::shared_ptr<Frame>;
  /// A record of a collection, by running number.
  using RecordKey = std::pair<std::uint32_t, std::uint64_t>;

  Overflow(const config::Config& config, Hooks hooks);
  Overflow(const Overflow&) = delete;
  Overflow& operator=(const Overflow&) = delete;
  ~Overflow();

  /// Ingest thread: adds a frame that will be given to a worker. `droppable`: it may be dropped,
  /// together with its whole record. A frame of a record that was dropped is released at once.
  Handle add(FrameTask task, const RecordKey& record, bool droppable) AFTERBAY_REQUIRES(ingest_thread);

  /// The frame that a worker gets.
  struct Taken {
    FrameTask task;                               ///< its buffer is valid as long as this object
    std::optional<ScratchBuffers::Lease> buffer;  ///< buffer of a frame that was read back
    bool dropped = false;
  };
  /// Worker: takes the frame, whose turn has come. Releases the memory of a spilled frame.
  Result<> take(Frame& frame, ScratchBuffers& scratch, Taken& taken);

  /// Ingest thread: no more frames of the record will follow, and all its frames have been
  /// processed.
  void ended(const RecordKey& record) AFTERBAY_REQUIRES(ingest_thread);
  /// Ingest thread, while there is no room: spills frames or drops a record, depending on the
  /// configuration. Returns the records that were dropped.
  std::vector<RecordKey> relieve() AFTERBAY_REQUIRES(ingest_thread);
  /// Whether frames can be spilled or dropped.
  [[nodiscard]] bool active() const noexcept { return policy_ != config::WhenFull::wait; }
  [[nodiscard]] std::uint64_t spilled_bytes() const;  ///< total so far

 private:
  struct DroppableRecord {
    bool begun = false;
    bool dropped = false;
    std::vector<Handle> frames;
    std::size_t queued = 0;
  };
  void spill_some() AFTERBAY_REQUIRES(ingest_thread);
  void move_frames(const std::stop_token& stop);
  void moved(const Handle& frame, Result<> written);
  std::vector<RecordKey> drop_one() AFTERBAY_REQUIRES(ingest_thread);
  void forget(const Frame& frame) AFTERBAY_REQUIRES(mutex_);

  config::WhenFull policy_;
  std::uint64_t block_bytes_;
  std::string directory_;
  std::uint64_t quota_bytes_;
  Hooks hooks_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  /// Frames that no worker has taken, in order.
  std::list<Handle> queued_ AFTERBAY_GUARDED_BY(mutex_);
  std::deque<Handle> to_move_ AFTERBAY_GUARDED_BY(mutex_);
  std::map<RecordKey, DroppableRecord> records_ AFTERBAY_GUARDED_BY(mutex_);
  std::unique_ptr<SpillFile> file_;  ///< its slots are guarded by the mutex
  bool spill_failed_ AFTERBAY_GUARDED_BY(mutex_) = false;
  bool warned_of_quota_ AFTERBAY_GUARDED_BY(mutex_) = false;
  std::uint64_t spilled_bytes_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  std::jthread mover_ AFTERBAY_GUARDED_BY(ingest_thread);  ///< started with the first spilled frame
};

}  // namespace afterbay::server
