// SPDX-License-Identifier: Apache-2.0
// Endpoints: the threads of a rank hand over their parts at their own pace. In one process, with
// files read back by netCDF.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <fstream>
#include <iterator>
#include <numeric>
#include <thread>

#include "unit/session/endpoint_model.hpp"

namespace afterbay::test {
namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct EndpointCase {
  std::string store;
  int ranks = 1;
  int servers = 1;
  std::string placement;
  int threads = 1;
};
void PrintTo(const EndpointCase& it, std::ostream* out) {
  *out << it.store << " " << it.ranks << "+" << it.servers << " " << it.placement << " " << it.threads
       << " threads";
}

class ThreadEndpoints : public testing::TestWithParam<EndpointCase> {};

constexpr std::uint64_t endpoint_steps = 5;

/// The same run with one caller per rank.
void run_plain(const EndpointCase& it, const Directory& directory) {
  LocalRun run(it.ranks, it.servers, settings(it.placement));
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, it.store, directory, it.ranks, rank).open("plain.nc");
    const Band mine = band(rows, static_cast<std::uint64_t>(it.ranks), static_cast<std::uint64_t>(rank));
    for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
      const auto t = values_of(step, mine, 0, levels);
      const auto s = values_of(step, mine, 0, 1);
      const auto now = static_cast<double>(step);
      file.put("time", step, &now);
      file.put("t", step, t.data());
      file.put("s", step, s.data());
      session.end_step();
    }
    session.finalize();
  }));
}

TEST_P(ThreadEndpoints, contents_do_not_depend_on_the_number_of_threads) {
  const EndpointCase it = GetParam();
  const Directory directory;
  run_plain(it, directory);
  LocalRun run(it.ranks, it.servers, settings(it.placement));
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, it.store, directory, it.ranks, rank).open("threads.nc");
    const Band mine = band(rows, static_cast<std::uint64_t>(it.ranks), static_cast<std::uint64_t>(rank));
    std::barrier opened(it.threads + 1);  // an endpoint takes part in the steps from the session's on
    std::optional<Error> failed;
    std::jthread model([&] {
      failed = error_of([&] {
        in_threads(it.threads, [&](int thread) {
          Endpoint endpoint = session.endpoint();
          opened.arrive_and_wait();
          Band part =
              band(mine.count, static_cast<std::uint64_t>(it.threads), static_cast<std::uint64_t>(thread));
          part.first += mine.first;
          endpoint.part("grid", Block{{rows, columns}, {part.first, 0}, {part.count, columns}});
          for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
            const auto t = values_of(step, part, 0, levels);
            const auto s = values_of(step, part, 0, 1);
            endpoint.put(file, "t", step, t.data());
            endpoint.put(file, "s", step, s.data());
            endpoint.end_step();
          }
          endpoint.close();
        });
      });
    });
    opened.arrive_and_wait();
    for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
      const auto now = static_cast<double>(step);
      file.put("time", step, &now);
      session.end_step();
    }
    model.join();
    EXPECT_EQ(failed->message, "nothing was refused");
    session.finalize();
  }));
  expect_contents(directory.path / "threads.nc", endpoint_steps);
  if (it.store != "netcdf4") {
    EXPECT_EQ(bytes_of(directory.path / "threads.nc"), bytes_of(directory.path / "plain.nc"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ThreadEndpoints,
    testing::Values(EndpointCase{"netcdf4", 1, 1, "", 1}, EndpointCase{"netcdf4", 1, 1, "", 2},
                    EndpointCase{"cdf5", 2, 1, "", 3}, EndpointCase{"netcdf4", 2, 2, "slab", 4},
                    EndpointCase{"cdf5", 2, 2, "slab", 16}, EndpointCase{"cdf5", 3, 2, "variable", 5},
                    EndpointCase{"netcdf4", 2, 2, "file", 24}));

// ---- pace

TEST(ThreadSessionEndpoint, a_thread_runs_ahead_of_the_others) {
  const Directory directory;
  LocalRun run(1, 1, settings());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "netcdf4", directory, 1, rank).open("c.nc");
    Endpoint fast = session.endpoint("fast");
    Endpoint slow = session.endpoint("slow");
    const Band upper{0, 10}, lower{10, rows - 10};
    fast.part("grid", Block{{rows, columns}, {upper.first, 0}, {upper.count, columns}});
    slow.part("grid", Block{{rows, columns}, {lower.first, 0}, {lower.count, columns}});
    const auto all_steps = [&](Endpoint& endpoint, Band part) {
      for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
        endpoint.put(file, "t", step, values_of(step, part, 0, levels).data());
        endpoint.put(file, "s", step, values_of(step, part, 0, 1).data());
        endpoint.end_step();
      }
    };
    all_steps(fast, upper);
    for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
      const auto now = static_cast<double>(step);
      file.put("time", step, &now);
      session.end_step();
    }
    all_steps(slow, lower);
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", endpoint_steps);
}

