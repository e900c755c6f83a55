// SPDX-License-Identifier: Apache-2.0
// What endpoints refuse, and what they report if a part is missing. In one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "client/collection_records.hpp"
#include "unit/session/endpoint_model.hpp"

namespace afterbay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// One rank with a file and two endpoints, whose parts are rows [0, 10) and [10, 24).
/// `earlier`: endpoints that were opened and closed before.
void with_two_endpoints(const LocalRun::Settings& given,
                        const std::function<void(Session&, OutputFile&, Endpoint&, Endpoint&)>& model,
                        int earlier = 0) {
  const Directory directory;
  LocalRun run(1, 1, given);
  bool has_ended = false;
  (void)run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "netcdf4", directory, 1, rank).open("c.nc");
    for (int i = 0; i < earlier; ++i) session.endpoint().close();
    Endpoint a = session.endpoint("upper");
    Endpoint b = session.endpoint("lower");
    a.part("grid", Block{{rows, columns}, {0, 0}, {10, columns}});
    b.part("grid", Block{{rows, columns}, {10, 0}, {14, columns}});
    model(session, file, a, b);
    has_ended = true;
  });
  EXPECT_TRUE(has_ended) << "a call of the model threw";
}

const std::vector<double>& zeros() {
  static const std::vector<double> all(levels * rows * columns, 0.0);
  return all;
}

TEST(ThreadEndpointMistakes, parts_must_not_overlap_or_leave_the_rank) {
  with_two_endpoints(settings(), [](Session& session, OutputFile&, Endpoint& a, Endpoint&) {
    Endpoint c = session.endpoint();
    const Error overlap = error_of([&] { c.part("grid", Block{{rows, columns}, {9, 0}, {2, 1}}); });
    EXPECT_EQ(overlap.code, ErrorCode::conflict);
    EXPECT_THAT(overlap.text(), AllOf(HasSubstr("endpoint 3"), HasSubstr("endpoint 1 ('upper')"),
                                      HasSubstr("grid"), HasSubstr("rank 0")));
    EXPECT_EQ(error_of([&] { c.whole("grid"); }).code, ErrorCode::conflict);
    const Error outside = error_of([&] { c.part("grid", Block{{rows + 1, columns}, {0, 0}, {1, 1}}); });
    EXPECT_EQ(outside.code, ErrorCode::invalid_argument);
    EXPECT_EQ(error_of([&] { c.part("nothing", Block{{1}, {0}, {1}}); }).code, ErrorCode::unknown_name);
    EXPECT_EQ(error_of([&] { a.part("grid", Block{{rows, columns}, {0, 0}, {0, 0}}); }).code,
              ErrorCode::conflict);
    Map map;
    map.global = {rows, columns};
    map.indices = {1};
    EXPECT_EQ(error_of([&] { c.part("grid", map); }).code, ErrorCode::wrong_type);
  });
}

TEST(ThreadEndpointMistakes, a_try_put_does_not_wait_for_slower_endpoints) {
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    constexpr std::uint64_t most = client::CollectionRecords::most_open;
    for (std::uint64_t record = 0; record < most; ++record) {
      a.put(file, "t", record, zeros().data());
      a.end_step();
    }
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(a.try_put(file, "t", most, zeros().data()));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
    for (std::uint64_t record = 0; record < most; ++record) {
      b.put(file, "t", record, zeros().data());
      b.end_step();
      session.end_step();
    }
    EXPECT_TRUE(a.try_put(file, "t", most, zeros().data()));
    b.put(file, "t", most, zeros().data());
    for (Endpoint* const it : {&a, &b}) it->end_step();
    session.end_step();
    file.close();
    session.finalize();
  });
}

