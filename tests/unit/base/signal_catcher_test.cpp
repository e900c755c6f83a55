// SPDX-License-Identifier: Apache-2.0
#include "base/signal_catcher.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>

namespace afterbay {
namespace {

std::atomic<int> others{0};

TEST(SignalCatcher, sees_what_comes_while_it_lives) {
  raise(SIGCHLD);
  const SignalCatcher catcher({SIGUSR2, SIGTERM});
  EXPECT_EQ(catcher.caught(), 0);
  raise(SIGTERM);
  EXPECT_EQ(catcher.caught(), SIGTERM);
  const SignalCatcher later({SIGTERM});
  EXPECT_EQ(later.caught(), 0);
  raise(SIGTERM);
  EXPECT_EQ(later.caught(), SIGTERM);
}

TEST(SignalCatcher, calls_the_handler_that_was_there_and_puts_it_back) {
  others = 0;
  signal(SIGUSR2, [](int) { ++others; });
  {
    const SignalCatcher first({SIGUSR2});
    const SignalCatcher second({SIGUSR2});
    raise(SIGUSR2);
    EXPECT_EQ(first.caught(), SIGUSR2);
    EXPECT_EQ(second.caught(), SIGUSR2);
    EXPECT_EQ(others, 1);
  }
  raise(SIGUSR2);
  EXPECT_EQ(others, 2);
  signal(SIGUSR2, SIG_DFL);
}

TEST(SignalCatcher, names_signals) { EXPECT_STREQ(name_of_signal(SIGTERM), "SIGTERM"); }

}  // namespace
}  // namespace afterbay
