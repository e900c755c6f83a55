// SPDX-License-Identifier: Apache-2.0
// Endpoints whose data travel through the session's thread, as to servers on other nodes. In one
// process, so that the thread sanitizer sees both sides of each handover.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "afterbay/endpoint_pool.hpp"
#include "unit/session/endpoint_model.hpp"

namespace afterbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t steps = 12;
constexpr int servers = 2;

/// `servers_shared`: that many servers share memory with the threads all the same.
LocalRun run_of(int ranks, LocalRun::Settings more = {}, std::size_t servers_shared = 0) {
  LocalRun::Settings all{{"deadline", "20s"}, {"placement", "slab"}};
  all.insert(all.end(), more.begin(), more.end());
  LocalRun run(ranks, servers, std::move(all));
  run.servers_of_one_thread = servers - servers_shared;
  return run;
}

/// Memory for two to five steps: threads wait for the session's.
LocalRun::Settings little() { return {{"memory.endpoints", "64KiB"}}; }

constexpr std::uint64_t wide = 128;  ///< columns of the variable "w"

/// As `define`, with "w", which is larger than the other variables, in time, row and column.
Collection define_wide(Session& session, const std::string& store, const Directory& directory, int ranks,
                       int rank) {
  const Band mine = band(rows, static_cast<std::uint64_t>(ranks), static_cast<std::uint64_t>(rank));
  session.decomposition("grid", Block{{rows, columns}, {mine.first, 0}, {mine.count, columns}});
  session.decomposition("wide", Block{{rows, wide}, {mine.first, 0}, {mine.count, wide}});
  Schema schema;
  schema.dimension("time", unlimited).dimension("level", levels).dimension("y", rows).dimension("x", columns);
  schema.dimension("wide", wide);
  schema.variable("t", Type::float32, {"time", "level", "y", "x"}).on("grid");
  schema.variable("s", Type::int32, {"time", "y", "x"}).on("grid");
  schema.variable("w", Type::float64, {"time", "y", "wide"}).on("wide");
  schema.variable("time", Type::float64, {"time"});
  return session.collection("c", schema, {.directory = directory.path.string(), .store = store});
}

void add_parts(Endpoint& endpoint, Band part) {
  endpoint.part("grid", Block{{rows, columns}, {part.first, 0}, {part.count, columns}});
  endpoint.part("wide", Block{{rows, wide}, {part.first, 0}, {part.count, wide}});
}

std::vector<double> wide_values(std::uint64_t step, Band part) {
  std::vector<double> values(part.count * wide);
  std::iota(values.begin(), values.end(), static_cast<double>((step * rows + part.first) * wide));
  return values;
}

void expect_all(const std::filesystem::path& file) {
  expect_contents(file, steps);
  const auto w = read<double>(file, "w");
  ASSERT_EQ(w.size(), steps * rows * wide);
  for (std::size_t i = 0; i < w.size(); ++i) ASSERT_EQ(w[i], static_cast<double>(i)) << i;
}

/// Runs `body(thread)` in threads while this one calls the session.
void beside_the_session(Session& session, int threads, const std::function<void(int)>& body) {
  std::atomic<int> running{threads};
  std::optional<Error> failed;
  std::jthread others([&] {
    failed = error_of([&] {
      in_threads(threads, [&](int thread) {
        const std::shared_ptr<void> at_end(nullptr, [&](void*) { --running; });
        body(thread);
      });
    });
  });
  while (running != 0) {
    session.progress();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  others.join();
  EXPECT_EQ(failed->message, "nothing was refused");
}

struct Tiles {
  std::vector<Endpoint> endpoints;
  std::vector<Band> bands;
};

Tiles tiles_of(Session& session, int rank, std::uint64_t count) {
  Tiles all;
  const Band mine =
      band(rows, static_cast<std::uint64_t>(session.model_size()), static_cast<std::uint64_t>(rank));
  for (std::uint64_t i = 0; i < count; ++i) {
    Band part = band(mine.count, count, i);
    part.first += mine.first;
    all.endpoints.push_back(session.endpoint("tile"));
    add_parts(all.endpoints.back(), part);
    all.bands.push_back(part);
  }
  return all;
}

/// The levels one by one, the last first.
void put_step(Endpoint& endpoint, const OutputFile& file, Band part, std::uint64_t step) {
  for (std::uint64_t level = levels; level-- > 0;)
    endpoint.put(file, "t", step, values_of(step, part, level, 1).data(), {},
                 Section{{level, 0, 0}, {1, part.count, columns}});
  endpoint.put(file, "s", step, values_of(step, part, 0, 1).data());
  endpoint.put(file, "w", step, wide_values(step, part).data());
  endpoint.end_step();
}

void end_step(Session& session, OutputFile& file, std::uint64_t step) {
  const auto now = static_cast<double>(step);
  file.put("time", step, &now);
  session.end_step();
}

struct Path {
  const char* store;
  std::size_t servers_shared;
  const char* memory;
};
void PrintTo(const Path& it, std::ostream* out) {
  *out << it.store << ", " << it.servers_shared << " shared, " << it.memory;
}

class ThreadOneSends : public testing::TestWithParam<Path> {};

TEST_P(ThreadOneSends, contents_are_those_of_one_caller) {
  const Directory directory;
  LocalRun run = run_of(2, {{"memory.endpoints", GetParam().memory}}, GetParam().servers_shared);
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define_wide(session, GetParam().store, directory, 2, rank).open("c.nc");
    Tiles tiles = tiles_of(session, rank, 3);
    beside_the_session(session, 3, [&](int thread) {
      const auto i = static_cast<std::size_t>(thread);
      for (std::uint64_t step = 0; step < steps; ++step)
        put_step(tiles.endpoints[i], file, tiles.bands[i], step);
    });
    for (std::uint64_t step = 0; step < steps; ++step) end_step(session, file, step);
    session.finalize();
  }));
  expect_all(directory.path / "c.nc");
}

