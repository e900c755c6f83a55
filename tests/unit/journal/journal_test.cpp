// SPDX-License-Identifier: Apache-2.0
// Writing and reading journals: incomplete lines, several runs and sessions, foreign files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/crc64.hpp"
#include "journal/judge.hpp"
#include "journal/recovered.hpp"
#include "unit/journal/journal_fixture.hpp"

namespace afterbay::journal {
namespace {

using test::Directory;
using testing::HasSubstr;

TEST_F(JournalTest, lines_are_read_as_they_were_written) {
  FileFacts all = facts("/out/a.nc");
  all.step = 7;
  all.member = 2;
  all.date = "2026-11-22";
  const Line line{"2026-11-22T07:15:03.123Z", "run", 3, 17, FilePublished{all, 12, 4, 0xfedcba9876543210}};
  EXPECT_THAT(text_of(line), HasSubstr(R"("checksum":"crc64-xz:fedcba9876543210")"));
  const auto back = parse_line(text_of(line));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at, line.at);
  EXPECT_EQ(back->server, 3);
  EXPECT_EQ(back->sequence, 17u);
  const auto& published = std::get<FilePublished>(back->event);
  EXPECT_EQ(published.file.date, all.date);
  EXPECT_EQ(published.file.step, all.step);
  EXPECT_EQ(published.file.member, all.member);
  EXPECT_EQ(published.checksum, 0xfedcba9876543210u);
  EXPECT_EQ(text_of(*back), text_of(line));
}

TEST_F(JournalTest, no_beginning_of_a_line_is_taken_for_a_line) {
  const std::string text = text_of({utc_now(), "run", 0, 1, FilePublished{facts("/out/a.nc"), 12, 4, 5}});
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(parse_line(std::string_view(text).substr(0, length))) << length;
  for (const char* other : {"", "null", "[]", "7", "{}", R"({"journal":1})", "not JSON",
                            R"({"journal":1,"at":3,"run":"r","server":0,"event":"run_ended"})",
                            R"({"journal":1,"at":"x","run":"r","server":"zero","event":"run_ended"})"})
    EXPECT_FALSE(parse_line(other)) << other;
}

TEST_F(JournalTest, events_of_a_later_version_are_left_alone) {
  run("first", "/out/a.nc");
  append_text(file(), R"({"journal":1,"at":"2099","run":"first","server":0,"event":"tide_turned","x":1})"
                      "\n");
  EXPECT_EQ(read().unreadable_lines, 0u);
  EXPECT_EQ(read().runs.size(), 1u);
}

TEST_F(JournalTest, a_torn_last_line_is_left_out_and_the_next_run_begins_a_new_one) {
  run("first", "/out/a.nc");
  append_text(file(), R"({"journal":1,"at":"2026-11-22T07:)");
  EXPECT_EQ(read().runs.size(), 1u);
  EXPECT_EQ(read().unreadable_lines, 1u);
  run("second", "/out/b.nc");
  const Journal journal = read();
  ASSERT_EQ(journal.runs.size(), 2u);
  EXPECT_EQ(journal.unreadable_lines, 1u);
  EXPECT_EQ(journal.runs[1].published.at(0).file.file.path, "/out/b.nc");
}

/// A run writes nothing after a line that it could not write whole, unless it continues without it.
TEST_F(JournalTest, only_torn_lines_that_nothing_of_their_run_follows_are_harmless) {
  const auto found = [&] { return *verify(read(), true); };
  const std::string torn = R"({"journal":1,"at":"2026-11-22T07:)";
  run("first", file().string());
  append_text(file(), torn);
  EXPECT_EQ(found().torn_lines, 1U);
  run("second", file().string());
  EXPECT_EQ(found().torn_lines, 1U);
  EXPECT_EQ(found().unreadable_lines, 0U);
  {
    const auto it = recorder("third");
    ASSERT_TRUE(it->opened(facts(file())));
    append_text(file(), torn + "\n");
    ASSERT_TRUE(it->ended(true));
  }
  EXPECT_EQ(found().torn_lines, 1U);
  EXPECT_EQ(found().unreadable_lines, 1U);
  EXPECT_FALSE(found().ok());
  append_text(file(), R"({"journal":1,"at":x})"
                      "\n");
  EXPECT_EQ(found().unreadable_lines, 2U);
}

