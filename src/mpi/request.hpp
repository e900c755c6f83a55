// SPDX-License-Identifier: Apache-2.0
// A non-blocking MPI operation. MPI_Wait spins; waits here sleep between looks.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "base/result.hpp"

namespace afterbay::mpi {

/// Sleeps between looks at a condition that can only be polled: see pause_between_looks.
class BackOff {
 public:
  using Time = std::chrono::microseconds;
  explicit BackOff(Time shortest = Time(20), Time longest = Time(2000)) noexcept;
  /// The length of the next sleep.
  [[nodiscard]] std::chrono::nanoseconds pause(bool transferring) const noexcept;
  /// Sleeps, for at most `most`.
  void sleep(std::chrono::nanoseconds most = std::chrono::hours(1), bool transferring = false) const;
  /// Progress was made: restarts the wait.
  void reset() noexcept;

 private:
  Time shortest_;
  Time longest_;
  std::uint64_t begin_ns_;
};

class Request {
 public:
  Request() = default;
  explicit Request(MPI_Request request) noexcept : request_(request) {}
  ~Request();
  Request(Request&& other) noexcept : request_(std::exchange(other.request_, MPI_REQUEST_NULL)) {}
  Request& operator=(Request&& other) noexcept {
    std::swap(request_, other.request_);
    return *this;
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  [[nodiscard]] bool active() const noexcept { return request_ != MPI_REQUEST_NULL; }
  MPI_Request* handle() noexcept { return &request_; }

  /// Whether the operation is complete (or there is none).
  Result<bool> test();
  /// The same with several looks: each one lets a transfer progress.
  Result<bool> test_eagerly();
  /// Sleeps until the operation is complete; fails with `timed_out`, naming `what`, after `limit`.
  /// The operation's buffers must stay valid until it is complete, also after a failure: see
  /// `abandon`. `meanwhile` is called at every look.
  Result<void> wait_until(std::chrono::milliseconds limit, const char* what,
                          const std::function<void()>& meanwhile = {});
  /// Leaves the operation to MPI, which may still access its buffers: the caller must leak them.
  void abandon() noexcept { request_ = MPI_REQUEST_NULL; }

  friend Result<bool> test_some(std::span<Request* const> requests);

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Tests several operations, which takes less time than one by one. True: some are complete, and no
/// longer active.
Result<bool> test_some(std::span<Request* const> requests);

}  // namespace afterbay::mpi
