// SPDX-License-Identifier: Apache-2.0
// RemotePlaces: workers ask and wait, the ingest thread carries questions and answers.
#include "server/shared/remote_places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <semaphore>
#include <thread>

namespace afterbay::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Offsets = Result<std::vector<std::uint64_t>>;

const std::vector<storage::PlaceRequest> one_piece{{.piece = 3, .record = 8, .bytes = 100, .skipped = 1}};

class ThreadRemotePlaces : public ::testing::Test {
 protected:
  RemotePlaces& make(std::chrono::milliseconds deadline = 60s) {
    return places_.emplace(deadline, [this] { asked_.release(); }, std::function<void()>());
  }
  std::future<Offsets> ask(std::uint64_t file, std::size_t leader) {
    return std::async(std::launch::async, [=, this] { return places_->ask(file, leader, one_piece); });
  }
  std::counting_semaphore<> asked_{0};
  std::optional<RemotePlaces> places_;
};

TEST_F(ThreadRemotePlaces, AQuestionGoesToTheLeaderAndItsAnswerToWhoAsked) {
  RemotePlaces& places = make();
  auto first = ask(7, 2);
  asked_.acquire();
  auto second = ask(9, 0);
  asked_.acquire();
  const auto questions = places.take_questions();
  ASSERT_THAT(questions, SizeIs(2));
  EXPECT_THAT(places.take_questions(), IsEmpty());
  EXPECT_EQ(questions[0].first, 2u);
  EXPECT_EQ(questions[0].second.file, 7u);
  EXPECT_EQ(questions[1].first, 0u);
  EXPECT_EQ(questions[1].second.file, 9u);
  ASSERT_THAT(questions[0].second.requests, SizeIs(1));
  EXPECT_EQ(questions[0].second.requests[0].piece, 3u);
  EXPECT_EQ(questions[0].second.requests[0].record, 8u);
  EXPECT_EQ(questions[0].second.requests[0].bytes, 100u);
  EXPECT_EQ(questions[0].second.requests[0].skipped, 1u);
  places.answer({.serial = questions[1].second.serial, .offsets = {900}, .error = {}});
  places.answer({.serial = questions[0].second.serial, .offsets = {700}, .error = {}});
  EXPECT_THAT(first.get().value(), ElementsAre(700));
  EXPECT_THAT(second.get().value(), ElementsAre(900));
}

TEST_F(ThreadRemotePlaces, TheLeadersErrorIsTheAnswer) {
  RemotePlaces& places = make();
  auto answer = ask(7, 2);
  asked_.acquire();
  places.answer({.serial = places.take_questions()[0].second.serial,
                 .offsets = {},
                 .error = Error(ErrorCode::no_space, "the disk is full")});
  const Offsets offsets = answer.get();
  ASSERT_FALSE(offsets);
  EXPECT_EQ(offsets.error().code, ErrorCode::no_space);
}

TEST_F(ThreadRemotePlaces, AFailureOfTheSessionEndsTheWait) {
  RemotePlaces& places = make();
  auto answer = ask(7, 2);
  asked_.acquire();
  places.fail(Error(ErrorCode::peer_lost, "a rank is lost"));
  places.fail(Error(ErrorCode::io, "a later error"));
  const Offsets offsets = answer.get();
  ASSERT_FALSE(offsets);
  EXPECT_EQ(offsets.error().message, "a rank is lost");
  EXPECT_FALSE(places.ask(7, 2, one_piece));  // at once
}

TEST_F(ThreadRemotePlaces, TheDeadlineEndsTheWait) {
  RemotePlaces& places = make(1ms);
  const Offsets offsets = places.ask(7, 2, one_piece);
  ASSERT_FALSE(offsets);
  EXPECT_EQ(offsets.error().code, ErrorCode::timed_out);
  EXPECT_THAT(offsets.error().message, HasSubstr("I/O server 2, which creates the file, did not report"));
}

TEST_F(ThreadRemotePlaces, ALeaderThatWaitsForSpaceIsWaitedFor) {
  RemotePlaces& places = make(1ms);
  places.set_busy(2, true);
  auto answer = ask(7, 2);
  asked_.acquire();
  EXPECT_EQ(answer.wait_for(300ms), std::future_status::timeout);
  places.set_busy(2, false);
  EXPECT_FALSE(answer.get());
}

TEST_F(ThreadRemotePlaces, WithoutWorkersTheAskerItselfGoesOn) {
  std::optional<RemotePlaces> places;
  int worked = 0;
  places.emplace(
      60s, [] {},
      [&] {
        ++worked;
        for (const auto& [leader, question] : places->take_questions())
          places->answer({.serial = question.serial, .offsets = {70 + leader}, .error = {}});
      });
  EXPECT_THAT(FilePlacer(*places, 7, 2).place(one_piece).value(), ElementsAre(72));
  EXPECT_EQ(worked, 1);
}

}  // namespace
}  // namespace afterbay::server
