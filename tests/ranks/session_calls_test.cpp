// SPDX-License-Identifier: Apache-2.0
// The MPI calls of a model rank while it puts fields: none on a node with a server or a frontend,
// otherwise one message per server and step, however many fields there are.
#include <mpi.h>

#include <string>
#include <vector>

#include "ranks/mpi_calls.hpp"
#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

struct Calls {
  int sends = 0;
  int others = 0;
};

constexpr std::uint64_t points = 400;  // of a field: small, so that fields travel together
constexpr std::uint64_t steps = 20;

enum class Pace : std::uint8_t { free, waits_after_steps };

/// Calls of this rank from the first put of each step to the step's end; on server ranks 0. A rank
/// that waits for room sends the staged data of other servers, which is one more message: with
/// Pace::waits_after_steps no rank waits within a step.
Calls calls_of_steps(const SessionOptions& options, int fields, Pace pace = Pace::free) {
  Calls calls;
  run_session(options, [&](Session& session) {
    const auto [start, mine] = share(points, session.model_size(), session.model_rank());
    session.decomposition("line", Block{{points}, {start}, {mine}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", points);
    for (int f = 0; f < fields; ++f)
      schema.variable("f" + std::to_string(f), Type::float32, {"time", "x"}).on("line");
    OutputFile file = session.collection("c", schema, {.existing = "replace"}).open("c.nc");
    const std::vector<float> values(mine, 1.5F);
    const auto step = [&](std::uint64_t record) {
      for (int f = 0; f < fields; ++f) file.put("f" + std::to_string(f), record, values.data());
      session.end_step();
    };
    step(0);
    session.wait(session.flush());  // all servers have the file open
    for (std::uint64_t record = 1; record <= steps; ++record) {
      const Calls before{mpi_calls().sends, mpi_calls().others};
      step(record);
      calls.sends += mpi_calls().sends - before.sends;
      calls.others += mpi_calls().others - before.others;
      if (pace == Pace::waits_after_steps) session.wait(session.flush());
    }
    file.close();
  });
  return calls;
}

RANK_TEST(SessionCalls, steps_on_a_node_with_a_server_call_no_mpi, 4) {
  const Calls calls = calls_of_steps(small_session(1), 12);
  EXPECT_EQ(calls.sends, 0);
  EXPECT_EQ(calls.others, 0);
}

RANK_TEST(SessionCalls, steps_on_a_node_with_a_frontend_call_no_mpi, 5) {
  const Calls calls = calls_of_steps(small_session(1)
                                         .set("topology", "tiered")
                                         .set("nodes", "0,0,0,0,1")
                                         .set("isolate_nodes", "off")
                                         .set("memory.frontend", "8MiB")
                                         .set("memory.link", "128KiB"),
                                     12);
  EXPECT_EQ(calls.sends, 0);
  EXPECT_EQ(calls.others, 0);
}

RANK_TEST(SessionCalls, small_fields_of_a_step_are_one_message_for_each_server, 5) {
  const SessionOptions options = small_session(2).set("transport", "mpi").set("placement", "slab");
  const int many = calls_of_steps(options, 24, Pace::waits_after_steps).sends;
  EXPECT_LE(many, static_cast<int>(2 * steps + 4)) << "2 servers, and now and then a sign of life";
  int all = 0;
  MPI_Allreduce(&many, &all, 1, MPI_INT, MPI_SUM, comm());
  EXPECT_GE(all, static_cast<int>(steps)) << "the calls are counted";
}

}  // namespace
}  // namespace afterbay::testing
