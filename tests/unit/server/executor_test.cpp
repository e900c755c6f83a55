// SPDX-License-Identifier: Apache-2.0
#include "server/executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace afterbay::server {
namespace {

TEST(ServerExecutor, RunsInTheOrderOfPosting) {
  int woken = 0;
  Executor executor([&] { ++woken; });
  std::vector<int> ran;
  for (int i = 0; i < 3; ++i) executor.post([&ran, i] { ran.push_back(i); });
  EXPECT_TRUE(ran.empty());
  EXPECT_EQ(woken, 3);
  EXPECT_EQ(executor.run(), 3u);
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(executor.run(), 0u);
}

TEST(ServerExecutor, TakesFunctionsThatCannotBeCopied) {
  Executor executor([] {});
  int found = 0;
  executor.post([value = std::make_unique<int>(7), &found] { found = *value; });
  executor.run();
  EXPECT_EQ(found, 7);
}

TEST(ServerExecutor, WhatAFunctionPostsRunsInTheNextCall) {
  Executor executor([] {});
  int ran = 0;
  executor.post([&] {
    ++ran;
    executor.post([&] { ++ran; });
  });
  EXPECT_EQ(executor.run(), 1u);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(executor.run(), 1u);
  EXPECT_EQ(ran, 2);
}

TEST(ServerExecutor, DropsWhatNobodyRan) {
  const auto owned = std::make_shared<int>(0);
  {
    Executor executor([] {});
    executor.post([owned] {});
    EXPECT_EQ(owned.use_count(), 2);
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(ServerExecutor, LosesNothingThatManyThreadsPost) {
  constexpr int threads = 4, each = 2000;
  std::atomic<int> woken{0};
  Executor executor([&] { ++woken; });
  int ran = 0;
  {
    std::vector<std::jthread> posting;
    for (int t = 0; t < threads; ++t)
      posting.emplace_back([&] {
        for (int i = 0; i < each; ++i) executor.post([&] { ++ran; });
      });
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (ran < threads * each && std::chrono::steady_clock::now() < until) executor.run();
  }
  EXPECT_EQ(ran, threads * each);
  EXPECT_EQ(executor.run(), 0u);
  EXPECT_EQ(woken, threads * each);
}

}  // namespace
}  // namespace afterbay::server
