// SPDX-License-Identifier: Apache-2.0
#include "mpi/request.hpp"

#include <algorithm>
#include <cassert>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/polling.hpp"
#include "mpi/check.hpp"

namespace afterbay::mpi {

BackOff::BackOff(Time shortest, Time longest) noexcept
    : shortest_(shortest), longest_(longest), begin_ns_(now_ns()) {}

std::chrono::nanoseconds BackOff::pause(bool transferring) const noexcept {
  return pause_between_looks(std::chrono::nanoseconds(now_ns() - begin_ns_), transferring, shortest_,
                             longest_);
}

void BackOff::sleep(std::chrono::nanoseconds most, bool transferring) const {
  std::this_thread::sleep_for(std::min(pause(transferring), most));
}

void BackOff::reset() noexcept { begin_ns_ = now_ns(); }

Request::~Request() {
  assert(!active() && "an MPI operation in flight must be completed or abandoned with its buffers");
}

Result<bool> Request::test() {
  if (!active()) return true;
  int done = 0;
  AFTERBAY_TRY(check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test"));
  return done != 0;
}

Result<bool> Request::test_eagerly() {
  constexpr int looks = 16;
  for (int i = 1; i < looks; ++i) {
    AFTERBAY_TRY_ASSIGN(const bool done, test());
    if (done) return true;
  }
  return test();
}

Result<bool> test_some(std::span<Request* const> requests) {
  if (requests.empty()) return false;
  std::vector<MPI_Request> handles;
  handles.reserve(requests.size());
  for (const Request* request : requests) handles.push_back(request->request_);
  std::vector<int> completed(requests.size());
  int count = 0;
  const int code = MPI_Testsome(static_cast<int>(handles.size()), handles.data(), &count, completed.data(),
                                MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < handles.size(); ++i) requests[i]->request_ = handles[i];
  AFTERBAY_TRY(check(code, "MPI_Testsome"));
  return count != MPI_UNDEFINED && count > 0;
}

Result<void> Request::wait_until(std::chrono::milliseconds limit, const char* what,
                                 const std::function<void()>& meanwhile) {
  const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(limit.count()) * 1'000'000;
  const BackOff back_off;
  for (;;) {
    AFTERBAY_TRY_ASSIGN(const bool done, test());
    if (done) return {};
    if (meanwhile) meanwhile();
    if (now_ns() >= end)
      return fail(ErrorCode::timed_out,
                  "{} did not end within {} ms: some rank does not participate; see the other ranks' output",
                  what, limit.count());
    back_off.sleep();
  }
}

}  // namespace afterbay::mpi
