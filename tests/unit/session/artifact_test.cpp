// SPDX-License-Identifier: Apache-2.0
// Whole sessions that write directories, with a store of the tests: nothing in server, journal,
// verify and publication knows this store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "journal/judge.hpp"
#include "scratch_directory.hpp"
#include "storage/block_writer/patient_disk.hpp"
#include "unit/local_run.hpp"
#include "unit/storage/artifact_fixture.hpp"
#include "unit/storage/two_file_store.hpp"

namespace afterbay::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t x_points = 4096;
constexpr std::uint64_t record_count = 4;

/// Has no space for data as long as `is_full`.
class FullDisk : public storage::Disk {
 public:
  explicit FullDisk(std::function<bool()> is_full) : is_full_(std::move(is_full)) {}
  ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) override {
    if (!is_full_()) return Disk::write(descriptor, bytes, count, offset);
    errno = ENOSPC;
    return -1;
  }

 private:
  std::function<bool()> is_full_;
};

/// Puts the disk under what waits for space.
class FullStore : public storage::Store {
 public:
  explicit FullStore(std::function<bool()> is_full) : disk_(std::make_shared<FullDisk>(std::move(is_full))) {}
  Result<std::unique_ptr<storage::File>> create(const storage::FileRequest& request) override {
    storage::FileRequest changed = request;
    changed.disk = dynamic_cast<storage::PatientDisk&>(*request.disk).on(disk_);
    return TwoFileStore().create(changed);
  }

 private:
  std::shared_ptr<storage::Disk> disk_;
};

class ThreadSessionArtifact : public testing::Test {
 protected:
  std::vector<std::optional<Error>> run(storage::Store& store, const LocalRun::Model& model,
                                        const LocalRun::Settings& more = {}) {
    LocalRun::Settings settings{{"memory.server", "2MiB"},
                                {"memory.block", "64KiB"},
                                {"memory.small_block", "16KiB"},
                                {"deadline", "20s"},
                                {"journal.directory", directory.path / "journal"}};
    settings.insert(settings.end(), more.begin(), more.end());
    LocalRun local(2, 1, settings);
    local.stores = [&](Format) -> storage::Store& { return store; };
    return local.run(model);
  }

  static void register_line(Session& session) {
    const std::uint64_t mine = x_points / 2;
    session.decomposition(
        "line", Block{{x_points}, {static_cast<std::uint64_t>(session.model_rank()) * mine}, {mine}});
  }

  Collection define(Session& session, const std::string& name) {
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", x_points);
    schema.variable("T", Type::float32, {"time", "x"}).on("line");
    return session.collection(name, schema,
                              {.file = "{collection}.zz", .directory = directory.path, .store = "cdf5"});
  }

  static void put(Session& session, OutputFile& file, float value, std::uint64_t first = 0) {
    const std::vector<float> values(x_points / 2, value);
    for (std::uint64_t record = first; record < record_count; ++record) {
      file.put("T", record, values.data());
      session.end_step();
    }
  }

  void write(float value, const LocalRun::Settings& more = {}) {
    TwoFileStore store;
    const auto model = [&](Session& session, int) {
      register_line(session);
      OutputFile file = define(session, "out").open();
      put(session, file, value);
      session.wait(file.close());
      session.finalize();
    };
    for (const auto& error : run(store, model, more)) EXPECT_FALSE(error) << error->text();
  }

  void expect_values(float value) {
    const auto values = TwoFileStore::read(out());
    ASSERT_EQ(values.size(), record_count * x_points);
    for (const float it : values) ASSERT_EQ(it, value);
  }

  journal::Verification verify(bool quick = false) {
    const auto journal = journal::read_journal(directory.path / "journal");
    EXPECT_TRUE(journal) << journal.error().text();
    auto found = journal::verify(*journal, quick);
    EXPECT_TRUE(found);
    return *found;
  }
  void expect_wrong(const std::string& detail, bool quick = false) {
    const journal::Verification found = verify(quick);
    ASSERT_EQ(found.wrong.size(), 1U) << detail;
    EXPECT_EQ(found.wrong[0].finding, journal::Finding::changed);
    EXPECT_THAT(found.wrong[0].detail, HasSubstr(detail));
  }

  [[nodiscard]] std::string out() const { return directory.path / "out.zz"; }
  Directory directory;
};

TEST_F(ThreadSessionArtifact, is_published_and_verified_as_one) {
  write(3.5F);
  expect_values(3.5F);
  const auto journal = journal::read_journal(directory.path / "journal");
  ASSERT_TRUE(journal);
  ASSERT_EQ(journal->runs.at(0).published.size(), 1U);
  const journal::FilePublished& line = journal->runs[0].published[0].file;
  EXPECT_EQ(line.file.path, out());
  EXPECT_EQ(line.file_count, 2U);
  ASSERT_EQ(line.files.size(), 2U);
  EXPECT_EQ(line.files[1].name, "values/data");
  EXPECT_EQ(line.files[1].bytes, record_count * x_points * 4);
  const std::string text = text_in(directory.path / "journal/server-0.jsonl");
  EXPECT_NE(text.find(R"("files":[)"), std::string::npos);
  EXPECT_EQ(text.find(R"("files":[)"), text.rfind(R"("files":[)")) << "once";
  EXPECT_EQ(line.bytes, line.files[0].bytes + line.files[1].bytes);
  EXPECT_TRUE(line.checksum);
  EXPECT_EQ(verify().right, 1U);
  EXPECT_EQ(verify().bytes_read, line.bytes);
}

