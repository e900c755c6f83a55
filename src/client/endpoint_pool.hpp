// SPDX-License-Identifier: Apache-2.0
// EndpointPool: lends the endpoints of a rank to its tasks, each to one task at a time. Any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "client/joint_puts.hpp"
#include "client/part_endpoint.hpp"

namespace afterbay::client {

class EndpointPool {
 public:
  EndpointPool(JointPuts& puts, int session_rank);
  EndpointPool(const EndpointPool&) = delete;
  EndpointPool& operator=(const EndpointPool&) = delete;

  /// Before the pool is used: an open endpoint of the session, none twice, at least one. Fails
  /// (bad_state) if a thread is in a call of it.
  Result<> add(std::shared_ptr<PartEndpoint> endpoint);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// Lends the free endpoint that has ended the fewest steps; of several, the one that was given
  /// back first. None that is more than a step ahead of another one: with n endpoints, each loan
  /// ending a step, the loans n s + 1 to n s + n are then those of step s. Closed endpoints are not
  /// lent, and no other waits for them. Returns its number in the list. Waits until one can be
  /// lent, and fails (timed_out) if the rank's endpoints make no progress for the deadline, or
  /// (bad_state) if all were closed; the session goes on. Without `may_wait` fails (would_block).
  Result<std::size_t> take(bool may_wait);
  /// Fails (bad_state) if the endpoint is not lent, or has begun what it must end: a slot,
  /// sections. It is free nevertheless.
  Result<> give_back(std::size_t number);

 private:
  struct Entry {
    std::shared_ptr<PartEndpoint> endpoint;
    bool lent = false;
    std::uint64_t steps = 0;       ///< steps that the endpoint had ended when it was last lent or given back
    std::uint64_t given_back = 0;  ///< the order in which the endpoints were given back
  };

  [[nodiscard]] Entry* first_free() AFTERBAY_REQUIRES(mutex_);
  [[nodiscard]] tl::unexpected<Error> none_free(ErrorCode code, std::string what) AFTERBAY_REQUIRES(mutex_);

  JointPuts& puts_;
  int session_rank_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  /// The list does not change; its contents are guarded by the mutex.
  std::vector<Entry> entries_;
  std::uint64_t changes_ AFTERBAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace afterbay::client