INSTANTIATE_TEST_SUITE_P(All, ThreadOneSends,
                         testing::Values(Path{"netcdf4", 0, "64MiB"}, Path{"cdf5", 0, "64KiB"},
                                         Path{"cdf5", 1, "64KiB"}));

TEST(ThreadSessionsThread, steps_end_while_threads_put) {
  const Directory directory;
  LocalRun run = run_of(2, little());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define_wide(session, "cdf5", directory, 2, rank).open("c.nc");
    Tiles tiles = tiles_of(session, rank, 2);
    std::jthread others([&] {
      in_threads(2, [&](int thread) {
        const auto i = static_cast<std::size_t>(thread);
        for (std::uint64_t step = 0; step < steps; ++step)
          put_step(tiles.endpoints[i], file, tiles.bands[i], step);
      });
    });
    for (std::uint64_t step = 0; step < steps; ++step) {
      end_step(session, file, step);
      session.wait(session.flush());  // waits for the endpoints, and hands on what they put
    }
    others.join();
    session.finalize();
  }));
  expect_all(directory.path / "c.nc");
}

TEST(ThreadSessionsThread, teams_change_between_steps) {
  const Directory directory;
  LocalRun run = run_of(2, little());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define_wide(session, "cdf5", directory, 2, rank).open("c.nc");
    const Band mine = band(rows, 2, static_cast<std::uint64_t>(rank));
    for (std::uint64_t step = 0; step < steps; ++step) {
      const auto threads = 1 + (step * 3 + static_cast<std::uint64_t>(rank)) % 4;
      beside_the_session(session, static_cast<int>(threads), [&](int thread) {
        Endpoint endpoint = session.endpoint();
        Band part = band(mine.count, threads, static_cast<std::uint64_t>(thread));
        part.first += mine.first;
        add_parts(endpoint, part);
        put_step(endpoint, file, part, step);
      });
      end_step(session, file, step);
    }
    session.finalize();
  }));
  expect_all(directory.path / "c.nc");
}

// The session's thread takes tiles as well, and does the session's work while it waits for one.
TEST(ThreadSessionsThread, pools_lend_endpoints_to_all_threads) {
  constexpr std::uint64_t count = 5;
  const Directory directory;
  LocalRun run = run_of(1, little());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define_wide(session, "cdf5", directory, 1, rank).open("c.nc");
    Tiles tiles = tiles_of(session, rank, count);
    EndpointPool pool(tiles.endpoints);
    std::vector<std::uint64_t> ended(count, 0);  // a tile's is used by whoever has the tile
    std::atomic<std::uint64_t> next{0}, done{0};
    const auto run_tasks = [&] {
      for (; next++ < count * steps; ++done) {
        EndpointLoan tile = pool.take();
        put_step(tile.endpoint(), file, tiles.bands[tile.index()], ended[tile.index()]++);
      }
    };
    std::jthread others([&] { in_threads(2, [&](int) { run_tasks(); }); });
    run_tasks();
    while (done != count * steps) {
      session.progress();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    others.join();
    for (std::uint64_t step = 0; step < steps; ++step) end_step(session, file, step);
    session.finalize();
  }));
  expect_all(directory.path / "c.nc");
}

