// SPDX-License-Identifier: Apache-2.0
// Artifacts that are directories: claim, publication, replacement and removal, with a store that
// writes two files.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/crc64.hpp"
#include "scratch_directory.hpp"
#include "storage/artifact.hpp"
#include "storage/block_writer/part_directory.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/epoch/recover.hpp"
#include "storage/publication.hpp"
#include "unit/storage/artifact_fixture.hpp"
#include "unit/storage/two_file_store.hpp"

namespace afterbay::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(Artifacts, a_directory_is_published_with_the_list_of_its_files) {
  const auto file = written(1.5F, Existing::refuse);
  ASSERT_NE(file, nullptr);
  EXPECT_THAT(names(), ElementsAre("out.zz.part"));
  const auto published = file->publish([&](const storage::Published& ready) -> Result<> {
    EXPECT_THAT(names(), ElementsAre("out.zz.part"));
    EXPECT_NE(ready.inode, 0U);
    return {};
  });
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_THAT(names(), ElementsAre("out.zz"));
  EXPECT_EQ(value(), 1.5F);
  struct stat status {};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(published->inode, status.st_ino);
  EXPECT_EQ(published->records, 3U);
  ASSERT_TRUE(published->files);
  std::string list;
  std::uint64_t bytes = 0;
  for (const ArtifactFile& it : *published->files) {
    const std::string contents = text_in(fs::path(path()) / it.name);
    EXPECT_EQ(it.bytes, contents.size()) << it.name;
    EXPECT_EQ(it.checksum, crc64(std::as_bytes(std::span(contents)))) << it.name;
    bytes += it.bytes;
    list += it.name + '\0' + std::to_string(it.bytes) + '\0' + fmt::format("{:016x}\n", *it.checksum);
  }
  EXPECT_EQ((*published->files)[0].name, "structure");
  EXPECT_EQ((*published->files)[1].name, "values/data");
  EXPECT_EQ(published->size_bytes, bytes);
  EXPECT_EQ(published->checksum, crc64(std::as_bytes(std::span(list))));
}

TEST_F(Artifacts, files_and_directories_are_durable_before_the_name_and_the_name_before_the_end) {
  const auto file = written(1);
  ASSERT_NE(file, nullptr);
  disk_->calls.clear();
  ASSERT_TRUE(file->publish());
  EXPECT_THAT(disk_->calls, ElementsAre("sync structure", "sync data", "sync values", "sync out.zz.part",
                                        "rename out.zz.part", "sync " + directory_.path.filename().string()));
}

TEST_F(Artifacts, an_older_directory_is_replaced_in_one_step_and_removed_when_the_new_name_is_durable) {
  publish(1);
  const auto file = written(2);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(value(), 1);
  disk_->calls.clear();
  disk_->before = [&](const std::string& call) {
    if (call.starts_with("exchange")) {
      EXPECT_EQ(value(), 1);
    }
    if (call == "sync " + directory_.path.filename().string()) {
      EXPECT_EQ(value(), 2);
      EXPECT_EQ(TwoFileStore::read(part()).size(), 4 * 64U) << "a loss of power may bring it back";
    }
    return 0;
  };
  ASSERT_TRUE(file->publish());
  EXPECT_EQ(value(), 2);
  EXPECT_THAT(names(), ElementsAre("out.zz"));
  EXPECT_THAT(disk_->calls, ::testing::Contains("exchange out.zz.part"));
}

TEST_F(Artifacts, an_older_directory_is_refused_at_once_and_if_it_appears_meanwhile) {
  publish(1);
  const auto refused = TwoFileStore(disk_).create(TwoFileStore::request(path(), Existing::refuse));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::exists) << refused.error().text();
  EXPECT_THAT(names(), ElementsAre("out.zz"));
  fs::remove_all(path());
  const auto file = written(2, Existing::refuse);
  ASSERT_NE(file, nullptr);
  fs::create_directory(path());
  std::ofstream(path() + "/theirs") << "theirs";
  expect_refused(*file, ErrorCode::exists, "appeared while");
  EXPECT_EQ(text_in(path() + "/theirs"), "theirs");
  EXPECT_EQ(TwoFileStore::read(part()).size(), 4 * 64U) << "kept";
}

