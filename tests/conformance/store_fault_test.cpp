// SPDX-License-Identifier: Apache-2.0
// Failures below a store: full and unwritable disks, failing devices, interrupted and short writes.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>

#include "conformance/store_harness.hpp"
#include "storage/block_writer/disk.hpp"

namespace afterbay::test {
namespace {

using storage::Existing;

/// Fails calls as configured; all others are real.
class FaultyDisk : public storage::Disk {
 public:
  std::atomic<int> write_error{0};  ///< errno of every write from number `writes_before` on
  std::atomic<int> writes_before{0};
  std::atomic<int> sync_error{0};
  std::atomic<int> rename_error{0};  ///< error of a rename, also to the further name that a file gets instead
  std::atomic<int> link_error{0};
  std::atomic<bool> short_writes{false};    ///< at most 4097 bytes a call, and EINTR in between
  std::atomic<bool> refuses_direct{false};  ///< EINVAL when opened with O_DIRECT
  std::atomic<bool> refuses_direct_writes{false};
  std::atomic<int> writes{0};
  std::atomic<std::int64_t> free{-1};  ///< bytes free; -1: as many as there are

  int open(const char* path, int flags, mode_t mode) override {
    if (refuses_direct && (flags & O_DIRECT) != 0) {
      errno = EINVAL;
      return -1;
    }
    const int descriptor = Disk::open(path, flags, mode);
    if ((flags & O_DIRECT) != 0) direct_descriptor_ = descriptor;
    return descriptor;
  }
  ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) override {
    const int number = writes++;
    if (write_error != 0 && number >= writes_before) {
      errno = write_error;
      return -1;
    }
    if (refuses_direct_writes && descriptor == direct_descriptor_) {
      errno = EINVAL;
      return -1;
    }
    if (!short_writes) return Disk::write(descriptor, bytes, count, offset);
    if (number % 3 == 0) {
      errno = EINTR;
      return -1;
    }
    const std::size_t most = descriptor == direct_descriptor_ ? std::size_t{64} << 10 : 4097;
    return Disk::write(descriptor, bytes, std::min(count, most), offset);
  }
  std::int64_t free_bytes(int descriptor) override {
    return free < 0 ? Disk::free_bytes(descriptor) : free.load();
  }
  int sync(int descriptor) override { return failed(sync_error) ? -1 : Disk::sync(descriptor); }
  int rename(const char* from, const char* to, bool replace) override {
    return failed(rename_error) ? -1 : Disk::rename(from, to, replace);
  }
  int link(int descriptor, const char* to) override {
    return failed(link_error) || failed(rename_error) ? -1 : Disk::link(descriptor, to);
  }

 private:
  static bool failed(int number) {
    errno = number;
    return number != 0;
  }
  std::atomic<int> direct_descriptor_{-1};
};

Schema schema_of_fields() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 181).dimension("x", 360);
  schema.variable("t", Type::float32, {"time", "y", "x"});
  schema.variable("q", Type::float64, {"time", "y"});
  schema.variable("orography", Type::float32, {"y", "x"});
  return schema;
}

class StoreFaults : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] std::string path(const std::string& name = "out.nc") const { return directory_.file(name); }

  storage::FileRequest request(Existing existing = Existing::refuse) {
    storage::FileRequest made = request_of(path(), schema_of_fields(), GetParam(), existing);
    made.disk = disk_;
    return made;
  }

  /// Writes three records; returns the first error of creating, writing or publishing.
  Result<> write(const storage::FileRequest& request) {
    const Source source = sample_data(request.schema, *request.layout);
    auto file = store_->create(request);
    if (!file) return fail(file.error());
    for (std::uint64_t record = 0; record < 3; ++record)
      for (std::size_t f = 0; f < request.layout->frames.size(); ++f)
        if (request.layout->frames[f].record || record == 0)
          AFTERBAY_TRY(write_frame(**file, request, f, record, source));
    AFTERBAY_TRY((*file)->publish());
    return {};
  }

  void expect_whole(const storage::FileRequest& request) {
    expect_contents(read_netcdf(request.path), request, 3, sample_data(request.schema, *request.layout));
  }

  std::shared_ptr<FaultyDisk> disk_ = std::make_shared<FaultyDisk>();
  std::unique_ptr<storage::Store> store_ = storage::make_store(GetParam());
  TemporaryDirectory directory_;
};