TEST(ThreadSessionsThread, slots_are_private_and_reads_are_served) {
  const Directory directory;
  const std::string path = (directory.path / "c.nc").string();
  LocalRun run = run_of(2, little());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define_wide(session, "cdf5", directory, 2, rank).open("c.nc");
    Tiles tiles = tiles_of(session, rank, 3);
    beside_the_session(session, 3, [&](int thread) {
      Endpoint& endpoint = tiles.endpoints[static_cast<std::size_t>(thread)];
      const Band part = tiles.bands[static_cast<std::size_t>(thread)];
      for (std::uint64_t step = 0; step < steps; ++step) {
        Slot slot = endpoint.acquire(file, "t", step, Type::float32);
        EXPECT_FALSE(slot.direct());
        for (const Slot::Part& box : slot.parts())
          for (std::uint64_t l = 0; l < box.count[0]; ++l)
            for (std::uint64_t y = 0; y < box.count[1]; ++y)
              for (std::uint64_t x = 0; x < box.count[2]; ++x)
                static_cast<float*>(box.data)[static_cast<std::int64_t>(l) * box.strides[0] +
                                              static_cast<std::int64_t>(y) * box.strides[1] +
                                              static_cast<std::int64_t>(x) * box.strides[2]] =
                    static_cast<float>(value(step, box.start[0] + l, box.start[1] + y, box.start[2] + x));
        slot.commit();
        endpoint.put(file, "s", step, values_of(step, part, 0, 1).data());
        endpoint.put(file, "w", step, wide_values(step, part).data());
        endpoint.end_step();
      }
    });
    for (std::uint64_t step = 0; step < steps; ++step) end_step(session, file, step);
    session.wait(file.close());
    InputFile input = session.open_input(path);
    beside_the_session(session, 3, [&](int thread) {
      const Band part = tiles.bands[static_cast<std::size_t>(thread)];
      for (std::uint64_t step = 0; step < steps; ++step) {
        std::vector<double> t(levels * part.count * columns);
        tiles.endpoints[static_cast<std::size_t>(thread)].get(
            input, "t", {.record = step, .decomposition = "grid"}, t.data());
        EXPECT_EQ(t, values_of(step, part, 0, levels));
      }
    });
    session.finalize();
  }));
  expect_all(path);
}

// It waited until the deadline. The endpoint cannot be closed meanwhile.
TEST(ThreadSessionsThread, an_input_may_be_closed_while_an_endpoint_reads_it) {
  const Directory directory;
  LocalRun run = run_of(1);
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define_wide(session, "cdf5", directory, 1, rank).open("c.nc");
    Tiles tiles = tiles_of(session, rank, 1);
    for (std::uint64_t step = 0; step < steps; ++step) {
      put_step(tiles.endpoints[0], file, tiles.bands[0], step);
      end_step(session, file, step);
    }
    session.wait(file.close());
    InputFile input = session.open_input((directory.path / "c.nc").string());
    std::atomic<bool> ended{false};
    Error told(ErrorCode::internal, "");
    std::vector<double> t(steps * levels * rows * columns, -1);
    std::jthread reader([&] {
      told = error_of([&] {
        tiles.endpoints[0].get(input, "t", {.record = 0, .records = steps, .decomposition = "grid"},
                               t.data());
      });
      ended = true;
    });
    // The data go through this thread. A call of progress takes only some of the records.
    while (t[0] == -1 && !ended) {
      session.progress();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const Error busy = error_of([&] { tiles.endpoints[0].close(); });
    EXPECT_EQ(busy.code, ErrorCode::bad_state);
    EXPECT_THAT(busy.text(),
                AllOf(HasSubstr("close by endpoint 1 ('tile') while another thread is in a call of it"),
                      HasSubstr("rank 0")));
    InputFile(input).close();
    while (!ended) {
      session.progress();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(told.code, ErrorCode::bad_state);
    EXPECT_THAT(told.text(), AllOf(HasSubstr("the file was closed on this rank while it was being read"),
                                   HasSubstr("endpoint 1 ('tile')"), HasSubstr("rank 0")));
    session.finalize();
  }));
}

// A thread that waits for the session's gets the deadline's error, and the session too.
TEST(ThreadSessionsThread, threads_do_not_wait_for_ever_for_the_sessions) {
  const Directory directory;
  LocalRun run = run_of(1, {{"memory.endpoints", "64KiB"}, {"deadline", "1s"}});
  (void)run.run([&](Session& session, int rank) {
    OutputFile file = define_wide(session, "cdf5", directory, 1, rank).open("c.nc");
    Tiles tiles = tiles_of(session, rank, 2);
    Error told(ErrorCode::internal, "");
    const auto start = std::chrono::steady_clock::now();
    std::thread([&] {
      told = error_of([&] {
        for (std::uint64_t step = 0; step < steps; ++step)
          put_step(tiles.endpoints[0], file, tiles.bands[0], step);
      });
    }).join();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    EXPECT_EQ(told.code, ErrorCode::timed_out);
    EXPECT_THAT(told.text(), AllOf(HasSubstr("rank 0"), HasSubstr("memory.endpoints")));
    EXPECT_THAT(error_of([&] { session.end_step(); }).text(), HasSubstr("memory.endpoints"));
  });
}

