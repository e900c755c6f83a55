// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/side_sum.hpp"

#include <system_error>

#include "base/crc64.hpp"

namespace afterbay::storage {

SideSum::~SideSum() {
  const MutexLock lock(mutex_);
  ending_ = true;
  changed_.notify_all();
}

void SideSum::start() {
  started_ = true;
  try {
    thread_ = std::jthread([this] { run(); });
  } catch (const std::system_error&) {  // no more threads: writers compute their own checksums
  }
}

void SideSum::begin(Job& job) {
  const MutexLock lock(mutex_);
  if (!started_) start();
  waiting_.push_back(&job);
  changed_.notify_all();
}

std::uint64_t SideSum::end(Job& job) {
  {
    MutexLock lock(mutex_);
    if (std::erase(waiting_, &job) == 0) {
      while (!job.sum_) changed_.wait(lock);
      return *job.sum_;
    }
  }
  return crc64(job.bytes_);
}

SideSum::Job* SideSum::take() {
  MutexLock lock(mutex_);
  while (waiting_.empty() && !ending_) changed_.wait(lock);
  if (waiting_.empty()) return nullptr;
  Job* const job = waiting_.front();
  waiting_.pop_front();
  return job;
}

void SideSum::run() {
  while (Job* const job = take()) {
    const std::uint64_t sum = crc64(job->bytes_);
    const MutexLock lock(mutex_);
    job->sum_ = sum;
    changed_.notify_all();
  }
}

}  // namespace afterbay::storage
