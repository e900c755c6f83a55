// SPDX-License-Identifier: Apache-2.0
#include "client/session_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "unit/client/scripted_servers.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using transport::Millis;

config::Config short_deadline() { return test::config_of({{"deadline", "100ms"}}); }

/// Two servers, whose messages are noted.
class ClientSessionCore : public ::testing::Test {
 protected:
  ClientSessionCore() {
    test::ScriptedServers servers(2);
    links_ = servers.ends;
    core_.emplace(RankIdentity{.session_rank = 4, .model_rank = 1, .model_size = 2, .pool_of_server = {}},
                  config_, std::move(servers.links),
                  SessionCore::Host{.handle =
                                        [this](std::size_t server, std::span<const std::byte> message) {
                                          return handle(server, message);
                                        },
                                    .add_work = [](Error& error) { error.in_variable("busy"); }});
  }

  Result<> handle(std::size_t server, std::span<const std::byte> message) {
    handled_.push_back(server);
    if (wire::kind_of(message) == wire::SessionFailed::kind)
      return core_->server_failed(wire::decode<wire::SessionFailed>(message).value());
    if (wire::kind_of(message) == wire::Bye::kind) core_->server_ended(server);
    return {};
  }

  config::Config config_ = short_deadline();
  std::vector<test::ScriptedLink*> links_;
  std::vector<std::size_t> handled_;  ///< senders, in order
  std::optional<SessionCore> core_;
};

const auto never = [] { return false; };

TEST_F(ClientSessionCore, a_wait_ends_when_the_answer_has_been_handled) {
  links_[1]->answer(wire::Bye{});
  EXPECT_TRUE(core_->wait_until([&] { return handled_.size() == 1; }, "an answer"));
  EXPECT_EQ(handled_, std::vector<std::size_t>{1});
  EXPECT_FALSE(core_->all_servers_ended());
  links_[0]->answer(wire::Bye{});
  EXPECT_TRUE(core_->poll());
  EXPECT_TRUE(core_->all_servers_ended());
  EXPECT_TRUE(core_->is_usable());
}

TEST_F(ClientSessionCore, a_wait_without_progress_fails_within_the_deadline_and_ends_the_session) {
  const auto waited = core_->wait_until(never, Wait{.what = "ticket 3", .file = "a.nc", .servers = {}});
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::timed_out);
  EXPECT_EQ(waited.error().rank, 4);
  EXPECT_EQ(waited.error().file, "a.nc");
  EXPECT_EQ(waited.error().variable, "busy");
  EXPECT_THAT(waited.error().message, HasSubstr("for ticket 3, and I/O servers 0 and 1 made no progress"));
  EXPECT_FALSE(core_->is_usable());
  EXPECT_EQ(core_->check_usable().error().message, waited.error().message) << "the first failure stays";
}

TEST_F(ClientSessionCore, progress_of_a_server_that_is_not_awaited_does_not_extend_a_wait) {
  const Wait wait{.what = "a file", .file = "", .servers = [] { return std::set<std::size_t>{1}; }};
  const auto waited = core_->wait_until(
      [&] {
        ++links_[0]->progress_made;
        return false;
      },
      wait);
  ASSERT_FALSE(waited);
  EXPECT_THAT(waited.error().message, HasSubstr("I/O server 1 made no progress"));
}

TEST_F(ClientSessionCore, a_deadline_error_names_only_the_servers_that_never_answered_if_there_are_any) {
  links_[1]->silent = "I/O server 1 (rank 7)";
  const auto waited = core_->wait_until(never, "the definitions");
  ASSERT_FALSE(waited);
  EXPECT_THAT(waited.error().message, HasSubstr("and I/O server 1 made no progress"));
  EXPECT_THAT(waited.error().message, HasSubstr("I/O server 1 (rank 7) has never answered"));
}

/// Each server had a time of its own: with 1000 servers that hang, a rank took 300 s to end.
TEST_F(ClientSessionCore, silent_servers_get_one_common_time_for_a_farewell) {
  ASSERT_FALSE(core_->wait_until(never, "ticket 3"));
  const std::uint64_t before = now_ns();
  core_->abandon("the program ended", nullptr, false);
  ASSERT_FALSE(links_[0]->hurried.empty());
  EXPECT_EQ(links_[0]->hurried, links_[1]->hurried);
  EXPECT_GT(links_[0]->hurried.back(), before) << "the program may have taken a while to give up";
  EXPECT_LE(links_[0]->hurried.back(), now_ns() + 300'000'000);
}