TEST(ThreadSessionEndpoint, teams_change_between_steps_and_differ_between_ranks) {
  const Directory directory;
  LocalRun run(2, 2, settings("slab"));
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "netcdf4", directory, 2, rank).open("c.nc");
    const Band mine = band(rows, 2, static_cast<std::uint64_t>(rank));
    for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
      const int threads = 1 + static_cast<int>((step * 3 + static_cast<std::uint64_t>(rank)) % 5);
      in_threads(threads, [&](int thread) {
        Endpoint endpoint = session.endpoint();
        Band part = band(mine.count, static_cast<std::uint64_t>(threads), static_cast<std::uint64_t>(thread));
        part.first += mine.first;
        endpoint.part("grid", Block{{rows, columns}, {part.first, 0}, {part.count, columns}});
        endpoint.put(file, "t", step, values_of(step, part, 0, levels).data());
        endpoint.put(file, "s", step, values_of(step, part, 0, 1).data());
      });  // the last handle closes the endpoint
      const auto now = static_cast<double>(step);
      file.put("time", step, &now);
      session.end_step();
    }
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", endpoint_steps);
}

TEST(ThreadSessionEndpoint, a_session_without_endpoints_puts_sections_in_any_order) {
  const Directory directory;
  LocalRun run(2, 1, settings());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "cdf5", directory, 2, rank).open("c.nc");
    const Band mine = band(rows, 2, static_cast<std::uint64_t>(rank));
    for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
      const auto now = static_cast<double>(step);
      file.put("time", step, &now);
      for (std::uint64_t l = levels; l-- > 0;) {
        const auto t = values_of(step, mine, l, 1);
        file.put_section("t", step, Section{{l, 0, 0}, {1, mine.count, columns}}, t.data());
        // Rows of the other variable between the levels of this one.
        const Band some = band(mine.count, levels, l);
        const auto s = values_of(step, {mine.first + some.first, some.count}, 0, 1);
        file.put_section("s", step, Section{{some.first, 0}, {some.count, columns}}, s.data());
      }
      session.end_step();
    }
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", endpoint_steps);
}

// More sections than a caller keeps plans of: 720 per record.
TEST(ThreadSessionEndpoint, values_are_put_one_by_one) {
  const Directory directory;
  LocalRun run(1, 1, settings());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "cdf5", directory, 1, rank).open("c.nc");
    Endpoint endpoint = session.endpoint();
    endpoint.whole("grid");
    for (std::uint64_t step = 0; step < 2; ++step) {
      for (std::uint64_t l = 0; l < levels; ++l)
        for (std::uint64_t y = 0; y < rows; ++y)
          for (std::uint64_t x = 0; x < columns; ++x) {
            const double one = value(step, l, y, x);
            endpoint.put(file, "t", step, &one, {}, Section{{l, y, x}, {1, 1, 1}});
          }
      endpoint.put(file, "s", step, values_of(step, {0, rows}, 0, 1).data());
      endpoint.end_step();
      const auto now = static_cast<double>(step);
      file.put("time", step, &now);
      session.end_step();
    }
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", 2);
}

