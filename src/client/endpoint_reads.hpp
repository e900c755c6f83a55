// SPDX-License-Identifier: Apache-2.0
// EndpointReads: what the endpoints of a rank read. An endpoint asks, and whichever thread has the
// session's lock asks the servers and copies what they answer into the arrays of all endpoints: an
// endpoint that waits, if all servers share memory with the rank, otherwise the session's thread in
// its calls.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "client/joint_puts.hpp"
#include "client/reader.hpp"

namespace afterbay::client {

class EndpointReads {
 public:
  EndpointReads(SessionCore& core, Reader& reader, JointPuts& puts);

  struct Request {
    std::shared_ptr<Input> input;
    std::string variable;
    Selection what;
    std::optional<Decomposition> part;  ///< the caller's part of the decomposition that `what` names
    void* data = nullptr;
    Type type = Type::float32;
    MemoryLayout memory;
  };
  /// In an endpoint's thread: waits until the data are in the array. Fails as Reader::get does;
  /// timed_out if nobody serves it within the deadline.
  Result<> get(Request request);

  /// Under the session's lock, after messages have been handled: goes on with all reads.
  void serve();

 private:
  struct Entry {
    Request request;
    std::unique_ptr<Reader::Job> job;  ///< under the session's lock
    bool done = false;
    Result<> result;
  };
  void serve(Entry& entry);
  /// Takes the session's lock if it is free, and serves.
  bool try_serve();

  SessionCore& core_;
  Reader& reader_;
  JointPuts& puts_;
  Mutex mutex_;
  std::condition_variable_any done_;
  std::list<Entry> entries_ AFTERBAY_GUARDED_BY(mutex_);
  std::uint64_t served_ AFTERBAY_GUARDED_BY(mutex_) = 0;  ///< changes whenever something was served
};

}  // namespace afterbay::client