std::uint64_t bytes_read_so_far() {
  std::ifstream counters("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  counters >> name >> value;
  return name == "rchar:" ? value : 0;
}

/// Before, it was read once for each file that did not match.
TEST_F(JournalTest, verify_reads_the_journal_again_at_most_once) {
  const auto it = recorder("first");
  for (std::uint64_t i = 0; i < 200; ++i)
    ASSERT_TRUE(it->published({facts(fmt::format("/gone/{}", i), "c", i), 1, 1, 1}));
  const Journal journal = read();
  const std::uint64_t before = bytes_read_so_far();
  if (before == 0) GTEST_SKIP() << "this system does not count what is read";
  const auto found = verify(journal, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->wrong.size(), 200U);
  EXPECT_LT(bytes_read_so_far() - before, 3 * std::filesystem::file_size(file()) + 65536);
}

TEST_F(JournalTest, foreign_files_and_garbage_do_no_harm) {
  run("first", "/out/a.nc");
  std::string garbage;
  for (int i = 0; i < 5000; ++i) garbage += static_cast<char>(i * 37 + i / 11);
  append_text(file(), garbage + "\n\n");
  append_text(file("server-1.jsonl"), garbage);
  append_text(file("server-x.jsonl"), "{\n");
  append_text(file("notes.txt"), "mine");
  run("second", "/out/b.nc");
  const Journal journal = read();
  EXPECT_EQ(journal.runs.size(), 2u);
  EXPECT_GT(journal.unreadable_lines, 0u);
  EXPECT_EQ(newest_files(journal).size(), 2u);
}

TEST_F(JournalTest, where_there_is_none_it_says_so) {
  const auto journal = read_journal(directory_.path.string());
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::io);
  EXPECT_THAT(journal.error().text(), HasSubstr("no journal"));
  EXPECT_FALSE(read_journal((directory_.path / "absent").string()));
}

TEST_F(JournalTest, a_run_that_says_nothing_leaves_nothing) {
  const auto it = recorder("first");
  EXPECT_TRUE(it->ended(true));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path));
}

/// Each server wrote its end, though the run had no output.
TEST_F(JournalTest, a_run_of_several_servers_that_says_nothing_leaves_nothing) {
  RunIdentity identity{"first", 0, {}};
  identity.started.servers = 2;
  Recorder it(Where{directory_.path.string(), false}, identity, logger_);
  EXPECT_TRUE(it.ended(true));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path));
}

/// It created its files in the working directory.
TEST_F(JournalTest, a_journal_that_is_off_is_not_begun_by_the_end_of_a_run) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory_.path);
  RunIdentity identity{"first", 0, {}};
  identity.started.servers = 2;
  Recorder it(Where{"", false}, identity, logger_);
  it.expect_output();
  EXPECT_TRUE(it.ended(true));
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path));
}

/// Begun in advance of the first file, which never comes.
TEST_F(JournalTest, a_run_that_has_begun_is_in_it_before_its_first_file_and_begins_once) {
  const auto it = recorder("first");
  ASSERT_TRUE(it->begin());
  ASSERT_TRUE(it->begin());
  EXPECT_EQ(state_of(read(), this_host()), RunState::running);
  ASSERT_TRUE(it->ended(true));
  ASSERT_TRUE(it->begin());
  const Journal journal = read();
  ASSERT_EQ(journal.runs.size(), 1u);
  EXPECT_EQ(state_of(journal, this_host()), RunState::complete);
  EXPECT_TRUE(journal.runs[0].published.empty());
  const auto silent = recorder("second");
  EXPECT_TRUE(silent->ended(true));
  EXPECT_TRUE(silent->begin());
  EXPECT_EQ(read().runs.size(), 1u);
}