TEST_F(Artifacts, one_that_appears_meanwhile_is_replaced_if_that_is_allowed) {
  publish(1);
  std::ofstream(path() + "/theirs") << "theirs";
  fs::rename(path(), path() + ".away");
  const auto file = written(2);
  ASSERT_NE(file, nullptr);
  fs::rename(path() + ".away", path());
  ASSERT_TRUE(file->publish());
  EXPECT_EQ(value(), 2);
  EXPECT_FALSE(fs::exists(path() + "/theirs"));
  EXPECT_THAT(names(), ElementsAre("out.zz"));
}

TEST_F(Artifacts, without_exchange_replacing_fails_before_anything_is_written) {
  publish(1);
  disk_->before = [](const std::string& call) { return call.starts_with("exchange") ? EINVAL : 0; };
  const auto refused = TwoFileStore(disk_).create(TwoFileStore::request(path(), Existing::replace));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_state) << refused.error().text();
  EXPECT_THAT(refused.error().text(), HasSubstr("cannot replace a directory in one step"));
  EXPECT_EQ(value(), 1);
  EXPECT_THAT(names(), ElementsAre("out.zz"));
  fs::rename(path(), path() + ".away");
  const auto file = written(2);
  ASSERT_NE(file, nullptr) << "there is nothing to replace";
  fs::rename(path() + ".away", path());
  expect_refused(*file, ErrorCode::bad_state, "cannot replace a directory in one step");
  EXPECT_EQ(value(), 1);
}

TEST_F(Artifacts, only_a_directory_is_replaced) {
  std::ofstream(path()) << "a file";
  const auto refused = TwoFileStore(disk_).create(TwoFileStore::request(path(), Existing::replace));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::exists);
  EXPECT_THAT(refused.error().text(), HasSubstr("is not a directory"));
  EXPECT_EQ(text_in(path()), "a file");
  fs::remove(path());
  fs::create_directory(directory_.path / "other");
  const auto file = written(2);
  ASSERT_NE(file, nullptr);
  fs::create_symlink(directory_.path / "other", path());
  expect_refused(*file, ErrorCode::exists, "is not a directory");
  EXPECT_TRUE(fs::is_symlink(path()));
}

TEST_F(Artifacts, nothing_is_appended_to_a_directory) {
  publish(1);
  const auto refused = TwoFileStore(disk_).create(TwoFileStore::request(path(), Existing::append));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_state);
  EXPECT_THAT(refused.error().text(), HasSubstr("nothing can be appended"));
  EXPECT_EQ(value(), 1);
  EXPECT_THAT(names(), ElementsAre("out.zz"));
}

TEST_F(Artifacts, two_writers_do_not_write_the_same_directory) {
  const auto first = written(1);
  ASSERT_NE(first, nullptr);
  const auto second = TwoFileStore(disk_).create(TwoFileStore::request(path(), Existing::replace));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  EXPECT_THAT(second.error().text(), HasSubstr("out.zz.part"));
  EXPECT_TRUE(fs::exists(part() + ".lock"));
  ASSERT_TRUE(first->publish());
  EXPECT_EQ(value(), 1);
  EXPECT_FALSE(fs::exists(part() + ".lock"));
}

TEST_F(Artifacts, the_lock_of_a_killed_run_blocks_nobody_and_other_files_of_its_name_stay) {
  std::ofstream(part() + ".lock").close();
  publish(1);
  EXPECT_FALSE(fs::exists(part() + ".lock"));
  std::ofstream(part() + ".lock") << "theirs";
  const auto refused = TwoFileStore(disk_).create(TwoFileStore::request(path(), Existing::replace));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("out.zz.part.lock is not Afterbay's"));
  EXPECT_EQ(text_in(part() + ".lock"), "theirs");
}

/// The older directory has the part name until it is removed.
TEST_F(Artifacts, a_second_writer_does_not_get_the_part_name_while_the_older_directory_has_it) {
  publish(1);
  const auto file = written(2);
  ASSERT_NE(file, nullptr);
  disk_->before = [&](const std::string& call) {
    if (call == "sync " + directory_.path.filename().string()) {
      const auto second = TwoFileStore().create(TwoFileStore::request(path(), Existing::replace));
      EXPECT_FALSE(second);
    }
    return 0;
  };
  ASSERT_TRUE(file->publish());
  EXPECT_EQ(value(), 2);
}

