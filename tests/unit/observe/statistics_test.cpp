// SPDX-License-Identifier: Apache-2.0
// The statistics page and its display: concurrent writing and reading, incomplete pages, dead
// servers, narrow terminals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "base/host.hpp"
#include "observe/live_view.hpp"
#include "observe/prometheus.hpp"
#include "observe/sampler.hpp"
#include "observe/text_table.hpp"
#include "scratch_directory.hpp"

namespace afterbay::observe {
namespace {

using test::Directory;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t mebibyte = 1 << 20;

ServerState sample_state(std::int64_t server = 0) {
  ServerState state;
  state.identity.session = "ocean";
  state.identity.run = "run-1";
  state.identity.host = host_name();
  state.identity.topology = "dedicated";
  state.identity.server = server;
  state.identity.servers = 2;
  state.identity.model_ranks = 4;
  state.identity.started_at_s = 1000;
  state.elapsed_s = 60;
  state.steps = 12;
  state.backlog.bytes = 64 * mebibyte;
  state.backlog.limit_bytes = 512 * mebibyte;
  state.traffic.in_bytes = 900 * mebibyte;
  state.traffic.out_bytes = 836 * mebibyte;
  state.files.published = 3;
  CollectionState history;
  history.name = "history";
  history.records_taken = 12;
  history.records_written = 11;
  history.lag_s = 0.5;
  state.collections.push_back(history);
  return state;
}

LiveAsker this_asker(double now_s = 0) {
  return {host_name(), [](std::int64_t) { return false; }, now_s};
}

// The numbers at both ends may agree although a reader came in the middle of a write.
TEST(StatisticsPage, a_page_of_two_writes_is_refused_though_both_ends_agree) {
  const Directory directory;
  auto page = StatisticsPage::open(directory.path.string(), 0);
  ASSERT_TRUE(page) << page.error().text();
  ASSERT_TRUE((*page)->write(sample_state()));
  const auto path = directory.path / "statistics-0.json";
  ASSERT_TRUE(read_page(path.string()));
  std::fstream file(path, std::ios::in | std::ios::out);
  std::stringstream text;
  text << file.rdbuf();
  const std::size_t at = text.str().find("\"steps\":12");
  ASSERT_NE(at, std::string::npos);
  file.seekp(static_cast<std::streamoff>(at));
  file << "\"steps\":13";
  file.close();
  const auto torn = read_page(path.string());
  ASSERT_FALSE(torn);
  EXPECT_EQ(torn.error().code, ErrorCode::format);
}

TEST(StatisticsPage, is_read_as_it_was_written) {
  const Directory directory;
  const auto page = StatisticsPage::open(directory.path.string(), 3);
  ASSERT_TRUE(page) << page.error().text();
  ServerState state = sample_state(3);
  state.identity.session = "oc\"e\nan";
  ASSERT_TRUE((*page)->write(state));
  const auto pages = read_pages(directory.path.string());
  ASSERT_TRUE(pages) << pages.error().text();
  ASSERT_EQ(pages->size(), 1u);
  const FoundPage& found = pages->front();
  EXPECT_EQ(found.state.identity.session, "oc\"e\nan");
  EXPECT_EQ(found.state.identity.server, 3);
  EXPECT_EQ(found.state.traffic.in_bytes, state.traffic.in_bytes);
  ASSERT_EQ(found.state.collections.size(), 1u);
  EXPECT_EQ(found.state.collections[0].records_taken, 12u);
  EXPECT_DOUBLE_EQ(found.state.collections[0].lag_s, 0.5);
  EXPECT_TRUE(found.held);
}

TEST(StatisticsPage, a_shorter_state_leaves_nothing_of_a_longer_one) {
  const Directory directory;
  const auto page = StatisticsPage::open(directory.path.string(), 0);
  ServerState state = sample_state();
  for (int i = 0; i < 40; ++i) state.collections.push_back(state.collections.front());
  ASSERT_TRUE((*page)->write(state));
  ASSERT_TRUE((*page)->write(sample_state()));
  const auto pages = read_pages(directory.path.string());
  ASSERT_TRUE(pages);
  EXPECT_EQ(pages->front().state.collections.size(), 1u);
  std::ifstream file(pages->front().path);
  EXPECT_NO_THROW(nlohmann::json::parse(file)) << "any JSON reader can read it";
}

/// Every state that is read was written as a whole: its fields agree.
TEST(StatisticsPage, a_reader_never_sees_half_of_a_state) {
  const Directory directory;
  const auto page = StatisticsPage::open(directory.path.string(), 0);
  std::atomic<bool> done{false};
  std::jthread writer([&] {
    ServerState state = sample_state();
    for (int i = 0; i < 40; ++i) state.collections.push_back(state.collections.front());
    for (std::uint64_t turn = 1; !done; ++turn) {
      state.traffic.in_bytes = turn;
      for (auto& one : state.collections) one.bytes_in = turn;
      ASSERT_TRUE((*page)->write(state));
    }
  });
  int read = 0;
  for (int i = 0; i < 300; ++i) {
    const auto found = read_pages(directory.path.string());
    if (!found) continue;  // no complete page within a tenth of a second
    ++read;
    for (const auto& one : found->front().state.collections)
      ASSERT_EQ(one.bytes_in, found->front().state.traffic.in_bytes);
  }
  done = true;
  EXPECT_GT(read, 100);
}

TEST(StatisticsPage, a_torn_one_is_none) {
  const Directory directory;
  {
    const auto page = StatisticsPage::open(directory.path.string(), 0);
    ASSERT_TRUE((*page)->write(sample_state()));
  }
  const auto path = directory.path / "statistics-0.json";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::ofstream(path) << text.str().substr(0, text.str().size() / 2);
  const auto pages = read_pages(directory.path.string());
  ASSERT_FALSE(pages);
  EXPECT_THAT(pages.error().text(),
              AllOf(HasSubstr("no statistics page"), HasSubstr("statistics.directory")));
}

TEST(StatisticsPage, a_second_session_in_the_directory_has_its_own) {
  const Directory directory;
  const auto first = StatisticsPage::open(directory.path.string(), 0);
  const auto second = StatisticsPage::open(directory.path.string(), 0);
  ASSERT_TRUE((*first)->write(sample_state()));
  ServerState other = sample_state();
  other.identity.session = "atmosphere";
  ASSERT_TRUE((*second)->write(other));
  const auto sessions = live_sessions(*read_pages(directory.path.string()), this_asker());
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0].name, "atmosphere");
  EXPECT_EQ(sessions[1].name, "ocean");
}

