// SPDX-License-Identifier: Apache-2.0
#include "server/thread_functions.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace afterbay::server {
namespace {

TEST(ServerThreadFunctions, AreEmptyUntilTheyGetAFunction) {
  IngestFunction<void()> ingest;
  AnyThreadFunction<void()> any;
  EXPECT_FALSE(ingest);
  EXPECT_FALSE(any);
  ingest = [] {};
  any = [] {};
  EXPECT_TRUE(ingest);
  EXPECT_TRUE(any);
}

/// A server with workers gives its components an empty function `work`.
TEST(ServerThreadFunctions, StayEmptyIfTheyGetAnEmptyFunction) {
  const std::function<void()> none;
  const AnyThreadFunction<void()> any = none;
  EXPECT_FALSE(any);
  EXPECT_FALSE(AnyThreadFunction<void()>(any));
  EXPECT_FALSE(IngestFunction<void()>(any));
  EXPECT_FALSE(IngestFunction<void()>(none));
  EXPECT_FALSE(AnyThreadFunction<void()>(std::function<int()>()));
}

TEST(ServerThreadFunctions, PassArgumentsAndResults) {
  const IngestFunction<std::size_t(std::unique_ptr<int>, const std::string&)> ingest =
      [](std::unique_ptr<int> number, const std::string& text) {
        return static_cast<std::size_t>(*number) + text.size();
      };
  const AnyThreadFunction<int&(int&)> any = [](int& number) -> int& { return ++number; };
  int number = 3;
  EXPECT_EQ(ingest(std::make_unique<int>(4), "abc"), 7u);
  EXPECT_EQ(&any(number), &number);
  EXPECT_EQ(number, 4);
}

TEST(ServerThreadFunctions, IgnoreAResultThatNobodyWants) {
  int calls = 0;
  const AnyThreadFunction<void()> any = [&calls] { return ++calls; };
  const IngestFunction<void()> ingest = [&calls] { return ++calls; };
  any();
  ingest();
  EXPECT_EQ(calls, 2);
}

TEST(ServerThreadFunctions, KeepTheStateOfTheFunction) {
  const WorkerTask task = [count = 0, seen = std::make_shared<int>(0)]() mutable { *seen = ++count; };
  int last = 0;
  const AnyThreadFunction<int()> counted = [count = 0]() mutable { return ++count; };
  std::jthread([&] {
    task();
    (void)counted();
    last = counted();
  }).join();
  EXPECT_EQ(last, 2);
}

}  // namespace
}  // namespace afterbay::server
