// SPDX-License-Identifier: Apache-2.0
// Pools lend the endpoints of a rank to tasks on any thread.
#include "afterbay/endpoint_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "unit/session/endpoint_model.hpp"

namespace afterbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct PooledTiles {
  std::vector<Endpoint> endpoints;
  std::vector<Band> bands;
};

PooledTiles pooled_tiles_of(Session& session, Band mine, std::uint64_t count) {
  PooledTiles all;
  for (std::uint64_t i = 0; i < count; ++i) {
    Band part = band(mine.count, count, i);
    part.first += mine.first;
    Endpoint& endpoint = all.endpoints.emplace_back(session.endpoint("tile"));
    endpoint.part("grid", Block{{rows, columns}, {part.first, 0}, {part.count, columns}});
    all.bands.push_back(part);
  }
  return all;
}

void put_all(Endpoint& endpoint, const OutputFile& file, Band part, std::uint64_t step) {
  endpoint.put(file, "t", step, values_of(step, part, 0, levels).data());
  endpoint.put(file, "s", step, values_of(step, part, 0, 1).data());
  endpoint.end_step();
}

/// Runs a model of one rank with a pool of `count` tiles.
void with_pool(std::uint64_t count, const LocalRun::Settings& settings,
               const std::function<void(Session&, OutputFile&, const PooledTiles&, EndpointPool&)>& body) {
  const Directory directory;
  LocalRun run(1, 1, settings);
  expect_no_errors(run.run([&](Session& session, int) {
    OutputFile file = define(session, "netcdf4", directory, 1, 0).open("c.nc");
    PooledTiles tiles = pooled_tiles_of(session, {0, rows}, count);
    EndpointPool pool(tiles.endpoints);
    body(session, file, tiles, pool);
    session.finalize();
  }));
}

/// Ends what the steps of a model that puts nothing else need.
void end_steps(Session& session, const OutputFile& file, std::uint64_t count) {
  for (std::uint64_t step = 0; step < count; ++step) {
    const auto now = static_cast<double>(step);
    OutputFile(file).put("time", step, &now);
    session.end_step();
  }
}

TEST(ThreadEndpointPool, every_tile_is_lent_once_per_step) {
  constexpr std::uint64_t steps = 6, tiles_per_rank = 7;
  const Directory directory;
  LocalRun run(2, 1, settings());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "cdf5", directory, 2, rank).open("pool.nc");
    const PooledTiles tiles =
        pooled_tiles_of(session, band(rows, 2, static_cast<std::uint64_t>(rank)), tiles_per_rank);
    EndpointPool pool(tiles.endpoints);
    // No barrier between the steps: tasks of the next one begin while some of this one are under
    // way.
    std::atomic<std::uint64_t> next{0};
    std::array<std::array<std::atomic<int>, tiles_per_rank>, steps> lent{};
    in_threads(3, [&](int) {
      for (;;) {
        const std::uint64_t task = next++;
        if (task >= steps * tiles_per_rank) break;
        EndpointLoan tile = pool.take();
        // The k-th loan of a tile is that of step k, whichever task has it.
        std::uint64_t step = 0;
        while (lent[step][tile.index()].exchange(1) != 0) ++step;
        put_all(tile.endpoint(), file, tiles.bands[tile.index()], step);
      }
    });
    for (const auto& step : lent)
      for (const auto& tile : step) EXPECT_EQ(tile, 1);
    end_steps(session, file, steps);
    session.finalize();
  }));
  expect_contents(directory.path / "pool.nc", steps);
}

TEST(ThreadEndpointPool, the_one_that_has_ended_the_fewest_steps_is_lent_first) {
  with_pool(3, settings(),
            [](Session& session, OutputFile& file, const PooledTiles& tiles, EndpointPool& pool) {
              EXPECT_EQ(pool.size(), 3u);
              const auto lend = [&](std::size_t expected, std::optional<std::uint64_t> ends) {
                EndpointLoan tile = pool.take();
                ASSERT_EQ(tile.index(), expected);
                EXPECT_EQ(tile->number(), tiles.endpoints[expected].number());
                if (ends) put_all(tile.endpoint(), file, tiles.bands[expected], *ends);
              };
              lend(0, 0);
              lend(1, std::nullopt);
              lend(2, 0);
              lend(1, std::nullopt);  // the only one in the first step
              lend(1, 0);
              lend(0, 1);  // given back first
              lend(2, 1);
              lend(1, 1);
              end_steps(session, file, 2);
            });
}

