// SPDX-License-Identifier: Apache-2.0
#include "server/workers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace afterbay::server {
namespace {

std::string order_of_tasks(bool by_priority) {
  Workers workers(0);
  std::string order;
  const auto note = [&order](char name) { return [&order, name] { order += name; }; };
  workers.submit(note('a'), 0);
  workers.submit(note('b'), 5);
  workers.submit(note('c'), 0);
  workers.submit(note('d'), 5);
  workers.submit_first(note('r'));
  if (by_priority) workers.run_by_priority();
  while (workers.run_one()) {
  }
  return order;
}

TEST(Workers, keep_the_order_in_which_tasks_came) { EXPECT_EQ(order_of_tasks(false), "rabcd"); }

TEST(Workers, take_the_highest_priority_first_once_they_are_told) {
  EXPECT_EQ(order_of_tasks(true), "rbdac");
}

}  // namespace
}  // namespace afterbay::server