TEST_F(JournalTest, two_sessions_at_a_time_write_files_of_their_own) {
  const auto ocean = recorder("ocean-run", 0, "ocean");
  const auto atmosphere = recorder("atmosphere-run");
  ASSERT_TRUE(ocean->opened(facts("/out/ocean.nc")));
  ASSERT_TRUE(atmosphere->opened(facts("/out/atmosphere.nc")));
  EXPECT_TRUE(std::filesystem::exists(file("server-0.2.jsonl")));
  EXPECT_EQ(last_runs(read()).size(), 2u);
  EXPECT_EQ(state_of(read(), this_host()), RunState::running);
}

TEST_F(JournalTest, what_was_opened_and_not_published_is_in_the_making) {
  const auto it = recorder("first");
  ASSERT_TRUE(it->opened(facts("/out/a.nc", "history", 1)));
  ASSERT_TRUE(it->opened(facts("/out/b.nc", "history", 2)));
  ASSERT_TRUE(it->published({facts("/out/a.nc", "history", 1), 1, 1, 1}));
  ASSERT_TRUE(it->opened(facts("/out/a.nc", "history", 3)));
  const Journal journal = read();
  ASSERT_EQ(journal.runs.at(0).unpublished.size(), 2u);
  EXPECT_EQ(journal.runs[0].unpublished[0].file.path, "/out/b.nc");
  EXPECT_EQ(journal.runs[0].unpublished[1].file.number, 3u);
}

/// Killed between the rename and its line: inode and size show that the file is the announced one.
TEST_F(JournalTest, a_file_that_has_its_name_is_complete_though_the_journal_does_not_say_so) {
  const std::string path = file("a.nc").string();
  run("older", path, 5);
  append_text(path, "older");
  append_text(path + ".part", "newest");
  const auto it = recorder("first");
  ASSERT_TRUE(it->opened(facts(path), inode_of(path + ".part")));
  FilePublished complete{facts(path), 6, 3, crc64(as_bytes("newest"))};
  complete.triggers = {"archive"};
  ASSERT_TRUE(it->ready({complete, inode_of(path + ".part"), 0}));
  EXPECT_FALSE(published_after_all(read().runs.at(1).unpublished.at(0)));
  EXPECT_TRUE(read().runs.at(1).untriggered.empty());
  EXPECT_EQ(newest_files(read()).at(path).file.bytes, 5u);
  std::filesystem::rename(path + ".part", path);
  EXPECT_TRUE(published_after_all(read().runs.at(1).unpublished.at(0)));
  ASSERT_EQ(read().runs.at(1).untriggered.size(), 1u);  // nobody has run it
  EXPECT_EQ(read().runs.at(1).untriggered[0].trigger, "archive");
  EXPECT_EQ(read().runs.at(1).untriggered[0].for_what, path);
  const auto found = verify(read(), false);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->wrong.empty()) << found->wrong[0].detail;
  append_text(path, ", changed");
  EXPECT_FALSE(published_after_all(read().runs.at(1).unpublished.at(0)));
}

TEST_F(JournalTest, a_part_file_that_somebody_renames_is_not_complete) {
  const std::string path = file("a.nc").string();
  append_text(path + ".part", "half");
  ASSERT_TRUE(recorder("first")->opened(facts(path), inode_of(path + ".part")));
  std::filesystem::rename(path + ".part", path);
  EXPECT_FALSE(published_after_all(read().runs.at(0).unpublished.at(0)));
}