TEST(ThreadEndpointPool, nothing_is_lent_while_all_are) {
  with_pool(2, {{"deadline", "1s"}},
            [](Session& session, OutputFile& file, const PooledTiles& tiles, EndpointPool& pool) {
              EndpointLoan first = pool.take(), second = pool.take();
              EXPECT_FALSE(pool.try_take());
              const Error error = error_of([&] { (void)pool.take(); });
              EXPECT_EQ(error.code, ErrorCode::timed_out);
              EXPECT_THAT(error.text(),
                          AllOf(HasSubstr("rank 0"), HasSubstr("waited 1 s for an endpoint of the pool"),
                                HasSubstr("endpoint 1 ('tile'), endpoint 2 ('tile') are lent")));
              // The session goes on.
              put_all(first.endpoint(), file, tiles.bands[0], 0);
              put_all(second.endpoint(), file, tiles.bands[1], 0);
              end_steps(session, file, 1);
              first.give_back();
              first.give_back();
              EXPECT_EQ(error_of([&] { first->end_step(); }).code, ErrorCode::bad_state);
              EndpointLoan again = pool.take();
              EXPECT_EQ(again.index(), 0u);
            });
}

TEST(ThreadEndpointPool, none_is_lent_that_is_more_than_a_step_ahead) {
  with_pool(
      2, {{"deadline", "1s"}},
      [](Session& session, OutputFile& file, const PooledTiles& tiles, EndpointPool& pool) {
        EndpointLoan slow = pool.take();
        for (std::uint64_t step = 0; step < 2; ++step) {
          EndpointLoan tile = pool.take();
          ASSERT_EQ(tile.index(), 1u);
          put_all(tile.endpoint(), file, tiles.bands[1], step);
        }
        EXPECT_FALSE(pool.try_take());
        EXPECT_THAT(
            error_of([&] { (void)pool.take(); }).text(),
            HasSubstr("endpoint 1 ('tile') are lent, and the others are more than a step ahead of them"));
        put_all(slow.endpoint(), file, tiles.bands[0], 0);
        slow.give_back();
        for (std::uint64_t step = 1; step < 3; ++step) {
          EndpointLoan tile = pool.take();
          EXPECT_EQ(tile.index(), step - 1) << "the slower one first";
          put_all(tile.endpoint(), file, tiles.bands[tile.index()], step);
        }
        EndpointLoan last = pool.take();
        put_all(last.endpoint(), file, tiles.bands[last.index()], 2);
        end_steps(session, file, 3);
      });
}

TEST(ThreadEndpointPool, a_task_waits_until_another_gives_its_endpoint_back) {
  with_pool(1, settings(),
            [](Session& session, OutputFile& file, const PooledTiles& tiles, EndpointPool& pool) {
              std::atomic<bool> given_back{false};
              EndpointLoan loan = pool.take();
              std::jthread other([&, held = std::move(loan)]() mutable {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                put_all(held.endpoint(), file, tiles.bands[0], 0);
                given_back = true;
              });
              EndpointLoan next = pool.take();
              EXPECT_TRUE(given_back);
              put_all(next.endpoint(), file, tiles.bands[0], 1);
              end_steps(session, file, 2);
            });
}

TEST(ThreadEndpointPool, progress_of_endpoints_extends_the_deadline) {
  constexpr std::uint64_t steps = 7;  // for longer than the deadline
  with_pool(1, {{"deadline", "6s"}},
            [](Session& session, OutputFile& file, const PooledTiles& tiles, EndpointPool& pool) {
              EndpointLoan loan = pool.take();
              std::jthread other([&, held = std::move(loan)]() mutable {
                for (std::uint64_t step = 0; step < steps; ++step) {
                  put_all(held.endpoint(), file, tiles.bands[0], step);
                  std::this_thread::sleep_for(std::chrono::seconds(1));
                }
              });
              (void)pool.take();
              end_steps(session, file, steps);
            });
}

