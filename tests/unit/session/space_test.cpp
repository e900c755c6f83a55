// SPDX-License-Identifier: Apache-2.0
// Sessions on disks that are full for a while, or too small for everything, and sessions that are
// asked to stop.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "storage/block_writer/patient_disk.hpp"
#include "storage/store.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

constexpr std::uint64_t line_points = 8192;
constexpr std::uint64_t space_records = 6;

/// Has no space for data (but for structure) as long as `is_full` is set.
class FillingDisk : public storage::Disk {
 public:
  explicit FillingDisk(std::function<bool()> is_full) : is_full_(std::move(is_full)) {}
  ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) override {
    if (offset == 0 || !is_full_()) return Disk::write(descriptor, bytes, count, offset);
    errno = ENOSPC;
    return -1;
  }

 private:
  std::function<bool()> is_full_;
};

/// Puts the disk under what waits for space.
class StoreOnFillingDisk : public storage::Store {
 public:
  StoreOnFillingDisk(Format format, std::function<bool()> is_full)
      : store_(storage::make_store(format)), disk_(std::make_shared<FillingDisk>(std::move(is_full))) {}
  Result<std::unique_ptr<storage::File>> create(const storage::FileRequest& request) override {
    return store_->create(on_disk(request));
  }
  Result<std::unique_ptr<storage::File>> join(const storage::FileRequest& request,
                                              std::span<const std::byte> share,
                                              std::shared_ptr<storage::Placer> placer) override {
    return store_->join(on_disk(request), share, std::move(placer));
  }

 private:
  [[nodiscard]] storage::FileRequest on_disk(const storage::FileRequest& request) const {
    storage::FileRequest changed = request;
    changed.disk = dynamic_cast<storage::PatientDisk&>(*request.disk).on(disk_);
    return changed;
  }
  std::unique_ptr<storage::Store> store_;
  std::shared_ptr<storage::Disk> disk_;
};

Schema line_series() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", line_points);
  schema.variable("T", Type::float32, {"time", "x"}).on("line");
  return schema;
}

void register_half_line(Session& session) {
  const std::uint64_t mine = line_points / static_cast<std::uint64_t>(session.model_size());
  session.decomposition(
      "line", Block{{line_points}, {static_cast<std::uint64_t>(session.model_rank()) * mine}, {mine}});
}

void space_expect_whole(const std::filesystem::path& file) {
  const auto values = read<float>(file, "T");
  ASSERT_EQ(values.size(), space_records * line_points);
  for (const float value : values) ASSERT_EQ(value, 280.0F);
}

struct Layout {
  const char* store;
  const char* placement;
  int servers;
};

std::string name_of(const testing::TestParamInfo<Layout>& info) {
  return std::string(info.param.store) + "_" + info.param.placement;
}

class ThreadSessionSpace : public testing::TestWithParam<Layout> {
 protected:
  /// Two ranks write good.nc and spare.nc alternately; the second is optional.
  std::vector<std::optional<Error>> run(const std::string& retry, std::function<bool()> is_full) {
    const Layout& layout = GetParam();
    LocalRun local(2, layout.servers,
                   {{"memory.server", "4MiB"},
                    {"memory.block", "64KiB"},
                    {"memory.small_block", "16KiB"},
                    {"deadline", "20s"},
                    {"space.retry", retry},
                    {"collections.spare.optional", "on"},
                    {"placement", layout.placement}});
    StoreOnFillingDisk store(*format_of(layout.store), std::move(is_full));
    local.stores = [&](Format) -> storage::Store& { return store; };
    return local.run([&](Session& session, int) {
      register_half_line(session);
      const CollectionOptions options{
          .file = "{collection}.nc", .directory = directory.path, .store = layout.store};
      OutputFile good = session.collection("good", line_series(), options).open();
      OutputFile spare = session.collection("spare", line_series(), options).open();
      const std::vector<float> values(line_points / 2, 280.0F);
      for (std::uint64_t record = 0; record < space_records; ++record) {
        good.put("T", record, values.data());
        spare.put("T", record, values.data());
        session.end_step();
        // Files that are given up meanwhile do not delay epochs.
        if (record % 2 == 0) session.wait(session.epoch(std::to_string(record)));
      }
      session.wait(spare.close());
      session.wait(good.close());
      session.finalize();
    });
  }
  Directory directory;
};

TEST_P(ThreadSessionSpace, a_run_goes_on_when_there_is_space_again) {
  std::atomic<int> refused{0};
  for (const auto& error : run("10min", [&] { return ++refused < 8; })) EXPECT_FALSE(error) << error->text();
  EXPECT_GE(refused, 8);
  space_expect_whole(directory.path / "good.nc");
  space_expect_whole(directory.path / "spare.nc");
}

TEST_P(ThreadSessionSpace, what_is_optional_is_given_up_for_the_rest) {
  const auto is_full = [this] { return std::filesystem::exists(directory.path / "spare.nc.part"); };
  for (const auto& error : run("500ms", is_full)) EXPECT_FALSE(error) << error->text();
  space_expect_whole(directory.path / "good.nc");
  EXPECT_FALSE(std::filesystem::exists(directory.path / "spare.nc"));
}

TEST_P(ThreadSessionSpace, without_space_in_the_end_the_run_fails_everywhere) {
  const auto errors = run("300ms", [] { return true; });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::no_space) << error->text();
  }
  EXPECT_FALSE(std::filesystem::exists(directory.path / "good.nc"));
}

INSTANTIATE_TEST_SUITE_P(All, ThreadSessionSpace,
                         testing::Values(Layout{"cdf5", "collection", 1}, Layout{"netcdf4", "collection", 1},
                                         Layout{"netcdf4", "slab", 2}, Layout{"cdf5", "slab", 2}),
                         name_of);

TEST(ThreadSessionStop, what_was_closed_is_published_and_every_rank_learns_why_the_rest_is_not) {
  const Directory directory;
  std::atomic<int> signal{0};
  LocalRun local(2, 1,
                 {{"memory.server", "4MiB"},
                  {"memory.block", "64KiB"},
                  {"memory.small_block", "16KiB"},
                  {"stop.grace", "20s"},
                  {"deadline", "20s"}});
  local.stop_signal = [&] { return signal.load(); };
  const auto errors = local.run([&](Session& session, int rank) {
    register_half_line(session);
    Collection collection = session.collection(
        "series", line_series(), {.file = "{step}.nc", .directory = directory.path, .store = "cdf5"});
    const std::vector<float> values(line_points / 2, 280.0F);
    for (int step = 0;; ++step) {
      OutputFile file = collection.open(FileName{{}, step, {}, {}});
      for (std::uint64_t record = 0; record < space_records; ++record) {
        file.put("T", record, values.data());
        session.end_step();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      const Ticket ticket = file.close();
      if (step > 0) continue;
      session.wait(ticket);
      if (rank == 0) signal = SIGTERM;
    }
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::stopped) << error->text();
    EXPECT_NE(error->message.find("SIGTERM"), std::string::npos) << error->text();
  }
  space_expect_whole(directory.path / "0.nc");
  for (const auto& entry : std::filesystem::directory_iterator(directory.path))
    if (entry.path().extension() == ".nc") space_expect_whole(entry.path());
}

}  // namespace
}  // namespace afterbay::test
