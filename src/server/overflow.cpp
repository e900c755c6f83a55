// SPDX-License-Identifier: Apache-2.0
#include "server/overflow.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/batch_thread.hpp"
#include "base/caller_terms.hpp"
#include "base/rounding.hpp"
#include "storage/block_writer/system_error.hpp"

namespace afterbay::server {

namespace {

constexpr std::size_t most_moving = 4;  ///< frames that wait for the spill file at the same time

/// Spilling bypasses the page cache: blocks and buffers are whole pages.
template <class Bytes>
std::span<Bytes> whole_pages(std::span<Bytes> bytes) {
  constexpr std::size_t page = codec::AlignedBuffer::alignment;
  return {bytes.data(), rounded_up(bytes.size(), page)};
}

}  // namespace

struct Overflow::Frame {
  enum class State { queued, moving, spilled, taken, dropped };
  FrameTask task;
  RecordKey record;
  bool droppable = false;
  State state = State::queued;
  std::uint64_t slot = 0;
  std::list<Handle>::iterator place;  ///< while queued
};

// ---- SpillFile

Result<std::unique_ptr<SpillFile>> SpillFile::make(const std::string& directory, std::uint64_t slot_bytes,
                                                   std::uint64_t slots) {
  int descriptor = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_DIRECT, 0600);
  if (descriptor < 0) descriptor = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {  // the file system has no unnamed files
    std::string name = directory + "/afterbay_spill_XXXXXX";
    descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor >= 0) ::unlink(name.c_str());
  }
  if (descriptor < 0)
    return fail(
        make_error(ErrorCode::io,
                   "cannot make a file to spill to in {}: {}; choose another directory (spill.directory)",
                   directory, std::strerror(errno))
            .with_native(errno));
  return std::unique_ptr<SpillFile>(new SpillFile(descriptor, directory, slot_bytes, slots));
}

SpillFile::~SpillFile() { ::close(descriptor_); }

