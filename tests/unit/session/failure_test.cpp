// SPDX-License-Identifier: Apache-2.0
// The files that a failing session still publishes, and its messages.
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <latch>
#include <thread>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "storage/block_writer/disk.hpp"
#include "unit/local_run.hpp"
#include "unit/storage/store_on_disk.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t failure_points = 8192;

Schema series() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", failure_points);
  schema.variable("T", Type::float32, {"time", "x"}).on("line");
  return schema;
}

void register_line(Session& session) {
  const std::uint64_t mine = failure_points / static_cast<std::uint64_t>(session.model_size());
  session.decomposition(
      "line", Block{{failure_points}, {static_cast<std::uint64_t>(session.model_rank()) * mine}, {mine}});
}

/// Writes of the file "full.nc" find the disk full; those of others wait until that has happened.
class HalfFullDisk : public storage::Disk {
 public:
  ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) override {
    char path[4096] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    if (readlink(link.c_str(), path, sizeof path - 1) < 0) return -1;
    if (std::string(path).find("full.nc") == std::string::npos) {
      full_.wait(false);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until the server has failed
      return Disk::write(descriptor, bytes, count, offset);
    }
    if (offset == 0) return Disk::write(descriptor, bytes, count, offset);  // the structure has room
    full_ = true;
    full_.notify_all();
    errno = ENOSPC;
    return -1;
  }

 private:
  std::atomic<bool> full_{false};
};

/// Publishing takes a long time.
class FailureSlowDisk : public storage::Disk {
 public:
  int sync(int descriptor) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return Disk::sync(descriptor);
  }
};

const LocalRun::Settings failure_settings{
    {"memory.server", "4MiB"}, {"memory.block", "64KiB"}, {"memory.small_block", "16KiB"},
    {"deadline", "5s"},        {"writers", "2"},          {"placement", "file"}};

void failure_expect_whole(const std::filesystem::path& file, std::size_t records) {
  const auto values = read<float>(file, "T");
  ASSERT_EQ(values.size(), records * failure_points);
  for (const float value : values) ASSERT_EQ(value, 280.0F);
}

void failure_write(OutputFile& file, const Session& session, std::uint64_t records) {
  const std::vector<float> values(failure_points / static_cast<std::uint64_t>(session.model_size()), 280.0F);
  for (std::uint64_t record = 0; record < records; ++record) file.put("T", record, values.data());
}

TEST(ThreadSessionFailure, FullDiskOfOneFileLeavesTheClosedFilesOfOthers) {
  Directory directory;
  LocalRun run(2, 1, failure_settings);
  StoreOnDisk store(Format::cdf5, std::make_shared<HalfFullDisk>());
  run.stores = [&](Format) -> storage::Store& { return store; };
  const auto errors = run.run([&](Session& session, int) {
    register_line(session);
    const CollectionOptions options{.file = "{collection}.nc", .directory = directory.path, .store = "cdf5"};
    OutputFile good = session.collection("good", series(), options).open();
    OutputFile full = session.collection("full", series(), options).open();
    failure_write(good, session, 3);
    good.close();
    failure_write(full, session, 3);
    full.close();
    session.finalize();
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::no_space) << error->text();
    EXPECT_EQ(error->file, (directory.path / "full.nc").string()) << error->text();
    EXPECT_EQ(error->variable, "T") << error->text();
  }
  failure_expect_whole(directory.path / "good.nc", 3);
  EXPECT_FALSE(std::filesystem::exists(directory.path / "full.nc"));
}

TEST(ThreadSessionFailure, FilesThatAllRanksClosedOutliveARankThatGivesUp) {
  Directory directory;
  LocalRun run(2, 2, failure_settings);
  StoreOnDisk store(Format::netcdf4, std::make_shared<FailureSlowDisk>());
  run.stores = [&](Format) -> storage::Store& { return store; };
  std::latch closed(2);  // three files, by both ranks
  const auto errors = run.run([&](Session& session, int rank) {
    register_line(session);
    Collection collection = session.collection(
        "series", series(), {.file = "{step}.nc", .directory = directory.path, .store = "netcdf4"});
    for (int f = 0; f < 4; ++f) {
      OutputFile file = collection.open(FileName{{}, f, {}, {}});
      failure_write(file, session, 3);
      if (f < 3) file.close();
      if (f == 3) closed.arrive_and_wait();
      if (f == 3 && rank == 1) file.put("t", 0, std::vector<float>(failure_points).data());
    }
    session.finalize();
  });
  ASSERT_TRUE(errors[0] && errors[1] && errors[2] && errors[3]);
  EXPECT_EQ(errors[1]->code, ErrorCode::unknown_name) << errors[1]->text();
  for (const std::size_t other : {0, 2, 3}) {
    EXPECT_EQ(errors[other]->code, ErrorCode::peer_lost) << errors[other]->text();
    EXPECT_EQ(errors[other]->file, (directory.path / "3.nc").string()) << errors[other]->text();
    EXPECT_EQ(errors[other]->variable, "t") << errors[other]->text();
  }
  for (int f = 0; f < 3; ++f) failure_expect_whole(directory.path / (std::to_string(f) + ".nc"), 3);
  EXPECT_FALSE(std::filesystem::exists(directory.path / "3.nc"));
}

TEST(ThreadSessionFailure, AServersFailureIsTheFailureOfAllServers) {
  Directory directory;
  LocalRun run(2, 2, failure_settings);
  std::ofstream(directory.path / "0.nc") << "older";
  const auto errors = run.run([&](Session& session, int) {
    register_line(session);
    Collection collection = session.collection(
        "series", series(),
        {.file = "{step}.nc", .directory = directory.path, .store = "netcdf4", .existing = "refuse"});
    for (int f = 0; f < 2; ++f) {
      OutputFile file = collection.open(FileName{{}, f, {}, {}});
      failure_write(file, session, 3);
    }
    session.wait(session.flush());  // never ends cleanly; otherwise the other server could, before
                                    // this one fails
    ADD_FAILURE() << "a file that could not be made was written";
    session.finalize();
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::exists) << error->text();
    EXPECT_EQ(error->file, (directory.path / "0.nc").string()) << error->text();
  }
}

}  // namespace
}  // namespace afterbay::test
