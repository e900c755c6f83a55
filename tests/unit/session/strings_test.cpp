// SPDX-License-Identifier: Apache-2.0
// Strings on their way to the file: tickets cover them, and the memory for queued strings is
// bounded.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "storage/store.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t names = 16;
constexpr std::size_t name_bytes = 4096;  // 64 KiB per record

/// The file of another store, with slow and counted puts of strings.
class SlowStrings : public storage::File {
 public:
  SlowStrings(std::unique_ptr<storage::File> file, std::atomic<int>& written)
      : file_(std::move(file)), written_(written) {}
  [[nodiscard]] std::uint64_t records() const override { return file_->records(); }
  Result<storage::WriteCost> write(std::span<const storage::PieceWrite> pieces) override {
    return file_->write(pieces);
  }
  Result<storage::WriteCost> write_strings(std::uint32_t variable, std::uint64_t record,
                                           std::span<const std::string> values) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    auto cost = file_->write_strings(variable, record, values);
    ++written_;
    return cost;
  }
  Result<storage::Published> finish() override { return file_->finish(); }
  storage::Artifact* part() noexcept override { return file_->part(); }
  void abandon() noexcept override { file_->abandon(); }
  [[nodiscard]] std::string engine() const override { return file_->engine(); }

 private:
  std::unique_ptr<storage::File> file_;
  std::atomic<int>& written_;
};

class SlowStore : public storage::Store {
 public:
  Result<std::unique_ptr<storage::File>> create(const storage::FileRequest& request) override {
    AFTERBAY_TRY_ASSIGN(auto file, store_->create(request));
    return std::make_unique<SlowStrings>(std::move(file), written);
  }
  std::atomic<int> written{0};

 private:
  std::unique_ptr<storage::Store> store_ = storage::make_store(Format::netcdf4);
};

Schema stations() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("station", names);
  schema.variable("name", Type::string, {"time", "station"});
  return schema;
}

std::vector<std::string> names_of(std::uint64_t record) {
  std::vector<std::string> list;
  for (std::uint64_t i = 0; i < names; ++i)
    list.push_back(std::to_string(record * names + i) + std::string(name_bytes, 'n'));
  return list;
}

class ThreadSessionStrings : public testing::Test {
 protected:
  Directory directory;
  SlowStore store;

  /// Two ranks, whose deadline is 60 s, and a server.
  LocalRun run_of(const char* deadline_of_server = "60s") {
    LocalRun run(2, 1,
                 {{"memory.server", "2MiB"},
                  {"memory.block", "64KiB"},
                  {"memory.small_block", "16KiB"},
                  {"memory.ring", "64KiB"},
                  {"deadline", deadline_of_server}});
    run.settings_of_rank = [](int) { return LocalRun::Settings{{"deadline", "60s"}}; };
    run.stores = [this](Format) -> storage::Store& { return store; };
    return run;
  }
  OutputFile open(Session& session) {
    return session.collection("stations", stations(), {.file = "names.nc", .directory = directory.path})
        .open();
  }
};

TEST_F(ThreadSessionStrings, FlushTicketsOfEveryRankCoverThem) {
  constexpr int records = 8;
  std::atomic<int> written_after_wait[2]{};
  const auto errors = run_of().run([&](Session& session, int rank) {
    OutputFile file = open(session);
    for (std::uint64_t record = 0; record < records; ++record)
      file.put_strings("name", record, names_of(record));
    session.wait(session.flush());
    written_after_wait[rank] = store.written.load();
    session.finalize();
  });
  for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  EXPECT_EQ(written_after_wait[0], records);
  EXPECT_EQ(written_after_wait[1], records);
  const auto values = read<std::string>(directory.path / "names.nc", "name");
  ASSERT_EQ(values.size(), records * names);
  for (std::uint64_t record = 0; record < records; ++record)
    for (std::uint64_t i = 0; i < names; ++i) ASSERT_EQ(values[record * names + i], names_of(record)[i]);
}

TEST_F(ThreadSessionStrings, MemoryOfThoseThatWaitIsBounded) {
  constexpr int records = 60;  // 64 KiB each; the server keeps 256 KiB, the rest waits on the rank
  int most_ahead = 0;
  const auto errors = run_of().run([&](Session& session, int rank) {
    OutputFile file = open(session);
    for (int record = 0; record < records; ++record) {
      file.put_strings("name", static_cast<std::uint64_t>(record),
                       names_of(static_cast<std::uint64_t>(record)));
      if (rank == 0) most_ahead = std::max(most_ahead, record + 1 - store.written.load());
    }
    session.finalize();
  });
  for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  EXPECT_LE(most_ahead, 8);
  const auto values = read<std::string>(directory.path / "names.nc", "name");
  ASSERT_EQ(values.size(), records * names);
  EXPECT_EQ(values.back(), names_of(records - 1).back());
}

TEST_F(ThreadSessionStrings, PuttingThemWithoutTheLowestRankIsAnErrorOfTheWait) {
  const auto errors = run_of("2s").run([&](Session& session, int rank) {
    OutputFile file = open(session);
    if (rank == 1) file.put_strings("name", 0, names_of(0));
    session.wait(session.flush());
    session.finalize();
  });
  ASSERT_TRUE(errors[1]);
  EXPECT_EQ(errors[1]->code, ErrorCode::timed_out);
  EXPECT_NE(errors[1]->text().find("put_strings"), std::string::npos) << errors[1]->text();
  EXPECT_NE(errors[1]->text().find("model rank 0"), std::string::npos) << errors[1]->text();
}

}  // namespace
}  // namespace afterbay::test