TEST_P(StoreFaults, survives_short_and_interrupted_writes) {
  disk_->short_writes = true;
  const auto made = request();
  const auto written = write(made);
  ASSERT_TRUE(written) << written.error().text();
  expect_whole(made);
}

TEST_P(StoreFaults, goes_on_without_direct_io_where_it_is_refused) {
  disk_->refuses_direct = true;
  auto made = request();
  auto file = store_->create(made);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->engine(), "buffered");
  (*file)->abandon();
  ASSERT_TRUE(write(made));
  expect_whole(made);
}

TEST_P(StoreFaults, goes_on_without_direct_io_when_writes_refuse_it) {
  disk_->refuses_direct_writes = true;
  const auto made = request();
  const auto written = write(made);
  ASSERT_TRUE(written) << written.error().text();
  expect_whole(made);
}

TEST_P(StoreFaults, says_so_when_direct_io_is_a_must_but_refused) {
  disk_->refuses_direct = true;
  auto made = request();
  made.direct_io = storage::DirectIo::on;
  const auto refused = write(made);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::io);
  EXPECT_EQ(refused.error().native, EINVAL);
  EXPECT_NE(refused.error().text().find("O_DIRECT"), std::string::npos);
  EXPECT_FALSE(file_exists(path() + ".part"));
}

TEST_P(StoreFaults, writes_without_direct_io_when_told_to) {
  auto made = request();
  made.direct_io = storage::DirectIo::off;
  ASSERT_TRUE(write(made));
  expect_whole(made);
}

/// Whichever write fails first: an error with the right code, and no file under its name.
TEST_P(StoreFaults, every_failing_write_is_reported) {
  for (const auto& [number, code] : {std::pair{ENOSPC, ErrorCode::no_space},
                                     std::pair{EDQUOT, ErrorCode::no_space}, std::pair{EIO, ErrorCode::io}}) {
    disk_ = std::make_shared<FaultyDisk>();
    ASSERT_TRUE(write(request(Existing::replace)));
    std::filesystem::remove(path());
    const int writes = disk_->writes;
    ASSERT_GT(writes, 4);
    const int step = number == EIO ? 1 : writes / 3;  // all of them for one code; some for the
                                                      // other codes
    for (int before = 0; before < writes; before += step) {
      disk_ = std::make_shared<FaultyDisk>();
      disk_->write_error = number;
      disk_->writes_before = before;
      const auto failed = write(request(Existing::replace));
      ASSERT_FALSE(failed) << "write " << before;
      EXPECT_EQ(failed.error().code, code) << "write " << before << ": " << failed.error().text();
      EXPECT_EQ(failed.error().native, number) << failed.error().text();
      EXPECT_NE(failed.error().file.find(path()), std::string::npos) << failed.error().text();
      EXPECT_FALSE(file_exists(path()));
    }
  }
}

TEST_P(StoreFaults, a_failing_fsync_or_rename_publishes_nothing) {
  disk_->sync_error = EIO;
  const auto synced = write(request());
  ASSERT_FALSE(synced);
  EXPECT_EQ(synced.error().code, ErrorCode::io);
  EXPECT_EQ(synced.error().native, EIO);
  EXPECT_FALSE(file_exists(path()));
  disk_ = std::make_shared<FaultyDisk>();
  disk_->rename_error = EACCES;
  const auto renamed = write(request());
  ASSERT_FALSE(renamed);
  EXPECT_EQ(renamed.error().code, ErrorCode::io);
  EXPECT_FALSE(file_exists(path()));
}

TEST_P(StoreFaults, does_not_replace_a_file_that_appeared_meanwhile) {
  const auto made = request();
  auto file = store_->create(made);
  ASSERT_TRUE(file);
  std::ofstream(path()) << "somebody else's";
  const auto published = (*file)->publish();
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().code, ErrorCode::exists);
  EXPECT_EQ(file_bytes(path()).size(), 15u);
}

