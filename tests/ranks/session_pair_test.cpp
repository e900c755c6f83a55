// SPDX-License-Identifier: Apache-2.0
// Two sessions with dedicated servers, used alternately by one model: one process serves both.
#include <array>
#include <numeric>
#include <vector>

#include "ranks/session_run.hpp"
#include "read_back.hpp"

namespace afterbay::testing {
namespace {

constexpr std::uint64_t pair_columns = 12, pair_records = 3;

/// One of the two: its collection, its file, and the data put.
struct Half {
  Session& session;
  OutputFile file;

  Half(Session& of, const std::string& name) : session(of) {
    const auto [start, count] = share(pair_columns, session.model_size(), session.model_rank());
    session.decomposition("grid", Block{{pair_columns}, {start}, {count}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", pair_columns);
    schema.variable("v", Type::float32, {"time", "x"}).on("grid");
    file = session.collection("c", schema, {.file = name}).open();
  }
  void put(std::uint64_t record, float offset) {
    const auto [start, count] = share(pair_columns, session.model_size(), session.model_rank());
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), offset + static_cast<float>(record * pair_columns + start));
    file.put("v", record, values.data());
    session.end_step();
    session.wait(session.flush());  // needs this session's server at once
  }
};

void play(Session& first, Session& second) {
  Half a(first, "a.nc");
  Half b(second, "b.nc");
  for (std::uint64_t record = 0; record < pair_records; ++record) {
    a.put(record, 0);
    b.put(record, 1000);
  }
  second.finalize();
  first.finalize();
}

RANK_TEST(SessionPair, two_dedicated_sessions_are_served_side_by_side, 3) {
  try {
    Session first = open_session(comm(), small_session(1).set("topology", "dedicated"));
    Session second = open_session(comm(), small_session(1).set("topology", "dedicated"));
    if (first.is_server()) {
      const std::array<Session*, 2> both{&first, &second};
      serve_all(both);
    } else {
      play(first, second);
    }
  } catch (const Failure& failure) {
    FAIL() << failure.what();
  }
  barrier();
  if (rank() != 0) return;
  for (const auto& [name, offset] : {std::pair{"a.nc", 0.0F}, std::pair{"b.nc", 1000.0F}}) {
    std::vector<float> expected(pair_records * pair_columns);
    std::iota(expected.begin(), expected.end(), offset);
    EXPECT_EQ(test::read<float>(name, "v"), expected) << name;
  }
}

}  // namespace
}  // namespace afterbay::testing