/// A rank's part of "b" is larger than the memory; "v" and "w" fit only one at a time, and only the
/// second endpoint has points of "v".
struct Large {
  static constexpr std::uint64_t length = 24, width = 512, less = 256;
  OutputFile file;
  std::vector<Endpoint> endpoints;
  Large(Session& session, const Directory& directory) {
    session.decomposition("large", Block{{length, width}, {0, 0}, {length, width}});
    session.decomposition("v", Block{{length, less}, {0, 0}, {length, less}});
    session.decomposition("w", Block{{length, less}, {0, 0}, {length, less}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", length).dimension("x", width).dimension("less", less);
    schema.variable("b", Type::float64, {"time", "y", "x"}).on("large");
    schema.variable("v", Type::float64, {"time", "y", "less"}).on("v");
    schema.variable("w", Type::float64, {"time", "y", "less"}).on("w");
    schema.variable("time", Type::float64, {"time"});
    file =
        session.collection("c", schema, {.directory = directory.path.string(), .store = "cdf5"}).open("c.nc");
    for (std::uint64_t i = 0; i < 2; ++i) {
      endpoints.push_back(session.endpoint());
      endpoints[i].part("large", Block{{length, width}, {i * 12, 0}, {12, width}});
      endpoints[i].part("w", Block{{length, less}, {i * 12, 0}, {12, less}});
    }
    endpoints[1].part("v", Block{{length, less}, {0, 0}, {length, less}});
  }
  static std::vector<double> ones() { return std::vector<double>(length * width, 1.0); }
};

// The thread that uses the session puts a scalar first, and then its own part of what is collected.
TEST(ThreadSessionsThread, full_memory_does_not_block_the_caller_of_a_missing_part) {
  const Directory directory;
  LocalRun run = run_of(1, {{"memory.endpoints", "64KiB"}, {"deadline", "2s"}});
  expect_no_errors(run.run([&](Session& session, int) {
    Large large(session, directory);
    std::thread([&] {
      large.endpoints[1].put(large.file, "b", 0, Large::ones().data());
      large.endpoints[1].end_step();
    }).join();
    const double now = 0;
    large.file.put("time", 0, &now);
    large.endpoints[0].put(large.file, "b", 0, Large::ones().data());
    large.endpoints[0].end_step();
    session.end_step();
    session.finalize();
  }));
  const auto b = read<double>(directory.path / "c.nc", "b");
  ASSERT_EQ(b.size(), Large::length * Large::width);
  EXPECT_TRUE(std::ranges::all_of(b, [](double value) { return value == 1; }));
}

TEST(ThreadSessionsThread, memory_that_is_full_does_not_stop_who_puts_another_variable_first) {
  const Directory directory;
  LocalRun run = run_of(1, {{"memory.endpoints", "64KiB"}, {"deadline", "2s"}});
  expect_no_errors(run.run([&](Session& session, int) {
    Large large(session, directory);
    std::thread([&] {
      large.endpoints[0].put(large.file, "w", 0, Large::ones().data());
      large.endpoints[0].end_step();
    }).join();
    beside_the_session(session, 1, [&](int) {
      large.endpoints[1].put(large.file, "v", 0, Large::ones().data());
      large.endpoints[1].put(large.file, "w", 0, Large::ones().data());
      large.endpoints[1].end_step();
    });
    session.end_step();
    session.finalize();
  }));
  for (const char* const name : {"v", "w"}) {
    const auto values = read<double>(directory.path / "c.nc", name);
    ASSERT_EQ(values.size(), Large::length * Large::less);
    EXPECT_TRUE(std::ranges::all_of(values, [](double value) { return value == 1; }));
  }
}

TEST(ThreadSessionsThread, a_part_that_is_left_out_is_reported_within_the_deadline) {
  const Directory directory;
  LocalRun run = run_of(1, {{"deadline", "1s"}});
  (void)run.run([&](Session& session, int rank) {
    OutputFile file = define_wide(session, "cdf5", directory, 1, rank).open("c.nc");
    Tiles tiles = tiles_of(session, rank, 2);
    std::thread([&] { put_step(tiles.endpoints[0], file, tiles.bands[0], 0); }).join();
    session.end_step();
    const auto start = std::chrono::steady_clock::now();
    const Error told = error_of([&] { file.close(); });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    EXPECT_EQ(told.code, ErrorCode::timed_out);
    EXPECT_THAT(told.text(),
                AllOf(HasSubstr("rank 0"), HasSubstr("endpoint 2 ('tile') has ended 0 of 1 steps"),
                      HasSubstr("360 of 720 values")));
  });
}

}  // namespace
}  // namespace afterbay::test
