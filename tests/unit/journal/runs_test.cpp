// SPDX-License-Identifier: Apache-2.0
// Which runs of a journal count, and which of their entries describes a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "base/crc64.hpp"
#include "journal/judge.hpp"
#include "journal/recovered.hpp"
#include "journal/sequence.hpp"
#include "unit/journal/journal_fixture.hpp"

namespace afterbay::journal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class JournalRuns : public JournalTest {
 protected:
  /// A member of an ensemble, in its own working directory. Sequence numbers are given here.
  void line(const std::string& run, std::uint64_t sequence, Event event) const {
    append_text(file(fmt::format("server-0.{}.jsonl", number_of(run))),
                text_of({utc_now(), run, 0, sequence, std::move(event)}) + "\n");
  }
  void begin(const std::string& run, std::uint64_t sequence, const std::string& directory) const {
    RunStarted started;
    started.session = "atmosphere";
    started.host = this_host().host;
    started.directory = directory;
    line(run, sequence, started);
  }
  void open(const std::string& run, std::uint64_t sequence, const std::string& path,
            std::uint64_t inode = 0) const {
    line(run, sequence, FileOpened{facts(path), inode, 0});
  }
  [[nodiscard]] RunState state() const { return state_of(read(), this_host()); }
  [[nodiscard]] Standing standing(std::size_t run) const {
    const Journal journal = read();
    return standing_of(journal, journal.runs.at(run));
  }

 private:
  /// Each run has its own journal file: the next run in the same file would find it dead.
  [[nodiscard]] std::size_t number_of(const std::string& run) const {
    if (std::ranges::find(runs_, run) == runs_.end()) runs_.push_back(run);
    return 2 + static_cast<std::size_t>(std::ranges::find(runs_, run) - runs_.begin());
  }
  mutable std::vector<std::string> runs_;
};

// --- which runs count
// ----------------------------------------------------------------------------------------

/// Members one after another, all with the default name.
TEST_F(JournalRuns, a_failed_member_counts_until_its_file_is_written_though_the_next_one_is_complete) {
  begin("member 1", 1, "/m1");
  open("member 1", 1, "/m1/x.nc", 7);
  line("member 1", 2, RunEnded{false, 0});
  begin("member 2", 3, "/m2");
  open("member 2", 3, "/m2/x.nc", 8);
  line("member 2", 3, FilePublished{facts("/m2/x.nc"), 1, 1, 1});
  line("member 2", 4, RunEnded{true, 1});
  EXPECT_EQ(state(), RunState::failed);
  EXPECT_TRUE(standing(0).followed);
  EXPECT_THAT(standing(0).awaited, ElementsAre("/m1/x.nc"));
  begin("member 1 again", 5, "/m1");
  open("member 1 again", 5, "/m1/x.nc", 9);
  line("member 1 again", 5, FilePublished{facts("/m1/x.nc"), 1, 1, 1});
  line("member 1 again", 6, RunEnded{true, 1});
  EXPECT_EQ(state(), RunState::complete);
  EXPECT_TRUE(standing(0).replaced);
}

/// The rerun's part of the series contains the file that was open at the crash.
TEST_F(JournalRuns, a_rerun_from_the_last_restart_settles_the_failure) {
  begin("first", 1, "/m");
  for (const std::uint64_t number : {1u, 2u}) {
    line("first", 1,
         FileOpened{facts(fmt::format("/m/2026-01-0{}.nc", number), "history", number), number, 0});
    if (number == 1) line("first", 1, FilePublished{facts("/m/2026-01-01.nc", "history", 1), 1, 1, 1});
  }
  line("first", 2, RunEnded{false, 1});
  begin("rerun", 3, "/m");
  for (const std::uint64_t number : {2u, 3u})
    line("rerun", 3,
         FilePublished{facts(fmt::format("/m/2026-01-0{}.nc", number), "history", number), 1, 1, 1});
  line("rerun", 4, RunEnded{true, 2});
  EXPECT_EQ(state(), RunState::complete);
}

TEST_F(JournalRuns, all_files_that_a_failed_run_left_must_be_written_again) {
  begin("first", 1, "/m");
  open("first", 1, "/m/shared.nc", 7);
  line("first", 1, FileOpened{facts("/m/own.nc", "history", 2), 8, 0});
  line("first", 2, RunEnded{false, 0});
  begin("second", 3, "/m");
  line("second", 3, FilePublished{facts("/m/shared.nc"), 1, 1, 1});
  line("second", 4, RunEnded{true, 1});
  EXPECT_EQ(state(), RunState::failed);
  EXPECT_THAT(standing(0).awaited, ElementsAre("/m/own.nc"));
}