TEST_F(ThreadSessionArtifact, damaged_missing_and_extra_files_are_named) {
  write(3.5F);
  const fs::path data = fs::path(out()) / "values/data";
  std::fstream(data, std::ios::in | std::ios::out | std::ios::binary) << "x";
  expect_wrong("file 'values/data' has crc64-xz:");
  EXPECT_TRUE(verify(true).wrong.empty()) << "only the sizes";
  std::ofstream(fs::path(out()) / "more") << "more";
  expect_wrong("file 'more' does not belong to it; file 'values/data' has crc64-xz:");
  fs::resize_file(data, 5);
  expect_wrong("file 'values/data' has 5 bytes instead of 65536", true);
  fs::remove(data);
  fs::create_symlink("/etc/hostname", data);
  expect_wrong("file 'values/data' is not a regular file", true);
  fs::remove(data);
  expect_wrong("file 'values/data' is missing", true);
  fs::remove_all(out());
  ASSERT_EQ(verify().wrong.size(), 1U);
  EXPECT_EQ(verify().wrong[0].finding, journal::Finding::missing);
  std::ofstream(out()) << "a file";
  ASSERT_EQ(verify().wrong.size(), 1U);
  EXPECT_EQ(verify().wrong[0].finding, journal::Finding::unreadable);
}

TEST_F(ThreadSessionArtifact, replaces_an_older_one) {
  write(1, {{"journal.directory", directory.path / "older"}});
  write(2, {{"collections.out.existing", "replace"}});
  expect_values(2);
  EXPECT_FALSE(fs::exists(out() + ".part"));
  EXPECT_TRUE(verify().wrong.empty());
}

TEST_F(ThreadSessionArtifact, whose_older_one_cannot_be_removed_is_published_with_a_warning) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  write(1, {{"journal.directory", directory.path / "older"}});
  fs::create_directory(out() + "/theirs");
  std::ofstream(out() + "/theirs/file") << "theirs";
  {
    const Unprivileged without(directory.path, out() + "/theirs");
    write(2, {{"collections.out.existing", "replace"}});
  }
  expect_values(2);
  EXPECT_TRUE(verify().wrong.empty());
  const auto journal = journal::read_journal(directory.path / "journal");
  ASSERT_TRUE(journal);
  const journal::Run& last = journal->runs.back();
  EXPECT_EQ(last.published.size(), 1U);
  ASSERT_EQ(last.warnings.size(), 1U);
  EXPECT_THAT(last.warnings[0].text, HasSubstr(out() + ".part/theirs/file: Permission denied"));
}

TEST_F(ThreadSessionArtifact, without_checksums_sizes_are_compared) {
  write(1, {{"checksum", "off"}});
  EXPECT_EQ(verify().without_checksum, 1U);
  fs::resize_file(fs::path(out()) / "structure", 3);
  expect_wrong("file 'structure' has 3 bytes");
}

TEST_F(ThreadSessionArtifact, that_is_given_up_for_want_of_space_is_removed_whole) {
  FullStore store([&] { return fs::exists(directory.path / "spare.zz.part"); });
  const auto model = [&](Session& session, int) {
    register_line(session);
    OutputFile file = define(session, "out").open();
    OutputFile spare = define(session, "spare").open();
    const std::vector<float> values(x_points / 2, 2.5F);
    for (std::uint64_t record = 0; record < record_count; ++record) {
      file.put("T", record, values.data());
      spare.put("T", record, values.data());
      session.end_step();
    }
    session.wait(spare.close());
    session.wait(file.close());
    session.finalize();
  };
  const LocalRun::Settings settings{{"space.retry", "500ms"}, {"collections.spare.optional", "on"}};
  for (const auto& error : run(store, model, settings)) EXPECT_FALSE(error) << error->text();
  expect_values(2.5F);
  EXPECT_FALSE(fs::exists(directory.path / "spare.zz"));
  EXPECT_FALSE(fs::exists(directory.path / "spare.zz.part") ||
               fs::exists(directory.path / "spare.zz.part.lock"));
  EXPECT_EQ(verify().right, 1U);
}

TEST_F(ThreadSessionArtifact, of_a_failed_run_keeps_its_part_name_and_is_in_the_journal) {
  TwoFileStore store;
  const auto model = [&](Session& session, int rank) {
    register_line(session);
    OutputFile file = define(session, "out").open();
    put(session, file, 1);
    if (rank == 1) throw Failure(Error(ErrorCode::bad_state, "the model failed"));
    session.wait(file.close());
  };
  run(store, model, {{"deadline", "1s"}});
  EXPECT_FALSE(fs::exists(out()));
  EXPECT_TRUE(fs::is_directory(out() + ".part"));
  const auto journal = journal::read_journal(directory.path / "journal");
  ASSERT_TRUE(journal);
  ASSERT_EQ(journal->runs.at(0).unpublished.size(), 1U);
  EXPECT_NE(journal->runs[0].unpublished[0].inode, 0U);
  write(2, {{"journal.directory", directory.path / "next"}});
  expect_values(2);
  EXPECT_FALSE(fs::exists(out() + ".part"));
}

/// An epoch that is complete says that everything can be recovered.
TEST_F(ThreadSessionArtifact, that_is_open_at_an_epoch_is_an_error_if_its_format_keeps_none) {
  TwoFileStore store;
  const auto model = [&](Session& session, int) {
    register_line(session);
    OutputFile file = define(session, "out").open();
    put(session, file, 1);
    session.wait(session.epoch("day-1"));
  };
  for (const auto& error : run(store, model)) {
    ASSERT_TRUE(error);
    EXPECT_THAT(error->text(), HasSubstr("its format keeps no epochs"));
  }
}

}  // namespace
}  // namespace afterbay::test