TEST(ThreadEndpointMistakes, values_are_put_once) {
  with_two_endpoints(settings(), [](Session&, OutputFile& file, Endpoint& a, Endpoint& b) {
    a.put(file, "t", 0, zeros().data());
    EXPECT_EQ(error_of([&] { a.put(file, "t", 0, zeros().data()); }).code, ErrorCode::conflict);
    b.put(file, "t", 0, zeros().data(), {}, Section{{0, 0, 0}, {1, 14, columns}});
    const Error twice =
        error_of([&] { b.put(file, "t", 0, zeros().data(), {}, Section{{0, 5, 0}, {2, 1, columns}}); });
    EXPECT_EQ(twice.code, ErrorCode::conflict);
    EXPECT_THAT(twice.text(), AllOf(HasSubstr("endpoint 2 ('lower')"), HasSubstr("section"),
                                    HasSubstr("variable t"), HasSubstr("rank 0")));
    const Error outside =
        error_of([&] { b.put(file, "t", 0, zeros().data(), {}, Section{{0, 10, 0}, {1, 5, columns}}); });
    EXPECT_EQ(outside.code, ErrorCode::invalid_argument);
    b.put(file, "t", 0, zeros().data(), {}, Section{{1, 0, 0}, {2, 14, columns}});
    EXPECT_EQ(error_of([&] { b.put(file, "t", 0, zeros().data()); }).code, ErrorCode::conflict);
  });
}

TEST(ThreadEndpointMistakes, empty_sections_are_put_any_number_of_times) {
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    Endpoint c = session.endpoint("more threads than rows");
    c.part("grid", Block{{rows, columns}, {0, 0}, {0, columns}});
    for (std::uint64_t l = 0; l < levels; ++l)
      c.put(file, "t", 0, zeros().data(), {}, Section{{l, 0, 0}, {1, 0, columns}});
    a.put(file, "t", 0, zeros().data());
    a.put(file, "t", 0, zeros().data(), {}, Section{{0, 0, 0}, {1, 0, columns}});
    b.put(file, "t", 0, zeros().data(), {}, Section{{0, 0, 0}, {0, 14, columns}});
    b.put(file, "t", 0, zeros().data());
    for (Endpoint* const it : {&a, &b, &c}) it->end_step();
    session.end_step();
    file.close();
    session.finalize();
  });
}

TEST(ThreadEndpointMistakes, a_step_does_not_end_with_a_section_missing) {
  with_two_endpoints(settings(), [](Session&, OutputFile& file, Endpoint&, Endpoint& b) {
    b.put(file, "t", 0, zeros().data(), {}, Section{{0, 0, 0}, {1, 14, columns}});
    const Error early = error_of([&] { b.end_step(); });
    EXPECT_EQ(early.code, ErrorCode::bad_state);
    EXPECT_THAT(early.text(), AllOf(HasSubstr("140 of the 420 elements"), HasSubstr("endpoint 2 ('lower')"),
                                    HasSubstr("c.nc"), HasSubstr("rank 0")));
    b.put(file, "t", 0, zeros().data(), {}, Section{{1, 0, 0}, {2, 14, columns}});
    b.end_step();
  });
}

TEST(ThreadEndpointMistakes, a_missing_part_is_named_after_many_endpoints) {
  with_two_endpoints(
      settings(),
      [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
        a.put(file, "t", 0, zeros().data());
        a.end_step();
        session.end_step();
        EXPECT_THAT(
            error_of([&] { b.end_step(); }).text(),
            AllOf(HasSubstr("not handed over by endpoint 1502 ('lower')"), Not(HasSubstr("endpoint 1501"))));
      },
      1500);
}

TEST(ThreadEndpointMistakes, a_part_that_nobody_put_is_reported_when_the_step_ends) {
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    a.put(file, "t", 0, zeros().data());
    a.end_step();
    session.end_step();
    const Error error = error_of([&] { b.end_step(); });
    EXPECT_EQ(error.code, ErrorCode::bad_state);
    EXPECT_THAT(error.text(),
                AllOf(HasSubstr("420 of 720 values of variable 't', record 0"),
                      HasSubstr("not handed over by endpoint 2 ('lower')"), HasSubstr("rank 0")));
    EXPECT_EQ(error_of([&] { session.end_step(); }).text(), error.text());
    EXPECT_EQ(error_of([&] { a.put(file, "s", 0, zeros().data()); }).text(), error.text());
  });
}

