// SPDX-License-Identifier: Apache-2.0
// Epochs of a session: when they are complete, whom they delay, and the contents of restored part
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <latch>
#include <thread>

#include "base/clock.hpp"
#include "journal/read.hpp"
#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "storage/epoch/recover.hpp"
#include "unit/local_run.hpp"
#include "unit/storage/store_on_disk.hpp"

namespace afterbay::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t epoch_points = 2000;

LocalRun::Settings epoch_settings(const fs::path& journal, const char* placement) {
  return {{"memory.server", "2MiB"},
          {"memory.block", "64KiB"},
          {"memory.small_block", "16KiB"},
          {"chunk", "4KiB"},
          {"deadline", "30s"},
          {"placement", placement},
          {"journal.directory", journal.string()}};
}

Collection epoch_collection(Session& session, const fs::path& directory, const char* store) {
  const std::uint64_t mine = epoch_points / static_cast<std::uint64_t>(session.model_size());
  session.decomposition(
      "line", Block{{epoch_points}, {mine * static_cast<std::uint64_t>(session.model_rank())}, {mine}});
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", epoch_points);
  schema.variable("v", Type::float32, {"time", "x"}).on("line");
  if (std::string_view(store) == "netcdf4")
    schema.variable("packed", Type::float32, {"time", "x"}).with_chunk({4, 500}).with_deflate(1).on("line");
  return session.collection("c", schema,
                            {.file = "c_{step}.nc", .directory = directory.string(), .store = store});
}

float epoch_value(std::uint64_t record, std::uint64_t point) {
  return static_cast<float>(record * epoch_points + point);
}

/// `scale`: what servers multiply the values by.
void put_epoch_record(Session& session, OutputFile& file, std::uint64_t record, bool packed,
                      float scale = 1) {
  const std::uint64_t mine = epoch_points / static_cast<std::uint64_t>(session.model_size());
  std::vector<float> values(mine);
  for (std::uint64_t i = 0; i < mine; ++i)
    values[i] = epoch_value(record, mine * static_cast<std::uint64_t>(session.model_rank()) + i) / scale;
  file.put("v", record, values.data());
  if (packed) file.put("packed", record, values.data());
  session.end_step();
}

void expect_epoch_records(const fs::path& file, const char* variable, std::uint64_t records) {
  const auto values = read<float>(file, variable);
  ASSERT_EQ(values.size(), records * epoch_points) << variable;
  for (std::uint64_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], epoch_value(i / epoch_points, i % epoch_points)) << variable << " " << i;
}

