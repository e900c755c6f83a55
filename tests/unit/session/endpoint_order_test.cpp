// SPDX-License-Identifier: Apache-2.0
// Endpoints and the session that shares its rank with them: memory, files, steps, and who has put
// what.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "unit/session/endpoint_model.hpp"

namespace afterbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// One rank and one endpoint that has rows [0, 10); returns the errors of the run.
std::vector<std::optional<Error>> with_upper_rows(
    const Directory& directory, const std::function<void(Session&, OutputFile&, Endpoint&)>& model) {
  LocalRun run(1, 1, settings());
  return run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "netcdf4", directory, 1, rank).open("c.nc");
    Endpoint upper = session.endpoint("upper");
    upper.part("grid", Block{{rows, columns}, {0, 0}, {10, columns}});
    model(session, file, upper);
  });
}

constexpr std::uint64_t large = 1 << 20;
constexpr int endpoint_order_files = 6;
constexpr Band upper_rows{0, 10}, lower_rows{10, rows - 10};

Endpoint lower_endpoint(Session& session) {
  Endpoint lower = session.endpoint("lower");
  lower.part("grid", Block{{rows, columns}, {10, 0}, {rows - 10, columns}});
  return lower;
}

TEST(ThreadSessionSharing, a_session_with_sections_puts_more_than_the_memory) {
  constexpr std::uint64_t y = 1024, x = 1024;  // 4 MiB per record
  const Directory directory;
  LocalRun run(2, 1, little_memory());
  expect_no_errors(run.run([&](Session& session, int rank) {
    const Band mine = band(y, 2, static_cast<std::uint64_t>(rank));
    session.decomposition("grid", Block{{y, x}, {mine.first, 0}, {mine.count, x}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", y).dimension("x", x);
    schema.variable("v", Type::float32, {"time", "y", "x"}).on("grid");
    OutputFile file =
        session.collection("c", schema, {.directory = directory.path.string(), .store = "cdf5"}).open("c.nc");
    for (std::uint64_t record = 0; record < 3; ++record) {
      const std::vector<float> values(mine.count * x, static_cast<float>(record));
      const Band half = band(mine.count, 2, 0);
      file.put_section("v", record, Section{{0, 0}, {half.count, x}}, values.data());
      file.put_section("v", record, Section{{half.count, 0}, {mine.count - half.count, x}}, values.data());
      session.end_step();
    }
    session.finalize();
  }));
  const auto values = read<double>(directory.path / "c.nc", "v");
  ASSERT_EQ(values.size(), 3 * y * x);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<double>(i / (y * x))) << i;
}

// Rank 1 is behind until rank 0 has put "own", which needs no other rank: after half the deadline
// rank 0 may use the memory that is reserved for the slowest rank.
TEST(ThreadSessionSharing, a_rank_that_is_behind_reserves_memory_for_half_the_deadline_only) {
  constexpr std::uint64_t x = 16384;  // 64 KiB, a block
  constexpr std::uint64_t unknown = ~std::uint64_t{0};
  const Directory directory;
  LocalRun::Settings tight{{"memory.server", "1MiB"},
                           {"memory.block", "64KiB"},
                           {"memory.small_share", "0"},
                           {"chunk", "64KiB"},
                           {"deadline", "8s"}};
  LocalRun run(2, 1, tight);
  std::atomic<std::uint64_t> filled{unknown};
  expect_no_errors(run.run([&](Session& session, int rank) {
    session.decomposition("shared", Block{{x}, {static_cast<std::uint64_t>(rank) * x / 2}, {x / 2}});
    session.decomposition("own", Block{{x}, {0}, {rank == 0 ? x : 0}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", x);
    schema.variable("v", Type::float32, {"time", "x"}).on("shared");
    schema.variable("w", Type::float32, {"time", "x"}).on("own");
    OutputFile file =
        session.collection("c", schema, {.directory = directory.path.string(), .store = "cdf5"}).open("c.nc");
    const std::vector<float> values(x, 1.0F);
    if (rank == 0) {
      Endpoint endpoint = session.endpoint();
      endpoint.whole("shared");
      endpoint.whole("own");
      std::uint64_t records = 0;
      while (endpoint.try_put(file, "v", records, values.data())) ++records;
      endpoint.put(file, "w", 0, values.data());
      filled = records;
      endpoint.put(file, "v", records, values.data());
      endpoint.end_step();
    } else {
      for (int look = 0; look < 6000 && filled == unknown; ++look)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const std::uint64_t records = filled == unknown ? 0 : filled.load();
      for (std::uint64_t record = 0; record < records; ++record) file.put("v", record, values.data());
      file.put("v", records, values.data());
      file.put("w", 0, values.data());
    }
    session.end_step();
    session.finalize();
  }));
  EXPECT_NE(filled, unknown);
}

TEST(ThreadSessionSharing, an_endpoint_reads_while_the_session_waits_for_it) {
  const Directory directory;
  expect_no_errors(with_upper_rows(directory, [&](Session& session, OutputFile& file, Endpoint& upper) {
    Endpoint lower = lower_endpoint(session);
    const double now = 0;
    file.put("time", 0, &now);
    for (const auto& [endpoint, part] : {std::pair{&upper, upper_rows}, std::pair{&lower, lower_rows}}) {
      endpoint->put(file, "t", 0, values_of(0, part, 0, levels).data());
      endpoint->put(file, "s", 0, values_of(0, part, 0, 1).data());
      endpoint->end_step();
    }
    session.end_step();
    session.wait(file.close());
    InputFile input = session.open_input((directory.path / "c.nc").string());
    std::jthread reader([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::vector<double> s(10 * columns);
      upper.get(input, "s", {.record = 0, .decomposition = "grid"}, s.data());
      EXPECT_EQ(s, values_of(0, upper_rows, 0, 1));
      upper.end_step();
    });
    lower.end_step();
    session.end_step();
    session.wait(session.flush());  // waits for `upper`, which reads
    reader.join();
    session.finalize();
  }));
}

TEST(ThreadSessionSharing, new_endpoints_do_not_go_back_behind_the_steps_of_closed_ones) {
  constexpr std::uint64_t ahead = 3;
  const Directory directory;
  expect_no_errors(with_upper_rows(directory, [&](Session& session, OutputFile& file, Endpoint& upper) {
    upper.close();
    const auto open = [&](const char* name) {
      Endpoint all = session.endpoint(name);
      all.whole("grid");
      return all;
    };
    const auto put = [&](Endpoint& endpoint, std::uint64_t step) {
      endpoint.put(file, "t", step, values_of(step, {0, rows}, 0, levels).data());
      endpoint.put(file, "s", step, values_of(step, {0, rows}, 0, 1).data());
      endpoint.end_step();
    };
    Endpoint first = open("first");
    for (std::uint64_t step = 0; step < ahead; ++step) put(first, step);
    first.close();
    Endpoint early = open("early");
    const Error error = error_of([&] { put(early, ahead); });
    EXPECT_EQ(error.code, ErrorCode::bad_state);
    EXPECT_THAT(error.text(),
                AllOf(HasSubstr("variable 't', record 3 of "),
                      HasSubstr("would begin in step 0, where endpoint 3 ('early') is"),
                      HasSubstr("has begun record 2 of "), HasSubstr("in step 2"), HasSubstr("rank 0")));
    early.close();
    for (std::uint64_t step = 0; step < ahead; ++step) {
      const auto now = static_cast<double>(step);
      file.put("time", step, &now);
      session.end_step();
      session.wait(session.flush());
    }
    Endpoint next = open("next");
    put(next, ahead);
    const auto now = static_cast<double>(ahead);
    file.put("time", ahead, &now);
    session.end_step();
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", ahead + 1);
}

TEST(ThreadSessionSharing, a_thread_opens_an_endpoint_while_the_session_waits_for_it) {
  const Directory directory;
  expect_no_errors(with_upper_rows(directory, [&](Session& session, OutputFile& file, Endpoint& upper) {
    const auto put = [&](Endpoint& endpoint, Band part) {
      endpoint.put(file, "t", 0, values_of(0, part, 0, levels).data());
      endpoint.put(file, "s", 0, values_of(0, part, 0, 1).data());
      endpoint.end_step();
    };
    Endpoint lower = lower_endpoint(session);
    put(lower, lower_rows);
    const double now = 0;
    file.put("time", 0, &now);
    session.end_step();
    std::jthread late([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until the session waits
      const auto start = std::chrono::steady_clock::now();
      Endpoint another = session.endpoint("another");
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << "the deadline is 20 s";
      EXPECT_EQ(error_of([&] { another.whole("grid"); }).code, ErrorCode::conflict);
      put(upper, upper_rows);
      another.close();
    });
    session.wait(file.close());
    late.join();
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", 1);
}

TEST(ThreadSessionSharing, endpoints_are_at_most_32_records_ahead_of_the_session) {
  constexpr std::uint64_t many = 50;
  const Directory directory;
  expect_no_errors(with_upper_rows(directory, [&](Session& session, OutputFile& file, Endpoint& upper) {
    Endpoint lower = lower_endpoint(session);
    std::atomic<std::uint64_t> begun{0};
    std::jthread ahead([&] {
      for (std::uint64_t step = 0; step < many; ++step) {
        for (const auto& [endpoint, part] : {std::pair{&upper, upper_rows}, std::pair{&lower, lower_rows}}) {
          endpoint->put(file, "t", step, values_of(step, part, 0, levels).data());
          endpoint->put(file, "s", step, values_of(step, part, 0, 1).data());
          endpoint->end_step();
        }
        begun = step;
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_LE(begun, 32U);
    for (std::uint64_t step = 0; step < many; ++step) {
      const auto now = static_cast<double>(step);
      file.put("time", step, &now);
      session.end_step();
    }
    ahead.join();
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", many);
}

TEST(ThreadSessionSharing, a_file_is_closed_while_endpoints_put_into_another_one) {
  const Directory directory;
  LocalRun run(1, 1, settings());
  expect_no_errors(run.run([&](Session& session, int rank) {
    Collection history = define(session, "netcdf4", directory, 1, rank);
    std::vector<OutputFile> open;
    for (int f = 0; f < endpoint_order_files; ++f) open.push_back(history.open(std::to_string(f) + ".nc"));
    Endpoint upper = session.endpoint("upper"), lower = lower_endpoint(session);
    upper.part("grid", Block{{rows, columns}, {0, 0}, {10, columns}});
    const auto put_all = [&](Endpoint& endpoint, Band part) {
      for (OutputFile& file : open) {
        for (std::uint64_t record = 0; record < steps_per_file; ++record) {
          endpoint.put(file, "t", record, values_of(record, part, 0, levels).data());
          endpoint.put(file, "s", record, values_of(record, part, 0, 1).data());
        }
        endpoint.end_step();
      }
    };
    std::jthread first([&] { put_all(upper, upper_rows); });
    std::jthread second([&] { put_all(lower, lower_rows); });
    for (OutputFile& file : open) {
      for (std::uint64_t record = 0; record < steps_per_file; ++record) {
        const auto now = static_cast<double>(record);
        file.put("time", record, &now);
      }
      session.end_step();
      file.close();
    }
    first.join();
    second.join();
    session.finalize();
  }));
  for (int f = 0; f < endpoint_order_files; ++f)
    expect_contents(directory.path / (std::to_string(f) + ".nc"), steps_per_file);
}

TEST(ThreadSessionSharing, what_the_session_has_begun_refuses_close_flush_and_epoch_at_once) {
  const Directory directory;
  LocalRun run(1, 1, settings());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "netcdf4", directory, 1, rank).open("c.nc");
    const std::vector<double> values = values_of(0, {0, rows}, 0, levels);
    file.put_section("t", 0, Section{{0, 0, 0}, {1, rows, columns}}, values.data());
    const auto refused = [&](const char* what) {
      for (const auto& call : std::vector<std::function<void()>>{
               [&] { file.close(); }, [&] { session.flush(); }, [&] { session.epoch("e"); },
               [&] { session.finalize(); }, [&] { session.endpoint(); }, [&] { session.end_step(); }}) {
        const Error error = error_of(call);
        EXPECT_EQ(error.code, ErrorCode::bad_state) << what;
      }
    };
    refused("a section");
    file.put_section("t", 0, Section{{1, 0, 0}, {2, rows, columns}}, values.data() + rows * columns);
    Slot slot = file.acquire("s", 0, Type::int32);
    refused("a slot");
    for (const Slot::Part& part : slot.parts())
      for (std::uint64_t y = 0; y < part.count[0]; ++y)
        for (std::uint64_t x = 0; x < columns; ++x)
          static_cast<std::int32_t*>(part.data)[static_cast<std::int64_t>(y) * part.strides[0] +
                                                static_cast<std::int64_t>(x) * part.strides[1]] =
              static_cast<std::int32_t>(value(0, 0, part.start[0] + y, x));
    slot.commit();
    const double now = 0;
    file.put("time", 0, &now);
    session.wait(session.flush());
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", 1);
}

TEST(ThreadSessionSharing, the_points_of_a_closed_endpoint_stay_taken_while_its_put_is_open) {
  const Directory directory;
  expect_no_errors(with_upper_rows(directory, [&](Session& session, OutputFile& file, Endpoint& upper) {
    Endpoint lower = lower_endpoint(session);
    Slot slot = lower.acquire(file, "t", 0, Type::float32);  // lends all that the put lacks
    upper.put(file, "t", 0, values_of(0, upper_rows, 0, levels).data());
    upper.close();
    Endpoint next = session.endpoint("next");
    next.part("grid", Block{{rows, columns}, {0, 0}, {10, columns}});
    EXPECT_EQ(error_of([&] { next.put(file, "t", 0, values_of(0, upper_rows, 0, levels).data()); }).code,
              ErrorCode::conflict);
    for (const Slot::Part& part : slot.parts())
      for (std::uint64_t l = 0; l < part.count[0]; ++l)
        for (std::uint64_t y = 0; y < part.count[1]; ++y)
          for (std::uint64_t x = 0; x < columns; ++x)
            static_cast<float*>(part.data)[static_cast<std::int64_t>(l) * part.strides[0] +
                                           static_cast<std::int64_t>(y) * part.strides[1] +
                                           static_cast<std::int64_t>(x) * part.strides[2]] =
                static_cast<float>(value(0, part.start[0] + l, part.start[1] + y, x));
    slot.commit();
    next.put(file, "s", 0, values_of(0, upper_rows, 0, 1).data());
    lower.put(file, "s", 0, values_of(0, lower_rows, 0, 1).data());
    const double now = 0;
    file.put("time", 0, &now);
    for (Endpoint* const endpoint : {&lower, &next}) endpoint->end_step();
    session.end_step();
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", 1);
}

TEST(ThreadSessionSharing, an_endpoint_that_is_destroyed_too_early_is_reported_when_the_step_ends) {
  const Directory directory;
  (void)with_upper_rows(directory, [&](Session& session, OutputFile& file, Endpoint& upper) {
    Endpoint lower = lower_endpoint(session);
    upper.put(file, "t", 0, values_of(0, upper_rows, 0, 1).data(), {}, Section{{0, 0, 0}, {1, 10, columns}});
    upper = Endpoint();
    lower.put(file, "t", 0, values_of(0, lower_rows, 0, levels).data());
    lower.end_step();
    const Error error = error_of([&] { session.end_step(); });
    EXPECT_EQ(error.code, ErrorCode::bad_state);
    EXPECT_THAT(error.text(), AllOf(HasSubstr("200 of 720 values of variable 't', record 0"),
                                    HasSubstr("not handed over by endpoint 1 ('upper'), which was closed")));
  });
}

TEST(ThreadSessionSharing, a_session_is_destroyed_while_endpoints_are_in_calls) {
  const Directory directory;
  LocalRun run(2, 1, little_memory());
  (void)run.run([&](Session& given, int rank) {
    std::jthread thread;
    {
      Session session = std::move(given);
      session.decomposition("line", Block{{2 * large}, {large * static_cast<std::uint64_t>(rank)}, {large}});
      Schema schema;
      schema.dimension("time", unlimited).dimension("x", 2 * large);
      schema.variable("v", Type::float32, {"time", "x"}).on("line");
      OutputFile file = session.collection("c", schema, {.directory = directory.path.string()}).open("c.nc");
      if (rank == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        return;
      }
      Endpoint endpoint = session.endpoint();
      endpoint.part("line", Block{{2 * large}, {0}, {large}});
      thread = std::jthread([endpoint, file]() mutable {
        const std::vector<float> values(large, 1.0F);
        for (std::uint64_t record = 0; record < 8; ++record)
          if (error_of([&] { endpoint.put(file, "v", record, values.data()); }).message !=
              "nothing was refused")
            return;  // it waits for rank 1, until the session is over
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });
}

}  // namespace
}  // namespace afterbay::test
