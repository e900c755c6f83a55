// SPDX-License-Identifier: Apache-2.0
#include "server/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <string>

#include "base/caller_terms.hpp"

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

TEST(ThreadWorkers, do_the_last_tasks_when_there_is_nothing_else) {
  std::string order;  // order of one worker
  std::promise<void> all_submitted, all_done;
  {
    Workers workers(1);
    workers.submit([&, wait = all_submitted.get_future().share()] { wait.wait(); });
    workers.submit_last([&] {
      order += 'l';
      workers.submit_last([&] { order += 'm'; });
      workers.submit([&] { order += 'c'; });
      workers.submit_last([&] { all_done.set_value(); });
    });
    workers.submit([&] { order += 'a'; });
    workers.submit_first([&] { order += 'r'; });
    all_submitted.set_value();
    all_done.get_future().wait();
  }
  EXPECT_EQ(order, "ralcm");
}

TEST(ThreadWorkers, leave_the_last_tasks_at_their_end) {
  std::atomic<int> done{0};
  std::function<void()> again;
  {
    Workers workers(1);
    std::promise<void> goes_on;
    workers.submit([wait = goes_on.get_future().share()] { wait.wait(); });
    for (int i = 0; i < 3; ++i) workers.submit([&] { ++done; });
    again = [&] { workers.submit_last([&] { again(); }); };  // would go on for ever
    again();
    goes_on.set_value();
  }
  EXPECT_EQ(done, 3);
  Workers none(0);
  none.submit_last([&] { ++done; });
  EXPECT_FALSE(none.run_one());
  EXPECT_EQ(done, 3);
}

TEST(ThreadWorkers, are_idle_when_the_last_task_has_ended) {
  Workers workers(2);
  EXPECT_TRUE(workers.await_idle(std::chrono::milliseconds(0)));
  std::promise<void> goes_on;
  std::atomic<int> ended{0};
  workers.submit([&, wait = goes_on.get_future().share()] {
    wait.wait();
    ++ended;
  });
  for (int i = 0; i < 20; ++i) workers.submit([&] { ++ended; });
  EXPECT_FALSE(workers.await_idle(std::chrono::milliseconds(50)));
  goes_on.set_value();
  EXPECT_TRUE(workers.await_idle(std::chrono::seconds(20)));
  EXPECT_EQ(ended, 21);
}

/// One caller counts as Fortran does, the other as C does; they share the threads.
TEST(ThreadWorkers, run_each_task_in_the_terms_of_who_submitted_it) {
  Workers workers(2);
  for (const Terms language : {Terms::fortran, Terms::c, Terms::fortran}) {
    std::promise<std::int64_t> first;
    std::promise<std::int64_t> last;
    {
      const InTerms caller(language);
      workers.submit_first([&first] { first.set_value(said_index(7)); });
      workers.submit([&last] { last.set_value(said_index(7)); });
    }
    const std::int64_t said = language == Terms::fortran ? 8 : 7;
    EXPECT_EQ(first.get_future().get(), said);
    EXPECT_EQ(last.get_future().get(), said);
  }
}

}  // namespace
}  // namespace afterbay::server