/// A frontend has a page in addition to that of the server with its number.
TEST(StatisticsPage, frontends_have_pages_of_their_own) {
  const Directory directory;
  const auto server = StatisticsPage::open(directory.path.string(), 0);
  auto frontend = *StatisticsPage::open(directory.path.string(), 0, true);
  ASSERT_TRUE((*server)->write(sample_state()));
  ServerState state = sample_state();
  state.identity.role = "frontend";
  state.collections.clear();
  ASSERT_TRUE(frontend->write(state));
  const auto look = [&] { return live_sessions(*read_pages(directory.path.string()), this_asker()).front(); };
  LiveSession session = look();
  ASSERT_EQ(session.servers.size(), 1u);
  ASSERT_EQ(session.frontends.size(), 1u);
  EXPECT_THAT(screen_of(session, {160, 40}, false), AllOf(HasSubstr("frontend"), HasSubstr("passed on")));
  EXPECT_THAT(verdict_on(session).text, HasSubstr("keeps up"));
  frontend.reset();  // as if its process had been killed
  EXPECT_THAT(verdict_on(look()).text, HasSubstr("dead: frontend 0 did not end"));
}

TEST(StatisticsPage, does_not_follow_a_link_or_wait_for_a_pipe_under_its_name) {
  const Directory directory;
  const auto path = directory.path / "statistics-0.json";
  const auto target = directory.path / "target";
  std::ofstream(target) << "precious";
  for (const auto& lay :
       std::vector<std::function<void()>>{[&] { std::filesystem::create_symlink("target", path); },
                                          [&] { std::filesystem::create_symlink("not there yet", path); },
                                          [&] { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); },
                                          [&] { std::filesystem::create_directory(path); }}) {
    lay();
    const auto page = StatisticsPage::open(directory.path.string(), 0);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, ErrorCode::io);
    EXPECT_THAT(page.error().text(), HasSubstr(path.string()));
    std::filesystem::remove(path);
  }
  EXPECT_EQ(std::filesystem::file_size(target), 8u);
  EXPECT_FALSE(std::filesystem::exists(directory.path / "not there yet"));
}

// Before, `afterbay top` waited for the writer of the pipe for ever.
TEST(StatisticsPage, that_is_no_regular_file_is_named) {
  const Directory directory;
  const auto path = directory.path / "statistics-0.json";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto pages = read_pages(directory.path.string());
  ASSERT_FALSE(pages);
  EXPECT_EQ(pages.error().code, ErrorCode::io);
  EXPECT_THAT(pages.error().text(), AllOf(HasSubstr("statistics-0.json"), HasSubstr("named pipe")));
  const auto other = StatisticsPage::open(directory.path.string(), 1);
  ASSERT_TRUE((*other)->write(sample_state(1)));
  EXPECT_EQ(read_pages(directory.path.string())->size(), 1u) << "that of another server is shown";
}

