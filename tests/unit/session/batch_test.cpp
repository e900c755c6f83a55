// SPDX-License-Identifier: Apache-2.0
// Small files that are complete at the same time, on a disk that takes long to make them durable.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "model/format.hpp"
#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "storage/block_writer/patient_disk.hpp"
#include "storage/store.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t points = 64;
constexpr int files = 40;
constexpr int workers = 2;

/// The first fsyncs of files end when `let_go` is called; each takes a millisecond.
class SlowDisk : public storage::Disk {
 public:
  int sync(int descriptor) override {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return Disk::sync(descriptor);
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++inside_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return goes_; });
    changed_.wait_for(lock, std::chrono::milliseconds(1), [] { return false; });
    --inside_;
    lock.unlock();
    return Disk::sync(descriptor);
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    goes_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] int most() {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool goes_ = false;
  int inside_ = 0;
  int most_ = 0;
};

class StoreOnSlowDisk : public storage::Store {
 public:
  StoreOnSlowDisk(Format format, std::shared_ptr<storage::Disk> disk)
      : store_(storage::make_store(format)), disk_(std::move(disk)) {}
  Result<std::unique_ptr<storage::File>> create(const storage::FileRequest& request) override {
    storage::FileRequest changed = request;
    changed.disk = dynamic_cast<storage::PatientDisk&>(*request.disk).on(disk_);
    return store_->create(changed);
  }

 private:
  std::unique_ptr<storage::Store> store_;
  std::shared_ptr<storage::Disk> disk_;
};

class ThreadSessionBatch : public testing::TestWithParam<const char*> {};

TEST_P(ThreadSessionBatch, many_files_are_made_durable_at_the_same_time) {
  const Directory directory;
  const auto disk = std::make_shared<SlowDisk>();
  StoreOnSlowDisk store(*format_of(GetParam()), disk);
  LocalRun run(2, 1, {{"writers", std::to_string(workers)}, {"deadline", "20s"}});
  run.stores = [&](Format) -> storage::Store& { return store; };
  const auto errors = run.run([&](Session& session, int) {
    const auto rank = static_cast<std::uint64_t>(session.model_rank());
    session.decomposition("line", Block{{points}, {rank * points / 2}, {points / 2}});
    Schema schema;
    schema.dimension("x", points).variable("T", Type::float32, {"x"}).on("line");
    Collection collection = session.collection(
        "small", schema, {.file = "{step}.nc", .directory = directory.path, .store = GetParam()});
    for (int n = 0; n < files; ++n) {
      FileName name;
      name.step = n;
      OutputFile file = collection.open(name);
      const std::vector<float> values(points / 2, static_cast<float>(n));
      file.put("T", values.data());
      file.close();
    }
    if (rank == 0) disk->let_go();
    session.finalize();
  });
  for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  EXPECT_GT(disk->most(), workers);
  for (int n = 0; n < files; ++n)
    EXPECT_EQ(read<float>(directory.path / (std::to_string(n) + ".nc"), "T"),
              std::vector<float>(points, static_cast<float>(n)));
}

INSTANTIATE_TEST_SUITE_P(Formats, ThreadSessionBatch, testing::Values("netcdf4", "cdf5"),
                         [](const auto& it) { return std::string(it.param); });

}  // namespace
}  // namespace afterbay::test