TEST_F(JournalRuns, a_failed_run_without_company_that_lost_no_file_is_settled_by_the_next_one) {
  begin("before any file", 1, "/a");
  line("before any file", 2, RunEnded{false, 0});
  begin("no such directory", 3, "/a");
  line("no such directory", 3, FileGivenUp{facts("/absent/x.nc"), "no such directory"});
  line("no such directory", 4, RunEnded{false, 0});
  begin("between files", 5, "/a");
  open("between files", 5, "/a/1.nc", 7);
  line("between files", 5, FilePublished{facts("/a/1.nc"), 1, 1, 1});
  line("between files", 6, RunEnded{false, 1});
  EXPECT_EQ(state(), RunState::failed);
  begin("next", 7, "/b");
  line("next", 7, FilePublished{facts("/b/2.nc"), 1, 1, 1});
  line("next", 8, RunEnded{true, 1});
  EXPECT_EQ(state(), RunState::complete);
}

/// Before, the second run settled the first, and the third the second.
TEST_F(JournalRuns, a_lost_file_is_awaited_although_a_later_run_tried_to_create_it) {
  begin("lost", 1, "/m");
  open("lost", 1, "/m/x.nc", 7);
  line("lost", 2, FileGivenUp{facts("/m/x.nc"), "disk full"});
  line("lost", 3, RunEnded{false, 0});
  begin("disk still full", 4, "/m");
  line("disk still full", 4, FileGivenUp{facts("/m/x.nc"), "cannot be created"});
  line("disk still full", 5, RunEnded{false, 0});
  begin("others", 6, "/m");
  open("others", 6, "/m/y.nc", 8);
  line("others", 6, FilePublished{facts("/m/y.nc"), 1, 1, 1});
  line("others", 7, RunEnded{true, 1});
  EXPECT_EQ(state(), RunState::failed);
  EXPECT_THAT(standing(0).awaited, ElementsAre("/m/x.nc"));
}

TEST_F(JournalRuns, a_file_that_was_brought_back_is_not_awaited) {
  begin("first", 1, "/m");
  open("first", 1, "/m/x.nc", 7);
  line("first", 2, RunEnded{false, 0});
  begin("second", 3, "/m");
  line("second", 3, FilePublished{facts("/m/y.nc"), 1, 1, 1});
  line("second", 4, RunEnded{true, 1});
  EXPECT_EQ(state(), RunState::failed);
  line("first", 5, FileRecovered{{facts("/m/x.nc"), 1, 1, 1}, 1, "restart"});
  EXPECT_EQ(state(), RunState::complete);
}

/// Before, any later run with the default name replaced it.
TEST_F(JournalRuns, a_member_that_died_before_its_first_file_is_not_settled_by_another_member) {
  begin("dead", 1, "/m");
  begin("beside it", 2, "/m");
  line("dead", 3, RunEnded{false, 0});
  open("beside it", 2, "/m/2.nc", 7);
  line("beside it", 2, FilePublished{facts("/m/2.nc"), 1, 1, 1});
  line("beside it", 4, RunEnded{true, 1});
  EXPECT_EQ(state(), RunState::failed);
  begin("last of the array", 5, "/m");
  line("last of the array", 5, FilePublished{facts("/m/3.nc"), 1, 1, 1});
  line("last of the array", 6, RunEnded{true, 1});
  EXPECT_EQ(state(), RunState::failed);
  EXPECT_TRUE(standing(0).followed);
  EXPECT_THAT(standing(0).awaited, IsEmpty());
}

TEST_F(JournalRuns, a_member_that_died_before_its_first_file_is_told_by_its_working_directory) {
  begin("dead", 1, "/m1");
  begin("beside it", 2, "/m2");
  line("dead", 3, RunEnded{false, 0});
  line("beside it", 4, RunEnded{true, 0});
  begin("elsewhere", 5, "/m3");
  line("elsewhere", 6, RunEnded{true, 0});
  EXPECT_EQ(state(), RunState::failed);
  begin("again", 7, "/m1");
  line("again", 8, RunEnded{true, 0});
  EXPECT_EQ(state(), RunState::complete);
}