TEST_P(StoreFaults, makes_missing_directories_or_says_that_they_are_missing) {
  auto made = request();
  made.path = path("a/b/out.nc");
  made.make_directories = false;
  const auto missing = write(made);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().native, ENOENT);
  EXPECT_NE(missing.error().message.find("check the path; if its directory was removed, create it again"),
            std::string::npos)
      << missing.error().message;
  made.make_directories = true;
  ASSERT_TRUE(write(made));
  expect_whole(made);
  made.path = path("a/b/out.nc/c.nc");
  const auto not_directory = write(made);
  ASSERT_FALSE(not_directory);
  EXPECT_EQ(not_directory.error().code, ErrorCode::io);
}

TEST_P(StoreFaults, says_why_a_directory_cannot_be_written) {
  std::filesystem::permissions(directory_.path(),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const uid_t nobody = 65534;
  const bool root = ::geteuid() == 0;
  if (root) {
    std::filesystem::permissions(directory_.path(), std::filesystem::perms(0555));
    ::setfsuid(nobody);  // for this thread: root may write anywhere
  }
  const auto refused = write(request());
  if (root) ::setfsuid(0);
  std::filesystem::permissions(directory_.path(), std::filesystem::perms::owner_all);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::io);
  EXPECT_EQ(refused.error().native, EACCES);
  EXPECT_NE(refused.error().text().find("permissions"), std::string::npos);
}

TEST_P(StoreFaults, a_full_disk_gives_no_space) {
  const std::string mounted = path("small");
  std::filesystem::create_directory(mounted);
  if (::mount("tmpfs", mounted.c_str(), "tmpfs", 0, "size=400k") != 0)
    GTEST_SKIP() << "needs the right to mount";
  auto made = request();
  made.disk.reset();
  made.path = mounted + "/out.nc";
  const auto full = write(made);
  const bool published = file_exists(made.path);
  ::umount2(mounted.c_str(), MNT_DETACH);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::no_space) << full.error().text();
  EXPECT_EQ(full.error().native, ENOSPC);
  EXPECT_FALSE(published);
}

TEST_P(StoreFaults, records_left_out_that_the_disk_has_no_room_for_are_refused_when_they_are_put) {
  disk_->free = 100 << 20;
  const auto made = request();
  const Source source = sample_data(made.schema, *made.layout);
  auto file = store_->create(made);
  ASSERT_TRUE(file) << file.error().text();
  std::size_t frame = 0;
  while (!made.layout->frames[frame].record) ++frame;
  const auto far = write_frame(**file, made, frame, 1000, source);  // 0.25 MiB a record
  if (GetParam() == Format::netcdf4) {                              // whose missing records take no
                                                                    // space
    EXPECT_TRUE(far) << far.error().text();
    return;
  }
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().code, ErrorCode::no_space);
  EXPECT_EQ(far.error().file, path());
  EXPECT_EQ(far.error().variable, "t");
  for (const std::string part : {"record 1000 of variable 't'", "1001 records of 262088 bytes",
                                 "0.2 GiB in all", "the 104857600 bytes that are free"})
    EXPECT_NE(far.error().message.find(part), std::string::npos) << far.error().message;
  EXPECT_TRUE(write_frame(**file, made, frame, 100, source));
  (*file)->abandon();
}

TEST_P(StoreFaults, a_writer_in_another_process_blocks_until_it_dies) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const std::string part = path() + ".part";
  const pid_t child = ::fork();
  if (child == 0) {  // holds the lock like the server of another run
    const int descriptor = ::open(part.c_str(), O_RDWR | O_CREAT, 0644);
    ::flock(descriptor, LOCK_EX);
    if (::write(descriptor, "stale", 5) != 5 || ::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto blocked = write(request());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  ASSERT_FALSE(blocked);
  EXPECT_EQ(blocked.error().code, ErrorCode::conflict);
  EXPECT_NE(blocked.error().text().find("another writer"), std::string::npos);
  const auto made = request();
  const auto written = write(made);  // the remains of the killed run are replaced
  ASSERT_TRUE(written) << written.error().text();
  expect_whole(made);
}

INSTANTIATE_TEST_SUITE_P(OnDisk, StoreFaults, testing::Values(Format::netcdf4, Format::cdf5, Format::cdf2),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

}  // namespace
}  // namespace afterbay::test
