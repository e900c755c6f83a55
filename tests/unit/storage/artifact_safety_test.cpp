// SPDX-License-Identifier: Apache-2.0
// Artifacts that are directories, among what others have put, removed or made read-only there.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/xattr.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "storage/block_writer/part_directory.hpp"
#include "storage/publication.hpp"
#include "unit/storage/artifact_fixture.hpp"

namespace afterbay::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ArtifactsAmongOthers : public Artifacts {
 protected:
  void make_theirs(const std::string& directory) {
    fs::create_directory(directory);
    std::ofstream(directory + "/theirs") << "theirs";
  }
  void expect_theirs(const std::string& directory) {
    EXPECT_EQ(text_in(directory + "/theirs"), "theirs") << directory;
  }
  /// A part directory that a run has left.
  void leave(float value) {
    const auto killed = written(value);
    ASSERT_NE(killed, nullptr);
    killed->abandon();
  }
  void expect_no_claim(Existing existing, ErrorCode code, const testing::Matcher<std::string>& text) {
    const auto refused = TwoFileStore(disk_).create(TwoFileStore::request(path(), existing));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, code) << refused.error().text();
    EXPECT_EQ(refused.error().file, path());
    EXPECT_THAT(refused.error().text(), text);
    EXPECT_FALSE(fs::exists(part() + ".lock"));
  }
  [[nodiscard]] std::string parent_sync() const { return "sync " + directory_.path.filename().string(); }
};

TEST_F(ArtifactsAmongOthers, a_directory_of_a_user_is_not_replaced) {
  make_theirs(path());
  expect_no_claim(Existing::replace, ErrorCode::exists,
                  AllOf(HasSubstr(path() + " exists already, and may not be Afterbay's"),
                        HasSubstr("rename or remove it yourself, or choose another name")));
  expect_theirs(path());
  EXPECT_THAT(names(), ElementsAre("out.zz"));
}

TEST_F(ArtifactsAmongOthers, a_directory_of_a_user_that_appears_meanwhile_is_not_replaced) {
  const auto file = written(2);
  ASSERT_NE(file, nullptr);
  make_theirs(path());
  disk_->calls.clear();
  expect_refused(*file, ErrorCode::exists, "may not be Afterbay's");
  expect_theirs(path());
  EXPECT_EQ(TwoFileStore::read(part()).size(), 4 * 64U) << "kept";
  EXPECT_THAT(disk_->calls, Not(testing::Contains(testing::StartsWith("exchange"))));
}

/// The mark is what makes the difference.
TEST_F(ArtifactsAmongOthers, a_directory_that_lost_its_mark_is_not_replaced) {
  publish(1);
  ASSERT_EQ(::removexattr(path().c_str(), "user.afterbay.part"), 0);
  expect_no_claim(Existing::replace, ErrorCode::exists, HasSubstr("no attribute user.afterbay.part"));
  EXPECT_EQ(value(), 1);
}

/// Without attributes (tests/fault/directories.py) nothing shows whose directory it is.
TEST_F(ArtifactsAmongOthers, an_older_directory_is_replaced_only_on_a_file_system_with_attributes) {
  publish(1);
  const storage::Descriptor older(::open(path().c_str(), O_RDONLY | O_DIRECTORY));
  if (storage::keeps_marks(older.get())) {
    publish(2);
    EXPECT_EQ(value(), 2);
    leave(3);
    publish(4);
    EXPECT_EQ(value(), 4);
    return;
  }
  expect_no_claim(Existing::replace, ErrorCode::exists,
                  HasSubstr("its file system keeps no extended attributes"));
  EXPECT_EQ(value(), 1);
  fs::remove_all(path());
  leave(2);
  expect_no_claim(Existing::replace, ErrorCode::exists,
                  AllOf(HasSubstr(part()), HasSubstr("its file system keeps no extended attributes")));
  EXPECT_EQ(TwoFileStore::read(part()).size(), 4 * 64U);
}

TEST_F(ArtifactsAmongOthers, a_part_directory_of_a_user_is_not_removed) {
  make_theirs(part());
  expect_no_claim(Existing::replace, ErrorCode::exists,
                  HasSubstr(part() + " exists already, and may not be Afterbay's"));
  expect_theirs(part());
}

/// A run may have been killed between making the directory and marking it.
TEST_F(ArtifactsAmongOthers, an_empty_part_directory_without_a_mark_blocks_nobody) {
  fs::create_directory(part());
  publish(1);
  EXPECT_EQ(value(), 1);
  EXPECT_THAT(names(), ElementsAre("out.zz"));
}