TEST(ThreadEndpointMistakes, an_endpoint_that_leaves_out_its_part_and_goes_on_is_named) {
  // It puts the next record before the others put the one that it has left out ...
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    for (Endpoint* const it : {&a, &b}) {
      it->put(file, "t", 0, zeros().data());
      it->end_step();
    }
    session.end_step();
    b.end_step();
    b.put(file, "t", 2, zeros().data());
    b.end_step();
    const Error error = error_of([&] { a.put(file, "t", 1, zeros().data()); });
    EXPECT_EQ(error.code, ErrorCode::bad_state);
    EXPECT_THAT(error.text(), AllOf(HasSubstr("endpoint 2 ('lower') has ended step 1 without its part of "
                                              "variable 't', record 1 of "),
                                    HasSubstr("c.nc, which endpoint 1 ('upper') puts"), HasSubstr("rank 0"),
                                    Not(HasSubstr("record 2"))));
    EXPECT_EQ(error_of([&] { session.end_step(); }).code, ErrorCode::bad_state);
  });
  // ... or after.
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    a.put(file, "t", 0, zeros().data());
    b.end_step();
    b.put(file, "t", 1, zeros().data());
    session.end_step();
    const Error error = error_of([&] { a.end_step(); });
    EXPECT_EQ(error.code, ErrorCode::bad_state);
    EXPECT_THAT(error.text(), AllOf(HasSubstr("420 of 720 values of variable 't', record 0"),
                                    HasSubstr("not handed over by endpoint 2 ('lower')"),
                                    Not(HasSubstr("'upper'")), Not(HasSubstr("record 1"))));
  });
  // It may leave out variables of which it has no points.
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    Endpoint none = session.endpoint("none");
    none.part("grid", Block{{rows, columns}, {0, 0}, {0, columns}});
    none.put(file, "t", 0, zeros().data());
    none.end_step();
    a.put(file, "t", 0, zeros().data());
    a.end_step();
    session.end_step();
    EXPECT_THAT(error_of([&] {
                  none.end_step();
                  b.end_step();
                }).text(),
                AllOf(HasSubstr("'lower'"), Not(HasSubstr("'none'"))));
  });
}

TEST(ThreadEndpointMistakes, an_endpoint_that_is_closed_before_it_puts_its_part_is_named) {
  for (const bool closed_first : {true, false})
    with_two_endpoints(settings(), [&](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
      if (closed_first) b.close();
      a.put(file, "t", 0, zeros().data());
      if (!closed_first) b.close();
      a.end_step();
      const Error error = error_of([&] { session.end_step(); });
      EXPECT_EQ(error.code, ErrorCode::bad_state);
      EXPECT_THAT(error.text(), AllOf(HasSubstr("420 of 720 values of variable 't', record 0"),
                                      HasSubstr("not handed over by endpoint 2 ('lower'), which was closed"),
                                      HasSubstr("rank 0"), Not(HasSubstr("belong to no endpoint"))));
    });
  // Not if another one has its points by then.
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    a.put(file, "t", 0, zeros().data());
    b.close();
    Endpoint c = session.endpoint("next");
    c.part("grid", Block{{rows, columns}, {10, 0}, {14, columns}});
    for (Endpoint* const it : {&a, &c}) it->end_step();
    EXPECT_THAT(error_of([&] { session.end_step(); }).text(),
                AllOf(HasSubstr("not handed over by endpoint 3 ('next')"), Not(HasSubstr("'lower'"))));
  });
}

TEST(ThreadEndpointMistakes, points_that_no_endpoint_has_are_named) {
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    for (Endpoint* const it : {&a, &b}) {
      it->put(file, "t", 0, zeros().data());
      it->end_step();
    }
    session.end_step();
    b.close();
    Endpoint c = session.endpoint("less");
    c.part("grid", Block{{rows, columns}, {12, 0}, {12, columns - 2}});
    for (Endpoint* const it : {&a, &c}) {
      it->put(file, "t", 1, zeros().data());
      it->end_step();
    }
    const Error error = error_of([&] { session.end_step(); });
    EXPECT_EQ(error.code, ErrorCode::bad_state);
    EXPECT_THAT(error.text(),
                AllOf(HasSubstr("44 points of decomposition 'grid' belong to no endpoint, among "
                                "them [10:12, 0:10]"),
                      Not(HasSubstr("not handed over by"))));
  });
  const Directory directory;
  LocalRun run(1, 1, settings());
  bool has_ended = false;
  (void)run.run([&](Session& session, int) {
    Map map;
    map.global = {12};
    map.indices = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    session.decomposition("points", map);
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", 12);
    schema.variable("v", Type::float32, {"time", "x"}).on("points");
    OutputFile file = session.collection("c", schema, {.directory = directory.path.string()}).open("c.nc");
    Endpoint some = session.endpoint();
    map.indices = {9, 0, 1};
    some.part("points", map);
    some.put(file, "v", 0, zeros().data());
    some.end_step();
    EXPECT_THAT(
        error_of([&] { session.end_step(); }).text(),
        HasSubstr("9 points of decomposition 'points' belong to no endpoint, the first of them with the "
                  "linear index 2"));
    has_ended = true;
  });
  EXPECT_TRUE(has_ended) << "a call of the model threw";
}