/// Inodes are reused: the part file of a later run has the inode of an older complete file.
TEST_F(JournalTest, an_inode_that_a_later_run_uses_says_nothing_of_the_older_file) {
  const std::string path = file("a.nc").string();
  append_text(path + ".part", "whole");
  const std::uint64_t inode = inode_of(path + ".part");
  ASSERT_TRUE(recorder("first")->ready({{facts(path), 5, 3, 1}, inode, 0}));
  ASSERT_TRUE(recorder("second")->opened(facts(path), inode));
  std::filesystem::rename(path + ".part", path);
  EXPECT_FALSE(published_after_all(read().runs.at(0).unpublished.at(0)));
  EXPECT_FALSE(published_after_all(read().runs.at(1).unpublished.at(0)));
}

TEST_F(JournalTest, runs_are_in_order_though_the_clock_was_set_back) {
  append_text(file(), text_of({"2099-01-01T00:00:00.000Z", "first", 0, 1, RunStarted{}}) + "\n" +
                          text_of({"2099-01-01T00:00:01.000Z", "first", 0, 2, RunEnded{true, 0}}) + "\n");
  ASSERT_TRUE(recorder("second")->opened(facts("/out/a.nc")));  // killed
  const Journal journal = read();
  ASSERT_EQ(journal.runs.size(), 2u);
  EXPECT_EQ(journal.runs[1].id, "second");
  EXPECT_EQ(state_of(journal, this_host()), RunState::killed);
}

/// Like members of an ensemble without names: in one directory, at the same time.
TEST_F(JournalTest, a_failed_run_counts_though_another_of_its_session_ended_later) {
  const auto bad = recorder("bad");
  const auto good = recorder("good");
  ASSERT_TRUE(bad->opened(facts("/out/1.nc")));
  ASSERT_TRUE(good->opened(facts("/out/2.nc")));
  ASSERT_TRUE(bad->ended(false));
  ASSERT_TRUE(good->published({facts("/out/2.nc"), 1, 1, 1}));
  ASSERT_TRUE(good->ended(true));
  EXPECT_EQ(state_of(read(), this_host()), RunState::failed);
  run("another", "/out/3.nc");
  EXPECT_EQ(state_of(read(), this_host()), RunState::failed) << "1.nc was not written again";
  run("again", "/out/1.nc");
  EXPECT_EQ(state_of(read(), this_host()), RunState::complete);
  EXPECT_EQ(last_files(read()).size(), 2u) << "one of the member with company, one of the runs after it";
}

/// A run that was killed while another one ran is found dead by the next run, in whichever file.
TEST_F(JournalTest, a_run_killed_in_a_file_of_its_own_is_found_by_the_next_one) {
  const auto first = recorder("first");
  ASSERT_TRUE(first->opened(facts("/out/1.nc")));
  ASSERT_TRUE(recorder("killed")->opened(facts("/out/2.nc")));  // in server-0.2.jsonl
  ASSERT_TRUE(first->ended(true));
  ASSERT_TRUE(std::filesystem::exists(file("server-0.2.jsonl")));
  EXPECT_EQ(state_of(read(), this_host()), RunState::killed);
  run("again", "/out/2.nc");
  EXPECT_EQ(state_of(read(), this_host()), RunState::complete);
}

/// Killed directly after reporting that an older run was killed: it still has a session.
TEST_F(JournalTest, a_recovery_in_between_does_not_hide_a_run_that_was_killed) {
  ASSERT_TRUE(recorder("first")->opened(facts("/out/1.nc", "history", 1)));
  ASSERT_TRUE(recorder("second")->opened(facts("/out/2.nc")));
  Journal journal = read();
  const LeftFile left{&journal.runs.at(0), &journal.runs.at(0).unpublished.at(0)};
  ASSERT_TRUE(note_ready(journal, left, {{{}, 1, 1, 1}, 7, 0, "restart"}));
  ASSERT_TRUE(note_recovered(journal, left, {{{}, 1, 1, 1}, 1, "restart"}));
  run("third", "/out/2.nc");
  journal = read();
  ASSERT_EQ(journal.runs.size(), 3u);
  EXPECT_TRUE(journal.runs[1].servers.at(0).abandoned);
  EXPECT_EQ(state_of(journal, this_host()), RunState::complete);
}

