// SPDX-License-Identifier: Apache-2.0
// Timelines and the HTML report, with invented figures; real runs are in
// ranks/session_page_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "observe/html_page.hpp"
#include "observe/html_plot.hpp"
#include "observe/profile.hpp"
#include "observe/run_figures.hpp"

namespace afterbay::observe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t second = 1'000'000'000;

TEST(Timeline, an_inner_span_is_no_longer_the_outer_ones) {
  Timeline timeline(true, 1);
  const std::uint64_t t = now_ns();
  timeline.add(Lane::room, t + 2 * second, t + 5 * second);  // within a put of 10 s
  timeline.add(Lane::put, t, t + 10 * second);
  timeline.add(Lane::end, t + 12 * second, t + 13 * second);
  const TimelineRecord record = timeline.record(0, "model");
  EXPECT_NEAR(record.total_s(Lane::room), 3, 1e-5);
  EXPECT_NEAR(record.total_s(Lane::put), 7, 1e-5);
  EXPECT_NEAR(record.total_s(Lane::end), 1, 1e-5);
}

TEST(Timeline, threads_add_up) {
  Timeline timeline(false, 1);
  const std::uint64_t t = now_ns();
  timeline.add(Lane::write, t, t + 4 * second);
  timeline.add(Lane::write, t + second, t + 4 * second);
  EXPECT_NEAR(timeline.record(0, "server").total_s(Lane::write), 7, 1e-5);
}