TEST(ThreadSessionEndpoint, the_session_and_endpoints_put_by_turns) {
  const Directory directory;
  LocalRun run(1, 1, settings());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "netcdf4", directory, 1, rank).open("c.nc");
    for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
      const auto now = static_cast<double>(step);
      file.put("time", step, &now);
      if (step % 2 == 0) {
        file.put("t", step, values_of(step, {0, rows}, 0, levels).data());
        file.put("s", step, values_of(step, {0, rows}, 0, 1).data());
      } else {
        in_threads(3, [&](int thread) {
          Endpoint endpoint = session.endpoint();
          const Band part = band(rows, 3, static_cast<std::uint64_t>(thread));
          endpoint.part("grid", Block{{rows, columns}, {part.first, 0}, {part.count, columns}});
          endpoint.put(file, "t", step, values_of(step, part, 0, levels).data());
          endpoint.put(file, "s", step, values_of(step, part, 0, 1).data());
        });
      }
      session.end_step();
    }
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", endpoint_steps);
}

TEST(ThreadSessionEndpoint, little_memory_is_enough_for_threads_that_put_in_order) {
  constexpr std::uint64_t y = 256, x = 512, records = 6;
  const Directory directory;
  LocalRun run(3, 2, little_memory());
  expect_no_errors(run.run([&](Session& session, int rank) {
    const Band mine = band(y, 3, static_cast<std::uint64_t>(rank));
    session.decomposition("grid", Block{{y, x}, {mine.first, 0}, {mine.count, x}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", y).dimension("x", x);
    for (const char* const name : {"a", "b", "c", "d"})
      schema.variable(name, Type::float32, {"time", "y", "x"}).on("grid");
    OutputFile file =
        session.collection("c", schema, {.directory = directory.path.string(), .store = "cdf5"}).open("c.nc");
    std::vector<Endpoint> endpoints;
    for (int t = 0; t < 4; ++t) endpoints.push_back(session.endpoint());
    in_threads(4, [&](int thread) {
      Endpoint& endpoint = endpoints[static_cast<std::size_t>(thread)];
      Band part = band(mine.count, 4, static_cast<std::uint64_t>(thread));
      part.first += mine.first;
      endpoint.part("grid", Block{{y, x}, {part.first, 0}, {part.count, x}});
      for (std::uint64_t record = 0; record < records; ++record) {
        for (std::uint64_t v = 0; v < 4; ++v) {
          std::vector<float> values(part.count * x);
          std::iota(values.begin(), values.end(), static_cast<float>(part.first * x + record + 1000 * v));
          endpoint.put(file, std::string(1, static_cast<char>('a' + v)), record, values.data());
        }
        endpoint.end_step();
      }
    });
    for (std::uint64_t record = 0; record < records; ++record) session.end_step();
    session.finalize();
  }));
  for (std::uint64_t v = 0; v < 4; ++v) {
    const auto values =
        read<double>(directory.path / "c.nc", std::string(1, static_cast<char>('a' + v)).c_str());
    ASSERT_EQ(values.size(), records * y * x);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], static_cast<double>(i % (y * x) + i / (y * x) + 1000 * v)) << v << " " << i;
  }
}

// ---- maps