TEST_F(ArtifactsAmongOthers, a_claim_that_is_refused_because_of_the_name_removes_nothing) {
  leave(1);
  make_theirs(path());
  expect_no_claim(Existing::replace, ErrorCode::exists, HasSubstr("may not be Afterbay's"));
  expect_no_claim(Existing::append, ErrorCode::bad_state, HasSubstr("nothing can be appended"));
  fs::remove_all(path());
  std::ofstream(path()) << "a file";
  expect_no_claim(Existing::replace, ErrorCode::exists, HasSubstr("is not a directory"));
  fs::remove(path());
  fs::create_symlink("nowhere", path());
  for (const Existing existing : {Existing::replace, Existing::refuse})
    expect_no_claim(existing, ErrorCode::exists, HasSubstr("is not a directory"));
  EXPECT_EQ(TwoFileStore::read(part()).size(), 4 * 64U);
}

TEST_F(ArtifactsAmongOthers, a_claim_without_exchange_removes_nothing) {
  publish(1);
  leave(2);
  disk_->before = [](const std::string& call) { return call.starts_with("exchange") ? EINVAL : 0; };
  expect_no_claim(Existing::replace, ErrorCode::bad_state, HasSubstr("in one step"));
  EXPECT_EQ(TwoFileStore::read(part()).size(), 4 * 64U);
  EXPECT_THAT(names(), ElementsAre("out.zz", "out.zz.part"));
}

/// It may be the older artifact of an exchange that a loss of power would undo.
TEST_F(ArtifactsAmongOthers, a_leftover_is_removed_when_the_names_are_durable) {
  leave(1);
  disk_->before = [&](const std::string& call) { return call == parent_sync() ? EIO : 0; };
  expect_no_claim(Existing::replace, ErrorCode::io, HasSubstr("make durable the directory"));
  EXPECT_EQ(TwoFileStore::read(part()).size(), 4 * 64U);
  disk_->before = [](const std::string&) { return 0; };
  publish(2);
  EXPECT_EQ(value(), 2);
}

TEST_F(ArtifactsAmongOthers, read_only_directories_of_older_runs_are_removed) {
  const Unprivileged without(directory_.path);
  const auto protect = [&](const std::string& directory) {
    fs::create_directories(directory + "/deep/deeper");
    std::ofstream(directory + "/deep/deeper/file") << "more";
    fs::permissions(directory + "/deep/deeper", fs::perms::none);
    for (const char* inner : {"/deep", "/values", ""}) fs::permissions(directory + inner, fs::perms(0555));
  };
  leave(1);
  protect(part());
  publish(2);
  protect(path());
  const auto file = written(3);
  ASSERT_NE(file, nullptr);
  const auto published = file->publish();
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(published->warning, "");
  EXPECT_EQ(value(), 3);
  EXPECT_THAT(names(), ElementsAre("out.zz"));
}

TEST_F(ArtifactsAmongOthers, files_of_others_that_cannot_be_removed_are_named_and_fail_no_publication) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  publish(1);
  make_theirs(path() + "/root's");
  const Unprivileged without(directory_.path, path() + "/root's");
  const auto file = written(2);
  ASSERT_NE(file, nullptr);
  const auto published = file->publish();
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_THAT(published->warning,
              AllOf(HasSubstr(part() + "/root's/theirs: Permission denied"), HasSubstr("is published")));
  EXPECT_EQ(value(), 2);
  expect_theirs(part() + "/root's");
  EXPECT_FALSE(fs::exists(part() + "/structure")) << "the rest is removed";
  expect_no_claim(Existing::replace, ErrorCode::io,
                  AllOf(HasSubstr(part() + "/root's/theirs: Permission denied"),
                        HasSubstr("removing what an earlier run left of " + path())));
  EXPECT_EQ(value(), 2);
}

TEST_F(ArtifactsAmongOthers, the_older_directory_is_removed_after_the_publication_is_reported) {
  publish(1);
  const auto file = written(2);
  ASSERT_NE(file, nullptr);
  storage::File* const alone[] = {file.get()};
  ASSERT_TRUE(storage::publish_together(alone, {}).front());
  EXPECT_EQ(value(), 2);
  EXPECT_EQ(TwoFileStore::read(part()).size(), 4 * 64U);
  EXPECT_FALSE(TwoFileStore().create(TwoFileStore::request(path(), Existing::replace))) << "still locked";
  EXPECT_THAT(storage::remove_replaced(alone), ElementsAre(""));
  EXPECT_THAT(names(), ElementsAre("out.zz"));
  EXPECT_FALSE(fs::exists(part() + ".lock"));
}