TEST(StatisticsPage, of_any_size_is_refused_in_bounded_memory) {
  const Directory directory;
  const auto path = directory.path / "statistics-0.json";
  std::ofstream(path) << "{";
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  const auto page = read_page(path.string());
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, ErrorCode::format);
}

TEST(StatisticsPage, of_a_full_file_system_is_an_error) {
  if (std::filesystem::exists("/dev/full") && std::filesystem::exists("/proc/self")) {
    const auto page = StatisticsPage::open("/proc/self/nowhere", 0);
    ASSERT_FALSE(page);
    EXPECT_THAT(page.error().text(), HasSubstr("statistics page"));
  }
}

TEST(LiveView, who_lives_and_who_does_not) {
  const Directory directory;
  const auto life = [&](double now_s = 0) {
    return live_sessions(*read_pages(directory.path.string()), this_asker(now_s))
        .front()
        .servers.front()
        .life;
  };
  auto page = *StatisticsPage::open(directory.path.string(), 0);
  ASSERT_TRUE(page->write(sample_state()));
  EXPECT_EQ(life(), ServerLife::running);
  page.reset();  // as if the process had been killed
  EXPECT_EQ(life(), ServerLife::dead);

  page = *StatisticsPage::open(directory.path.string(), 0);
  ServerState ended = sample_state();
  ended.phase = "ended";
  ASSERT_TRUE(page->write(ended));
  EXPECT_EQ(life(), ServerLife::ended);

  ServerState elsewhere = sample_state();
  elsewhere.identity.host = "another-node";
  ASSERT_TRUE(page->write(elsewhere));
  page.reset();
  EXPECT_EQ(life(time_of_day_s()), ServerLife::running) << "its lock may not be seen from here";
  EXPECT_EQ(life(time_of_day_s() + 60), ServerLife::unclear);
}

TEST(LiveView, pages_of_an_older_run_are_left_out) {
  std::vector<FoundPage> pages(3);
  for (std::size_t i = 0; i < 3; ++i) pages[i].state = sample_state(static_cast<std::int64_t>(i));
  pages[2].state.identity.run = "run-0";  // had one server more
  pages[2].state.identity.started_at_s = 900;
  const auto sessions = live_sessions(pages, this_asker());
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].run, "run-1");
  EXPECT_EQ(sessions[0].servers.size(), 2u);
}

LiveSession running_session(const ServerState& state) {
  FoundPage page;
  page.state = state;
  return {"ocean", "run-1", {{page, ServerLife::running}}};
}

TEST(LiveView, the_first_words_say_whether_servers_keep_up) {
  ServerState state = sample_state();
  EXPECT_THAT(verdict_on(running_session(state)).text, HasSubstr("keeps up: the model has waited 0.0 %"));
  state.ranks.waiting_for_room = 2;
  EXPECT_THAT(verdict_on(running_session(state)).text, HasSubstr("full: 2 model ranks wait for room now"));
  state.ranks.waiting_for_room = 0;
  state.model_waits_in_s = 40;
  EXPECT_THAT(verdict_on(running_session(state)).text,
              AllOf(HasSubstr("falls behind"), HasSubstr("40.00 s")));
  state.model_waits_in_s = 0;
  state.ranks.waited_for_room_s = 24;  // out of 4 ranks x 60 s
  EXPECT_THAT(verdict_on(running_session(state)).text, AllOf(HasSubstr("too slow"), HasSubstr("10.0 %")));
}

TEST(LiveView, narrow_terminals_get_what_matters) {
  const std::string wide = screen_of(running_session(sample_state()), {160, 40}, false);
  EXPECT_THAT(wide, AllOf(HasSubstr("64.0 MiB"), HasSubstr("ranks that wait"), HasSubstr("history"),
                          HasSubstr(host_name()), Not(HasSubstr("\x1b"))));
  for (const std::size_t width : {120u, 80u, 60u, 40u, 20u, 1u}) {
    std::istringstream lines(screen_of(running_session(sample_state()), {width, 24}, false));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(text_width(line), std::max<std::size_t>(width, 20)) << width << ": " << line;
  }
  const std::string narrow = screen_of(running_session(sample_state()), {40, 24}, false);
  EXPECT_THAT(narrow, AllOf(HasSubstr("64.0 MiB"), HasSubstr("lag"), Not(HasSubstr("ranks that wait"))));
}

