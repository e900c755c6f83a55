// SPDX-License-Identifier: Apache-2.0
// Slots, and the result of refused puts: in one process, with files read back by netCDF.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t rank_points = 512;  ///< per rank

LocalRun::Settings slot_little_memory() {
  return {{"memory.server", "4MiB"},
          {"memory.block", "64KiB"},
          {"memory.small_block", "16KiB"},
          {"deadline", "5s"}};
}

Collection& collection_of(Session& session, int ranks, int rank, const Directory& directory,
                          std::optional<Collection>& made, Type type = Type::float32,
                          const std::string& store = "netcdf4") {
  const std::uint64_t first = rank_points * static_cast<std::uint64_t>(rank);
  session.decomposition("line",
                        Block{{rank_points * static_cast<std::uint64_t>(ranks)}, {first}, {rank_points}});
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", rank_points * static_cast<std::uint64_t>(ranks));
  schema.variable("v", type, {"time", "x"}).on("line");
  schema.variable("w", type, {"time", "x"}).on("line");
  made.emplace(session.collection("c", schema,
                                  {.file = "c.nc", .directory = directory.path.string(), .store = store}));
  return *made;
}

template <class T>
void fill_slot(const Slot& slot, T value) {
  for (const Slot::Part& part : slot.parts()) {
    ASSERT_EQ(part.count.size(), 1U);
    auto* const data = static_cast<T*>(part.data);
    std::fill(data, data + part.count[0], value);
  }
}

Error slot_error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return failure.error();
  }
  return Error(ErrorCode::internal, "nothing was refused");
}

class ThreadSessionSlot : public testing::TestWithParam<Type> {};