TEST(ThreadEndpointPool, mistakes_are_refused) {
  with_pool(
      2, settings(), [](Session& session, OutputFile& file, const PooledTiles& tiles, EndpointPool& pool) {
        const auto refusal = [](const std::vector<Endpoint>& endpoints) {
          return error_of([&] { EndpointPool made(endpoints); });
        };
        EXPECT_EQ(refusal({}).code, ErrorCode::invalid_argument);
        EXPECT_THAT(refusal({tiles.endpoints[0], tiles.endpoints[0]}).text(),
                    AllOf(HasSubstr("endpoint 1 ('tile'), which is in its list twice"), HasSubstr("rank 0")));
        EXPECT_EQ(refusal({Endpoint()}).code, ErrorCode::bad_state);
        EXPECT_EQ(error_of([] { (void)EndpointPool().take(); }).code, ErrorCode::bad_state);
        const Error not_lent = error_of([&] { pool.give_back(1); });
        EXPECT_EQ(not_lent.code, ErrorCode::bad_state);
        EXPECT_THAT(not_lent.text(), HasSubstr("endpoint 2 ('tile') was given back, but is not lent"));
        EXPECT_THAT(error_of([&] { pool.give_back(7); }).text(),
                    HasSubstr("number 7 was given back to a pool of 2 endpoints"));
        EndpointLoan tile = pool.take();
        const auto upper = values_of(0, {0, 12}, 0, 1), lower = values_of(0, {6, 6}, 0, 1);
        tile->put(file, "s", 0, lower.data(), {}, Section{{6, 0}, {6, columns}});
        const Error begun = error_of([&] { tile.give_back(); });
        EXPECT_EQ(begun.code, ErrorCode::bad_state);
        EXPECT_THAT(begun.text(), AllOf(HasSubstr("giving back by endpoint 1 ('tile')"),
                                        HasSubstr("has put 60 of the 120 elements of its part")));
        // Free nevertheless; what was begun is ended by the next task.
        EndpointLoan other = pool.take(), again = pool.take();
        EXPECT_EQ(again.index(), 0u);
        again->put(file, "s", 0, upper.data(), {}, Section{{0, 0}, {6, columns}});
        again->put(file, "t", 0, values_of(0, {0, 12}, 0, levels).data());
        again->end_step();
        put_all(other.endpoint(), file, tiles.bands[1], 0);
        end_steps(session, file, 1);
      });
}

TEST(ThreadEndpointPool, closed_endpoints_are_not_lent) {
  with_pool(3, {{"deadline", "2s"}},
            [](Session& session, OutputFile& file, const PooledTiles& tiles, EndpointPool& pool) {
              for (std::uint64_t step = 0; step < 2; ++step)
                for (std::size_t i = 0; i < 3; ++i) {
                  EndpointLoan tile = pool.take();
                  put_all(tile.endpoint(), file, tiles.bands[tile.index()], step);
                  if (step == 1 && i == 0) tile->close();
                }
              // The closed one has ended two steps: others need not wait until it ends a third.
              end_steps(session, file, 2);
              for (int i = 0; i < 3; ++i) {
                EndpointLoan tile = pool.take();
                EXPECT_NE(tile.index(), 0U);
                tile->end_step();
              }
              EXPECT_THAT(
                  error_of([&] { EndpointPool made(tiles.endpoints); }).text(),
                  AllOf(HasSubstr("endpoint 1 ('tile'), which has been closed"), HasSubstr("rank 0")));
              Endpoint(tiles.endpoints[1]).close();
              Endpoint(tiles.endpoints[2]).close();
              for (const bool waits : {true, false}) {
                const Error error = error_of([&] { waits ? (void)pool.take() : (void)pool.try_take(); });
                EXPECT_EQ(error.code, ErrorCode::bad_state);
                EXPECT_THAT(error.text(), HasSubstr("all 3 endpoints of the pool have been closed"));
              }
            });
}

TEST(ThreadEndpointPool, loans_may_outlive_the_session) {
  std::optional<EndpointLoan> late;
  with_pool(1, settings(),
            [&](Session& session, OutputFile& file, const PooledTiles& tiles, EndpointPool& pool) {
              late = pool.take();
              put_all(late->endpoint(), file, tiles.bands[0], 0);
              end_steps(session, file, 1);
            });
  EXPECT_EQ(error_of([&] { (*late)->end_step(); }).code, ErrorCode::bad_state);
  EXPECT_EQ(error_of([&] { late->give_back(); }).code, ErrorCode::bad_state);
}

}  // namespace
}  // namespace afterbay::test
