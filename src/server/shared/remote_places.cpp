// SPDX-License-Identifier: Apache-2.0
#include "server/shared/remote_places.hpp"

namespace afterbay::server {

Result<std::vector<std::uint64_t>> RemotePlaces::ask(std::uint64_t file, std::size_t leader,
                                                     std::span<const storage::PlaceRequest> requests) {
  wire::AskPlaces question;
  question.file = file;
  for (const storage::PlaceRequest& it : requests)
    question.requests.push_back({it.piece, it.record, it.bytes, it.skipped});
  std::uint64_t serial = 0;
  {
    const MutexLock lock(mutex_);
    if (failure_) return afterbay::fail(*failure_);
    serial = question.serial = next_serial_++;
    questions_.emplace_back(leader, std::move(question));
  }
  wake_();
  auto end = std::chrono::steady_clock::now() + deadline_;
  while (true) {
    if (work_) work_();
    if (auto answer = take_answer(serial)) return std::move(*answer);
    if (is_busy(leader)) end = std::chrono::steady_clock::now() + deadline_;
    if (std::chrono::steady_clock::now() > end)
      return afterbay::fail(ErrorCode::timed_out,
                            "I/O server {}, which creates the file, did not report within {} s (the setting "
                            "'deadline') where to write {} pieces",
                            leader, static_cast<double>(deadline_.count()) / 1000, requests.size());
    if (work_) continue;
    MutexLock lock(mutex_);
    if (!answers_.contains(serial) && !failure_) answered_.wait_for(lock, std::chrono::milliseconds(100));
  }
}

std::optional<Result<std::vector<std::uint64_t>>> RemotePlaces::take_answer(std::uint64_t serial) {
  const MutexLock lock(mutex_);
  const auto found = answers_.find(serial);
  if (found == answers_.end()) {
    if (failure_) return Result<std::vector<std::uint64_t>>(afterbay::fail(*failure_));
    return std::nullopt;
  }
  wire::Places answer = std::move(found->second);
  answers_.erase(found);
  if (answer.error) return Result<std::vector<std::uint64_t>>(afterbay::fail(std::move(*answer.error)));
  return Result<std::vector<std::uint64_t>>(std::move(answer.offsets));
}

std::vector<std::pair<std::size_t, wire::AskPlaces>> RemotePlaces::take_questions() {
  const MutexLock lock(mutex_);
  return std::exchange(questions_, {});
}

void RemotePlaces::answer(wire::Places answer) {
  {
    const MutexLock lock(mutex_);
    const std::uint64_t serial = answer.serial;
    answers_[serial] = std::move(answer);
  }
  answered_.notify_all();
}

bool RemotePlaces::is_busy(std::size_t leader) {
  const MutexLock lock(mutex_);
  return busy_.contains(leader);
}

void RemotePlaces::set_busy(std::size_t leader, bool busy) {
  const MutexLock lock(mutex_);
  if (busy)
    busy_.insert(leader);
  else
    busy_.erase(leader);
}

void RemotePlaces::fail(const Error& error) {
  {
    const MutexLock lock(mutex_);
    if (!failure_) failure_ = error;
  }
  answered_.notify_all();
}

}  // namespace afterbay::server