TEST_F(JournalTest, a_journal_that_is_removed_meanwhile_fails_the_run_that_requires_it) {
  RunIdentity identity{"first", 0, {}};
  for (const bool required : {false, true}) {
    const auto directory = directory_.path / (required ? "required" : "wanted");
    Recorder it(Where{directory.string(), required}, identity, logger_);
    ASSERT_TRUE(it.begin());
    std::filesystem::remove_all(directory);
    const auto noted = it.published({facts("/out/a.nc"), 1, 1, 1});
    EXPECT_EQ(noted.has_value(), !required);
    if (required)
      EXPECT_THAT(noted.error().text(), HasSubstr("was removed while the run lasted"));
    else
      EXPECT_THAT(log_.str(), HasSubstr("was removed while the run lasted"));
  }
}

TEST_F(JournalTest, symbolic_links_in_its_place_are_refused) {
  const auto victim = file("victim");
  append_text(victim, "untouched");
  std::filesystem::create_symlink(victim, file());
  std::filesystem::create_symlink(victim, file("sequence"));
  RunIdentity identity{"first", 0, {}};
  Recorder it(Where{directory_.path.string(), true}, identity, logger_);
  const auto begun = it.begin();
  ASSERT_FALSE(begun);
  EXPECT_THAT(begun.error().text(), HasSubstr("is a symbolic link"));
  std::filesystem::remove(file());
  ASSERT_TRUE(it.begin());
  std::string text;
  std::getline(std::ifstream(victim), text);
  EXPECT_EQ(text, "untouched");
}

TEST_F(JournalTest, what_is_given_up_is_not_published_and_says_why) {
  const auto it = recorder("first");
  ASSERT_TRUE(it->opened(facts("/out/a.nc", "history", 1)));
  it->given_up(facts("/out/a.nc", "history", 1), "no space");
  it->given_up(facts("/out/b.nc", "history", 2), "asked to stop");
  const Journal journal = read();
  ASSERT_EQ(journal.runs.at(0).unpublished.size(), 2u);
  EXPECT_EQ(journal.runs[0].unpublished[0].given_up, "no space");
  EXPECT_EQ(journal.runs[0].unpublished[1].given_up, "asked to stop");
}

/// Two threads of a server: the line of the first event may be written last.
TEST_F(JournalTest, a_file_that_is_given_up_before_its_opening_is_told_is_one_file) {
  const auto it = recorder("r1");
  it->given_up(facts("/d/a.nc", "history", 7), "the disk is full");
  ASSERT_TRUE(it->opened(facts("/d/a.nc", "history", 7), 42));
  const Journal journal = read();
  ASSERT_EQ(journal.runs[0].unpublished.size(), 1u);
  EXPECT_EQ(journal.runs[0].unpublished[0].given_up, "the disk is full");
  EXPECT_EQ(journal.runs[0].unpublished[0].inode, 42u);
}

TEST_F(JournalTest, the_last_file_of_a_collection_is_the_one_opened_last_whoever_was_published_first) {
  const auto older = recorder("first");
  ASSERT_TRUE(older->published({facts("/out/9.nc", "history", 9), 1, 1, 1}));
  ASSERT_TRUE(older->published({facts("/out/r.nc", "restart", 10), 1, 1, 1}));
  ASSERT_TRUE(older->ended(true));
  const auto newer = recorder("second", 1);
  ASSERT_TRUE(newer->published({facts("/out/2.nc", "history", 2), 1, 1, 1}));
  ASSERT_TRUE(newer->published({facts("/out/1.nc", "history", 1), 1, 1, 1}));
  const auto last = last_files(read());
  EXPECT_EQ(last.at({"atmosphere", "", {}, "history"}).file.file.path, "/out/2.nc");
  EXPECT_EQ(last.at({"atmosphere", "", {}, "restart"}).file.file.path, "/out/r.nc");
}