/// Before, two runs without locks could get the same number: the second overlapped the first and
/// hid its failure.
TEST_F(JournalRuns, runs_with_equal_numbers_overlapped) {
  begin("failed", 3, "/m");
  line("failed", 5, RunEnded{false, 0});
  begin("complete", 5, "/m");
  line("complete", 6, RunEnded{true, 0});
  EXPECT_EQ(state(), RunState::failed);
}

TEST_F(JournalRuns, a_run_that_another_one_found_dead_was_over_before) {
  begin("killed", 5, "/m");
  begin("finder", 5, "/m");
  line("finder", 5, RunAbandoned{"killed"});
  line("finder", 6, RunEnded{true, 0});
  const Journal journal = read();
  ASSERT_EQ(journal.runs.size(), 2u);
  const std::size_t killed = journal.runs[0].id == "killed" ? 0 : 1;
  EXPECT_TRUE(journal.runs[killed].was_over_before(journal.runs[1 - killed]));
  EXPECT_FALSE(journal.runs[1 - killed].was_over_before(journal.runs[killed]));
}

// --- numbers of runs
// -----------------------------------------------------------------------------------------

TEST_F(JournalRuns, a_counter_that_a_slow_process_set_back_gives_no_number_again) {
  const std::string directory = directory_.path.string();
  const std::uint64_t first = next_sequence_without_locks(directory, 10);
  EXPECT_EQ(first, 11u);
  append_text(file("sequence"), "00000000000000000003\n");
  append_text(file("sequence.5"), "");  // removed before, and created again
  EXPECT_EQ(next_sequence_without_locks(directory, 0), 12u);
  EXPECT_FALSE(std::filesystem::exists(file("sequence.5")));
  EXPECT_EQ(next_sequence(directory, 0), 13u) << "of a process that has locks";
  EXPECT_EQ(next_sequence_without_locks(directory, 0), 14u);
}

TEST(ThreadJournalNumbers, without_locks_each_is_given_once_and_later_ones_are_larger) {
  const test::Directory directory;
  constexpr std::size_t threads = 4, each = 50;
  std::vector<std::vector<std::uint64_t>> given(threads);
  {
    std::vector<std::jthread> running;
    for (auto& numbers : given)
      running.emplace_back([&numbers, &directory] {
        for (std::size_t i = 0; i < each; ++i)
          numbers.push_back(next_sequence_without_locks(directory.path.string(), 0));
      });
  }
  std::set<std::uint64_t> all;
  for (const auto& numbers : given) {
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
    all.insert(numbers.begin(), numbers.end());
  }
  EXPECT_EQ(all.size(), threads * each);
  EXPECT_GT(next_sequence_without_locks(directory.path.string(), 0), *all.rbegin());
}

// --- which entry describes the file
// -------------------------------------------------------------------------------

class JournalIdentity : public JournalTest {
 protected:
  const std::string path = file("x.nc").string();

  /// The file of the run is about to get its name.
  void make_ready(Recorder& run, const std::string& part, const std::string& text,
                  std::uint64_t born_ns = 0) {
    append_text(part, text);
    ASSERT_TRUE(run.opened(facts(path), inode_of(part), born_ns));
    ASSERT_TRUE(run.ready({{facts(path), text.size(), 1, crc64(as_bytes(text))}, inode_of(part), born_ns}));
  }
  void publish(Recorder& run, const std::string& part, const std::string& text) {
    make_ready(run, part, text);
    std::filesystem::rename(part, path);
    ASSERT_TRUE(run.published({facts(path), text.size(), 1, crc64(as_bytes(text))}));
  }
  [[nodiscard]] std::vector<Finding> findings(bool quick = false) const {
    const auto found = verify(read(), quick);
    EXPECT_TRUE(found);
    std::vector<Finding> all;
    for (const CheckedFile& it : found->wrong) all.push_back(it.finding);
    return all;
  }
};

