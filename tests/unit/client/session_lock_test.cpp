// SPDX-License-Identifier: Apache-2.0
#include "client/session_lock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace afterbay::client {
namespace {

// A thread that waits in an endpoint may do the session's work if it made the session's last call.
// Another thread that begins a call gets in its way before it has the lock.
TEST(ThreadSessionLock, a_call_that_waits_for_the_lock_is_not_taken_for_ones_own) {
  SessionLock lock;
  const char* other = nullptr;
  ASSERT_TRUE(lock.enter("first", other));
  EXPECT_TRUE(lock.is_in_call_here());
  lock.leave();
  EXPECT_FALSE(lock.is_in_call_here());
  EXPECT_TRUE(lock.is_callers_thread());
  std::atomic<bool> sending{false};
  std::atomic<bool> seen{false};
  std::jthread sender([&] {
    ASSERT_TRUE(lock.try_lock());
    sending = true;
    sending.notify_all();
    seen.wait(false);
    lock.unlock();
  });
  sending.wait(false);
  std::jthread caller([&] {
    const char* in = nullptr;
    ASSERT_TRUE(lock.enter("second", in));
    EXPECT_TRUE(lock.is_in_call_here());
    lock.leave();
  });
  while (lock.call() == nullptr) std::this_thread::yield();
  EXPECT_STREQ(lock.call(), "second");
  EXPECT_FALSE(lock.is_in_call_here());
  EXPECT_FALSE(lock.try_lock());
  seen = true;
  seen.notify_all();
  caller.join();
  EXPECT_FALSE(lock.is_callers_thread());
}

}  // namespace
}  // namespace afterbay::client
