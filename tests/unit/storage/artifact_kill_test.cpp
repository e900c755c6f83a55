// SPDX-License-Identifier: Apache-2.0
// A process that publishes a directory is killed at each of its system calls: the final name
// belongs to the older or to the new directory, the journal is right about it, and the next run
// cleans up.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "journal/judge.hpp"
#include "journal/recorder.hpp"
#include "scratch_directory.hpp"
#include "unit/storage/two_file_store.hpp"

namespace afterbay::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t artifact_kill_records = 2;

/// A run that publishes one directory, with the lines that a server writes. `at` is called just
/// before the publication.
bool run(const fs::path& directory, const std::string& id, float value, void (*at)() = [] {}) {
  const std::string path = directory / "out.zz";
  const auto request = TwoFileStore::request(path, storage::Existing::replace);
  auto file = TwoFileStore().create(request);
  if (!file || !TwoFileStore::write(**file, request, value, artifact_kill_records)) return false;
  journal::RunIdentity identity{id, 0, {}};
  identity.started.session = "killed";
  identity.started.servers = 1;
  journal::Recorder recorder({directory / "journal", true}, identity,
                             Logger({"killed", "server", 0}, LogLevel::error));
  journal::FileFacts facts;
  facts.path = path;
  facts.number = 1;
  facts.collection = "out";
  facts.format = "two_files";
  if (!recorder.opened(facts)) return false;
  at();
  const auto line = [&](const storage::Published& it) {
    journal::FilePublished made{facts, it.size_bytes, it.records, it.checksum};
    made.file_count = it.files->size();
    made.files = *it.files;
    return made;
  };
  const auto published = (*file)->publish([&](const storage::Published& it) {
    return recorder.ready(journal::FileReady{line(it), it.inode, it.born_ns});
  });
  return published && recorder.published(line(*published)) && recorder.ended(true);
}

enum class End { killed, finished, not_traced };

/// Runs in a process of its own, which is killed at a stop of that number: before or after a system
/// call of the publication.
End killed_at(int number, const fs::path& directory) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
    ::_exit(run(directory, "new", 2, [] { ::raise(SIGSTOP); }) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  for (int stop = 0; WIFSTOPPED(status); ++stop) {
    if (stop == number) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return End::killed;
    }
    if (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) return End::not_traced;
    ::waitpid(child, &status, 0);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return End::not_traced;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return End::finished;
}

/// The one value in the directory; nothing if it does not exist.
std::optional<float> value_in(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  const auto values = TwoFileStore::read(path);
  EXPECT_EQ(values.size(), (artifact_kill_records + 1) * 64);
  for (const float value : values) EXPECT_EQ(value, values.front()) << "a mixture";
  EXPECT_TRUE(fs::exists(path / "structure"));
  return values.empty() ? std::nullopt : std::optional(values.front());
}

class ArtifactKill : public testing::TestWithParam<bool> {};

TEST_P(ArtifactKill, at_each_system_call_leaves_the_older_or_the_new_directory_whole) {
  const bool older = GetParam();
  bool was_old = false, was_new = false;
  int stops = 0;
  for (;; ++stops) {
    SCOPED_TRACE(stops);
    const Directory directory;
    const fs::path path = directory.path / "out.zz";
    ASSERT_TRUE(!older || run(directory.path, "older", 1));
    const End end = killed_at(stops, directory.path);
    if (end == End::not_traced) GTEST_SKIP() << "this system does not let processes be traced";
    const auto value = value_in(path);
    const bool is_new = value == 2.0F;
    EXPECT_TRUE(is_new || (older ? value == 1.0F : !value));
    (is_new ? was_new : was_old) = true;
    const auto journal = journal::read_journal(directory.path / "journal");
    ASSERT_TRUE(journal);
    const auto checked = journal::verify(*journal, false);
    ASSERT_TRUE(checked);
    for (const journal::CheckedFile& it : checked->wrong) ADD_FAILURE() << it.detail;
    EXPECT_EQ(checked->right, value ? 1U : 0U);
    for (const auto& entry : fs::directory_iterator(directory.path)) {
      const std::string name = entry.path().filename();
      EXPECT_TRUE(name == "out.zz" || name == "journal" || name.starts_with("out.zz.part")) << name;
    }
    ASSERT_TRUE(run(directory.path, "next", 3)) << "what is left blocks nobody";
    EXPECT_EQ(value_in(path), 3.0F);
    for (const auto& entry : fs::directory_iterator(directory.path))
      EXPECT_TRUE(entry.path() == path || entry.path().filename() == "journal") << entry.path();
    if (end == End::finished) break;
    if (HasFailure()) return;
  }
  EXPECT_TRUE(was_old && was_new);
  EXPECT_GT(stops, 40);
}

INSTANTIATE_TEST_SUITE_P(, ArtifactKill, testing::Bool(),
                         [](const auto& parameter) { return parameter.param ? "replacing" : "new_name"; });

}  // namespace
}  // namespace afterbay::test