TEST(ThreadEndpointMistakes, a_thread_that_leaves_out_its_part_is_reported_within_the_deadline) {
  with_two_endpoints({{"deadline", "1s"}}, [](Session& session, OutputFile& file, Endpoint& a, Endpoint&) {
    a.put(file, "t", 0, zeros().data());
    a.end_step();
    session.end_step();
    const auto start = std::chrono::steady_clock::now();
    const Error error = error_of([&] { file.close(); });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << "the deadline is 1 s";
    EXPECT_EQ(error.code, ErrorCode::timed_out);
    EXPECT_THAT(error.text(), AllOf(HasSubstr("endpoint 2 ('lower') has ended 0 of 1 steps"),
                                    HasSubstr("420 of 720 values"), HasSubstr("rank 0")));
  });
  // A session that waits for nothing notices as well.
  with_two_endpoints({{"deadline", "1s"}}, [](Session& session, OutputFile& file, Endpoint& a, Endpoint&) {
    a.put(file, "t", 0, zeros().data());
    a.end_step();
    Error error(ErrorCode::internal, "");
    for (int step = 0; step < 100 && error.message.empty(); ++step) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      error = error_of([&] { session.end_step(); });
      if (error.message == "nothing was refused") error.message.clear();
    }
    EXPECT_EQ(error.code, ErrorCode::timed_out);
    EXPECT_THAT(error.text(), HasSubstr("endpoint 2 ('lower')"));
  });
}

TEST(ThreadEndpointMistakes, the_session_cannot_put_what_endpoints_have) {
  with_two_endpoints(settings(), [](Session&, OutputFile& file, Endpoint& a, Endpoint&) {
    const Error taken = error_of([&] { file.put("t", 0, zeros().data()); });
    EXPECT_EQ(taken.code, ErrorCode::conflict);
    EXPECT_THAT(taken.text(), HasSubstr("endpoint 1 ('upper') has a part of decomposition 'grid'"));
    const double now = 0;
    const Error without = error_of([&] { a.put(file, "time", 0, &now); });
    EXPECT_EQ(without.code, ErrorCode::bad_state);
    EXPECT_THAT(without.text(), HasSubstr("names no decomposition"));
    a.whole();
    a.put(file, "time", 0, &now);
  });
}

TEST(ThreadEndpointMistakes, points_change_hands_only_for_later_puts) {
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    a.put(file, "t", 0, zeros().data());
    a.close();
    Endpoint c = session.endpoint();
    c.part("grid", Block{{rows, columns}, {5, 0}, {5, columns}});
    const Error twice = error_of([&] { c.put(file, "t", 0, zeros().data()); });
    EXPECT_EQ(twice.code, ErrorCode::conflict);
    b.put(file, "t", 0, zeros().data());
    c.put(file, "s", 0, zeros().data());
    EXPECT_EQ(error_of([&] { a.put(file, "s", 0, zeros().data()); }).code, ErrorCode::bad_state);
    Endpoint d = session.endpoint();
    d.part("grid", Block{{rows, columns}, {0, 0}, {5, columns}});
    d.put(file, "s", 0, zeros().data());
    b.put(file, "s", 0, zeros().data());
    for (Endpoint* const it : {&b, &c, &d}) it->end_step();
    session.end_step();
    file.close();
    session.finalize();
    EXPECT_EQ(error_of([&] { d.put(file, "s", 1, zeros().data()); }).code, ErrorCode::bad_state);
  });
}

/// A team of threads is opened again and again while one endpoint stays.
TEST(ThreadEndpointMistakes, a_missing_part_is_named_while_an_old_endpoint_is_open) {
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    b.close();
    for (int i = 0; i < 1500; ++i) session.endpoint().close();
    Endpoint late = session.endpoint("late");
    late.part("grid", Block{{rows, columns}, {10, 0}, {14, columns}});
    a.put(file, "t", 0, zeros().data());
    a.end_step();
    session.end_step();
    EXPECT_THAT(error_of([&] { late.end_step(); }).text(),
                HasSubstr("not handed over by endpoint 1503 ('late')"));
  });
}