TEST_F(JournalTest, a_run_goes_from_running_to_complete_or_failed) {
  for (const bool ok : {true, false}) {
    const auto it = recorder(ok ? "good" : "bad");
    ASSERT_TRUE(it->opened(facts("/out/a.nc")));
    EXPECT_EQ(state_of(read(), this_host()), RunState::running);
    if (!ok) it->failed(Error(ErrorCode::no_space, "the disk is full").in_file("/out/a.nc"));
    ASSERT_TRUE(it->ended(ok));
    EXPECT_EQ(state_of(read(), this_host()), ok ? RunState::complete : RunState::failed);
  }
  EXPECT_THAT(read().runs.at(1).errors.at(0).text, HasSubstr("the disk is full"));
}

TEST_F(JournalTest, a_run_whose_process_is_gone_was_killed_and_the_next_run_says_so) {
  ASSERT_TRUE(recorder("first")->opened(facts("/out/a.nc")));
  EXPECT_EQ(state_of(read(), this_host()), RunState::killed);
  Asker elsewhere = this_host();
  elsewhere.host = "another";
  EXPECT_EQ(state_of(read(), elsewhere), RunState::unclear);
  elsewhere.over = true;
  EXPECT_EQ(state_of(read(), elsewhere), RunState::killed);
  elsewhere.over = false;
  run("second", "/out/a.nc");
  EXPECT_EQ(state_of(read().runs.at(0), elsewhere), RunState::killed);
  EXPECT_EQ(state_of(read(), elsewhere), RunState::complete);
}

/// Its process may be alive: an error must not allow another run beside it.
TEST_F(JournalTest, a_run_whose_owner_cannot_be_asked_for_is_unclear_and_not_killed) {
  ASSERT_TRUE(recorder("first")->opened(facts("/out/a.nc")));
  EXPECT_EQ(state_of(read(), this_host()), RunState::killed);
  std::filesystem::create_symlink("elsewhere", file("server-0.jsonl.owner"));  // ELOOP
  EXPECT_EQ(state_of(read(), this_host()), RunState::unclear);
  std::filesystem::remove(file("server-0.jsonl.owner"));
  EXPECT_EQ(holder_of(-1, file().string()), Holder::unknown) << "EBADF";
}

TEST_F(JournalTest, of_several_servers_all_must_have_ended) {
  const auto first = recorder("run", 0);
  const auto second = recorder("run", 1);
  ASSERT_TRUE(first->opened(facts("/out/a.nc")));
  ASSERT_TRUE(second->opened(facts("/out/b.nc", "restart")));
  ASSERT_TRUE(first->ended(true));
  EXPECT_EQ(state_of(read(), this_host()), RunState::running);
  ASSERT_TRUE(second->ended(true));
  EXPECT_EQ(state_of(read(), this_host()), RunState::complete);
  EXPECT_EQ(read().runs.size(), 1u);
}

TEST_F(JournalTest, files_are_compared_with_their_newest_entry) {
  const std::string path = (directory_.path / "a.nc").string();
  append_text(path, "123456789");
  run("first", path, 4);
  const auto it = recorder("second");
  ASSERT_TRUE(it->published({facts(path), 9, 1, 0x995dc9bbdf1939fa}));
  ASSERT_TRUE(it->ended(true));
  const auto good = verify(read(), false);
  ASSERT_TRUE(good);
  EXPECT_EQ(good->right, 1u);
  EXPECT_EQ(good->replaced, 1u);
  EXPECT_TRUE(good->wrong.empty());

  const auto finding = [&](bool quick = false) {
    const auto found = verify(read(), quick);
    EXPECT_TRUE(found);
    return found->wrong.empty() ? Finding::right : found->wrong[0].finding;
  };
  append_text(path, "0");
  EXPECT_EQ(finding(), Finding::longer);
  std::filesystem::resize_file(path, 5);
  EXPECT_EQ(finding(), Finding::shorter);
  std::filesystem::remove(path);
  EXPECT_EQ(finding(), Finding::missing);
  append_text(path, "123456780");
  EXPECT_EQ(finding(), Finding::changed);
  EXPECT_EQ(finding(true), Finding::right);
}

