// SPDX-License-Identifier: Apache-2.0
// Files that several sessions write: none replaces a file that another one has written meanwhile.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "observe/prometheus_file.hpp"
#include "session/report_files.hpp"

namespace afterbay::session {
namespace {

namespace fs = std::filesystem;

class SessionReportFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = fs::temp_directory_path() / "report_files_XXXXXX";
    ASSERT_NE(::mkdtemp(made.data()), nullptr);
    directory = made;
  }
  void TearDown() override { fs::remove_all(directory); }
  [[nodiscard]] std::string at(const std::string& name) const { return directory / name; }
  [[nodiscard]] std::string contents(const std::string& name) const {
    std::ifstream file(at(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string write(const ReportFiles& files, const std::string& name, const std::string& text) const {
    const auto written = files.write(at(name), text, "report.json");
    EXPECT_TRUE(written) << written.error().text();
    return written ? fs::path(*written).filename() : fs::path();
  }
  [[nodiscard]] ReportFiles began(const std::string& name) const {
    ReportFiles files;
    files.expect(at(name));
    return files;
  }

  fs::path directory;
};

TEST_F(SessionReportFiles, of_sessions_at_the_same_time_each_keeps_its_report) {
  const ReportFiles a = began("r.json"), b = began("r.json"), c = began("r.json");
  EXPECT_EQ(write(b, "r.json", "b"), "r.json");
  EXPECT_EQ(write(a, "r.json", "a"), "r-2.json");
  EXPECT_EQ(write(c, "r.json", "c"), "r-3.json");
  EXPECT_EQ(contents("r.json") + contents("r-2.json") + contents("r-3.json"), "bac");
}

TEST_F(SessionReportFiles, a_later_session_replaces_what_was_there_before_it) {
  (void)write(began("r.json"), "r.json", "old");
  const ReportFiles a = began("r.json"), b = began("r.json");
  (void)write(a, "r.json", "a");
  (void)write(b, "r.json", "b");
  const ReportFiles later = began("r.json"), beside = began("r.json");
  EXPECT_EQ(write(later, "r.json", "later"), "r.json");
  EXPECT_EQ(write(beside, "r.json", "beside"), "r-2.json");
  EXPECT_EQ(contents("r.json") + contents("r-2.json"), "laterbeside");
}

TEST_F(SessionReportFiles, a_file_of_somebody_else_is_not_replaced) {
  const ReportFiles files = began("r.json");
  std::ofstream(at("r.json")) << "somebody's";
  EXPECT_EQ(write(files, "r.json", "report"), "r-2.json");
  EXPECT_EQ(contents("r.json"), "somebody's");
}

TEST_F(SessionReportFiles, a_link_keeps_its_target_and_a_device_is_written) {
  std::ofstream(at("target")) << "old";
  fs::create_symlink("target", at("r.json"));
  EXPECT_EQ(write(began("r.json"), "r.json", "report"), "r.json");
  EXPECT_EQ(contents("target"), "report");
  EXPECT_TRUE(fs::is_symlink(at("r.json")));
  EXPECT_TRUE(began("r.json").write("/dev/null", "report", "report.json"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// Before, a pipe at this path blocked the model in finalize for ever.
TEST_F(SessionReportFiles, a_pipe_that_nobody_reads_is_an_error_at_once) {
  ASSERT_EQ(::mkfifo(at("r.json").c_str(), 0600), 0);
  const auto written = began("r.json").write(at("r.json"), "report", "report.json");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("it is a pipe that nobody reads"), std::string::npos);
  const int reader = ::open(at("r.json").c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(write(began("r.json"), "r.json", "report"), "r.json");
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 6);
  ::close(reader);
}

TEST_F(SessionReportFiles, a_link_of_another_user_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make the link of another user";
  std::ofstream(at("target")) << "precious";
  fs::create_symlink("target", at("r.json"));
  ASSERT_EQ(::lchown(at("r.json").c_str(), 12345, 12345), 0);
  const auto written = began("r.json").write(at("r.json"), "report", "report.json");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("symbolic link of another user"), std::string::npos);
  EXPECT_EQ(contents("target"), "precious");
}

TEST_F(SessionReportFiles, a_directory_that_is_missing_is_an_error) {
  const auto written = began("no/r.json").write(at("no/r.json"), "report", "report.json");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::io);
  EXPECT_NE(written.error().message.find("report.json"), std::string::npos);
}

TEST_F(SessionReportFiles, one_prometheus_file_per_session_at_a_time) {
  observe::ServerState state;
  state.identity.session = "s";
  const std::string path = at("run.prom");
  auto a = std::make_unique<observe::PrometheusFile>(path);
  observe::PrometheusFile b(path);
  for (int i = 0; i < 3; ++i) {
    state.traffic.in_bytes = 111;
    ASSERT_TRUE(a->write(state));
    state.traffic.in_bytes = 222;
    ASSERT_TRUE(b.write(state));
  }
  EXPECT_NE(contents("run.prom").find(" 111\n"), std::string::npos);
  EXPECT_NE(contents("run-2.prom").find(" 222\n"), std::string::npos);
  EXPECT_NE(contents("run-2.prom").find("turn=\"2\""), std::string::npos);
  a.reset();
  state.traffic.in_bytes = 333;
  observe::PrometheusFile later(path);  // that session has ended
  ASSERT_TRUE(later.write(state));
  EXPECT_NE(contents("run.prom").find(" 333\n"), std::string::npos);
  fs::remove(path);  // by another process: it is created again
  ASSERT_TRUE(later.write(state));
  EXPECT_NE(contents("run.prom").find(" 333\n"), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), {}), 2);
}

}  // namespace
}  // namespace afterbay::session
