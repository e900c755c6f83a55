// SPDX-License-Identifier: Apache-2.0
// A server's memory is full: what is spilled, what is dropped, and that nothing else is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "journal/read.hpp"
#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "server/overflow.hpp"
#include "unit/local_run.hpp"
#include "unit/storage/store_on_disk.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t overflow_points = 16384;  ///< 64 KiB a record

/// Data wait until the gate is open; structure does not.
class GatedDisk : public storage::Disk {
 public:
  ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) override {
    if (count >= 4096) {
      std::unique_lock lock(mutex_);
      opened_.wait(lock, [this] { return open_; });
    }
    return Disk::write(descriptor, bytes, count, offset);
  }
  void close_gate() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open_gate() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

Schema overflow_schema(bool with_scalar) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", overflow_points);
  if (with_scalar) schema.variable("s", Type::int32, {"time"});
  schema.variable("v", Type::float32, {"time", "x"}).on("line").with_fill(Values{-1.0F});
  return schema;
}

class ThreadSessionOverflow : public testing::Test {
 protected:
  LocalRun overflow_run(LocalRun::Settings more) {
    LocalRun::Settings settings{{"memory.server", "1MiB"},
                                {"memory.block", "128KiB"},
                                {"deadline", "30s"},
                                {"spill.directory", directory.path.string()},
                                {"journal.directory", (directory.path / "journal").string()}};
    if (!with_small_blocks) settings.emplace_back("memory.small_share", "0");
    settings.insert(settings.end(), more.begin(), more.end());
    LocalRun run(2, 1, settings);
    run.stores = [this](Format) -> storage::Store& { return store; };
    return run;
  }
  Collection define(Session& session, const std::string& name) const {
    if (name == "kept" || name == "only") {
      const std::uint64_t mine = overflow_points / 2;
      session.decomposition(
          "line",
          Block{{overflow_points}, {static_cast<std::uint64_t>(session.model_rank()) * mine}, {mine}});
    }
    return session.collection(
        name, overflow_schema(with_scalar),
        {.file = "{collection}.nc", .directory = directory.path.string(), .store = "cdf5"});
  }
  void put(Session& session, OutputFile& file, std::uint64_t record) const {
    const std::vector<float> values(overflow_points / 2, static_cast<float>(record) / scale);
    const auto number = static_cast<std::int32_t>(record);
    if (with_scalar) file.put("s", record, &number);
    file.put("v", record, values.data());
    session.end_step();
  }
  /// The records that differ from the data put; all others are equal.
  std::vector<std::uint64_t> dropped_records(const char* name, std::uint64_t records) const {
    const auto values = read<float>(directory.path / (std::string(name) + ".nc"), "v");
    EXPECT_EQ(values.size(), records * overflow_points);
    std::vector<std::uint64_t> dropped;
    for (std::uint64_t r = 0; r < records && values.size() == records * overflow_points; ++r) {
      const float first = values[r * overflow_points];
      if (first == -1.0F) dropped.push_back(r);
      for (std::uint64_t i = 0; i < overflow_points; ++i)
        if (values[r * overflow_points + i] != first) {
          ADD_FAILURE() << "record " << r << " is torn";
        }
      if (first != -1.0F) {
        EXPECT_EQ(first, static_cast<float>(r));
      }
    }
    return dropped;
  }
  [[nodiscard]] journal::Run journal_run() const {
    const auto journal = journal::read_journal((directory.path / "journal").string());
    EXPECT_TRUE(journal) << journal.error().text();
    return journal && !journal->runs.empty() ? journal->runs.back() : journal::Run();
  }

  float scale = 1;  ///< factor by which the servers multiply
  bool with_small_blocks = false;
  bool with_scalar = false;  ///< before the field in each record, which then begins inside a page
  Directory directory;
  std::shared_ptr<GatedDisk> disk = std::make_shared<GatedDisk>();
  StoreOnDisk store{Format::cdf5, disk};
};

TEST_F(ThreadSessionOverflow, what_does_not_fit_is_put_aside_and_comes_back_in_order) {
  LocalRun run = overflow_run({{"when_full", "spill"}});
  const auto errors = run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "only").open();
    for (std::uint64_t record = 0; record < 60; ++record)
      put(session, file, record);  // 3.75 MiB, the disk stands
    if (rank == 0) disk->open_gate();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_THAT(dropped_records("only", 60), testing::IsEmpty());
}

/// In a CDF-5 file the variables of a record follow each other: after a scalar such frames begin
/// inside a page.
TEST_F(ThreadSessionOverflow, frames_as_long_as_a_block_are_put_aside_whole) {
  with_scalar = true;
  LocalRun run = overflow_run({{"when_full", "spill"}, {"memory.block", "64KiB"}});
  const auto errors = run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "only").open();
    for (std::uint64_t record = 0; record < 40; ++record) put(session, file, record);
    if (rank == 0) disk->open_gate();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_THAT(dropped_records("only", 40), testing::IsEmpty());
}

/// Stages compute when the frame's turn has come: in a buffer of their own beside that of the
/// frame.
TEST_F(ThreadSessionOverflow, what_was_put_aside_passes_the_stages_of_its_variables) {
  with_scalar = true;
  scale = 4;
  LocalRun run = overflow_run(
      {{"when_full", "spill"}, {"memory.block", "64KiB"}, {"collections.only.variables.v.multiply", "4"}});
  const auto errors = run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "only").open();
    for (std::uint64_t record = 0; record < 60; ++record) put(session, file, record);
    if (rank == 0) disk->open_gate();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_THAT(dropped_records("only", 60), testing::IsEmpty());
}