TEST(ClientSessionCoreOfManyServers, a_deadline_error_describes_two_servers_and_numbers_the_others) {
  test::ScriptedServers servers(100);
  // Those of a frontend that does not serve have it in common.
  for (std::size_t s = 0; s < servers.ends.size(); ++s)
    servers.ends[s]->silent = s == 1 ? "I/O server 0" : s == 50 ? "" : fmt::format("I/O server {}", s);
  const config::Config config = short_deadline();
  SessionCore core({.session_rank = 4, .model_rank = 1, .model_size = 2, .pool_of_server = {}}, config,
                   std::move(servers.links),
                   {.handle = [](std::size_t, std::span<const std::byte>) { return Result<>(); },
                    .add_work = [](Error&) {}});
  const auto waited = core.wait_until(never, "the definitions");
  ASSERT_FALSE(waited);
  const std::string& text = waited.error().message;
  EXPECT_THAT(text, HasSubstr("I/O servers 0-99 except 50 made no progress"));
  EXPECT_THAT(text, HasSubstr("I/O server 0 has never answered since"));
  EXPECT_THAT(text, HasSubstr("I/O server 2 has never answered since"));
  EXPECT_THAT(text, HasSubstr("; and 96 others: I/O servers 3-99 except 50"));
  EXPECT_THAT(text, Not(HasSubstr("I/O server 3 has")));
  EXPECT_LT(text.size(), 700U);
}

TEST_F(ClientSessionCore, a_dead_server_ends_a_wait_unless_it_ended_in_order) {
  links_[0]->answer(wire::Bye{});
  links_[0]->dead = Error(ErrorCode::peer_lost, "server 0 died");
  std::size_t asked = 0;
  EXPECT_TRUE(core_->wait_until([&] { return ++asked > 2; }, "something")) << "it said goodbye before";
  links_[1]->dead = Error(ErrorCode::peer_lost, "server 1 died");
  const auto waited = core_->wait_until(never, "something");
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().message, "server 1 died");
}

TEST_F(ClientSessionCore, the_failure_that_a_server_reports_replaces_the_error_of_its_link) {
  links_[1]->refuses_send = Error(ErrorCode::bad_state, "the link is closed");
  links_[1]->answer(wire::SessionFailed{Error(ErrorCode::io, "disk full"), true});
  const auto sent = core_->send(1, wire::Finalize{}, transport::Wake::now);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().message, "disk full");
  EXPECT_EQ(core_->failure()->message, "disk full");
  EXPECT_TRUE(core_->await_failure(Millis(0))) << "a server has reported it";
}

TEST_F(ClientSessionCore, a_refused_call_does_not_end_the_session_but_is_the_cause_if_the_rank_gives_up) {
  (void)core_->report_to_caller(Error(ErrorCode::invalid_argument, "no such variable"));
  EXPECT_TRUE(core_->is_usable());
  core_->abandon("the program ended", nullptr, false);
  EXPECT_FALSE(core_->is_usable());
  for (const test::ScriptedLink* const link : links_) {
    const auto abandoned = link->all_sent<wire::Abandon>();
    ASSERT_EQ(abandoned.size(), 1U);
    ASSERT_TRUE(abandoned[0].cause);
    EXPECT_EQ(abandoned[0].cause->message, "no such variable");
    EXPECT_FALSE(abandoned[0].session_failed);
  }
  EXPECT_FALSE(core_->await_failure(Millis(20))) << "no server has answered";
  links_[0]->answer(wire::SessionFailed{Error(ErrorCode::bad_state, "rank 4 ended early"), true});
  EXPECT_TRUE(core_->await_failure(Millis(1000)));
}

/// The servers had waited for other ranks that might give up, and called it the end of this rank.
TEST_F(ClientSessionCore, an_error_that_concerns_all_ranks_is_passed_on_as_the_failure_of_the_session) {
  const Error refused(ErrorCode::conflict, "the file belongs to another session");
  core_->abandon("the session has failed", &refused, false, true);
  ASSERT_TRUE(core_->failure());
  EXPECT_EQ(core_->failure()->message, refused.message);
  EXPECT_EQ(core_->check_usable().error().code, ErrorCode::conflict);
  for (const test::ScriptedLink* const link : links_) {
    const auto abandoned = link->all_sent<wire::Abandon>();
    ASSERT_EQ(abandoned.size(), 1U);
    EXPECT_TRUE(abandoned[0].session_failed);
    ASSERT_TRUE(abandoned[0].cause);
    EXPECT_EQ(abandoned[0].cause->message, refused.message);
  }
}

}  // namespace
}  // namespace afterbay::client