TEST_F(Artifacts, what_a_killed_run_left_is_replaced) {
  const auto killed = written(1);
  ASSERT_NE(killed, nullptr);
  fs::create_directories(part() + "/deep/deeper");
  std::ofstream(part() + "/deep/deeper/file") << "more";
  killed->abandon();
  EXPECT_THAT(names(), ElementsAre("out.zz.part"));
  publish(2);
  EXPECT_EQ(value(), 2);
  EXPECT_THAT(names(), ElementsAre("out.zz"));
  EXPECT_FALSE(fs::exists(path() + "/deep"));
}

/// For example by a run that wrote files under this name.
TEST_F(Artifacts, a_file_with_the_part_name_is_not_removed) {
  std::ofstream(part()) << "theirs";
  const auto refused = TwoFileStore(disk_).create(TwoFileStore::request(path(), Existing::replace));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("out.zz.part is not a directory"));
  EXPECT_EQ(text_in(part()), "theirs");
}

TEST_F(Artifacts, files_that_are_missing_cut_off_or_of_others_prevent_publication_and_are_named) {
  const std::pair<std::function<void()>, const char*> cases[] = {
      {[&] { fs::remove(part() + "/values/data"); }, "file 'values/data' is missing"},
      {[&] { fs::resize_file(part() + "/values/data", 7); }, "file 'values/data' has 7 bytes"},
      {[&] { std::ofstream(part() + "/values/more") << "x"; }, "file 'values/more' does not belong to it"},
  };
  for (const auto& [damage, text] : cases) {
    const auto file = written(1);
    ASSERT_NE(file, nullptr);
    const auto published = file->finish();
    ASSERT_TRUE(published);
    damage();
    const auto durable = file->part()->make_durable(*published);
    ASSERT_FALSE(durable) << text;
    EXPECT_EQ(durable.error().code, ErrorCode::conflict);
    EXPECT_THAT(durable.error().text(), HasSubstr(text));
    file->abandon();
  }
}

TEST_F(Artifacts, a_failing_device_prevents_publication_whichever_file_it_concerns) {
  for (const char* failing :
       {"sync structure", "sync data", "sync values", "sync out.zz.part", "rename out.zz.part"}) {
    const auto file = written(1);
    ASSERT_NE(file, nullptr);
    disk_->before = [&](const std::string& call) { return call == failing ? EIO : 0; };
    const auto published = file->publish();
    ASSERT_FALSE(published) << failing;
    EXPECT_EQ(published.error().native, EIO);
    EXPECT_THAT(names(), ElementsAre("out.zz.part")) << failing;
    disk_->before = [](const std::string&) { return 0; };
  }
}

TEST_F(Artifacts, what_fails_before_the_name_prevents_it) {
  publish(1);
  const auto file = written(2);
  ASSERT_NE(file, nullptr);
  EXPECT_FALSE(
      file->publish([](const storage::Published&) -> Result<> { return fail(ErrorCode::io, "no"); }));
  EXPECT_EQ(value(), 1);
  EXPECT_EQ(TwoFileStore::read(part()).front(), 2);
}

TEST_F(Artifacts, a_directory_made_anew_under_the_part_name_is_not_published_for_ours) {
  const auto ours = written(1);
  ASSERT_NE(ours, nullptr);
  for (const char* suffix : {"", ".lock", ".owner"}) fs::remove_all(part() + suffix);
  const auto theirs = written(2);
  ASSERT_NE(theirs, nullptr);
  const auto published = ours->publish();
  ASSERT_FALSE(published);
  EXPECT_FALSE(fs::exists(path()));
  ours->give_back_space();
  ASSERT_TRUE(theirs->publish());
  EXPECT_EQ(value(), 2);
}

TEST_F(Artifacts, a_part_name_that_is_taken_in_the_last_moment_is_seen) {
  const auto ours = written(1);
  ASSERT_NE(ours, nullptr);
  disk_->before = [&](const std::string& call) {
    if (!call.starts_with("rename")) return 0;
    fs::rename(part(), part() + ".ours");
    fs::create_directory(part());
    return 0;
  };
  expect_refused(*ours, ErrorCode::conflict, "was replaced by another directory");
}