// Before, the oldest of 32 open records was ended to begin another, although its memory was lent:
// another frame used it while the model still wrote to it.
TEST_P(ThreadSessionSlot, a_record_with_a_slot_out_is_not_ended_to_begin_another) {
  const Directory directory;
  LocalRun run(2, 1, slot_little_memory());
  const auto errors = run.run([&](Session& session, int rank) {
    std::optional<Collection> made;
    OutputFile file = collection_of(session, 2, rank, directory, made).open();
    Slot slot = file.acquire("v", 0, GetParam());
    EXPECT_EQ(slot.direct(), GetParam() == Type::float32);
    for (std::uint64_t record = 1; record < 32; ++record) {
      const std::vector<float> values(rank_points, static_cast<float>(record));
      file.put("v", record, values.data());
    }
    const std::vector<float> last(rank_points, 32.0F);
    const Error refused = slot_error_of([&] { file.put("v", 32, last.data()); });
    EXPECT_EQ(refused.code, ErrorCode::bad_state);
    EXPECT_THAT(refused.text(), HasSubstr("while a slot is not committed"));
    if (slot.direct())
      fill_slot(slot, 0.0F);
    else
      fill_slot(slot, 0.0);
    slot.commit();
    file.put("v", 32, last.data());
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  const auto values = read<float>(directory.path / "c.nc", "v");
  ASSERT_EQ(values.size(), 33 * 2 * rank_points);
  for (std::uint64_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<float>(i / (2 * rank_points))) << i;
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionSlot, testing::Values(Type::float32, Type::float64),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

// Ranks that share memory with the server number a record when they acquire it. Before, ranks that
// copy at commit, like those on other nodes, numbered it at commit, and the server reported a
// conflict between the two orders.
TEST(ThreadSessionSlots, ranks_that_copy_at_commit_number_records_as_ranks_that_do_not) {
  const Directory directory;
  LocalRun run(2, 1, slot_little_memory());
  const auto errors = run.run([&](Session& session, int rank) {
    std::optional<Collection> made;
    OutputFile file = collection_of(session, 2, rank, directory, made).open();
    Slot slot = file.acquire("v", 0, rank == 0 ? Type::float32 : Type::float64);
    EXPECT_EQ(slot.direct(), rank == 0);
    const std::vector<float> later(rank_points, 7.0F);
    file.put("w", 1, later.data());
    if (rank == 0)
      fill_slot(slot, 5.0F);
    else
      fill_slot(slot, 5.0);
    slot.commit();
    file.put("w", 0, later.data());
    file.put("v", 1, later.data());
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  const auto v = read<float>(directory.path / "c.nc", "v");
  const auto w = read<float>(directory.path / "c.nc", "w");
  ASSERT_EQ(v.size(), 4 * rank_points);
  for (std::uint64_t i = 0; i < v.size(); ++i) {
    ASSERT_EQ(v[i], i < 2 * rank_points ? 5.0F : 7.0F) << i;
    ASSERT_EQ(w[i], 7.0F) << i;
  }
}

TEST(ThreadSessionSlots, a_slot_that_lends_a_private_array_is_out_as_well) {
  LocalRun run(1, 1, slot_little_memory());
  const auto errors = run.run([&](Session& session, int rank) {
    const Directory directory;
    std::optional<Collection> made;
    OutputFile file = collection_of(session, 1, rank, directory, made).open();
    Slot slot = file.acquire("v", 0, Type::float64);
    EXPECT_EQ(slot_error_of([&] { session.end_step(); }).code, ErrorCode::bad_state);
    EXPECT_EQ(slot_error_of([&] { file.close(); }).code, ErrorCode::bad_state);
    fill_slot(slot, 1.0);
    slot.commit();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
}

class ThreadSessionRange : public testing::TestWithParam<const char*> {};

// Before, the rest of such a field was written, with other values in place of those that did not
// fit.
TEST_P(ThreadSessionRange, nothing_of_a_put_with_values_out_of_range_is_taken) {
  const Directory directory;
  LocalRun run(2, 1, slot_little_memory());
  const auto errors = run.run([&](Session& session, int rank) {
    std::optional<Collection> made;
    OutputFile file = collection_of(session, 2, rank, directory, made, Type::int16, GetParam()).open();
    std::vector<std::int32_t> values(rank_points, 100 + rank);
    if (rank == 1) {
      values.back() = 40000;
      const Error refused = slot_error_of([&] { file.put("v", 0, values.data()); });
      EXPECT_EQ(refused.code, ErrorCode::wrong_type);
      EXPECT_THAT(refused.text(), HasSubstr("no value of the put was taken"));
      EXPECT_EQ(slot_error_of([&] { (void)file.try_put("v", 0, values.data()); }).code,
                ErrorCode::wrong_type);
      values.back() = 101;
    }
    file.put("v", 0, values.data());
    Slot slot = file.acquire("w", 0, Type::int32);
    if (rank == 0) {
      fill_slot(slot, 40000);
      EXPECT_EQ(slot_error_of([&] { slot.commit(); }).code, ErrorCode::wrong_type);
    }
    fill_slot(slot, 100 + rank);
    slot.commit();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  for (const char* name : {"v", "w"}) {
    const auto values = read<int>(directory.path / "c.nc", name);
    ASSERT_EQ(values.size(), 2 * rank_points);
    for (std::uint64_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i < rank_points ? 100 : 101) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionRange, testing::Values("netcdf4", "cdf5", "cdf2"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(ThreadSessionRanges, a_record_that_a_rank_leaves_out_after_a_refusal_is_not_published) {
  const Directory directory;
  LocalRun run(2, 1, slot_little_memory());
  const auto errors = run.run([&](Session& session, int rank) {
    std::optional<Collection> made;
    OutputFile file = collection_of(session, 2, rank, directory, made).open();
    const std::vector<double> values(rank_points, rank == 1 ? 1e300 : 1.0);
    if (rank == 1)
      EXPECT_EQ(slot_error_of([&] { file.put("v", 0, values.data()); }).code, ErrorCode::wrong_type);
    else
      file.put("v", 0, values.data());
    session.end_step();
    session.finalize();
  });
  ASSERT_TRUE(errors[2]);
  EXPECT_THAT(errors[2]->text(), HasSubstr("model rank 1 did not put variable 'v'"));
  EXPECT_FALSE(std::filesystem::exists(directory.path / "c.nc"));
}

// Memory full of data that a rank completes later is no reason to end a run in which no rank waits.
TEST(ThreadSessionSlots, a_rank_that_computes_for_longer_than_the_deadline_with_a_full_memory_ends_no_run) {
  const Directory directory;
  LocalRun run(1, 1,
               {{"memory.server", "1MiB"},
                {"memory.block", "128KiB"},
                {"memory.small_block", "32KiB"},
                {"memory.small_share", "0"},
                {"deadline", "1s"}});  // eight blocks, one of them reserved
  run.settings_of_rank = [](int) { return LocalRun::Settings{{"deadline", "60s"}}; };
  const auto errors = run.run([&](Session& session, int rank) {
    std::optional<Collection> made;
    OutputFile file = collection_of(session, 1, rank, directory, made).open();
    std::vector<Slot> slots;
    for (std::uint64_t record = 0; record < 7; ++record)
      slots.push_back(file.acquire("v", record, Type::float32));
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));  // computes
    for (Slot& slot : slots) {
      fill_slot(slot, 1.0F);
      slot.commit();
    }
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
}

/// A memory of eight blocks, one of them reserved.
LocalRun::Settings eight_blocks() {
  return {{"memory.server", "1MiB"},   {"memory.block", "128KiB"}, {"memory.small_block", "32KiB"},
          {"memory.small_share", "0"}, {"chunk", "64KiB"},         {"deadline", "4s"}};
}

enum class IfRefused { fail, put };

/// Puts `rows` x 32 KiB of doubles per rank by try_put; returns what each rank and server reported.
std::vector<std::optional<Error>> try_to_put(std::uint64_t rows, int ranks, const Directory& directory,
                                             IfRefused if_refused = IfRefused::fail) {
  LocalRun run(ranks, 1, eight_blocks());
  return run.run([&](Session& session, int rank) {
    constexpr std::uint64_t slot_wide = 4096;
    const std::uint64_t first = rows * static_cast<std::uint64_t>(rank);
    session.decomposition(
        "rows", Block{{rows * static_cast<std::uint64_t>(ranks), slot_wide}, {first, 0}, {rows, slot_wide}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", rows * static_cast<std::uint64_t>(ranks));
    schema.dimension("x", slot_wide).variable("v", Type::float64, {"time", "y", "x"}).on("rows");
    OutputFile file =
        session
            .collection("c", schema, {.file = "c.nc", .directory = directory.path.string(), .store = "cdf5"})
            .open();
    std::vector<double> values(rows * slot_wide);
    for (std::uint64_t record = 0; record < 3; ++record) {
      for (std::uint64_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<double>(record * 1'000'000 + first * slot_wide + i);
      const auto attempt = [&] {
        while (!file.try_put("v", record, values.data()))
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      };
      if (if_refused == IfRefused::put) {
        EXPECT_EQ(slot_error_of(attempt).code, ErrorCode::resources);
        file.put("v", record, values.data());
      } else {
        attempt();
      }
      session.end_step();
    }
    session.finalize();
  });
}

void expect_all_rows(const Directory& directory, std::uint64_t points_in_all) {
  const auto values = read<double>(directory.path / "c.nc", "v");
  ASSERT_EQ(values.size(), 3 * points_in_all);
  for (std::uint64_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<double>(i / points_in_all * 1'000'000 + i % points_in_all)) << i;
}

// 24 rows fill 8 frames: all of the memory, including the blocks reserved for the slowest rank.
TEST(ThreadSessionTry, a_field_that_needs_the_reserved_blocks_as_well_is_taken) {
  const Directory directory;
  for (const auto& error : try_to_put(24, 1, directory)) EXPECT_FALSE(error) << error->text();
  expect_all_rows(directory, 24 * 4096);
}

// Two ranks hold half of the memory each, and neither can get the rest at once.
TEST(ThreadSessionTry, ranks_whose_fields_fit_only_one_at_a_time_go_on) {
  const Directory directory;
  for (const auto& error : try_to_put(24, 2, directory)) EXPECT_FALSE(error) << error->text();
  expect_all_rows(directory, 48 * 4096);
}

TEST(ThreadSessionTry, a_field_larger_than_the_memory_is_refused) {
  const Directory directory;
  const auto errors = try_to_put(64, 1, directory);
  ASSERT_TRUE(errors[0]);
  EXPECT_EQ(errors[0]->code, ErrorCode::resources);
  EXPECT_THAT(errors[0]->text(), HasSubstr("use put"));
}

// Before, the refusal ended the session, so that the recommended put failed with the same error.
TEST(ThreadSessionTry, a_field_larger_than_the_memory_can_be_put_after_the_refusal) {
  for (const int ranks : {1, 2}) {
    const Directory directory;
    for (const auto& error : try_to_put(64, ranks, directory, IfRefused::put))
      EXPECT_FALSE(error) << error->text();
    expect_all_rows(directory, 64 * 4096 * static_cast<std::uint64_t>(ranks));
  }
}

constexpr std::uint64_t slot_wide = 4096;

double value_of(char variable, std::uint64_t record, std::uint64_t point) {
  return static_cast<double>(static_cast<std::uint64_t>(variable) * 10'000'000 + record * 1'000'000 + point);
}

void compute_rows(const Slot& slot, char variable, std::uint64_t record) {
  for (const Slot::Part& part : slot.parts())
    for (std::uint64_t y = 0; y < part.count[0]; ++y)
      for (std::uint64_t x = 0; x < part.count[1]; ++x)
        static_cast<double*>(part.data)[static_cast<std::int64_t>(y) * part.strides[0] +
                                        static_cast<std::int64_t>(x) * part.strides[1]] =
            value_of(variable, record, (part.start[0] + y) * slot_wide + part.start[1] + x);
}

struct Lent {
  std::uint64_t rows = 0;  ///< rows of each rank, 32 KiB per row
  int ranks = 1;
  std::uint64_t together = 1;  ///< number of acquired slots at once, one record each
};

/// Each rank computes variable v in slots and puts w while they are not committed. Returns the
/// number of direct slots.
int compute_in_slots(const Lent& lent) {
  const Directory directory;
  LocalRun run(lent.ranks, 1, eight_blocks());
  const std::uint64_t all_rows = lent.rows * static_cast<std::uint64_t>(lent.ranks);
  std::atomic<int> direct{0};
  const auto errors = run.run([&](Session& session, int rank) {
    const std::uint64_t first = lent.rows * static_cast<std::uint64_t>(rank);
    session.decomposition("rows", Block{{all_rows, slot_wide}, {first, 0}, {lent.rows, slot_wide}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", all_rows).dimension("x", slot_wide);
    for (const char* name : {"v", "w"}) schema.variable(name, Type::float64, {"time", "y", "x"}).on("rows");
    OutputFile file =
        session.collection("c", schema, {.file = "c.nc", .directory = directory.path.string()}).open();
    std::vector<double> other(lent.rows * slot_wide);
    for (std::uint64_t step = 0; step < 2; ++step) {
      std::vector<Slot> slots;
      for (std::uint64_t i = 0; i < lent.together; ++i) {
        const std::uint64_t record = step * lent.together + i;
        slots.push_back(file.acquire("v", record, Type::float64));
        if (slots.back().direct()) ++direct;
        for (std::uint64_t p = 0; p < other.size(); ++p)
          other[p] = value_of('w', record, first * slot_wide + p);
        file.put("w", record, other.data());
      }
      for (std::uint64_t i = lent.together; i-- > 0;) {
        compute_rows(slots[i], 'v', step * lent.together + i);
        slots[i].commit();
      }
      session.end_step();
    }
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  for (const char* name : {"v", "w"}) {
    const auto values = read<double>(directory.path / "c.nc", name);
    EXPECT_EQ(values.size(), 2 * lent.together * all_rows * slot_wide);
    for (std::uint64_t i = 0; i < values.size(); ++i)
      if (values[i] != value_of(name[0], i / (all_rows * slot_wide), i % (all_rows * slot_wide))) {
        ADD_FAILURE() << name << " at " << i << ": " << values[i];
        break;
      }
  }
  return direct;
}

// Before, acquire waited for room until the deadline ended the run, because it held the frames that
// it already had.
TEST(ThreadSessionLent, a_field_larger_than_the_memory_is_computed_in_a_private_array) {
  EXPECT_EQ(compute_in_slots({.rows = 64, .ranks = 1}), 0);
}
TEST(ThreadSessionLent, fields_of_two_ranks_that_fit_only_one_at_a_time) {
  EXPECT_LT(compute_in_slots({.rows = 24, .ranks = 2}), 4);
}
TEST(ThreadSessionLent, several_slots_that_fit_only_one_at_a_time) {
  const int direct = compute_in_slots({.rows = 12, .ranks = 1, .together = 5});
  EXPECT_GE(direct, 1);  // the first one found empty memory
  EXPECT_LT(direct, 10);
}
TEST(ThreadSessionLent, several_slots_of_three_ranks) {
  compute_in_slots({.rows = 8, .ranks = 3, .together = 4});
}

}  // namespace
}  // namespace afterbay::test
