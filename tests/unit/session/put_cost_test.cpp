// SPDX-License-Identifier: Apache-2.0
// Law 1: the cost limits of a put.
#include <gtest/gtest.h>

#include "unit/allocation_count.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

TEST(SessionPutCost, a_put_and_an_end_step_allocate_nothing) {
  if (!allocations()) GTEST_SKIP() << "the sanitizer allocates by itself";
  std::uint64_t most = 0;
  LocalRun run(1, 1, {{"memory.server", "4MiB"}, {"memory.block", "64KiB"}});
  const auto errors = run.run([&](Session& session, int) {
    session.decomposition("grid", Block{{40, 50}, {0, 0}, {40, 50}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", 40).dimension("x", 50);
    for (const char* name : {"a", "b", "c"})
      schema.variable(name, Type::float32, {"time", "y", "x"}).on("grid");
    Collection collection = session.collection("c", schema, {.file = "c.nc", .store = "memory"});
    OutputFile file = collection.open();
    const std::vector<double> field(2000, 1.0);
    for (std::uint64_t record = 0; record < 20; ++record) {
      const std::uint64_t before = *allocations();
      for (const char* name : {"a", "b", "c"}) file.put(name, record, field.data());
      session.end_step();
      if (record >= 2)
        most = std::max(most, *allocations() - before);  // the first two create plans and buffers
    }
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_EQ(most, 0u) << "allocations of the model's thread in a step";
}

}  // namespace
}  // namespace afterbay::test
