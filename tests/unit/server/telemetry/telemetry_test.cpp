// SPDX-License-Identifier: Apache-2.0
// Telemetry without a server: what a page and the report get to see.
#include "server/telemetry/telemetry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <fstream>
#include <sstream>

#include "scratch_directory.hpp"
#include "unit/server/fake_transport.hpp"

namespace afterbay::server {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class ServerTelemetry : public ::testing::Test {
 protected:
  ServerTelemetry() {
    config_.statistics.directory.clear();
    identity_.number = 2;
    identity_.session_rank = 9;
    identity_.session_ranks = {0, 1};
    identity_.servers = 1;
    frames_.used = 100;
    frames_.peak = 300;
  }
  Telemetry& make() {
    Telemetry::Host host;
    host.fill = [](observe::ServerState& state) { state.files.open = 5; };
    host.other_backlog_bytes = [] { return std::uint64_t{30}; };
    host.fill_collection = [this](std::uint32_t id, observe::CollectionState& state) {
      EXPECT_EQ(id, 3u);
      state.name = "history";
      last_ = state;
    };
    host.warn = [](const std::string&) {};
    return telemetry_.emplace(config_, identity_, frames_, Logger({"test"}, LogLevel::warning, log_),
                              std::move(host));
  }

  config::Config config_;
  Identity identity_;
  test::FakeFrames frames_;
  std::ostringstream log_;
  observe::CollectionState last_;  ///< state that was sampled last
  std::optional<Telemetry> telemetry_;
};

TEST_F(ServerTelemetry, SamplesWhatACollectionHasTakenWrittenAndPublished) {
  Telemetry& telemetry = make();
  telemetry.tally().take(3, 4000);
  telemetry.tally().of(3).records_taken = 6;
  telemetry.tally().of(3).records_written = 5;
  telemetry.file_published(3, "history", "a.nc", now_ns(), 3500, 4);
  telemetry.sample();
  EXPECT_EQ(last_.bytes_in, 4000u);
  EXPECT_EQ(last_.records_taken, 6u);
  EXPECT_EQ(last_.records_written, 5u);
  EXPECT_EQ(last_.records_published, 4u);
  EXPECT_EQ(last_.files_published, 1u);
  EXPECT_EQ(last_.bytes_published, 3500u);
}

TEST_F(ServerTelemetry, ReportsPublishedFiles) {
  Telemetry& telemetry = make();
  telemetry.file_published(3, "history", "a.nc", now_ns(), 3500, 4);
  const observe::ServerHistory history = telemetry.history();
  EXPECT_EQ(history.server, 2);
  EXPECT_EQ(history.rank, 9);
  EXPECT_EQ(history.backlog_limit_bytes, 1000u);
  ASSERT_THAT(history.files, SizeIs(1));
  EXPECT_EQ(history.files[0].path, "a.nc");
  EXPECT_EQ(history.older_files, 0u);
}

TEST_F(ServerTelemetry, KeepsTheLatestFilesOnly) {
  Telemetry& telemetry = make();
  for (int i = 0; i < 1003; ++i)
    telemetry.file_published(3, "history", std::to_string(i) + ".nc", now_ns(), 1, 1);
  const observe::ServerHistory history = telemetry.history();
  ASSERT_THAT(history.files, SizeIs(1000));
  EXPECT_EQ(history.files.front().path, "3.nc");
  EXPECT_EQ(history.older_files, 3u);
}

TEST_F(ServerTelemetry, ASampleIsDueSomeTimeAfterTheLast) {
  Telemetry& telemetry = make();
  EXPECT_TRUE(telemetry.sample_is_due(now_ns()));
  telemetry.sample();
  const std::uint64_t now = now_ns();
  EXPECT_FALSE(telemetry.sample_is_due(now - 1'000'000'000));
  EXPECT_TRUE(telemetry.sample_is_due(now + 1'000'000'000));
}

/// Ranks report their waits so far: each report replaces the rank's earlier one in the sum.
TEST_F(ServerTelemetry, SumsTheWaitsOfAllRanksAsTheyAreReported) {
  Tally& tally = make().tally();
  EXPECT_DOUBLE_EQ(tally.waited_for_room_s(), 0);
  tally.waited(0, 1'000'000'000, 5'000'000'000);
  tally.waited(1, 2'000'000'000, 0);
  tally.waited(0, 4'000'000'000, 6'000'000'000);
  tally.waited(1, 2'000'000'000, 500'000'000);
  EXPECT_DOUBLE_EQ(tally.waited_for_room_s(), 6);
  EXPECT_DOUBLE_EQ(tally.waited_for_files_s(), 6.5);
}

TEST_F(ServerTelemetry, PrintsProgressIfItIsConfigured) {
  {
    Telemetry& telemetry = make();
    testing::internal::CaptureStderr();
    telemetry.show_progress(true);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }
  config_.report.progress_ms = std::chrono::milliseconds(600'000);
  Telemetry& telemetry = make();
  telemetry.step_ended(12);
  telemetry.step_ended(11);  // step of a slower rank
  testing::internal::CaptureStderr();
  telemetry.show_progress();
  telemetry.show_progress();  // not due
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("[I/O server 2] "));
  EXPECT_THAT(text, HasSubstr("12"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

TEST_F(ServerTelemetry, WritesTheStateForPrometheus) {
  const test::Directory directory;
  config_.report.prometheus = (directory.path / "afterbay.prom").string();
  {
    Telemetry& telemetry = make();
    telemetry.tally().take(3, 4000);
    telemetry.tally().written(2500, 2000);
    telemetry.tally().waited(1, 1'500'000'000, 0);
    EXPECT_DOUBLE_EQ(telemetry.tally().waited_for_room_s(), 1.5);
    telemetry.sample();
    telemetry_.reset();  // writes what was sampled last
  }
  bool found = false;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path)) {
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    found = true;
    EXPECT_THAT(text, HasSubstr("history"));
    EXPECT_THAT(text, HasSubstr("4000"));
    EXPECT_THAT(text, HasSubstr("2500"));
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace afterbay::server
