// SPDX-License-Identifier: Apache-2.0
// Only the file that was written gets the final name, whatever other processes do to names
// meanwhile.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "conformance/store_harness.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/publication.hpp"

namespace afterbay::test {
namespace {

namespace fs = std::filesystem;
using storage::Existing;
using ::testing::HasSubstr;

class StorePublication : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] std::string path() const { return directory_.file("out.nc"); }
  [[nodiscard]] std::string part() const { return path() + ".part"; }

  /// A whole file that is not yet published.
  std::unique_ptr<storage::File> written() { return written("out.nc", storage::Disk::real()); }
  std::unique_ptr<storage::File> written(const std::string& name, std::shared_ptr<storage::Disk> disk) {
    auto request =
        request_of(directory_.file(name), schema_of_types(GetParam()), GetParam(), Existing::replace);
    request.disk = std::move(disk);
    auto file = store_->create(request);
    if (!file) {
      ADD_FAILURE() << file.error().text();
      return nullptr;
    }
    const Source source = sample_data(request.schema, *request.layout);
    write_fixed(**file, request, source);
    write_record(**file, request, 0, source);
    return std::move(*file);
  }

  static void expect_conflict(storage::File& file) {
    const auto published = file.publish();
    ASSERT_FALSE(published);
    EXPECT_EQ(published.error().code, ErrorCode::conflict) << published.error().text();
    EXPECT_THAT(published.error().text(), HasSubstr("out.nc.part"));
  }

  std::unique_ptr<storage::Store> store_ = storage::make_store(GetParam());
  TemporaryDirectory directory_;
};

TEST_P(StorePublication, a_symbolic_link_with_the_final_name_is_refused_at_the_opening) {
  std::ofstream(directory_.file("other.nc")) << "older";
  for (const char* const target : {"other.nc", "nothing.nc"}) {
    fs::remove(path());
    fs::create_symlink(directory_.file(target), path());
    for (const Existing existing : {Existing::replace, Existing::refuse, Existing::append}) {
      const auto request = request_of(path(), schema_of_types(GetParam()), GetParam(), existing);
      const auto file = store_->create(request);
      ASSERT_FALSE(file);
      EXPECT_EQ(file.error().code, ErrorCode::exists);
      EXPECT_FALSE(fs::exists(part()));
    }
    const auto refused =
        store_->create(request_of(path(), schema_of_types(GetParam()), GetParam(), Existing::replace));
    EXPECT_THAT(refused.error().text(), HasSubstr("symbolic link"));
    EXPECT_TRUE(fs::is_symlink(path()));
  }
}

TEST_P(StorePublication, a_file_made_anew_under_the_part_name_is_not_published_for_ours) {
  const auto ours = written();
  ASSERT_NE(ours, nullptr);
  fs::remove(part());
  const auto theirs = written();  // another run, which is not complete yet
  ASSERT_NE(theirs, nullptr);
  expect_conflict(*ours);
  EXPECT_FALSE(fs::exists(path()));
  ASSERT_TRUE(fs::exists(part())) << "theirs stays";
  EXPECT_TRUE(theirs->publish());
  EXPECT_TRUE(fs::exists(path()));
}

TEST_P(StorePublication, a_part_file_that_was_removed_is_said_and_the_older_file_stays) {
  std::ofstream(path()) << "older";
  const auto ours = written();
  ASSERT_NE(ours, nullptr);
  fs::remove(part());
  expect_conflict(*ours);
  EXPECT_EQ(fs::file_size(path()), 5U);
}

/// Between the check and the rename.
TEST_P(StorePublication, a_part_name_that_is_taken_in_the_last_moment_is_seen) {
  const auto ours = written();
  ASSERT_NE(ours, nullptr);
  const auto published = ours->publish([&](const storage::Published& ready) -> Result<> {
    EXPECT_EQ(ready.size_bytes, fs::file_size(part()));
    EXPECT_NE(ready.inode, 0U);
    fs::remove(part());
    std::ofstream(part()) << "theirs";
    return {};
  });
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().code, ErrorCode::conflict) << published.error().text();
  EXPECT_FALSE(fs::exists(path()));
  EXPECT_EQ(fs::file_size(part()), 6U);
}

/// Runs an action of another run just before or after the file gets its name.
class InterferingDisk : public storage::Disk {
 public:
  std::function<void()> before = [] {}, after = [] {};
  int link(int descriptor, const char* to) override {
    before();
    const int result = Disk::link(descriptor, to);
    const int number = errno;
    after();
    errno = number;
    return result;
  }
  int rename(const char* from, const char* to, bool replace) override {
    const int result = Disk::rename(from, to, replace);
    const int number = errno;
    after();
    errno = number;
    return result;
  }
};