/// The other kind may be the part of a run that is alive: nobody is told to just remove it.
TEST_F(ArtifactsAmongOthers, a_file_under_the_part_name_is_refused_with_care) {
  std::ofstream(part()) << "theirs";
  expect_no_claim(Existing::replace, ErrorCode::exists,
                  AllOf(HasSubstr(part() + " is not a directory"),
                        HasSubstr("if a run is writing it as a file, give the two different names")));
  EXPECT_EQ(text_in(part()), "theirs");
}

TEST_F(ArtifactsAmongOthers, names_that_lead_out_of_the_directory_are_refused) {
  const auto part = storage::PartDirectory::claim(TwoFileStore::request(path(), Existing::replace));
  ASSERT_TRUE(part);
  for (const std::string name : {"", "/", "/etc/x", "..", "../x", "a/../../x", "a//b", "a/", "./a", "a/."}) {
    const auto made = part->create_file(name);
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code, ErrorCode::invalid_argument) << made.error().text();
  }
  EXPECT_FALSE(part->create_file(std::string("a\0b", 3)));
  fs::create_directory(directory_.path / "elsewhere");
  fs::create_symlink(directory_.path / "elsewhere", part->file_path("link"));
  EXPECT_FALSE(part->create_file("link/x"));
  EXPECT_TRUE(fs::is_empty(directory_.path / "elsewhere"));
  EXPECT_TRUE(part->create_file("...") && part->create_file(".a/..b"));
}

TEST_F(ArtifactsAmongOthers, files_are_made_in_this_directory_though_another_one_has_its_name) {
  const auto ours = storage::PartDirectory::claim(TwoFileStore::request(path(), Existing::replace));
  ASSERT_TRUE(ours);
  fs::rename(part(), part() + ".away");
  fs::create_directory(part());
  EXPECT_TRUE(ours->create_file("a/b"));
  EXPECT_TRUE(fs::exists(part() + ".away/a/b"));
  EXPECT_TRUE(fs::is_empty(part()));
}

TEST_F(ArtifactsAmongOthers, a_store_that_lists_no_files_publishes_nothing) {
  auto part = storage::PartDirectory::claim(TwoFileStore::request(path(), Existing::replace));
  ASSERT_TRUE(part);
  const auto durable = part->make_durable({});
  ASSERT_FALSE(durable);
  EXPECT_EQ(durable.error().code, ErrorCode::internal) << durable.error().text();
  storage::Published listed;
  storage::set_files(listed, {});
  EXPECT_TRUE(part->make_durable(listed)) << "an empty list is one";
}

TEST_F(ArtifactsAmongOthers, a_lock_file_that_is_removed_lets_no_second_writer_in) {
  const auto first = written(1);
  ASSERT_NE(first, nullptr);
  for (const char* suffix : {".lock", ".owner"}) fs::remove(part() + suffix);
  expect_no_claim(Existing::replace, ErrorCode::conflict, HasSubstr("that somebody has removed"));
  EXPECT_EQ(TwoFileStore::read(part()).size(), 4 * 64U);
}

/// The lock file of the run that made it is gone by then.
TEST_F(ArtifactsAmongOthers, a_published_directory_is_removed_whatever_lock_it_was_written_under) {
  publish(1);
  std::uint64_t lock[2] = {7, 7};  // as a run leaves it that is killed when the directory has its name
  ASSERT_EQ(::setxattr(path().c_str(), "user.afterbay.lock", lock, sizeof lock, 0), 0);
  const auto file = written(2);
  ASSERT_NE(file, nullptr);
  storage::File* const alone[] = {file.get()};
  ASSERT_TRUE(storage::publish_together(alone, {}).front());
  file->abandon();
  EXPECT_THAT(TwoFileStore::read(part()), testing::Contains(1)) << "as if it was killed";
  publish(3);
  EXPECT_EQ(value(), 3);
  EXPECT_THAT(names(), ElementsAre("out.zz"));
}

TEST_F(ArtifactsAmongOthers, a_slash_at_the_end_of_the_name_is_refused) {
  for (const char* end : {"/", "/.", "/.."}) {
    const auto refused = TwoFileStore(disk_).create(TwoFileStore::request(path() + end, Existing::replace));
    ASSERT_FALSE(refused) << end;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument) << refused.error().text();
  }
  EXPECT_THAT(names(), IsEmpty());
}

}  // namespace
}  // namespace afterbay::test
