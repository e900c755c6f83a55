// SPDX-License-Identifier: Apache-2.0
// What messages say if ranks and their endpoints disagree. In one process.
#include <gmock/gmock.h>

#include <algorithm>

#include "unit/session/endpoint_model.hpp"

namespace afterbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ThreadEndpointMessages, records_in_another_order_are_named_with_their_file) {
  const Directory directory;
  LocalRun run(2, 1, {{"deadline", "4s"}});
  const auto errors = run.run([&](Session& session, int rank) {
    const Band mine = band(rows, 2, static_cast<std::uint64_t>(rank));
    session.decomposition("grid", Block{{rows, columns}, {mine.first, 0}, {mine.count, columns}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", rows).dimension("x", columns);
    schema.variable("s", Type::float64, {"time", "y", "x"}).on("grid");
    schema.variable("height", Type::float64, {"y", "x"}).on("grid");
    OutputFile file = session.collection("c", schema, {.directory = directory.path.string()}).open("c.nc");
    Endpoint endpoint = session.endpoint();
    endpoint.whole("grid");
    const std::vector<double> values(mine.count * columns, 1.0);
    const auto put = [&](bool fixed) {
      if (fixed)
        endpoint.put(file, "height", no_record, values.data());
      else
        endpoint.put(file, "s", 0, values.data());
    };
    put(rank == 0);
    put(rank != 0);
    endpoint.end_step();
    session.end_step();
    session.finalize();
  });
  const auto failed = std::ranges::find_if(errors, [](const auto& error) { return error.has_value(); });
  ASSERT_NE(failed, errors.end()) << "nothing was reported";
  EXPECT_EQ((*failed)->code, ErrorCode::conflict);
  const std::string path = (directory.path / "c.nc").string();
  EXPECT_THAT((*failed)->text(),
              AllOf(HasSubstr("record 0 of " + path), HasSubstr("the variables without records of " + path),
                    HasSubstr("collection 'c'"), HasSubstr("begin the same records in the same order")));
}

}  // namespace
}  // namespace afterbay::test
