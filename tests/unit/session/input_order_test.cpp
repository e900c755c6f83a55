// SPDX-License-Identifier: Apache-2.0
// Reading during output: reads take precedence over queued writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"
#include "unit/storage/store_on_disk.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t order_points = 8192;
constexpr int slow_records = 60;

/// Writes of data wait until the queue is full, then each takes some time until the input was read.
class HesitantDisk : public storage::Disk {
 public:
  enum class Pace { stopped, slow, fast };
  ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) override {
    if (count >= 4096) {
      pace.wait(Pace::stopped);
      if (pace == Pace::slow) std::this_thread::sleep_for(std::chrono::milliseconds(250));
      ++written;
    }
    return Disk::write(descriptor, bytes, count, offset);
  }
  void set(Pace now) {
    pace = now;
    pace.notify_all();
  }
  std::atomic<Pace> pace{Pace::stopped};
  std::atomic<int> written{0};
};

TEST(ThreadSessionInputOrder, what_is_read_does_not_wait_for_what_is_to_be_written) {
  const Directory directory;
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", order_points);
  schema.variable("v", Type::float32, {"time", "x"});
  {
    LocalRun before(1, 1, {{"memory.server", "8MiB"}, {"memory.block", "64KiB"}});
    const auto errors = before.run([&](Session& session, int) {
      OutputFile file =
          session.collection("restart", schema, {.directory = directory.path.string()}).open("restart.nc");
      file.put("v", 0, std::vector<float>(order_points, 42.0F).data());
      session.finalize();
    });
    for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  }
  const auto disk = std::make_shared<HesitantDisk>();
  StoreOnDisk store(Format::cdf5, disk);
  LocalRun run(1, 1,
               {{"memory.server", "8MiB"}, {"memory.block", "64KiB"}, {"writers", "1"}, {"deadline", "60s"}});
  run.stores = [&](Format) -> storage::Store& { return store; };
  int written_when_read = slow_records;
  const auto errors = run.run([&](Session& session, int) {
    OutputFile file =
        session.collection("history", schema, {.directory = directory.path.string(), .store = "cdf5"})
            .open("history.nc");
    std::vector<float> values(order_points);
    for (std::uint64_t record = 0; record < slow_records; ++record) {
      values.assign(order_points, static_cast<float>(record));
      file.put("v", record, values.data());
      session.end_step();
    }
    disk->set(HesitantDisk::Pace::slow);
    InputFile input = session.open_input((directory.path / "restart.nc").string());
    input.get("v", {.record = 0}, values.data());
    written_when_read = disk->written;
    disk->set(HesitantDisk::Pace::fast);
    EXPECT_THAT(values, testing::Each(42.0F));
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_LT(written_when_read, slow_records / 2) << "it had to wait for the queue of writes";
  EXPECT_EQ(read<float>(directory.path / "history.nc", "v").size(), slow_records * order_points);
}

}  // namespace
}  // namespace afterbay::test