/// Before, the older file under the final name was lost at such a moment, and the unfinished file
/// of another run was published.
TEST_P(StorePublication, a_part_name_that_is_taken_just_before_the_name_is_given_costs_nobody_a_file) {
  for (const bool older : {false, true}) {
    SCOPED_TRACE(older);
    const auto disk = std::make_shared<InterferingDisk>();
    const auto ours = written("out.nc", disk);
    ASSERT_NE(ours, nullptr);
    if (older) std::ofstream(path()) << "older";
    bool done = false;
    disk->before = [&] {
      if (std::exchange(done, true)) return;
      fs::remove(part());
      std::ofstream(part()) << "theirs";
    };
    expect_conflict(*ours);
    EXPECT_EQ(fs::exists(path()), older);
    EXPECT_EQ(older ? fs::file_size(path()) : 5U, 5U);
    EXPECT_EQ(fs::file_size(part()), 6U) << "theirs stays";
    fs::remove(path());
    fs::remove(part());
  }
}

/// A run that was stopped directly after its file got the name; meanwhile another run published the
/// same path.
TEST_P(StorePublication, a_file_that_another_run_published_since_stays) {
  const auto disk = std::make_shared<InterferingDisk>();
  const auto ours = written("out.nc", disk);
  ASSERT_NE(ours, nullptr);
  std::ofstream(path()) << "older";
  ino_t theirs = 0;
  disk->after = [&] {
    struct stat status {};
    if (theirs != 0 || ::stat(path().c_str(), &status) != 0 || status.st_size == 5) return;
    fs::remove(path());
    std::ofstream(path()) << "theirs, complete";
    ASSERT_EQ(::stat(path().c_str(), &status), 0);
    theirs = status.st_ino;
  };
  EXPECT_TRUE(ours->publish());
  ASSERT_NE(theirs, 0U);
  struct stat status {};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_ino, theirs);
  EXPECT_FALSE(fs::exists(part()));
}

/// The remains of a kill between two steps are removed by the next run, including names that only
/// Afterbay uses.
TEST_P(StorePublication, further_names_that_a_killed_run_left_are_removed) {
  const auto killed = written();
  ASSERT_NE(killed, nullptr);
  const std::string third = part() + ".0123456789abcdef.new";
  fs::create_hard_link(part(), third);
  const std::string other = part() + ".0123456789abcdeg.new";
  std::ofstream(other) << "somebody else's";
  killed->abandon();
  const auto next = written();
  ASSERT_NE(next, nullptr);
  EXPECT_FALSE(fs::exists(third));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(next->publish());
}

/// For example FAT and some FUSE file systems.
TEST_P(StorePublication, without_hard_links_files_are_renamed) {
  class LinklessDisk : public storage::Disk {
   public:
    int link(int, const char*) override {
      errno = EPERM;
      return -1;
    }
  };
  for (const bool older : {false, true}) {
    if (older) std::ofstream(path()) << "older";
    const auto ours = written("out.nc", std::make_shared<LinklessDisk>());
    ASSERT_NE(ours, nullptr);
    ASSERT_TRUE(ours->publish());
    EXPECT_GT(fs::file_size(path()), 5U);
    EXPECT_FALSE(fs::exists(part()));
  }
}

TEST_P(StorePublication, what_fails_before_the_name_prevents_it) {
  const auto ours = written();
  ASSERT_NE(ours, nullptr);
  EXPECT_FALSE(
      ours->publish([](const storage::Published&) -> Result<> { return fail(ErrorCode::io, "no"); }));
  EXPECT_FALSE(fs::exists(path()));
}

/// Counts the calls that make directories durable.
class StorePublicationCountingDisk : public storage::Disk {
 public:
  std::atomic<int> directories{0};

  int sync(int descriptor) override {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) ++directories;
    return Disk::sync(descriptor);
  }
};

TEST_P(StorePublication, files_published_together_share_syncs_and_not_their_failures) {
  const auto disk = std::make_shared<StorePublicationCountingDisk>();
  std::vector<std::unique_ptr<storage::File>> files;
  std::vector<storage::File*> together;
  for (const char* name : {"a.nc", "b.nc", "c.nc"}) {
    files.push_back(written(name, disk));
    ASSERT_NE(files.back(), nullptr);
    together.push_back(files.back().get());
  }
  fs::remove(directory_.file("b.nc.part"));
  disk->directories = 0;
  int asked = 0;
  const auto results = storage::publish_together(together, [&](std::span<const storage::Durable> durable) {
    ++asked;
    std::vector<std::size_t> which;
    for (const storage::Durable& it : durable) {
      which.push_back(it.index);
      EXPECT_NE(it.published->inode, 0U);
    }
    EXPECT_THAT(which, testing::ElementsAre(0, 2));
    EXPECT_FALSE(fs::exists(directory_.file("a.nc")));
    return Result<>();
  });
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(disk->directories, 1);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_TRUE(results[0]);
  ASSERT_FALSE(results[1]);
  EXPECT_THAT(results[1].error().text(), HasSubstr("b.nc.part"));
  EXPECT_TRUE(results[2]);
  for (const char* name : {"a.nc", "c.nc"})
    EXPECT_EQ(fs::file_size(directory_.file(name)), results[0]->size_bytes) << name;
  EXPECT_FALSE(fs::exists(directory_.file("b.nc")));
}

