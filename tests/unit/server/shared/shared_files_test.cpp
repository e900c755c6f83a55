// SPDX-License-Identifier: Apache-2.0
// SharedFiles without other servers: what leader and members tell each other.
#include "server/shared/shared_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace afterbay::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// Its pieces lie at 100 times their number.
class PlacingFile : public storage::File {
 public:
  [[nodiscard]] std::uint64_t records() const override { return 0; }
  Result<storage::WriteCost> write(std::span<const storage::PieceWrite>) override { return {}; }
  Result<storage::WriteCost> write_strings(std::uint32_t, std::uint64_t,
                                           std::span<const std::string>) override {
    return {};
  }
  Result<storage::Published> finish() override { return {}; }
  void abandon() noexcept override {}
  Result<std::vector<std::uint64_t>> place(std::span<const storage::PlaceRequest> requests) override {
    std::vector<std::uint64_t> offsets;
    for (const storage::PlaceRequest& it : requests) {
      if (it.piece == 13) return fail(ErrorCode::io, "no place for piece 13");
      offsets.push_back(std::uint64_t{100} * it.piece);
    }
    return offsets;
  }
  [[nodiscard]] std::string engine() const override { return "placing"; }
};

/// File 7 is open on server 1.
class ServerSharedFiles : public ::testing::Test {
 protected:
  ServerSharedFiles() {
    file_.id = 7;
    file_.path = "a.nc";
    file_.parts.leader = 2;
    file_.parts.missing = 2;
    SharedFiles::Host host;
    host.server = 1;
    host.file = [this](std::uint64_t id) { return id == 7 ? &file_ : nullptr; };
    host.begin = [this](const OutputFile& file) { begun_.push_back(file.id); };
    host.take_part = [this](OutputFile&, storage::MemberEpoch part) { parts_.push_back(std::move(part)); };
    host.send_to_members = [this](const OutputFile&, const wire::FileShared& message) {
      shared_.push_back(message);
    };
    host.send_question = [this](std::size_t to, const wire::AskPlaces& question) -> Result<> {
      questions_.emplace_back(to, question);
      return sends();
    };
    host.send_places = [this](std::size_t to, const wire::Places& places) -> Result<> {
      places_.emplace_back(to, places);
      return sends();
    };
    host.send_part = [this](std::size_t to, const wire::PartDone& part) -> Result<> {
      handed_over_.emplace_back(to, part);
      return sends();
    };
    host.fail = [this](Error error) { failures_.push_back(error.text()); };
    host.wake = [] {};
    host.work = [this] {
      files_->send_questions();
      if (respond_) respond_();
    };
    files_.emplace(60s, std::move(host));
  }
  [[nodiscard]] Result<> sends() const {
    if (!gone_) return {};
    return fail(ErrorCode::peer_lost, "it is gone");
  }
  wire::Places ask(std::uint64_t file, std::uint32_t piece) {
    wire::AskPlaces question;
    question.file = file;
    question.serial = 4;
    question.requests.push_back({.piece = piece});
    files_->answer(2, question);
    EXPECT_EQ(places_.back().first, 2u);
    return places_.back().second;
  }

  OutputFile file_;
  bool gone_ = false;
  std::function<void()> respond_;
  std::vector<std::uint64_t> begun_;
  std::vector<storage::MemberEpoch> parts_;
  std::vector<wire::FileShared> shared_;
  std::vector<std::pair<std::size_t, wire::AskPlaces>> questions_;
  std::vector<std::pair<std::size_t, wire::Places>> places_;
  std::vector<std::pair<std::size_t, wire::PartDone>> handed_over_;
  std::vector<std::string> failures_;
  std::optional<SharedFiles> files_;
};

TEST_F(ServerSharedFiles, AMemberBeginsWhatItsLeaderHasMade) {
  EXPECT_FALSE(files_->leader_is_ready(file_));
  files_->leader_made({.file = 7, .share = {std::byte{5}}});
  EXPECT_THAT(begun_, ElementsAre(7));
  EXPECT_TRUE(files_->leader_is_ready(file_));
  EXPECT_THAT(files_->take_share(file_), ElementsAre(std::byte{5}));
  EXPECT_FALSE(files_->leader_is_ready(file_));
}

TEST_F(ServerSharedFiles, KeepsTheShareOfAFileThatNoRankHasOpenedHere) {
  OutputFile later;
  later.id = 8;
  files_->leader_made({.file = 8, .share = {std::byte{6}}});
  EXPECT_THAT(begun_, IsEmpty());
  EXPECT_TRUE(files_->leader_is_ready(later));
  files_->removed(later);
  EXPECT_FALSE(files_->leader_is_ready(later));
}

