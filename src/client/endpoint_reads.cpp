// SPDX-License-Identifier: Apache-2.0
#include "client/endpoint_reads.hpp"

#include <utility>

#include "base/clock.hpp"

namespace afterbay::client {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds between_polls{1};  ///< answers of servers wake nobody but the session's thread

}  // namespace

EndpointReads::EndpointReads(SessionCore& core, Reader& reader, JointPuts& puts)
    : core_(core), reader_(reader), puts_(puts) {}

void EndpointReads::serve(Entry& entry) {
  const auto end = [&](Result<> result) {
    if (entry.job) reader_.end(*entry.job);
    entry.job.reset();
    entry.result = std::move(result);
    entry.done = true;
  };
  if (!entry.job) {
    const Request& it = entry.request;
    auto begun = reader_.begin(it.input, it.variable, it.what, it.part ? &*it.part : nullptr, it.data,
                               it.type, it.memory);
    if (!begun) return end(fail(std::move(begun).error()));
    entry.job = std::move(*begun);
  }
  auto ended = reader_.advance(*entry.job);
  if (!ended) return end(fail(std::move(ended).error()));
  if (*ended) end({});
}

void EndpointReads::serve() {
  const MutexLock lock(mutex_);
  bool some = false;
  for (Entry& entry : entries_) {
    if (entry.done) continue;
    const std::uint64_t before = entry.job ? entry.job->taken : 0;
    serve(entry);
    if (entry.done || entry.job->taken != before) ++served_;
    some = some || entry.done;
  }
  if (some) done_.notify_all();
}

bool EndpointReads::try_serve() {
  SessionLock& lock = puts_.links().lock();
  if (!puts_.links().any_thread_sends() && !lock.is_callers_thread()) return false;
  if (!lock.try_lock()) return false;
  (void)core_.poll();  // after an error, the session is over, and `serve` ends the reads with it
  (void)puts_.tend();
  serve();
  lock.unlock();
  puts_.send();
  return true;
}

Result<> EndpointReads::get(Request request) {
  AFTERBAY_TRY(puts_.check_usable());
  if (reader_.is_synchronous())
    return fail(
        ErrorCode::bad_state,
        "get by an endpoint: with inline servers in synchronous mode all model ranks read together; read "
        "with the session");
  std::list<Entry>::iterator mine;
  {
    const MutexLock lock(mutex_);
    mine = entries_.emplace(entries_.end());
    mine->request = std::move(request);
  }
  const auto progress = [this]() {
    const MutexLock lock(mutex_);
    return served_;
  };
  StallClock clock(puts_.limits().deadline, progress());
  Result<> given_up;
  for (;;) {
    (void)try_serve();
    MutexLock lock(mutex_);
    if (mine->done) {
      Result<> result = std::move(mine->result);
      entries_.erase(mine);
      return result;
    }
    given_up = puts_.check_usable();  // nobody serves once the session is over
    if (given_up && clock.expired(served_))
      given_up =
          fail(ErrorCode::timed_out, "waited {} s to read variable {} of {}: {}",
               clock.limit_ns() / 1'000'000'000, mine->request.variable, mine->request.input->path,
               puts_.links().any_thread_sends()
                   ? "the servers did not answer"
                   : "data of endpoints go through the thread that uses the session, which must call it now "
                     "and then");
    if (!given_up) break;
    done_.wait_for(lock, between_polls);
  }
  // Answers that still come must not be written to the caller's array.
  puts_.links().lock().take();
  if (mine->job) reader_.end(*mine->job);
  puts_.links().lock().unlock();
  puts_.send();
  const MutexLock lock(mutex_);
  entries_.erase(mine);
  return given_up;
}

}  // namespace afterbay::client
