// SPDX-License-Identifier: Apache-2.0
// Slots and small memory on ranks of which only some share memory with their server.
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "ranks/session_run.hpp"
#include "read_back.hpp"

namespace afterbay::testing {
namespace {

constexpr std::uint64_t slot_points = 600;

struct Line {
  OutputFile file;
  std::uint64_t mine = 0;
};

Line open_line(Session& session, const std::string& name, Type type) {
  const auto [start, mine] = share(slot_points, session.model_size(), session.model_rank());
  session.decomposition("line", Block{{slot_points}, {start}, {mine}});
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", slot_points);
  schema.variable("v", type, {"time", "x"}).on("line");
  schema.variable("w", type, {"time", "x"}).on("line");
  return {session.collection("c", schema, {.existing = "replace"}).open(name), mine};
}

template <class T>
void fill_slot(const Slot& slot, T value) {
  for (const Slot::Part& part : slot.parts())
    for (std::uint64_t i = 0; i < part.count[0]; ++i)
      static_cast<T*>(part.data)[static_cast<std::int64_t>(i) * part.strides[0]] = value;
}

void expect_records(const std::string& name, const char* variable, const std::vector<float>& records) {
  if (rank() != 0) return;
  const auto values = test::read<float>(name, variable);
  ASSERT_EQ(values.size(), records.size() * slot_points);
  for (std::uint64_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], records[i / slot_points]) << i;
}

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return failure.code();
  }
  return ErrorCode::internal;
}

SessionOptions on_two_nodes(int servers, const char* nodes) {
  return small_session(servers).set("nodes", nodes);
}

// Before, ranks beside the server numbered records at acquire, and ranks on other nodes at commit.
RANK_TEST(SessionSlots, other_puts_may_come_before_commit_on_two_nodes, 5) {
  run_session(on_two_nodes(1, "0,0,0,1,1"), [](Session& session) {
    Line line = open_line(session, "slots.nc", Type::float32);
    const std::vector<float> later(line.mine, 7.0F);
    Slot slot = line.file.acquire("v", 0, Type::float32);
    line.file.put("w", 1, later.data());
    fill_slot(slot, 5.0F);
    slot.commit();
    line.file.put("w", 0, later.data());
    line.file.put("v", 1, later.data());
  });
  expect_records("slots.nc", "v", {5.0F, 7.0F});
  expect_records("slots.nc", "w", {7.0F, 7.0F});
}

// Before, the memory of the oldest record was given to another file while the model still wrote to
// it.
RANK_TEST(SessionSlots, the_33rd_record_of_a_step_is_refused_while_a_slot_of_the_oldest_is_out, 5) {
  run_session(on_two_nodes(1, "0,0,0,1,1"), [](Session& session) {
    Line line = open_line(session, "lent.nc", Type::float32);
    Slot slot = line.file.acquire("v", 0, Type::float32);
    std::vector<float> values(line.mine);
    for (std::uint64_t record = 1; record < 32; ++record) {
      std::ranges::fill(values, static_cast<float>(record));
      line.file.put("v", record, values.data());
    }
    std::ranges::fill(values, 32.0F);
    EXPECT_EQ(code_of([&] { line.file.put("v", 32, values.data()); }), ErrorCode::bad_state);
    fill_slot(slot, 0.0F);
    slot.commit();
    line.file.put("v", 32, values.data());
  });
  std::vector<float> expected(33);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i);
  expect_records("lent.nc", "v", expected);
}

RANK_TEST(SessionSlots, nothing_of_a_put_with_values_out_of_range_is_taken_on_two_nodes, 5) {
  run_session(on_two_nodes(1, "0,0,0,1,1"), [](Session& session) {
    Line line = open_line(session, "range.nc", Type::int16);
    std::vector<std::int32_t> values(line.mine, 3);
    for (std::uint64_t record = 0; record < 4; ++record) {
      const bool refused = static_cast<int>(record) == session.model_rank();
      if (refused) {
        values.front() = 40000;
        EXPECT_EQ(code_of([&] { line.file.put("v", record, values.data()); }), ErrorCode::wrong_type);
        values.front() = 3;
      }
      line.file.put("v", record, values.data());
      session.end_step();
    }
  });
  expect_records("range.nc", "v", {3.0F, 3.0F, 3.0F, 3.0F});
}

