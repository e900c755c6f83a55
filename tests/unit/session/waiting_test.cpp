// SPDX-License-Identifier: Apache-2.0
// Waits that end in time are never reported as hopeless.
#include <gtest/gtest.h>

#include <latch>

#include "base/clock.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

// A ticket may be answered while the rank's message that it waits is in transit. Before, the server
// kept that message as if the rank waited for ever, and ended the session a deadline later. Under a
// sanitizer on a busy machine a single answer may take more than a second.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t deadline_s = 4;
#else
constexpr std::uint64_t deadline_s = 2;
#endif

TEST(ThreadSessionWaiting, many_answered_waits_longer_than_the_deadline_are_no_failure) {
  LocalRun run(
      2, 2,
      {{"memory.server", "1MiB"}, {"memory.block", "64KiB"}, {"deadline", fmt::format("{}s", deadline_s)}});
  const auto errors = run.run([](Session& session, int) {
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", 8);
    schema.variable("v", Type::float32, {"time", "x"});
    OutputFile file = session.collection("c", schema, {.file = "c.nc", .store = "memory"}).open();
    const std::vector<float> values(8, 1.0F);
    const std::uint64_t begin = now_ns();
    for (std::uint64_t record = 0; now_ns() - begin < deadline_s * 1'500'000'000; ++record) {
      if (record < 100) file.put("v", record, values.data());
      session.wait(session.flush());
    }
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
}

TEST(ThreadSessionWaiting, a_rank_that_does_not_come_to_the_definitions_is_named) {
  LocalRun run(
      3, 1,
      {{"memory.server", "1MiB"}, {"memory.block", "64KiB"}, {"deadline", fmt::format("{}s", deadline_s)}});
  std::latch others_have_failed(2);
  const auto errors = run.run([&](Session& session, int rank) {
    if (rank == 1) return others_have_failed.wait();
    try {
      session.start();
      Schema schema;
      schema.dimension("x", 8);
      schema.variable("v", Type::float32, {"x"});
      session.collection("c", schema, {.file = "c.nc", .store = "memory"}).open();
    } catch (...) {
      others_have_failed.count_down();
      throw;
    }
    others_have_failed.count_down();
  });
  for (const int rank : {0, 2}) {
    ASSERT_TRUE(errors[static_cast<std::size_t>(rank)]);
    EXPECT_NE(errors[static_cast<std::size_t>(rank)]->text().find("model rank 1 did not define"),
              std::string::npos)
        << errors[static_cast<std::size_t>(rank)]->text();
  }
}

}  // namespace
}  // namespace afterbay::test