/// Every rank and thread has points all over the grid, in no order.
TEST(ThreadSessionEndpoint, parts_of_maps_are_put_by_threads) {
  constexpr std::uint64_t points = 600;
  constexpr int ranks = 2, threads = 5;
  for (const char* const store : {"netcdf4", "cdf5"}) {
    const Directory directory;
    LocalRun run(ranks, 2, settings("slab"));
    expect_no_errors(run.run([&](Session& session, int rank) {
      Map map;
      map.global = {20, 30};
      for (std::uint64_t i = 0; i < points; ++i)
        if (static_cast<int>(i % ranks) == rank)
          map.indices.push_back(static_cast<std::int64_t>(i * 371 % points));
      session.decomposition("cells", map);
      Schema schema;
      schema.dimension("time", unlimited).dimension("level", 4).dimension("y", 20).dimension("x", 30);
      schema.variable("t", Type::float64, {"time", "level", "y", "x"}).on("cells");
      schema.variable("s", Type::float32, {"time", "y", "x"}).on("cells");
      OutputFile file =
          session.collection("c", schema, {.directory = directory.path.string(), .store = store})
              .open("c.nc");
      in_threads(threads, [&](int thread) {
        Endpoint endpoint = session.endpoint();
        Map part;
        part.global = map.global;
        for (std::size_t i = 0; i < map.indices.size(); ++i)
          if (static_cast<int>(i / 7 % threads) == thread) part.indices.push_back(map.indices[i]);
        endpoint.part("cells", part);
        for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
          std::vector<float> s;
          for (const std::int64_t point : part.indices)
            s.push_back(static_cast<float>(step * 10'000 + static_cast<std::uint64_t>(point)));
          // Half of the list at a time, and two levels at a time.
          const std::uint64_t half = part.indices.size() / 2;
          for (const std::uint64_t level : {2, 0})
            for (const bool first : {false, true}) {
              const std::uint64_t begin = first ? 0 : half;
              const std::uint64_t count = first ? half : part.indices.size() - half;
              std::vector<double> t;
              for (std::uint64_t l = level; l < level + 2; ++l)
                for (std::uint64_t i = begin; i < begin + count; ++i)
                  t.push_back(static_cast<double>((step * 4 + l) * 10'000) +
                              static_cast<double>(part.indices[i]));
              endpoint.put(file, "t", step, t.data(), {}, Section{{level, begin}, {2, count}});
            }
          endpoint.put(file, "s", step, s.data());
          endpoint.end_step();
        }
        endpoint.close();
      });
      session.end_step();
      session.finalize();
    }));
    const auto t = read<double>(directory.path / "c.nc", "t");
    ASSERT_EQ(t.size(), endpoint_steps * 4 * points);
    for (std::size_t i = 0; i < t.size(); ++i)
      ASSERT_EQ(t[i], static_cast<double>(i / points * 10'000 + i % points)) << store << " " << i;
    const auto s = read<double>(directory.path / "c.nc", "s");
    for (std::size_t i = 0; i < s.size(); ++i)
      ASSERT_EQ(s[i], static_cast<double>(i / points * 10'000 + i % points)) << store << " " << i;
  }
}

// ---- slots and try_put

TEST(ThreadSessionEndpoint, slots_of_endpoints_lie_in_the_servers_memory) {
  const Directory directory;
  LocalRun run(1, 1, settings());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "netcdf4", directory, 1, rank).open("c.nc");
    in_threads(3, [&](int thread) {
      Endpoint endpoint = session.endpoint();
      const Band part = band(rows, 3, static_cast<std::uint64_t>(thread));
      endpoint.part("grid", Block{{rows, columns}, {part.first, 0}, {part.count, columns}});
      for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
        Slot slot = endpoint.acquire(file, "t", step, Type::float32);
        EXPECT_TRUE(slot.direct());
        const Error early = error_of([&] { endpoint.end_step(); });
        EXPECT_EQ(early.code, ErrorCode::bad_state);
        // A later variable while the slot is not committed; its values must be converted, so its
        // slot is private.
        Slot other = endpoint.acquire(file, "s", step, Type::float64);
        EXPECT_FALSE(other.direct());
        for (const Slot::Part& box : other.parts()) {
          const auto s = values_of(step, {box.start[0], box.count[0]}, 0, 1);
          std::ranges::copy(s, static_cast<double*>(box.data));
        }
        other.commit();
        for (const Slot::Part& box : slot.parts())
          for (std::uint64_t l = 0; l < box.count[0]; ++l)
            for (std::uint64_t y = 0; y < box.count[1]; ++y)
              for (std::uint64_t x = 0; x < box.count[2]; ++x)
                static_cast<float*>(box.data)[static_cast<std::int64_t>(l) * box.strides[0] +
                                              static_cast<std::int64_t>(y) * box.strides[1] +
                                              static_cast<std::int64_t>(x) * box.strides[2]] =
                    static_cast<float>(value(step, box.start[0] + l, box.start[1] + y, box.start[2] + x));
        slot.commit();
        endpoint.end_step();
      }
    });
    for (std::uint64_t step = 0; step < endpoint_steps; ++step) {
      const auto now = static_cast<double>(step);
      file.put("time", step, &now);
      session.end_step();
    }
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", endpoint_steps);
}

}  // namespace
}  // namespace afterbay::test