TEST(LiveView, many_servers_fit_on_the_screen) {
  LiveSession session = running_session(sample_state());
  for (int i = 1; i < 100; ++i) session.servers.push_back(session.servers.front());
  std::string text = screen_of(session, {100, 24}, false);
  EXPECT_LE(std::ranges::count(text, '\n'), 24);
  EXPECT_THAT(text, HasSubstr("more servers"));
  session.servers.resize(2);
  session.frontends.assign(1000, session.servers.front());
  text = screen_of(session, {100, 24}, false);
  EXPECT_LE(std::ranges::count(text, '\n'), 24);
  EXPECT_THAT(text, HasSubstr("more frontends"));
}

TEST(Prometheus, text_names_units_and_labels) {
  ServerState state = sample_state(1);
  state.identity.session = "a\"b\\c";
  state.ranks.waited_for_room_s = 1.5;
  const std::string text = prometheus_text(state);
  EXPECT_THAT(text, HasSubstr("afterbay_updated_timestamp_seconds{"));
  EXPECT_THAT(text,
              HasSubstr("# TYPE afterbay_received_bytes_total counter\n"
                        "afterbay_received_bytes_total{session=\"a\\\"b\\\\c\",server=\"1\"} 943718400\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "afterbay_model_wait_seconds_total{session=\"a\\\"b\\\\c\",server=\"1\",reason=\"room\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr(",collection=\"history\"} 0.5\n"));
}

/// Data that pass through a frontend are also taken in by a server: under the same name they would
/// count twice.
TEST(Prometheus, frontends_have_metrics_of_their_own) {
  ServerState state = sample_state(1);
  state.identity.role = "frontend";
  const std::string text = prometheus_text(state);
  EXPECT_THAT(
      text,
      HasSubstr("afterbay_frontend_received_bytes_total{session=\"ocean\",frontend=\"1\"} 943718400\n"));
  EXPECT_THAT(text, Not(HasSubstr("afterbay_received_bytes_total")));
}

TEST(Prometheus, several_servers_have_a_file_each) {
  EXPECT_EQ(prometheus_path("m/run.prom", 1, 2), "m/run.1.prom");
  EXPECT_EQ(prometheus_path("m/run.prom", 0, 1), "m/run.prom");
  EXPECT_EQ(prometheus_path("m/{server}-run.prom", 1, 2), "m/1-run.prom");
  EXPECT_EQ(prometheus_path("m/run.prom", 0, 1, true), "m/run.frontend-0.prom");
  EXPECT_EQ(prometheus_path("m/{server}-run.prom", 1, 2, true), "m/frontend-1-run.prom");
  EXPECT_EQ(prometheus_path("", 1, 2), "");
  EXPECT_EQ(prometheus_path("", 1, 2, true), "");
}

TEST(Sampler, writes_the_last_state_and_leaves_nothing_of_a_session_without_work) {
  const Directory directory;
  const Logger logger({"test", "server", 0}, LogLevel::error);
  const std::string prometheus = (directory.path / "run.prom").string();
  {
    Sampler idle({directory.path.string(), std::chrono::milliseconds(100), prometheus}, logger);
    idle.offer(ServerState());
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path));
  {
    Sampler busy({directory.path.string(), std::chrono::milliseconds(100), prometheus}, logger);
    busy.offer(sample_state());
    ServerState last = sample_state();
    last.phase = "ended";
    last.elapsed_s = 61;
    last.traffic.in_bytes += 5 * mebibyte;
    busy.offer(last);
    EXPECT_EQ(busy.series().size(), 2u);
  }
  const auto pages = read_pages(directory.path.string());
  ASSERT_TRUE(pages);
  EXPECT_EQ(pages->front().state.phase, "ended");
  EXPECT_TRUE(std::filesystem::exists(prometheus));
}

TEST(Sampler, a_page_that_cannot_be_written_is_warned_of_once) {
  std::ostringstream said;
  {
    Sampler sampler({"/proc/nowhere", std::chrono::milliseconds(100), "/proc/nowhere/run.prom"},
                    Logger({"test", "server", 0}, LogLevel::warning, said));
    sampler.offer(sample_state());
  }
  EXPECT_THAT(said.str(), HasSubstr("output continues without it"));
  EXPECT_EQ(said.str().find("output continues"), said.str().rfind("output continues"));
}

}  // namespace
}  // namespace afterbay::observe
