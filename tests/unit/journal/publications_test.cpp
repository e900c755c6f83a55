// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "journal/publications.hpp"
#include "unit/journal/journal_fixture.hpp"

namespace afterbay::journal {
namespace {

class JournalPublications : public JournalTest {
 protected:
  void line(const std::string& name, const std::string& run, Event event) const {
    append_text(file(name), text_of({utc_now(), run, 0, 1, std::move(event)}) + "\n");
  }
  void begin(const std::string& name, const std::string& run, const std::string& session) const {
    RunStarted started;
    started.session = session;
    line(name, run, started);
  }
  void publish(const std::string& name, const std::string& run, std::uint64_t number, const std::string& path,
               std::uint64_t inode) const {
    line(name, run, FileOpened{facts(path, "history", number), inode, 0});
    line(name, run, FilePublished{facts(path, "history", number), 1, 1, 0});
  }
};

/// The whole journal had been read for each file whose writer was looked for.
TEST_F(JournalPublications, each_line_is_read_once) {
  Publications publications(directory_.path.string());
  publications.look();  // there is no journal yet
  begin("server-0.jsonl", "a", "atmosphere");
  begin("server-0.1.jsonl", "b", "ocean");
  for (std::uint64_t i = 1; i <= 100; ++i)
    publish("server-0.1.jsonl", "b", i, "/run/sea_" + std::to_string(i) + ".nc", 1000 + i);
  publications.look();
  const std::uint64_t whole = std::filesystem::file_size(file("server-0.jsonl")) +
                              std::filesystem::file_size(file("server-0.1.jsonl"));
  EXPECT_EQ(publications.bytes_read(), whole);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    publications.look();
    EXPECT_EQ(publications.session_of("/run/sea_" + std::to_string(i) + ".nc", 1000 + i), "ocean");
  }
  EXPECT_EQ(publications.bytes_read(), whole);
  publish("server-0.jsonl", "a", 1, "/run/air.nc", 7);
  publications.look();
  EXPECT_EQ(publications.session_of("/run/air.nc", 7), "atmosphere");
  EXPECT_EQ(publications.bytes_read(), std::filesystem::file_size(file("server-0.jsonl")) +
                                           std::filesystem::file_size(file("server-0.1.jsonl")));
}

TEST_F(JournalPublications, other_files_of_the_name_are_of_nobody) {
  Publications publications(directory_.path.string());
  begin("server-0.jsonl", "a", "atmosphere");
  publish("server-0.jsonl", "a", 1, "/run/air.nc", 7);
  publications.look();
  EXPECT_EQ(publications.session_of("/run/air.nc", 8), std::nullopt);
  EXPECT_EQ(publications.session_of("/run/sea.nc", 7), std::nullopt);
}

/// The line "published" follows the name: until then, nobody had made the file.
TEST_F(JournalPublications, a_file_that_has_just_got_its_name_is_of_the_session_that_made_it_ready) {
  Publications publications(directory_.path.string());
  begin("server-0.jsonl", "a", "atmosphere");
  line("server-0.jsonl", "a", FileOpened{facts("/run/air.nc", "history", 1), 7, 0});
  publications.look();
  EXPECT_EQ(publications.session_of("/run/air.nc", 7), std::nullopt);
  const FilePublished file{facts("/run/air.nc", "history", 1), 1, 1, 0};
  line("server-0.jsonl", "a", FileReady{file, 7, 0});
  publications.look();
  EXPECT_EQ(publications.session_of("/run/air.nc", 7), "atmosphere");
  EXPECT_EQ(publications.session_of("/run/air.nc", 8), std::nullopt);
  line("server-0.jsonl", "a", file);
  publications.look();
  EXPECT_EQ(publications.session_of("/run/air.nc", 7), "atmosphere");
}

/// A server is writing the last line, or the file was replaced.
TEST_F(JournalPublications, lines_without_end_are_read_when_they_have_one) {
  Publications publications(directory_.path.string());
  begin("server-0.jsonl", "a", "atmosphere");
  line("server-0.jsonl", "a", FileOpened{facts("/run/air.nc", "history", 1), 7, 0});
  const std::string last =
      text_of({utc_now(), "a", 0, 1, FilePublished{facts("/run/air.nc", "history", 1), 1, 1, 0}}) + "\n";
  append_text(file("server-0.jsonl"), last.substr(0, last.size() / 2));
  publications.look();
  EXPECT_EQ(publications.session_of("/run/air.nc", 7), std::nullopt);
  append_text(file("server-0.jsonl"), last.substr(last.size() / 2));
  publications.look();
  EXPECT_EQ(publications.session_of("/run/air.nc", 7), "atmosphere");
  std::filesystem::rename(file("server-0.jsonl"), file("old"));
  begin("server-0.jsonl", "c", "land");
  publish("server-0.jsonl", "c", 1, "/run/soil.nc", 9);
  publications.look();
  EXPECT_EQ(publications.session_of("/run/soil.nc", 9), "land");
}

}  // namespace
}  // namespace afterbay::journal