TEST(ThreadEndpointMistakes, the_session_does_not_put_again_what_a_closed_endpoint_put) {
  const std::vector<std::function<void(OutputFile&)>> puts{
      [](OutputFile& file) { file.put("t", 0, zeros().data()); },
      [](OutputFile& file) {
        file.put_section("t", 0, Section{{0, 10, 0}, {levels, 14, columns}}, zeros().data());
      }};
  for (const auto& put : puts) {
    with_two_endpoints(settings(), [&](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
      a.put(file, "t", 0, zeros().data());
      a.close();
      b.close();
      const Error again = error_of([&] { put(file); });
      EXPECT_EQ(again.code, ErrorCode::conflict);
      EXPECT_THAT(again.text(),
                  AllOf(HasSubstr("an endpoint that has been closed"), HasSubstr("by the session"),
                        HasSubstr("variable t"), HasSubstr("rank 0")));
      EXPECT_THAT(error_of([&] { session.end_step(); }).text(),
                  AllOf(HasSubstr("420 of 720 values"), HasSubstr("endpoint 2 ('lower'), which was closed")));
    });
  }
}

TEST(ThreadEndpointMistakes, no_endpoint_gets_points_of_which_the_session_owes_sections) {
  const Directory directory;
  LocalRun run(1, 1, settings());
  expect_no_errors(run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "netcdf4", directory, 1, rank).open("c.nc");
    Endpoint early = session.endpoint("early");
    const auto put_level = [&](std::uint64_t level) {
      file.put_section("t", 0, Section{{level, 0, 0}, {1, rows, columns}},
                       values_of(0, {0, rows}, level, 1).data());
    };
    put_level(1);
    const Block all{{rows, columns}, {0, 0}, {rows, columns}};
    const Error refused = error_of([&] { early.part("grid", all); });
    EXPECT_EQ(refused.code, ErrorCode::conflict);
    EXPECT_THAT(refused.text(), AllOf(HasSubstr("endpoint 1 ('early')"), HasSubstr("register the part")));
    put_level(0);
    put_level(2);
    early.part("grid", all);
    early.put(file, "s", 0, values_of(0, {0, rows}, 0, 1).data());
    const double now = 0;
    file.put("time", 0, &now);
    early.end_step();
    session.end_step();
    file.close();
    session.finalize();
  }));
  expect_contents(directory.path / "c.nc", 1);
}

TEST(ThreadEndpointMistakes, a_refused_try_put_may_be_left_out) {
  constexpr std::uint64_t y = 256, x = 512;
  const Directory directory;
  LocalRun run(1, 1, little_memory());
  std::uint64_t records = 0;
  expect_no_errors(run.run([&](Session& session, int) {
    session.decomposition("grid", Block{{y, x}, {0, 0}, {y, x}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", y).dimension("x", x);
    schema.variable("a", Type::float32, {"time", "y", "x"}).on("grid");
    OutputFile file =
        session.collection("c", schema, {.directory = directory.path.string(), .store = "cdf5"}).open("c.nc");
    std::vector<Endpoint> halves;
    for (std::uint64_t i = 0; i < 2; ++i) {
      halves.push_back(session.endpoint());
      halves.back().part("grid", Block{{y, x}, {i * y / 2, 0}, {y / 2, x}});
    }
    const std::vector<float> ones(y / 2 * x, 1.0F);
    // The other half of each record comes later, so that the memory fills up.
    while (halves[0].try_put(file, "a", records, ones.data())) {
      halves[0].end_step();
      ASSERT_LT(++records, 32U);
    }
    halves[0].end_step();  // this step has no record
    for (std::uint64_t record = 0; record < records; ++record) {
      halves[1].put(file, "a", record, ones.data());
      halves[1].end_step();
      session.end_step();
    }
    halves[1].end_step();
    session.end_step();
    for (Endpoint& half : halves) {  // and the next one has the record that was refused
      half.put(file, "a", records, ones.data());
      half.end_step();
    }
    session.end_step();
    file.close();
    session.finalize();
  }));
  EXPECT_GE(records, 1U);
  const auto values = read<double>(directory.path / "c.nc", "a");
  ASSERT_EQ(values.size(), (records + 1) * y * x);
  EXPECT_TRUE(std::ranges::all_of(values, [](double value) { return value == 1; }));
}

/// An endpoint without points puts the variable; the one that has the points leaves it out.
TEST(ThreadEndpointMistakes, a_part_is_missing_of_a_put_that_only_an_empty_part_began) {
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    Endpoint empty = session.endpoint("more threads than rows");
    empty.part("grid", Block{{rows, columns}, {0, 0}, {0, columns}});
    empty.put(file, "t", 0, zeros().data());
    for (Endpoint* const it : {&a, &b, &empty}) it->end_step();
    EXPECT_THAT(error_of([&] { session.end_step(); }).text(),
                AllOf(HasSubstr("720 of 720 values"), HasSubstr("not handed over by endpoint 1 ('upper')")));
  });
}