std::optional<std::uint64_t> SpillFile::take() {
  if (!free_.empty()) {
    const std::uint64_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  if (used_ == slots_) return std::nullopt;
  return used_++;
}

Result<> SpillFile::write(std::uint64_t slot, std::span<const std::byte> frame) const {
  const auto bytes = whole_pages(frame);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                                     static_cast<off_t>(slot * slot_bytes_ + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      return fail(storage::system_error(written < 0 ? errno : ENOSPC, "spill to", directory_));
    done += static_cast<std::size_t>(written);
  }
  return {};
}

Result<> SpillFile::read(std::uint64_t slot, std::span<std::byte> frame) const {
  const auto bytes = whole_pages(frame);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::pread(descriptor_, bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(slot * slot_bytes_ + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return fail(make_error(ErrorCode::io, "cannot read back the data spilled to {}: {}", directory_,
                             got < 0 ? std::strerror(errno) : "the file has become shorter"));
    done += static_cast<std::size_t>(got);
  }
  return {};
}

// ---- Overflow

Overflow::Overflow(const config::Config& config, Hooks hooks)
    : policy_(config.writing.when_full),
      block_bytes_(config.memory.block_bytes),
      directory_(config.writing.spill.directory),
      quota_bytes_(config.writing.spill.quota_bytes),
      hooks_(std::move(hooks)) {}

Overflow::~Overflow() {
  mover_.request_stop();
  changed_.notify_all();
}

Overflow::Handle Overflow::add(FrameTask task, const RecordKey& record, bool droppable) {
  auto frame = std::make_shared<Frame>();
  frame->task = std::move(task);
  frame->record = record;
  frame->droppable = droppable && policy_ == config::WhenFull::drop;
  if (!active()) return frame;
  {
    const MutexLock lock(mutex_);
    if (!frame->droppable || !records_[record].dropped) {
      frame->place = queued_.insert(queued_.end(), frame);
      if (frame->droppable) {
        records_[record].frames.push_back(frame);
        ++records_[record].queued;
      }
      return frame;
    }
    ++records_[record].queued;
    frame->state = Frame::State::dropped;
  }
  hooks_.release(frame->task.view);
  return frame;
}

/// The last queued frame of a record also removes the record's list of frames.
void Overflow::forget(const Frame& frame) {
  if (!frame.droppable) return;
  const auto at = records_.find(frame.record);
  if (at == records_.end()) return;
  at->second.begun = true;
  if (--at->second.queued > 0) return;
  at->second.frames.clear();  // more frames of the record may follow: the decision is kept
}

Result<> Overflow::take(Frame& frame, ScratchBuffers& scratch, Taken& taken) {
  taken.task = frame.task;
  if (!active()) return {};
  {
    MutexLock lock(mutex_);
    while (frame.state == Frame::State::moving) changed_.wait(lock);
    taken.dropped = frame.state == Frame::State::dropped;
    forget(frame);
    if (frame.state == Frame::State::queued) {
      queued_.erase(frame.place);
      frame.state = Frame::State::taken;
      return {};
    }
    if (taken.dropped) return {};
    frame.state = Frame::State::taken;
  }
  taken.buffer.emplace(scratch);
  const std::span<std::byte> bytes(taken.buffer->data(), frame.task.view.buffer.size());
  auto read = file_->read(frame.slot, bytes);
  taken.task.view.buffer = bytes;
  taken.task.in_scratch = true;
  const MutexLock lock(mutex_);
  file_->give_back(frame.slot);
  return read;
}

void Overflow::ended(const RecordKey& record) {
  if (policy_ != config::WhenFull::drop) return;
  const MutexLock lock(mutex_);
  records_.erase(record);
}

std::vector<Overflow::RecordKey> Overflow::relieve() {
  if (policy_ == config::WhenFull::drop) return drop_one();
  if (policy_ == config::WhenFull::spill) spill_some();
  return {};
}

/// Drops the newest record of which no frame is being written.
std::vector<Overflow::RecordKey> Overflow::drop_one() {
  std::vector<Handle> dropped;
  std::vector<RecordKey> keys;
  {
    const MutexLock lock(mutex_);
    for (auto at = queued_.rbegin(); at != queued_.rend() && keys.empty(); ++at) {
      if (!(*at)->droppable) continue;
      const DroppableRecord& record = records_[(*at)->record];
      if (!record.begun && !record.dropped) keys.push_back((*at)->record);
    }
    if (keys.empty()) return keys;
    DroppableRecord& record = records_[keys.front()];
    record.dropped = true;
    for (const Handle& frame : record.frames) {
      frame->state = Frame::State::dropped;
      queued_.erase(frame->place);
      dropped.push_back(frame);
    }
    record.frames.clear();
  }
  for (const Handle& frame : dropped) hooks_.release(frame->task.view);
  return keys;
}

/// Spills from the end of the queue: these frames are needed last.
void Overflow::spill_some() {
  std::string warning;
  {
    const MutexLock lock(mutex_);
    if (spill_failed_) return;
    if (!file_) {
      auto made = SpillFile::make(directory_, block_bytes_ + model::page_bytes, quota_bytes_ / block_bytes_);
      if (!made) {
        spill_failed_ = true;
        warning = made.error().text() + "; the model waits instead";
      } else {
        file_ = std::move(*made);
        mover_ = std::jthread(in_terms_of_caller([this](const std::stop_token& stop) { move_frames(stop); }));
      }
    }
    while (file_ && to_move_.size() < most_moving && queued_.size() > 1) {
      const auto slot = file_->take();
      if (!slot) {
        if (!std::exchange(warned_of_quota_, true))
          warning = fmt::format("the {} bytes of spill.quota in {} are used up: the model waits",
                                quota_bytes_, directory_);
        break;
      }
      const Handle frame = queued_.back();
      queued_.pop_back();
      frame->state = Frame::State::moving;
      frame->slot = *slot;
      to_move_.push_back(frame);
    }
  }
  changed_.notify_all();
  if (!warning.empty()) hooks_.warn(std::move(warning));
}

void Overflow::move_frames(const std::stop_token& stop) {
  const BatchThread beside_the_model;
  for (;;) {
    Handle frame;
    {
      MutexLock lock(mutex_);
      changed_.wait(lock, stop, [this] {
        assert_held(mutex_);
        return !to_move_.empty();
      });
      if (to_move_.empty()) return;
      frame = to_move_.front();
    }
    moved(frame, file_->write(frame->slot, frame->task.view.buffer));
  }
}

void Overflow::moved(const Handle& frame, Result<> written) {
  bool failed_before = false;
  {
    const MutexLock lock(mutex_);
    to_move_.pop_front();
    if (written) {
      frame->state = Frame::State::spilled;
      spilled_bytes_ += frame->task.view.buffer.size();
    } else {
      frame->state = Frame::State::queued;
      frame->place = queued_.insert(queued_.end(), frame);
      file_->give_back(frame->slot);
      failed_before = std::exchange(spill_failed_, true);
    }
  }
  changed_.notify_all();
  if (written)
    hooks_.release(frame->task.view);
  else if (!failed_before)
    hooks_.warn(written.error().text() + "; the model waits instead");
  hooks_.moved();
}

std::uint64_t Overflow::spilled_bytes() const {
  const MutexLock lock(mutex_);
  return spilled_bytes_;
}

}  // namespace afterbay::server
