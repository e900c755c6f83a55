// SPDX-License-Identifier: Apache-2.0
// The choice of filters from what servers measured.
#include "session/codec_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "config/compress_choice.hpp"
#include "scratch_directory.hpp"

namespace afterbay::session {
namespace {

using observe::ChainRecord;
using observe::CodecTrialRecord;
using observe::ServerHistory;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double mib = 1 << 20;

/// Measurements of a server's part of 11 records, one per second.
CodecTrialRecord measured(const std::string& collection, double seconds, bool shared = true) {
  CodecTrialRecord it;
  it.collection = collection;
  it.shared = shared ? 1 : 0;
  it.writers = 2;
  it.records = 11;
  it.first_s = 1000;
  it.last_s = 1010;
  it.bytes = it.measured_bytes = mib;
  it.chains = 26;
  it.trials = {{{}, 0, mib},
               {{{"deflate", 1}}, seconds, 0.6 * mib},
               {{{"shuffle", 1}, {"deflate", 6}}, 3 * seconds, 0.4 * mib}};
  return it;
}

std::vector<ServerHistory> servers_with(const std::vector<std::vector<CodecTrialRecord>>& records) {
  std::vector<ServerHistory> servers;
  for (const auto& of_one : records) {
    ServerHistory& server = servers.emplace_back();
    server.server = static_cast<std::int32_t>(servers.size()) - 1;
    server.codecs = of_one;
  }
  return servers;
}

std::string chosen(const std::vector<ServerHistory>& servers, std::size_t n = 0) {
  const CodecChoice choice = choose_codecs(servers).at(n);
  return choice.filters ? codec::text_of(*choice.filters) : choice.why;
}

TEST(CodecChoices, parts_of_servers_are_added) {
  // 4 writers have 2 s of half their time.
  EXPECT_EQ(chosen(servers_with({{measured("h", 0.3)}, {measured("h", 0.3)}})), "shuffle, deflate 6");
  EXPECT_EQ(chosen(servers_with({{measured("h", 0.3)}, {measured("h", 0.9)}})), "deflate 1");
  EXPECT_EQ(chosen(servers_with({{measured("h", 1.1)}, {measured("h", 1)}})), "none");
  const CodecChoice choice = choose_codecs(servers_with({{measured("h", 0.3)}, {measured("h", 0.3)}})).at(0);
  EXPECT_THAT(choice.why,
              HasSubstr("a record has 2.00 MiB and comes every 1 s, in which 4 writers have 2 s"));
  EXPECT_THAT(choice.why, HasSubstr("3 of 26 chains of filters were tried on 2.00 MiB, before the session"));
  EXPECT_THAT(choice.table, HasSubstr("shuffle, deflate 6         40.0 %                    1.8  <- chosen"));
}

TEST(CodecChoices, of_whole_records_the_mean_counts) {
  // Files go to the servers in turn: each has 11 of 22 records in 10 s.
  const auto servers = servers_with({{measured("h", 0.2, false)}, {measured("h", 0.4, false)}});
  const CodecChoice choice = choose_codecs(servers).at(0);
  EXPECT_THAT(choice.why,
              HasSubstr("a record has 1.00 MiB and comes every 0.476 s, in which 4 writers have 0.952 s"));
  EXPECT_THAT(choice.trials.at(1).seconds, ::testing::DoubleNear(0.3, 1e-9));
  EXPECT_EQ(chosen(servers), "shuffle, deflate 6");
}

TEST(CodecChoices, only_what_all_have_tried_counts) {
  auto servers = servers_with({{measured("h", 0.1)}, {measured("h", 0.1)}});
  servers[1].codecs[0].trials.pop_back();
  EXPECT_EQ(chosen(servers), "deflate 1");
  servers[1].codecs[0].trials.pop_back();
  EXPECT_THAT(chosen(servers), HasSubstr("nothing was chosen: the session ended before"));
}

TEST(CodecChoices, collections_of_the_same_servers_share_their_time) {
  // One server: 2 writers have 1 s; with another collection of the same rate, half of it.
  EXPECT_EQ(chosen(servers_with({{measured("h", 0.3)}})), "shuffle, deflate 6");
  EXPECT_EQ(chosen(servers_with({{measured("h", 0.3), measured("other", 0.3)}})), "deflate 1");
  EXPECT_EQ(chosen(servers_with({{measured("h", 0.3)}, {measured("other", 0.3)}})), "shuffle, deflate 6");
}

TEST(CodecChoices, without_a_pace_there_is_none) {
  CodecTrialRecord one = measured("h", 0.1);
  one.records = 1;
  one.last_s = one.first_s;
  EXPECT_THAT(chosen(servers_with({{one}})), HasSubstr("nothing was chosen: one record came"));
  one.records = 0;
  EXPECT_THAT(chosen(servers_with({{one}})), HasSubstr("nothing was chosen: no record came"));
  CodecTrialRecord inside = measured("h", 0.1);
  inside.writers = 0;
  inside.trials.clear();
  EXPECT_THAT(chosen(servers_with({{inside}})), HasSubstr("inline.mode: synchronous"));
  EXPECT_THAT(choose_codecs({}), IsEmpty());
}

/// A server without a part of the collection has nothing to say.
TEST(CodecChoices, servers_without_records_do_not_count) {
  CodecTrialRecord none;
  none.collection = "h";
  none.shared = 1;
  none.writers = 2;
  EXPECT_EQ(chosen(servers_with({{none}, {measured("h", 0.3)}})), "shuffle, deflate 6");
  none.records = 11;  // it has heard of the records
  none.first_s = 1000;
  none.last_s = 1010;
  EXPECT_EQ(chosen(servers_with({{none}, {measured("h", 0.3)}})), "shuffle, deflate 6");
  EXPECT_EQ(chosen(servers_with({{none}, {measured("h", 0.4)}})), "deflate 1");  // for two writers
}

std::vector<observe::CollectionRecord> reported(const std::string& path) {
  observe::CollectionRecord measured_one{"h", "netcdf4", {}};
  measured_one.compress = {path, "shuffle, zstd 1", 1};
  observe::CollectionRecord chosen_before{"before", "netcdf4", {}};
  chosen_before.compress = {"old.yaml", "lz4", 0};
  return {measured_one, chosen_before, {"without", "netcdf4", {}}};
}

TEST(CodecChoices, are_written_for_later_sessions) {
  const test::Directory directory;
  const std::string path = directory.path / "compress.h.yaml";
  auto collections = reported(path);
  std::vector<std::string> warnings;
  const auto lines = keep_choices(collections, servers_with({{measured("h", 0.1)}}), warnings);
  EXPECT_THAT(warnings, IsEmpty());
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0], HasSubstr("h: later sessions write with shuffle, deflate 6, see " + path));
  EXPECT_EQ(collections[0].compress.chosen, "shuffle, deflate 6");
  EXPECT_THAT(collections[0].compress.trials, SizeIs(3));
  EXPECT_THAT(collections[1].compress.why, HasSubstr("as an earlier session chose: old.yaml"));
  EXPECT_EQ(collections[2].compress.why, "");
  const auto read = config::read_choice(path, "h");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, (codec::FilterLevels{{"shuffle", 1}, {"deflate", 6}}));
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, HasSubstr("# The smallest files among those in time. No filter changes values."));
  EXPECT_THAT(text, HasSubstr("<- chosen"));
}

TEST(CodecChoices, that_cannot_be_written_are_a_warning) {
  auto collections = reported("/none/compress.h.yaml");
  std::vector<std::string> warnings;
  EXPECT_THAT(keep_choices(collections, servers_with({{measured("h", 0.1)}}), warnings), IsEmpty());
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0], HasSubstr("could not be written to /none/compress.h.yaml"));
  // Nothing is written without a choice.
  const test::Directory directory;
  const std::string path = directory.path / "compress.h.yaml";
  collections = reported(path);
  EXPECT_THAT(keep_choices(collections, {}, warnings), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THAT(collections[0].compress.why, HasSubstr("nothing was chosen"));
}

}  // namespace
}  // namespace afterbay::session