/// Waits in fsync of a file until as many are in it as there should be.
class MeetingDisk : public storage::Disk {
 public:
  explicit MeetingDisk(int expected) : expected_(expected) {}

  int sync(int descriptor) override {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return Disk::sync(descriptor);
    std::unique_lock lock(mutex_);
    most = std::max(most, ++inside_);
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return most >= expected_; });
    --inside_;
    lock.unlock();
    return Disk::sync(descriptor);
  }

  int most = 0;  ///< at the same time

 private:
  int expected_;
  int inside_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

TEST_P(StorePublication, files_of_a_large_batch_are_synced_at_the_same_time) {
  for (const auto& [syncs, expected] :
       {std::pair{std::size_t{1}, 1}, {std::size_t{3}, 3}, {std::size_t{8}, 5}}) {
    const auto disk = std::make_shared<MeetingDisk>(expected);
    std::vector<std::unique_ptr<storage::File>> files;
    std::vector<storage::File*> together;
    for (int n = 0; n < 10; ++n) {
      files.push_back(written(std::to_string(n) + ".nc", disk));
      ASSERT_NE(files.back(), nullptr);
      together.push_back(files.back().get());
    }
    fs::remove(directory_.file("6.nc.part"));
    disk->most = 0;
    const auto results = storage::publish_together(together, {}, syncs);
    EXPECT_EQ(disk->most, expected) << "two files per thread at least";
    for (int n = 0; n < 10; ++n) {
      const std::string name = std::to_string(n) + ".nc";
      EXPECT_EQ(static_cast<bool>(results[static_cast<std::size_t>(n)]), n != 6) << name;
      EXPECT_EQ(fs::exists(directory_.file(name)), n != 6) << name;
      fs::remove(directory_.file(name));
    }
  }
}

TEST_P(StorePublication, what_fails_before_the_names_prevents_all_of_them) {
  std::vector<std::unique_ptr<storage::File>> files;
  std::vector<storage::File*> together;
  for (const char* name : {"a.nc", "b.nc"}) {
    files.push_back(written(name, storage::Disk::real()));
    ASSERT_NE(files.back(), nullptr);
    together.push_back(files.back().get());
  }
  const auto results = storage::publish_together(
      together, [](std::span<const storage::Durable>) -> Result<> { return fail(ErrorCode::io, "no"); });
  for (const auto& result : results) EXPECT_FALSE(result);
  EXPECT_FALSE(fs::exists(directory_.file("a.nc")) || fs::exists(directory_.file("b.nc")));
  EXPECT_TRUE(fs::exists(directory_.file("a.nc.part")) && fs::exists(directory_.file("b.nc.part")));
}

TEST_P(StorePublication, space_is_given_back_only_of_the_own_file) {
  const auto ours = written();
  ASSERT_NE(ours, nullptr);
  fs::remove(part());
  std::ofstream(part()) << "theirs";
  ours->give_back_space();
  EXPECT_EQ(fs::file_size(part()), 6U);
  fs::remove(part());
  ours->abandon();
  const auto again = written();
  ASSERT_NE(again, nullptr);
  again->abandon();
  again->give_back_space();
  EXPECT_FALSE(fs::exists(part()));
}

/// In a directory that other users can write to.
TEST_P(StorePublication, a_symbolic_link_in_place_of_the_part_file_is_not_followed) {
  std::ofstream(directory_.file("victim")) << "untouched";
  const auto request = request_of(path(), schema_of_types(GetParam()), GetParam(), Existing::replace);
  for (const bool dangling : {false, true}) {
    fs::create_symlink(directory_.file(dangling ? "made" : "victim"), part());
    const auto refused = store_->create(request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::io);
    EXPECT_THAT(refused.error().text(), HasSubstr("is a symbolic link"));
    fs::remove(part());
  }
  EXPECT_EQ(fs::file_size(directory_.file("victim")), 9U);
  EXPECT_FALSE(fs::exists(directory_.file("made")));
  ASSERT_EQ(::mkfifo(part().c_str(), 0600), 0);
  EXPECT_FALSE(store_->create(request)) << "and nobody waits for the other end";
}

/// An empty file of another user, which is read while it is written, or changed afterwards.
TEST_P(StorePublication, a_file_that_is_there_is_not_taken_over) {
  std::ofstream(part()).close();
  const int theirs = ::open(part().c_str(), O_RDWR);
  const auto ours = written();
  ASSERT_NE(ours, nullptr);
  ASSERT_TRUE(ours->publish());
  struct stat status {};
  ASSERT_EQ(::fstat(theirs, &status), 0);
  EXPECT_EQ(status.st_size, 0);
  EXPECT_EQ(status.st_nlink, 0U);
  ::close(theirs);
}

INSTANTIATE_TEST_SUITE_P(, StorePublication, testing::Values(Format::netcdf4, Format::cdf5, Format::cdf2),
                         [](const auto& parameter) { return std::string(name_of(parameter.param)); });

}  // namespace
}  // namespace afterbay::test