TEST_F(ServerSharedFiles, AMemberAsksTheLeaderForPlaces) {
  const auto placer = files_->placer(file_);
  respond_ = [this] {
    if (!questions_.empty()) files_->take_places({questions_[0].second.serial, {100, 400}, std::nullopt});
  };
  const std::vector<storage::PlaceRequest> requests{{.piece = 1}, {.piece = 4, .record = 3, .bytes = 50}};
  const auto offsets = placer->place(requests);
  ASSERT_TRUE(offsets);
  EXPECT_THAT(*offsets, ElementsAre(100, 400));
  ASSERT_THAT(questions_, SizeIs(1));
  EXPECT_EQ(questions_[0].first, 2u);
  EXPECT_EQ(questions_[0].second.file, 7u);
  ASSERT_THAT(questions_[0].second.requests, SizeIs(2));
  EXPECT_EQ(questions_[0].second.requests[1].piece, 4u);
  EXPECT_EQ(questions_[0].second.requests[1].bytes, 50u);
}

TEST_F(ServerSharedFiles, PlacersAskInVainAfterAFailure) {
  files_->session_failed(Error(ErrorCode::peer_lost, "a rank is lost"));
  const auto offsets = files_->placer(file_)->place(std::vector<storage::PlaceRequest>(1));
  ASSERT_FALSE(offsets);
  EXPECT_EQ(offsets.error().message, "a rank is lost");
  files_->leader_made({.file = 7, .share = {}});
  EXPECT_THAT(begun_, IsEmpty());
}

TEST_F(ServerSharedFiles, AnswersWhereAPieceGoes) {
  file_.file = std::make_unique<PlacingFile>();
  const wire::Places places = ask(7, 3);
  EXPECT_EQ(places.serial, 4u);
  EXPECT_THAT(places.offsets, ElementsAre(300));
  EXPECT_FALSE(places.error);
}

TEST_F(ServerSharedFiles, AnswersWithTheErrorOfTheFile) {
  file_.file = std::make_unique<PlacingFile>();
  const wire::Places places = ask(7, 13);
  ASSERT_TRUE(places.error);
  EXPECT_EQ(places.error->code, ErrorCode::io);
  EXPECT_EQ(places.error->file, "a.nc");
}

TEST_F(ServerSharedFiles, HasNoPlacesInAFileThatEnds) {
  ASSERT_TRUE(ask(7, 3).error);  // not made
  file_.file = std::make_unique<PlacingFile>();
  file_.ending = Ending::no_space;
  const wire::Places places = ask(7, 3);
  ASSERT_TRUE(places.error);
  EXPECT_THAT(places.error->message, HasSubstr("I/O server 1 has given up the file"));
  ASSERT_TRUE(ask(8, 3).error);
}

TEST_F(ServerSharedFiles, ALeaderSharesAndTakesParts) {
  files_->share(file_, {std::byte{9}});
  ASSERT_THAT(shared_, SizeIs(1));
  EXPECT_EQ(shared_[0].file, 7u);
  EXPECT_FALSE(files_->part_done(3, {.file = 7, .account = {}}));  // it has not been made
  file_.file = std::make_unique<PlacingFile>();
  ASSERT_TRUE(files_->part_done(3, {.file = 7, .account = {std::byte{1}}}));
  ASSERT_THAT(parts_, SizeIs(1));
  EXPECT_EQ(parts_[0].server, 3u);
  EXPECT_THAT(parts_[0].account, ElementsAre(std::byte{1}));
  file_.parts.missing = 0;
  const auto again = files_->part_done(3, {.file = 7, .account = {}});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("I/O server 3 hands over a part of a file too early"));
  file_.ending = Ending::incomplete;
  EXPECT_TRUE(files_->part_done(3, {.file = 7, .account = {}}));
  EXPECT_THAT(parts_, SizeIs(1));
}

TEST_F(ServerSharedFiles, TheSessionEndsIfTheLeaderCannotBeReached) {
  gone_ = true;
  files_->hand_over(file_, {std::byte{1}});
  ASSERT_THAT(handed_over_, SizeIs(1));
  EXPECT_EQ(handed_over_[0].first, 2u);
  EXPECT_THAT(failures_, ElementsAre(HasSubstr("while I/O servers 1 and 2 wrote a file together")));
}

}  // namespace
}  // namespace afterbay::server
