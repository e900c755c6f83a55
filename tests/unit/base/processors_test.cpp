// SPDX-License-Identifier: Apache-2.0
// Processors of the processes of a node: bound to some each, sharing all of them, or some.
#include "base/processors.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

namespace afterbay {
namespace {

Processors with(std::initializer_list<std::uint64_t> allowed, std::uint32_t online = 8) {
  Processors all;
  for (const std::uint64_t mask : allowed) {
    Processors one;
    one.processes = 1;
    one.online = online;
    one.allowed = {mask};
    all.join(one);
  }
  return all;
}

TEST(Processors, AreCountedOnceIfProcessesShareThem) {
  EXPECT_TRUE(with({0xF, 0xF, 0xF}).suffice_for(1));
  EXPECT_FALSE(with({0xF, 0xF, 0xF}).suffice_for(2)) << "the batch system left half of the node";
  EXPECT_TRUE(with({0x3, 0x3, 0xC, 0xC}).suffice_for(0));
  EXPECT_FALSE(with({0x3, 0x3, 0xC, 0xC}).suffice_for(1));
}

TEST(Processors, OfBoundProcessesLeaveTheOthersOfTheNode) {
  EXPECT_TRUE(with({0x1, 0x2, 0x4}).suffice_for(5));
  EXPECT_FALSE(with({0x1, 0x2, 0x4}).suffice_for(6));
  EXPECT_FALSE(with({0x1, 0x2, 0x4}, 3).suffice_for(1));
  EXPECT_FALSE(with({0x1, 0x1}).suffice_for(1)) << "two processes are bound to one processor";
}

TEST(Processors, OfOneProcessAreThoseOfItsNode) {
  EXPECT_TRUE(with({0x3}, 2).suffice_for(1));
  EXPECT_FALSE(with({0x3}, 2).suffice_for(2));
}

TEST(Processors, OfThisProcessAreKnown) {
  const Processors own = own_processors();
  EXPECT_EQ(own.processes, 1U);
  EXPECT_GE(own.online, 1U);
  EXPECT_TRUE(own.suffice_for(0));
  EXPECT_FALSE(own.suffice_for(1 << 16));
}

TEST(Processors, HaveNumbersBeyondAWord) {
  Processors first = with({0x1}), second = with({0x1});
  second.allowed = {0, 0x1};
  first.join(second);
  EXPECT_TRUE(first.apart);
  EXPECT_EQ(first.allowed.size(), 2U);
  EXPECT_TRUE(first.suffice_for(6));
}

}  // namespace
}  // namespace afterbay