TEST_F(Artifacts, space_is_given_back_of_the_whole_tree_and_only_of_the_own_one) {
  const auto open = written(1);
  ASSERT_NE(open, nullptr);
  open->give_back_space();
  EXPECT_THAT(names(), IsEmpty());
  open->abandon();
  const auto closed = written(1);
  ASSERT_NE(closed, nullptr);
  closed->abandon();
  closed->give_back_space();
  EXPECT_THAT(names(), IsEmpty());
  const auto ours = written(1);
  ASSERT_NE(ours, nullptr);
  fs::rename(part(), part() + ".ours");
  fs::create_directory(part());
  std::ofstream(part() + "/theirs") << "theirs";
  ours->give_back_space();
  EXPECT_EQ(text_in(part() + "/theirs"), "theirs");
}

TEST_F(Artifacts, a_directory_that_cannot_be_begun_is_removed) {
  class FullDisk : public storage::Disk {
   public:
    int open_at(int directory, const char* name, int flags, mode_t mode) override {
      if (std::string_view(name) == "data") return errno = ENOSPC, -1;
      return Disk::open_at(directory, name, flags, mode);
    }
  };
  const auto made =
      TwoFileStore(std::make_shared<FullDisk>()).create(TwoFileStore::request(path(), Existing::replace));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::no_space);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Artifacts, files_and_directories_published_together_share_the_sync_of_their_names) {
  const auto two = written(1);
  ASSERT_NE(two, nullptr);
  auto request = TwoFileStore::request(directory_.path / "one.nc", Existing::replace);
  request.disk = disk_;
  const auto one = storage::make_store(Format::cdf5)->create(request);
  ASSERT_TRUE(one) << one.error().text();
  disk_->calls.clear();
  storage::File* const together[] = {one->get(), two.get()};
  for (const auto& result : storage::publish_together(together, {})) EXPECT_TRUE(result);
  EXPECT_THAT(names(), ElementsAre("one.nc", "out.zz"));
  EXPECT_EQ(std::ranges::count(disk_->calls, "sync " + directory_.path.filename().string()), 1);
}

TEST_F(Artifacts, an_epoch_is_refused_by_a_format_that_keeps_none) {
  const auto file = written(1);
  ASSERT_NE(file, nullptr);
  storage::Epoch epoch;
  epoch.name = "day-1";
  const auto marked = file->mark_epoch(epoch, {});
  ASSERT_FALSE(marked);
  EXPECT_EQ(marked.error().code, ErrorCode::bad_state);
  EXPECT_THAT(marked.error().text(), HasSubstr("its format keeps no epochs"));
  file->abandon();
  const auto recoverable = storage::find_recoverable(path());
  ASSERT_FALSE(recoverable);
  EXPECT_EQ(recoverable.error().code, ErrorCode::io);
  EXPECT_THAT(recoverable.error().text(), HasSubstr("is a directory, and its format keeps no epochs"));
}

/// A format that keeps epochs has a log beside the directory, which belongs to this one.
TEST_F(Artifacts, epoch_logs_of_a_directory_end_with_its_publication) {
  const auto file = written(1);
  ASSERT_NE(file, nullptr);
  const auto log = storage::EpochLog::create(part(), std::nullopt, disk_, file->part()->descriptor());
  ASSERT_TRUE(log) << log.error().text();
  storage::LoggedEpoch epoch;
  epoch.epoch.number = 1;
  ASSERT_TRUE((*log)->commit(epoch));
  EXPECT_THAT(names(), ElementsAre("out.zz.part", "out.zz.part.epochs"));
  ASSERT_TRUE(file->publish());
  EXPECT_THAT(names(), ElementsAre("out.zz"));
}

TEST_F(Artifacts, a_directory_is_not_readable_before_it_is_published) {
  storage::FileRequest request = TwoFileStore::request(path(), Existing::refuse);
  request.readable = true;
  const auto refused = TwoFileStore(disk_).create(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_state);
  EXPECT_EQ(refused.error().file, path());
  EXPECT_THAT(refused.error().text(), HasSubstr("leave 'readable' off"));
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(Artifacts, a_file_is_created_once) {
  auto part = storage::PartDirectory::claim(TwoFileStore::request(path(), Existing::replace));
  ASSERT_TRUE(part);
  EXPECT_TRUE(part->create_file("a/b/c"));
  EXPECT_TRUE(part->create_file("a/b/d"));
  const auto again = part->create_file("a/b/c");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::exists);
}

}  // namespace
}  // namespace afterbay::test
