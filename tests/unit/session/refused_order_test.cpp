// SPDX-License-Identifier: Apache-2.0
// Puts that only one rank is refused, while memory is short. Servers give their last blocks to the
// rank that is behind all others in the order of the puts: a refusal must not change a rank's place
// in that order.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t high = 96, refused_order_wide = 5120, records = 12, variables = 3,
                        refused_order_ranks = 4;

/// What rank 1 does besides, while the others put the record of 'extra'.
using Extra = std::function<void(OutputFile& file, std::uint64_t record, float* values)>;

void expect_refused(const std::function<void()>& call, ErrorCode code) {
  try {
    call();
    ADD_FAILURE() << "it was accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, code) << failure.what();
  }
}

struct RefusedOrderCase {
  const char* name;
  Extra extra;
};

Extra repeated() {
  return [](OutputFile& file, std::uint64_t record, float* values) {
    const std::vector<double> large(high * refused_order_wide / refused_order_ranks, 1e300);
    expect_refused([&] { file.put("extra", record, large.data()); }, ErrorCode::wrong_type);
    file.put("extra", record, values);
  };
}

Extra put_twice() {
  return [](OutputFile& file, std::uint64_t record, float* values) {
    file.put("extra", record, values);
    for (int again = 0; again < 5; ++again)
      expect_refused([&] { file.put("extra", record, values); }, ErrorCode::conflict);
  };
}

class SessionRefusedOrder : public testing::TestWithParam<RefusedOrderCase> {};

TEST_P(SessionRefusedOrder, ranks_do_not_wait_for_each_other) {
  const Directory directory;
  LocalRun run(refused_order_ranks, 3,
               {{"memory.server", "1MiB"},
                {"memory.block", "160KiB"},
                {"memory.small_block", "16KiB"},
                {"memory.small_share", "0"},
                {"placement", "slab"},
                {"deadline", "6s"}});
  const auto errors = run.run([&](Session& session, int rank) {
    const std::uint64_t mine = refused_order_wide / refused_order_ranks,
                        first = static_cast<std::uint64_t>(rank) * mine;
    session.decomposition("columns", Block{{high, refused_order_wide}, {0, first}, {high, mine}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", high).dimension("x", refused_order_wide);
    for (std::uint64_t v = 0; v < variables; ++v)
      schema.variable(fmt::format("v{}", v), Type::float32, {"time", "y", "x"}).on("columns");
    schema.variable("extra", Type::float32, {"time", "y", "x"}).on("columns");
    OutputFile file =
        session
            .collection("c", schema, {.file = "c.nc", .directory = directory.path.string(), .store = "cdf5"})
            .open();
    std::vector<float> values(high * mine);
    for (std::uint64_t record = 0; record < records; ++record) {
      if (rank == 1)
        GetParam().extra(file, record, values.data());
      else
        file.put("extra", record, values.data());
      for (std::uint64_t v = 0; v < variables; ++v) {
        std::ranges::fill(values, static_cast<float>(record * 10 + v));
        if (record % refused_order_ranks ==
            static_cast<std::uint64_t>(rank))  // one rank after the other is behind
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        file.put(fmt::format("v{}", v), record, values.data());
      }
      session.end_step();
    }
    session.finalize();
  });
  for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  for (std::uint64_t v = 0; v < variables; ++v) {
    const auto values = read<float>(directory.path / "c.nc", fmt::format("v{}", v).c_str());
    ASSERT_EQ(values.size(), records * high * refused_order_wide);
    for (std::uint64_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], static_cast<float>(i / (high * refused_order_wide) * 10 + v)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, SessionRefusedOrder,
                         testing::Values(RefusedOrderCase{"repeated", repeated()},
                                         RefusedOrderCase{"put_twice", put_twice()}),
                         [](const auto& it) { return std::string(it.param.name); });

}  // namespace
}  // namespace afterbay::test