/// Before, it was compared with the entry of the run that began last.
TEST_F(JournalIdentity, a_file_is_that_of_the_run_that_published_it_last) {
  const auto a = recorder("a");
  const auto b = recorder("b");
  ASSERT_TRUE(a->begin());
  publish(*b, file("b.part").string(), "of the second run");
  ASSERT_TRUE(b->ended(true));
  publish(*a, file("a.part").string(), "of a");
  EXPECT_EQ(read().runs.at(0).id, "a");
  EXPECT_EQ(newest_files(read()).at(path).file.bytes, 4u);
  EXPECT_EQ(newest_files(read()).at(path).replaced, 1u);
  EXPECT_THAT(findings(), IsEmpty());
  const auto found = verify(read(), false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->right, 1u);
  EXPECT_EQ(found->replaced, 1u);

  append_text(path, "!");
  EXPECT_THAT(findings(), ElementsAre(Finding::longer));
  std::filesystem::resize_file(path, 2);
  EXPECT_THAT(findings(true), ElementsAre(Finding::shorter));
  append_text(path, "XX");
  EXPECT_THAT(findings(), ElementsAre(Finding::changed));
  std::filesystem::remove(path);
  EXPECT_THAT(findings(), ElementsAre(Finding::missing));
}

TEST_F(JournalIdentity, a_file_that_got_its_name_unsaid_is_that_of_its_run_too) {
  const auto a = recorder("a");
  const auto b = recorder("b");
  ASSERT_TRUE(a->begin());
  publish(*b, file("b.part").string(), "of the second run");
  make_ready(*a, file("a.part").string(), "of a");
  std::filesystem::rename(file("a.part"), path);
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_EQ(newest_files(read()).at(path).file.bytes, 4u);
}

/// Before, the number of older entries was the number of publications minus that of names: -1.
TEST_F(JournalIdentity, a_file_that_got_its_name_unsaid_replaced_none) {
  make_ready(*recorder("a"), file("a.part").string(), "of a");
  std::filesystem::rename(file("a.part"), path);
  const auto found = verify(read(), false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->right, 1u);
  EXPECT_EQ(found->replaced, 0u);
}

/// Restored from a copy that was given an inode of an older run's file.
TEST_F(JournalIdentity, an_inode_that_is_used_again_does_not_make_an_old_entry_the_newest) {
  {
    const auto a = recorder("a");
    publish(*a, file("a.part").string(), "older");
    ASSERT_TRUE(a->ended(true));
  }
  const std::uint64_t inode = inode_of(path);
  std::filesystem::rename(path, file("kept"));
  const auto b = recorder("b");
  publish(*b, file("b.part").string(), "newer");
  std::filesystem::remove(path);
  std::filesystem::rename(file("kept"), path);
  std::filesystem::resize_file(path, 0);
  append_text(path, "newer");
  ASSERT_EQ(inode_of(path), inode);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(JournalIdentity, times_of_creation_tell_files_of_one_inode_apart) {
  EXPECT_EQ(compare({7, 1}, {7, 1}), SameFile::yes);
  EXPECT_EQ(compare({7, 1}, {7, 2}), SameFile::no);
  EXPECT_EQ(compare({7, 1}, {7, 0}), SameFile::perhaps);
  EXPECT_EQ(compare({7, 1}, {8, 1}), SameFile::no);
  EXPECT_EQ(compare({0, 1}, {0, 1}), SameFile::no);
}

// --- which run an epoch belongs to
// ---------------------------------------------------------------------------------------------

/// Before, it was attributed to the run that was refused the file, which wrote nothing of it.
TEST_F(JournalIdentity, a_file_to_recover_is_of_the_run_that_made_it_not_of_one_that_was_refused_it) {
  const auto a = recorder("a");
  const auto b = recorder("b");
  ASSERT_TRUE(a->opened(facts(path), 42, 1));
  b->given_up(facts(path), "another run writes it");
  const Journal journal = read();
  const auto left = find_left(journal, path, {42, 1});
  ASSERT_TRUE(left);
  EXPECT_EQ(left->run->id, "a");
  EXPECT_FALSE(find_left(journal, path, {43, 1})) << "of a run that the journal does not know";
  EXPECT_TRUE(find_left(journal, path, {})) << "the log does not say";
}

TEST_F(JournalIdentity, an_entry_that_may_be_the_file_is_not_preferred_to_the_one_that_is) {
  const auto a = recorder("a");
  const auto b = recorder("b");
  ASSERT_TRUE(a->opened(facts(path), 42, 1));
  ASSERT_TRUE(b->opened(facts(path)));
  const Journal journal = read();
  EXPECT_EQ(find_left(journal, path, {42, 1})->run->id, "a");
  EXPECT_EQ(find_left(journal, path, {43, 1})->run->id, "b");
}

}  // namespace
}  // namespace afterbay::journal