TEST(Timeline, of_a_long_run_is_no_larger_and_loses_no_time) {
  Timeline timeline(true, 0.02, 400);
  const std::uint64_t t = now_ns();
  for (std::uint64_t s = 0; s < 20'000; ++s)
    timeline.add(Lane::put, t + s * second, t + s * second + second / 4);
  const TimelineRecord record = timeline.record(0, "model");
  EXPECT_LE(record.bins(), 400u);
  EXPECT_GE(record.bins(), 190u);
  EXPECT_NEAR(record.total_s(Lane::put), 5000, 5);
}

TEST(Timeline, resampling_keeps_the_time) {
  TimelineRecord record;
  record.started_at_s = 100;
  record.bin_s = 0.7;
  record.busy_s.assign(10 * lane_count, 0.1F);
  double sum = 0;
  for (const auto& bin : resampled(record, 99, 0.33, 60)) sum += bin[0];
  EXPECT_NEAR(sum, 1, 1e-4);
}

TEST(Timeline, waits_for_room_are_a_lane_of_their_own) {
  Profile profile(true, 0, std::make_unique<Timeline>(true));
  Timer* const put = profile.timer("put");
  Timer* const history = profile.timer("history", put);
  Timer* const room = profile.wait("room in the server", put);
  const std::uint64_t t = now_ns();
  room->add(t + second, t + 2 * second);
  history->add(t, t + 3 * second);
  const TimelineRecord record = profile.timeline()->record(0, "model");
  EXPECT_NEAR(record.total_s(Lane::put), 2, 1e-5);
  EXPECT_NEAR(record.total_s(Lane::room), 1, 1e-5);
}

/// `ranks` model ranks that wait for `room_s` of 100 s, and one server.
RunPage page_of(int ranks, double room_s, double busy_share = 0.9) {
  RunPage page;
  page.session = "ocean <1> & \"2\"";
  const auto add = [&](const char* role, int rank, Lane lane, double seconds) {
    TimelineRecord record;
    record.rank = rank;
    record.role = role;
    record.started_at_s = 1'700'000'000;
    record.elapsed_s = 100;
    record.bin_s = 1;
    record.busy_s.assign(100 * lane_count, 0);
    for (int b = 0; b < 100; ++b)
      record.busy_s[static_cast<std::size_t>(b) * lane_count + static_cast<std::size_t>(lane)] =
          static_cast<float>(seconds / 100);
    page.timelines.push_back(record);
  };
  for (int r = 0; r < ranks; ++r) add("model", r, Lane::room, room_s);
  add("server", ranks, Lane::write, 100 * busy_share);
  ServerHistory server;
  server.backlog_limit_bytes = 512u << 20;
  server.started_at_s = 1'700'000'000;
  for (int s = 1; s <= 100; ++s)
    server.points.push_back({static_cast<double>(s), 400u << 20, static_cast<std::uint64_t>(s) << 30,
                             static_cast<std::uint64_t>(s) << 30, static_cast<std::uint64_t>(s) << 30,
                             room_s > 0 ? 1u : 0u});
  server.files.push_back({"/out/<b>.nc", "history", 0, 1, 2, 1000, 5});
  page.servers.push_back(server);
  return page;
}

TEST(RunVerdict, follows_from_the_share_of_waits) {
  EXPECT_EQ(verdict_of(figures_of(page_of(4, 0))).grade, RunGrade::kept_up);
  EXPECT_EQ(verdict_of(figures_of(page_of(4, 0.5))).grade, RunGrade::kept_up);
  EXPECT_EQ(verdict_of(figures_of(page_of(4, 3))).grade, RunGrade::nearly);
  const RunVerdict slow = verdict_of(figures_of(page_of(4, 60)));
  EXPECT_EQ(slow.grade, RunGrade::too_slow);
  EXPECT_THAT(slow.headline,
              AllOf(HasSubstr("could not keep up"), HasSubstr("60.0 s of 100.0 s"), HasSubstr("60 %")));
  EXPECT_THAT(testing::PrintToString(slow.details), HasSubstr("about 3 servers of this kind would keep up"));
}

TEST(RunVerdict, idle_servers_and_a_waiting_model_mean_too_little_memory) {
  EXPECT_THAT(testing::PrintToString(verdict_of(figures_of(page_of(4, 30, 0.2))).details),
              HasSubstr("Raise memory.server"));
}

TEST(RunVerdict, a_model_that_waits_though_servers_have_room_is_told_what_is_between_them) {
  RunPage page = page_of(4, 30, 0.2);
  for (auto& point : page.servers.front().points) point.backlog_bytes = 8u << 20;
  const std::string said = testing::PrintToString(verdict_of(figures_of(page)).details);
  EXPECT_THAT(said, AllOf(HasSubstr("memory.link"), HasSubstr("memory.frontend"),
                          Not(HasSubstr("Raise memory.server"))));
}

TEST(RunVerdict, a_model_that_waits_for_places_for_records_is_not_told_to_raise_memory) {
  RunPage page = page_of(4, 30, 0.2);
  for (auto& point : page.servers.front().points) point.backlog_bytes = 8u << 20;
  page.servers.front().records_refused = 3;
  const std::string said = testing::PrintToString(verdict_of(figures_of(page)).details);
  EXPECT_THAT(said, AllOf(HasSubstr("too many records of a variable"), Not(HasSubstr("memory.link")),
                          Not(HasSubstr("Raise memory.server"))));
}

TEST(RunPage, is_one_document_that_needs_nothing_else_and_escapes_names) {
  const std::string html = run_page(page_of(4, 60));
  EXPECT_THAT(html, AllOf(HasSubstr("<!doctype html>"), HasSubstr("ocean &lt;1&gt; &amp; &quot;2&quot;"),
                          HasSubstr("&lt;b&gt;.nc"), Not(HasSubstr("<b>.nc"))));
  for (const char* outside : {"http:", "https:", "<script", "<link", "url(", "@import", "src="})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(RunPage, of_a_run_that_failed_says_why_and_nothing_of_the_model) {
  RunPage page = page_of(2, 0);
  std::erase_if(page.timelines, [](const TimelineRecord& it) { return it.role == "model"; });
  page.failure = "model rank 2 <did not> put\nand more";
  const std::string text = run_page(page);
  EXPECT_THAT(text, AllOf(HasSubstr("The run failed"), HasSubstr("model rank 2 &lt;did not&gt; put"),
                          HasSubstr("and more"), HasSubstr("<h2>Backlog</h2>")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("kept up")), Not(HasSubstr("Where the model's time went")),
                          Not(HasSubstr("of it the model waited"))));
}

/// Two servers wrote files of one collection: a variable has one row, with the larger error.
TEST(RunPage, the_largest_errors_of_packed_values_are_listed) {
  RunPage page = page_of(2, 0);
  EXPECT_THAT(run_page(page), Not(HasSubstr("Largest errors")));
  page.servers.push_back(page.servers.front());
  page.servers[0].errors = {{"history", "t<1>", 0.25}, {"history", "pr", 1e-9}};
  page.servers[1].errors = {{"history", "t<1>", 0.5}};
  EXPECT_THAT(run_page(page),
              AllOf(HasSubstr("<h3>Largest errors of packed and rounded values</h3>"),
                    HasSubstr("<tr><td>history<td class=name>pr<td>1e-09</tr>\n"
                              "<tr><td>history<td class=name>t&lt;1&gt;<td>0.5</tr>\n</table>"),
                    Not(HasSubstr("<td>0.25</tr>"))));
}

TEST(RunPage, frontends_have_a_plot_of_their_own) {
  RunPage page = page_of(2, 0);
  EXPECT_THAT(run_page(page), Not(HasSubstr("Held by frontends")));
  page.frontends = page.servers;
  EXPECT_THAT(run_page(page), AllOf(HasSubstr("Held by frontends"), HasSubstr("frontend 0 on")));
}

/// 4 MiB of 512 MiB in use: with an axis up to 512 MiB the line would be invisible.
TEST(RunPage, the_backlog_axis_fits_what_happened) {
  RunPage page = page_of(2, 0);
  for (auto& point : page.servers.front().points) point.backlog_bytes = 4u << 20;
  const std::string little = run_page(page);
  EXPECT_THAT(little,
              AllOf(HasSubstr(">4.00 MiB</span>"), Not(HasSubstr(">200.0 MiB</span>")),
                    HasSubstr("The memory of one (512.0 MiB) is beyond this axis: no more than 4.00 MiB")));
  const std::string much = run_page(page_of(2, 30));  // 400 MiB in use
  EXPECT_THAT(much, AllOf(HasSubstr(">200.0 MiB</span>"), Not(HasSubstr("beyond this axis")),
                          HasSubstr("memory of a server: when it is full, the model waits</span>")));
}

TEST(RunPage, time_in_open_session_counts_as_afterbays) {
  RunPage page = page_of(2, 0);
  for (TimelineRecord& it : page.timelines)
    for (std::size_t b = 0; it.role == "model" && b < it.bins(); ++b)
      it.busy_s[b * lane_count + static_cast<std::size_t>(Lane::open)] = 0.25F;
  const RunFigures figures = figures_of(page);
  EXPECT_NEAR(figures.open_s, 25, 1e-3);
  EXPECT_NEAR(figures.inside_s(), 25, 1e-3);
  EXPECT_THAT(run_page(page), AllOf(HasSubstr("<b>25.0 %</b><span>of it the model was in Afterbay</span>"),
                                    HasSubstr("open_session</span>")));
}

TEST(RunPage, what_is_taken_in_stays_visible_where_as_much_is_written) {
  const std::string html = run_page(page_of(2, 0));  // as much in as out, at every moment
  EXPECT_THAT(html, AllOf(HasSubstr("<path class=\"area a-in\""), HasSubstr("<path class=\"line a-out\""),
                          HasSubstr("<path class=\"line a-files\"")));
}

TEST(RunPage, values_are_shown_when_pointed_at) {
  const std::string html = run_page(page_of(2, 60));
  EXPECT_THAT(html, HasSubstr("I/O server 0 on : 400.0 MiB</title>"));
  EXPECT_THAT(html, HasSubstr("taken in: 1.00 GiB/s"));
  EXPECT_THAT(html, HasSubstr("model rank, 0 ns to 2.00 s, waits for room 60 %</title>"));
}

TEST(RunPage, every_table_has_a_heading) {
  RunPage page = page_of(2, 60);
  page.settings = {{"servers", "1"}};
  const std::string html = run_page(page);
  std::size_t tables = 0;
  for (auto at = html.find("<table>"); at != std::string::npos; at = html.find("<table>", at + 1), ++tables) {
    EXPECT_EQ(html.substr(at, 15), "<table><tr><th>") << html.substr(at, 60);
    const auto heading = std::max(
        html.rfind("</h2>", at), std::max(html.rfind("</h3>", at) + 1, html.rfind("</summary>", at) + 1) - 1);
    ASSERT_NE(heading, std::string::npos);
    EXPECT_LT(at - heading, 60u) << html.substr(at, 60);
  }
  EXPECT_EQ(tables, 4u);
}

TEST(RunPage, shows_hints) {
  RunPage page = page_of(2, 0);
  page.hints = {"set <this>"};
  EXPECT_THAT(run_page(page), HasSubstr("<p class=hint>set &lt;this&gt;</p>"));
}

TEST(RunPage, of_many_ranks_and_servers_stays_small) {
  RunPage page = page_of(3000, 10);
  for (int s = 1; s < 100; ++s) page.servers.push_back(page.servers.front());
  const std::string html = run_page(page);
  EXPECT_LT(html.size(), 3u << 20);
  EXPECT_THAT(html, AllOf(HasSubstr("ranks 0–93"), HasSubstr("more servers")));
}

TEST(RunPage, of_a_run_without_anything_is_a_page_too) {
  EXPECT_THAT(run_page(RunPage()), HasSubstr("No file was published"));
}

}  // namespace
}  // namespace afterbay::observe