TEST(ThreadEndpointMistakes, a_slot_is_destroyed_by_another_thread_during_calls) {
  with_two_endpoints(settings(), [](Session& session, OutputFile& file, Endpoint& a, Endpoint& b) {
    std::optional<Slot> slot = a.acquire(file, "s", 0, Type::int32);
    std::jthread other([&] { slot.reset(); });
    for (std::uint64_t level = 0; level < levels; ++level)
      a.put(file, "t", 0, zeros().data(), {}, Section{{level, 0, 0}, {1, 10, columns}});
    other.join();
    b.put(file, "t", 0, zeros().data());
    for (Endpoint* const it : {&a, &b}) it->end_step();
    EXPECT_THAT(error_of([&] { session.end_step(); }).text(), HasSubstr("values of variable 's'"));
  });
}

TEST(ThreadEndpointMistakes, two_threads_in_one_endpoint_or_one_session_are_refused) {
  // The first caller waits for room that never comes, so that the second certainly meets it.
  LocalRun::Settings tight = little_memory();
  tight.back().second = "60s";
  std::atomic<bool> seen{false};
  constexpr std::uint64_t large = 1 << 20;
  const Directory directory;
  LocalRun run(2, 1, tight);
  (void)run.run([&](Session& session, int rank) {
    for (const char* const name : {"line", "line of the session"})
      session.decomposition(name, Block{{2 * large}, {large * static_cast<std::uint64_t>(rank)}, {large}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", 2 * large);
    schema.variable("v", Type::float32, {"time", "x"}).on("line");
    schema.variable("w", Type::float32, {"time", "x"}).on("line of the session");
    OutputFile file = session.collection("c", schema, {.directory = directory.path.string()}).open("c.nc");
    const std::vector<float> values(large, 1.0F);
    if (rank == 1) {  // whose end also ends the waiting
      for (int i = 0; i < 6000 && !seen; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    Endpoint endpoint = session.endpoint();
    endpoint.part("line", Block{{2 * large}, {0}, {large / 2}});
    std::jthread first([&] {
      for (std::uint64_t record = 0; record < 8;) {
        const Error error = error_of([&] { endpoint.put(file, "v", record, values.data()); });
        // Either thread may be the one that is refused, until this one waits.
        if (error.text().find("another thread") != std::string::npos) continue;
        if (error.message != "nothing was refused") return;
        ++record;
      }
    });
    // A call that cannot wait for room: its variable is unknown.
    Error busy(ErrorCode::internal, "");
    for (int i = 0; i < 6000 && busy.code != ErrorCode::bad_state; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      busy = error_of([&] { endpoint.put(file, "unknown", 0, values.data()); });
    }
    EXPECT_EQ(busy.code, ErrorCode::bad_state);
    EXPECT_THAT(busy.text(),
                AllOf(HasSubstr("endpoint 1"), HasSubstr("another thread"), HasSubstr("rank 0")));
    std::jthread in_session([&] {  // puts until it waits for room, as the endpoint does
      for (std::uint64_t record = 0; record < 8;) {
        const Error error = error_of([&] { file.put("w", record, values.data()); });
        if (error.text().find("(progress)") != std::string::npos) continue;
        if (error.message != "nothing was refused") return;
        ++record;
      }
    });
    Error second(ErrorCode::internal, "");
    for (int i = 0; i < 6000 && second.code != ErrorCode::bad_state; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      second = error_of([&] { session.progress(); });
    }
    EXPECT_EQ(second.code, ErrorCode::bad_state);
    EXPECT_THAT(second.text(),
                AllOf(HasSubstr("progress was called while another thread is in a call of the session (put)"),
                      HasSubstr("rank 0")));
    seen = true;
  });
}

}  // namespace
}  // namespace afterbay::test