TEST_F(JournalTest, a_journal_that_cannot_be_written_is_warned_of_once_and_harms_nothing) {
  append_text(directory_.path / "occupied", "a file where the directory should be");
  RunIdentity identity{"run", 0, {}};
  Recorder it({(directory_.path / "occupied").string(), false}, identity, logger_);
  EXPECT_TRUE(it.opened(facts("/out/a.nc")));
  EXPECT_TRUE(it.published({facts("/out/a.nc"), 1, 1, 1}));
  EXPECT_TRUE(it.ended(true));
  const std::string said = log_.str();
  EXPECT_THAT(said, HasSubstr("occupied"));
  EXPECT_THAT(said, HasSubstr("output continues"));
  EXPECT_EQ(said.find("output continues"), said.rfind("output continues"));
}

TEST_F(JournalTest, a_required_journal_that_cannot_be_written_is_an_error) {
  append_text(directory_.path / "occupied", "a file where the directory should be");
  RunIdentity identity{"run", 0, {}};
  Recorder it({(directory_.path / "occupied").string(), true}, identity, logger_);
  const auto begun = it.begin();
  ASSERT_FALSE(begun);
  EXPECT_THAT(begun.error().text(), HasSubstr("journal.required"));
  const auto noted = it.published({facts("/out/a.nc"), 1, 1, 1});
  ASSERT_FALSE(noted);
  EXPECT_EQ(noted.error().code, ErrorCode::io);
  EXPECT_THAT(noted.error().text(), HasSubstr("journal.required"));
}