TEST_F(ThreadSessionOverflow, beyond_the_quota_the_model_waits_and_nothing_is_lost) {
  LocalRun run = overflow_run({{"when_full", "spill"}, {"spill.quota", "1MiB"}});
  std::jthread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    disk->open_gate();
  });
  const auto errors = run.run([&](Session& session, int) {
    OutputFile file = define(session, "only").open();
    for (std::uint64_t record = 0; record < 100; ++record) put(session, file, record);
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_THAT(dropped_records("only", 100), testing::IsEmpty());
}

TEST_F(ThreadSessionOverflow, droppable_records_are_dropped_whole_and_counted) {
  LocalRun run = overflow_run({{"when_full", "drop"}, {"collections.extra.droppable", "on"}});
  const auto errors = run.run([&](Session& session, int rank) {
    OutputFile kept = define(session, "kept").open();
    OutputFile extra = define(session, "extra").open();
    for (std::uint64_t record = 0; record < 40; ++record) {
      if (record % 10 == 0) put(session, kept, record / 10);
      put(session, extra, record);
    }
    if (rank == 0) disk->open_gate();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_THAT(dropped_records("kept", 4), testing::IsEmpty());
  const auto dropped = dropped_records("extra", 40);
  EXPECT_GT(dropped.size(), 10U);
  EXPECT_LT(dropped.size(), 40U);
  const journal::Run run_of = journal_run();
  for (const auto& published : run_of.published)
    EXPECT_EQ(published.file.dropped.value_or(0),
              published.file.file.collection == "extra" ? dropped.size() : 0U);
  ASSERT_EQ(run_of.warnings.size(), 1U);
  EXPECT_THAT(run_of.warnings[0].text, testing::HasSubstr("records of"));
}

/// Only even records are put, counted from 0: for a Fortran caller all of them are odd.
TEST_F(ThreadSessionOverflow, a_dropped_record_is_named_as_the_caller_counts) {
  for (const Terms language : {Terms::c, Terms::fortran}) {
    LocalRun run = overflow_run({{"when_full", "drop"}, {"collections.extra.droppable", "on"}});
    run.terms = language;
    disk->close_gate();
    const auto errors = run.run([&](Session& session, int rank) {
      define(session, "kept");
      OutputFile extra = define(session, "extra").open();
      for (std::uint64_t record = 0; record < 40; ++record) put(session, extra, 2 * record);
      if (rank == 0) disk->open_gate();
      session.finalize();
    });
    for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
    const journal::Run run_of = journal_run();
    ASSERT_EQ(run_of.warnings.size(), 1U);
    const std::string& text = run_of.warnings[0].text;
    const std::string before = "the first of them number ";
    ASSERT_THAT(text, testing::HasSubstr(before));
    EXPECT_EQ(std::stoi(text.substr(text.find(before) + before.size())) % 2,
              language == Terms::fortran ? 1 : 0)
        << text;
    std::filesystem::remove_all(directory.path / "journal");
    std::filesystem::remove(directory.path / "extra.nc");
  }
}

/// The large blocks are used up while small ones are free.
TEST_F(ThreadSessionOverflow, memory_is_full_when_what_is_put_finds_no_block) {
  with_small_blocks = true;
  LocalRun run = overflow_run(
      {{"when_full", "drop"}, {"memory.small_block", "16KiB"}, {"collections.only.droppable", "on"}});
  const auto errors = run.run([&](Session& session, int rank) {
    OutputFile file = define(session, "only").open();
    for (std::uint64_t record = 0; record < 40; ++record) put(session, file, record);
    if (rank == 0) disk->open_gate();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_GT(dropped_records("only", 40).size(), 10U);
}

TEST(SpillFile, holds_frames_of_any_size) {
  const Directory directory;
  auto file = server::SpillFile::make(directory.path.string(), 64 << 10, 16);
  ASSERT_TRUE(file) << file.error().text();
  std::vector<std::uint64_t> slots;
  const std::size_t sizes[]{1, 4095, 4096, 50'001, 64 << 10};
  codec::AlignedBuffer frame(64 << 10);
  for (const std::size_t size : sizes) {
    slots.push_back((*file)->take().value());
    std::ranges::fill(frame.bytes(), static_cast<std::byte>(size));
    const auto written = (*file)->write(slots.back(), frame.bytes().first(size));
    ASSERT_TRUE(written) << written.error().text();
  }
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    const auto bytes = frame.bytes().first(sizes[i]);
    const auto read = (*file)->read(slots[i], bytes);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_TRUE(
        std::ranges::all_of(bytes, [&](std::byte b) { return b == static_cast<std::byte>(sizes[i]); }));
  }
}

TEST_F(ThreadSessionOverflow, a_directory_that_cannot_hold_it_is_named_and_the_model_waits) {
  LocalRun run = overflow_run({{"when_full", "spill"}, {"spill.directory", "/nonexistent/place"}});
  std::jthread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    disk->open_gate();
  });
  const auto errors = run.run([&](Session& session, int) {
    OutputFile file = define(session, "only").open();
    for (std::uint64_t record = 0; record < 40; ++record) put(session, file, record);
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_THAT(dropped_records("only", 40), testing::IsEmpty());
  const journal::Run run_of = journal_run();
  ASSERT_EQ(run_of.warnings.size(), 1U);
  EXPECT_THAT(run_of.warnings[0].text, testing::HasSubstr("/nonexistent/place"));
}

}  // namespace
}  // namespace afterbay::test