FileName step_name(std::int64_t step) {
  FileName name;
  name.step = step;
  return name;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct EpochRun {
  const char* store;
  const char* placement;
  int servers;
  bool staged = false;  ///< the servers multiply by 2
};

class ThreadSessionEpoch : public testing::TestWithParam<EpochRun> {};

/// The state after a crash directly after the epoch: a copy of the directory.
TEST_P(ThreadSessionEpoch, what_was_put_before_comes_back_from_a_file_in_the_making) {
  const Directory directory;
  const fs::path out = directory.path / "out", crash = directory.path / "crash";
  const bool packed = std::string_view(GetParam().store) == "netcdf4";
  auto settings = epoch_settings(directory.path / "journal", GetParam().placement);
  settings.emplace_back("triggers.mark.on", "epoch");
  settings.emplace_back("triggers.mark.command",
                        "echo $AFTERBAY_TRIGGER_EPOCH >> " + (directory.path / "fired").string());
  const float scale = GetParam().staged ? 2 : 1;
  if (GetParam().staged) settings.emplace_back("collections.c.variables.*.multiply", "2");
  LocalRun run(2, GetParam().servers, settings);
  const auto errors = run.run([&](Session& session, int rank) {
    Collection collection = epoch_collection(session, out, GetParam().store);
    OutputFile file = collection.open(step_name(1));
    for (std::uint64_t record = 0; record < 6; ++record)
      put_epoch_record(session, file, record, packed, scale);
    session.wait(session.epoch("restart 6"));
    for (std::uint64_t record = 6; record < 9; ++record)
      put_epoch_record(session, file, record, packed, scale);
    session.wait(session.flush());
    const Ticket ticket = session.epoch("restart 9");
    session.wait(ticket);
    EXPECT_TRUE(session.is_complete(ticket));
    if (rank == 0) fs::copy(out, crash);
    for (std::uint64_t record = 9; record < 14; ++record)
      put_epoch_record(session, file, record, packed, scale);
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  const auto found = storage::find_recoverable((crash / "c_1.nc").string(), true);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->epochs.size(), 2U);
  EXPECT_EQ(found->epochs[1].name, "restart 9");
  const auto recovered = storage::recover_file(*found, {});
  ASSERT_TRUE(recovered) << recovered.error().text();
  expect_epoch_records(crash / "c_1.nc", "v", 9);
  if (packed) expect_epoch_records(crash / "c_1.nc", "packed", 9);
  expect_epoch_records(out / "c_1.nc", "v", 14);
  if (packed) expect_epoch_records(out / "c_1.nc", "packed", 14);
  EXPECT_FALSE(fs::exists(out / "c_1.nc.part.epochs"));
  const auto journal = journal::read_journal((directory.path / "journal").string());
  ASSERT_TRUE(journal) << journal.error().text();
  const auto* const last = journal->runs.back().last_epoch();
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->epoch.name, "restart 9");
  EXPECT_EQ(last->servers.size(), static_cast<std::size_t>(GetParam().servers));
  EXPECT_EQ(lines_of(directory.path / "fired"), (std::vector<std::string>{"restart 6", "restart 9"}))
      << "once for all servers";
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionEpoch,
                         testing::Values(EpochRun{"netcdf4", "collection", 1}, EpochRun{"netcdf4", "slab", 3},
                                         EpochRun{"cdf5", "slab", 2}, EpochRun{"netcdf4", "slab", 3, true},
                                         EpochRun{"cdf5", "collection", 1, true}),
                         [](const auto& parameter) {
                           return fmt::format("{}_{}{}", parameter.param.store, parameter.param.placement,
                                              parameter.param.staged ? "_staged" : "");
                         });

TEST(ThreadSessionEpochOrder, files_closed_before_are_published_when_it_is_complete) {
  const Directory directory;
  LocalRun run(2, 2, epoch_settings(directory.path / "journal", "file"));
  const auto errors = run.run([&](Session& session, int) {
    Collection collection = epoch_collection(session, directory.path, "cdf5");
    for (std::int64_t step = 0; step < 4; ++step) {
      OutputFile file = collection.open(step_name(step));
      put_epoch_record(session, file, 0, false);
      file.close();
      session.wait(session.epoch(fmt::format("step {}", step)));
      EXPECT_TRUE(fs::exists(directory.path / fmt::format("c_{}.nc", step)));
    }
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
}

TEST(ThreadSessionEpochOrder, one_that_others_have_not_reached_stalls_nobody) {
  const Directory directory;
  LocalRun run(2, 1, epoch_settings(directory.path / "journal", "collection"));
  std::latch first_is_ahead(2);
  int calls = 0;
  const auto errors = run.run([&](Session& session, int rank) {
    Collection collection = epoch_collection(session, directory.path, "netcdf4");
    OutputFile file = collection.open(step_name(0));
    Ticket ticket;
    if (rank == 0) {
      ticket = session.epoch("early");
      session.on_complete(ticket, [&] { ++calls; });
      for (std::uint64_t record = 0; record < 20; ++record) put_epoch_record(session, file, record, true);
      EXPECT_FALSE(session.is_complete(ticket)) << "the other rank has not come to it";
      EXPECT_EQ(calls, 0);
    }
    first_is_ahead.arrive_and_wait();
    if (rank == 1) {
      ticket = session.epoch("early");
      for (std::uint64_t record = 0; record < 20; ++record) put_epoch_record(session, file, record, true);
    }
    session.wait(ticket);
    if (rank == 0) {
      EXPECT_EQ(calls, 1);
    }
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_EQ(calls, 1);
  expect_epoch_records(directory.path / "c_0.nc", "packed", 20);
}

class SluggishDisk : public storage::Disk {
 public:
  int sync(int descriptor) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    return Disk::sync(descriptor);
  }
};

/// A server hands over everything that it has of a file while the slow leader of the file has yet
/// to mark an earlier epoch, on several files.
TEST(ThreadSessionEpochOrder, servers_of_one_file_need_not_mark_it_together) {
  constexpr std::int64_t files = 6;
  for (const Format format : {Format::cdf5, Format::netcdf4}) {
    const bool packed = format == Format::netcdf4;
    const Directory directory;
    auto settings = epoch_settings(directory.path / "journal", "slab");
    settings.emplace_back("writers", "1");
    LocalRun run(2, 3, settings);
    StoreOnDisk store(format, std::make_shared<SluggishDisk>());
    run.stores = [&](Format) -> storage::Store& { return store; };
    const auto errors = run.run([&](Session& session, int) {
      Collection collection = epoch_collection(session, directory.path, packed ? "netcdf4" : "cdf5");
      std::vector<OutputFile> open;
      for (std::int64_t step = 0; step < files; ++step) {
        open.push_back(collection.open(step_name(step)));
        put_epoch_record(session, open.back(), 0, packed);
      }
      session.wait(session.flush());  // all servers have the files open
      std::ignore = session.epoch("early");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (OutputFile& file : open) file.close();
      session.finalize();
    });
    for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
    for (std::int64_t step = 0; step < files; ++step)
      expect_epoch_records(directory.path / fmt::format("c_{}.nc", step), packed ? "packed" : "v", 1);
  }
}

TEST(ThreadSessionEpochErrors, ranks_that_name_it_differently_are_told) {
  const Directory directory;
  LocalRun run(2, 1, epoch_settings(directory.path / "journal", "collection"));
  const auto errors = run.run([&](Session& session, int rank) {
    session.start();
    session.wait(session.epoch(rank == 0 ? "one" : "other"));
  });
  ASSERT_TRUE(errors[0]);
  EXPECT_THAT(errors[0]->text(),
              testing::HasSubstr("every rank must call the same epochs in the same order"));
}

TEST(ThreadSessionEpochErrors, a_rank_that_never_comes_to_it_is_named_to_those_who_wait) {
  const Directory directory;
  auto settings = epoch_settings(directory.path / "journal", "collection");
  settings.emplace_back("deadline", "2s");
  LocalRun run(3, 1, settings);
  run.settings_of_rank = [](int) { return LocalRun::Settings{{"deadline", "60s"}}; };
  std::latch both_have_failed(2);
  const auto errors = run.run([&](Session& session, int rank) {
    session.start();
    if (rank == 1) return both_have_failed.wait();
    const Ticket ticket = session.epoch("lonely");
    try {
      session.wait(ticket);
    } catch (...) {
      both_have_failed.count_down();
      throw;
    }
  });
  ASSERT_TRUE(errors[0]);
  EXPECT_THAT(errors[0]->text(), testing::HasSubstr("model rank 1 did not reach epoch 1 ('lonely')"));
}

TEST(ThreadSessionEpochErrors, one_that_a_rank_left_out_is_warned_of) {
  const Directory directory;
  LocalRun run(2, 1, epoch_settings(directory.path / "journal", "collection"));
  const auto errors = run.run([&](Session& session, int rank) {
    Collection collection = epoch_collection(session, directory.path / "out", "cdf5");
    OutputFile file = collection.open(step_name(1));
    put_epoch_record(session, file, 0, false);
    if (rank == 0) session.epoch("lonely");
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  const auto journal = journal::read_journal((directory.path / "journal").string());
  ASSERT_TRUE(journal) << journal.error().text();
  ASSERT_EQ(journal->runs.back().warnings.size(), 1U);
  EXPECT_THAT(journal->runs.back().warnings[0].text,
              testing::HasSubstr("model rank 1 did not reach epoch 1 ('lonely')"));
}

TEST(ThreadSessionEpochErrors, it_needs_a_name) {
  LocalRun run(1, 1, {});
  const auto errors = run.run([&](Session& session, int) {
    session.start();
    session.epoch("");
  });
  ASSERT_TRUE(errors[0]);
  EXPECT_THAT(errors[0]->text(), testing::HasSubstr("an epoch needs a name"));
}

}  // namespace
}  // namespace afterbay::test