/// A disk that becomes full in the middle of a line: a limit on file sizes, in a separate process.
TEST_F(JournalTest, what_follows_a_line_that_was_written_in_part_is_readable) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const auto it = recorder("run");
    bool good = it->opened(facts("/out/a.nc")).has_value();
    const rlim_t size = std::filesystem::file_size(file());
    rlimit limit{size + 40, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    good = good && it->published({facts("/out/lost.nc"), 1, 1, 1});
    limit.rlim_cur = RLIM_INFINITY;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    good = good && it->published({facts("/out/kept.nc"), 1, 1, 1}) && it->ended(true);
    ::_exit(good ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const Journal journal = read();
  EXPECT_EQ(journal.unreadable_lines, 1u);
  ASSERT_EQ(journal.runs.at(0).published.size(), 1u);
  EXPECT_EQ(journal.runs[0].published[0].file.file.path, "/out/kept.nc");
  EXPECT_EQ(state_of(journal, this_host()), RunState::complete);
}

/// A server that was killed before its first line has not shown that it lost nothing.
TEST_F(JournalTest, a_run_is_complete_only_if_all_its_servers_have_said_so) {
  RunIdentity identity{"r1", 0, {}};
  identity.started.session = "atmosphere";
  identity.started.servers = 2;
  Asker over = this_host();
  over.over = true;
  {
    Recorder first(Where{directory_.path.string(), false}, identity, logger_);
    ASSERT_TRUE(first.published({facts("/d/a.nc"), 10, 1, 0x42}));
    ASSERT_TRUE(first.ended(true));
  }
  EXPECT_EQ(state_of(read().runs.at(0), over), RunState::killed);
  EXPECT_EQ(state_of(read().runs.at(0), this_host()), RunState::unclear);
  identity.server = 1;
  {
    Recorder second(Where{directory_.path.string(), false}, identity, logger_);
    second.expect_output();
    ASSERT_TRUE(second.ended(true)) << "it wrote no file";
  }
  EXPECT_EQ(state_of(read().runs.at(0), over), RunState::complete);
}

/// The line that says how many servers there are is unreadable in the first journal file.
TEST_F(JournalTest, an_epoch_is_complete_only_if_all_servers_that_any_line_announces_have_noted_it) {
  RunStarted started;
  started.session = "atmosphere";
  started.host = this_host().host;
  started.servers = 2;
  append_text(file("server-0.jsonl"),
              "{damaged}\n" + text_of({utc_now(), "r1", 0, 2, EpochCompleted{3, "three", {}}}) + "\n");
  append_text(file("server-1.jsonl"), text_of({utc_now(), "r1", 1, 1, started}) + "\n");
  EXPECT_EQ(read().runs.at(0).last_epoch(), nullptr);
  append_text(file("server-1.jsonl"),
              text_of({utc_now(), "r1", 1, 2, EpochCompleted{3, "three", {}}}) + "\n");
  const Journal journal = read();
  ASSERT_NE(journal.runs.at(0).last_epoch(), nullptr);
  EXPECT_EQ(journal.runs[0].last_epoch()->epoch.name, "three");
}

/// A path that is published twice, and epochs that are complete on all servers only.
TEST_F(JournalTest, triggers_of_which_nothing_is_said_are_listed) {
  RunIdentity identity{"r1", 0, {}};
  identity.started.session = "atmosphere";
  identity.started.servers = 2;
  const auto first = std::make_unique<Recorder>(Where{directory_.path.string(), false}, identity, logger_);
  identity.server = 1;
  const auto second = std::make_unique<Recorder>(Where{directory_.path.string(), false}, identity, logger_);
  for (std::uint64_t number : {1u, 2u}) {
    FilePublished file{facts("/d/a.nc", "history", number), 10, 1, 0x42};
    file.triggers = {"archive", "tell"};
    ASSERT_TRUE(first->published(file));
  }
  first->triggered({"archive", "published", "/d/a.nc", std::nullopt, true, 1, std::nullopt});
  first->triggered({"tell", "published", "/d/a.nc", std::nullopt, false, 1, "it failed"});
  first->triggered({"tell", "published", "/d/a.nc", std::nullopt, true, 1, std::nullopt});
  for (const std::uint64_t epoch : {1u, 2u}) {
    EpochCompleted completed{epoch, "day-" + std::to_string(epoch), {}};
    completed.triggers = {"next"};
    ASSERT_TRUE(first->epoch_completed(completed));
  }
  ASSERT_TRUE(second->epoch_completed({1, "day-1", {}}));
  const Journal journal = read();
  ASSERT_EQ(journal.runs.size(), 1u);
  std::vector<std::string> found;
  for (const DueTrigger& it : journal.runs[0].untriggered) found.push_back(it.trigger + " " + it.for_what);
  EXPECT_THAT(found, testing::ElementsAre("archive /d/a.nc", "next epoch day-1"));
  first->triggered({"next", "epoch", std::nullopt, "day-1", true, 1, std::nullopt});
  EXPECT_EQ(read().runs[0].untriggered.size(), 1u);
}

TEST_F(JournalTest, settings_and_bytes_that_are_no_text_can_be_written) {
  const std::string path = "/out/\xff\xfe\n\"name\".nc";
  run("first", path);
  EXPECT_EQ(read().unreadable_lines, 0u);
  EXPECT_EQ(read().runs.at(0).published.size(), 1u);
}

TEST(ThreadJournal, lines_of_many_threads_are_whole) {
  const Directory directory;
  std::ostringstream log;
  RunIdentity identity{"run", 0, {}};
  Recorder it({directory.path.string(), false}, identity, Logger({}, LogLevel::warning, log));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&it, t] {
        for (int i = 0; i < 25; ++i) {
          FilePublished file;
          file.file.path = fmt::format("/out/{}-{}.nc", t, i);
          file.file.collection = "history";
          EXPECT_TRUE(it.published(file));
        }
      });
  }
  EXPECT_TRUE(it.ended(true));
  const auto journal = read_journal(directory.path.string());
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal->runs.at(0).published.size(), 100u);
  EXPECT_EQ(journal->unreadable_lines, 0u);
  EXPECT_EQ(journal->runs[0].servers.at(0).ended->files, 100u);
}

}  // namespace
}  // namespace afterbay::journal