// Before, a rank that shares memory with its server waited in acquire until the deadline ended the
// run, if its slots did not fit into the memory; a rank on another node continued.
void compute_beyond_the_memory(const SessionOptions& given) {
  SessionOptions options = given;
  options.set("memory.server", "1MiB").set("memory.block", "128KiB").set("memory.small_share", "0");
  options.set("chunk", "64KiB").set("deadline", "8s");
  constexpr std::uint64_t rows = 192, columns = 4096, records = 3;
  const auto value = [](const char* variable, std::uint64_t record, std::uint64_t point) {
    return static_cast<float>(record * 1'000'000 + point + static_cast<std::uint64_t>(variable[0]));
  };
  run_session(options, [&](Session& session) {
    const auto [start, mine] = share(rows, session.model_size(), session.model_rank());
    session.decomposition("rows", Block{{rows, columns}, {start, 0}, {mine, columns}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", rows).dimension("x", columns);
    for (const char* name : {"a", "b", "c"})
      schema.variable(name, Type::float32, {"time", "y", "x"}).on("rows");
    OutputFile file = session.collection("c", schema, {.existing = "replace"}).open("beyond.nc");
    const auto compute = [&](const Slot& slot, const char* variable, std::uint64_t record) {
      for (const Slot::Part& part : slot.parts())
        for (std::uint64_t y = 0; y < part.count[0]; ++y)
          for (std::uint64_t x = 0; x < part.count[1]; ++x)
            static_cast<float*>(part.data)[static_cast<std::int64_t>(y) * part.strides[0] +
                                           static_cast<std::int64_t>(x) * part.strides[1]] =
                value(variable, record, (part.start[0] + y) * columns + part.start[1] + x);
    };
    std::vector<float> put(mine * columns);
    for (std::uint64_t record = 0; record < records; ++record) {
      Slot a = file.acquire("a", record, Type::float32);
      Slot b = file.acquire("b", record, Type::float32);
      for (std::uint64_t i = 0; i < put.size(); ++i) put[i] = value("c", record, start * columns + i);
      file.put("c", record, put.data());
      compute(b, "b", record);
      b.commit();
      compute(a, "a", record);
      a.commit();
      session.end_step();
    }
  });
  if (rank() != 0) return;
  for (const char* name : {"a", "b", "c"}) {
    const auto values = test::read<float>("beyond.nc", name);
    ASSERT_EQ(values.size(), records * rows * columns);
    for (std::uint64_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], value(name, i / (rows * columns), i % (rows * columns))) << name << " " << i;
  }
}

RANK_TEST(SessionSlots, that_do_not_fit_into_the_memory_together, 4) {
  compute_beyond_the_memory(small_session(1));
  compute_beyond_the_memory(small_session(1).set("transport", "mpi"));
}
RANK_TEST(SessionSlots, that_do_not_fit_into_the_memory_of_a_single_model_rank, 2) {
  compute_beyond_the_memory(small_session(1));
  compute_beyond_the_memory(small_session(1).set("transport", "mpi"));
}
RANK_TEST(SessionSlots, that_do_not_fit_into_the_memory_on_two_nodes, 5) {
  compute_beyond_the_memory(on_two_nodes(1, "0,0,0,1,1"));
}
RANK_TEST(SessionSlots, that_do_not_fit_into_the_memory_of_three_servers_of_a_file, 7) {
  compute_beyond_the_memory(small_session(3).set("placement", "slab"));
}

// Each server has room for a fraction of its share of a record.
void run_short_of_memory(const SessionOptions& given, const std::string& placement) {
  SessionOptions options = given;
  options.set("memory.server", "1MiB").set("memory.block", "128KiB").set("memory.small_share", "0");
  options.set("placement", placement).set("deadline", "8s");
  constexpr std::uint64_t rows = 96, columns = 4096, records = 6;
  run_session(options, [&](Session& session) {
    const auto [start, mine] = share(columns, session.model_size(), session.model_rank());
    session.decomposition("columns", Block{{rows, columns}, {0, start}, {rows, mine}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", rows).dimension("x", columns);
    for (const char* name : {"a", "b", "c"})
      schema.variable(name, Type::float32, {"time", "y", "x"}).on("columns");
    OutputFile file =
        session.collection("c", schema, {.store = "cdf5", .existing = "replace"}).open("short.nc");
    std::vector<float> values(rows * mine);
    for (std::uint64_t record = 0; record < records; ++record) {
      for (const char* name : {"a", "b", "c"}) {
        std::ranges::fill(values, static_cast<float>(record * 100 + static_cast<std::uint64_t>(name[0])));
        file.put(name, record, values.data());
      }
      session.end_step();
    }
  });
  if (rank() != 0) return;
  for (const char* name : {"a", "b", "c"}) {
    const auto values = test::read<float>("short.nc", name);
    ASSERT_EQ(values.size(), records * rows * columns);
    for (std::uint64_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i],
                static_cast<float>(i / (rows * columns) * 100 + static_cast<std::uint64_t>(name[0])))
          << i;
  }
}

RANK_TEST(SessionShares, three_servers_of_a_file_with_little_memory, 7) {
  run_short_of_memory(small_session(3), "slab");
}
RANK_TEST(SessionShares, three_servers_of_a_file_with_little_memory_on_two_nodes, 7) {
  run_short_of_memory(on_two_nodes(3, "0,0,0,1,1,1,1"), "slab");
}
RANK_TEST(SessionShares, variables_on_two_servers_with_little_memory, 6) {
  run_short_of_memory(small_session(2), "variable");
}

}  // namespace
}  // namespace afterbay::testing
