// SPDX-License-Identifier: Apache-2.0
// Diagnosis without a server: which rank, file and variable an error names.
#include "server/deadlines/diagnosis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/server/fake_transport.hpp"

namespace afterbay::server {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two ranks, 10 and 11 in the session, with 't' on the halves of 8 points. File 7 is open.
class ServerDiagnosis : public ::testing::Test {
 protected:
  ServerDiagnosis() {
    config_.deadline = 2500ms;
    frames_.used = 300;
    schema_.dimension("time", unlimited).dimension("x", 8);
    schema_.variable("t", Type::float64, {"time", "x"}).on("grid");
    for (const std::size_t peer : {0, 1}) {
      wire::DefineDecomposition grid;
      grid.name = "grid";
      grid.held = grid.check = grid.used = grid.here = 1;
      grid.block.global = {8};
      grid.block.start = {4 * peer};
      grid.block.count = {4};
      EXPECT_TRUE(catalog_.add(peer, grid));
      wire::DefineCollection message;
      message.id = 3;
      message.name = "history";
      if (peer == 0) {
        wire::CollectionDefinition& definition = message.definition.emplace();
        definition.format = Format::cdf5;
        definition.servers = {0};
        definition.decompositions = {0};
        definition.schema = schema_;
      }
      EXPECT_TRUE(catalog_.add(peer, message));
    }
    EXPECT_TRUE(catalog_.end(0, {.serial = 1}));
    EXPECT_TRUE(catalog_.end(1, {.serial = 1}));
    EXPECT_TRUE(catalog_.complete(frames_));
    for (const std::size_t peer : {0, 1}) open(peer, 7, "out.nc");
  }
  void open(std::size_t peer, std::uint64_t id, const std::string& path) {
    wire::OpenFile message;
    message.file = id;
    message.collection = 3;
    message.path = path;
    EXPECT_TRUE(files_.open(peer, *catalog_.find(3), message));
  }
  /// The rank puts 't' of record 2.
  void put(std::size_t peer) {
    EXPECT_TRUE(records_.begin(peer, {.collection = 3, .seq = 5, .file = 7, .record = 2}));
    EXPECT_TRUE(records_.put(peer, {.collection = 3, .seq = 5, .variable = 0}));
  }
  Error missed() { return Diagnosis(sources_).missed_deadline(); }

  static OutputFiles::Host files_host() {
    OutputFiles::Host host;
    host.ranks = 2;
    host.leader_is_ready = [](const OutputFile&) { return true; };
    host.create = [](OutputFile&, const SchemaChanges&) {};
    host.note_opened = [](OutputFile&) {};
    host.is_given_up = [](const ServedCollection&) { return false; };
    return host;
  }
  static Preparations::Host preparations_host() {
    Preparations::Host host;
    host.has_files = [] { return false; };
    host.session_failed = [] { return true; };  // the answer is kept
    return host;
  }
  static EpochKeeper::Host epochs_host() {
    EpochKeeper::Host host;
    host.ranks = 2;
    return host;
  }
  static Shutdown::Host shutdown_host() {
    Shutdown::Host host;
    host.ranks = 2;
    host.forget_link = [](std::size_t) {};
    host.rank_ended = [](std::size_t) {};
    return host;
  }

  config::Config config_;
  Schema schema_;
  test::FakeFrames frames_;
  Catalog catalog_{{10, 11}, config_};
  Records records_{catalog_};
  OutputFiles files_{files_host()};
  Preparations preparations_{preparations_host()};
  OpenTickets tickets_{[](std::size_t, std::uint64_t) {}};
  StringQueue strings_{1000};
  EpochKeeper epochs_{epochs_host()};
  Shutdown shutdown_{config_, shutdown_host()};
  const Diagnosis::Sources sources_{config_,  catalog_, preparations_, records_,  files_,
                                    tickets_, strings_, epochs_,       shutdown_, frames_};
};

TEST_F(ServerDiagnosis, NamesRanksThatDidNotDefineWhatOthersDid) {
  EXPECT_FALSE(catalog_.end(0, {.serial = 2}).value());
  const Error error = missed();
  EXPECT_EQ(error.code, ErrorCode::timed_out);
  EXPECT_EQ(error.rank, 11);
  EXPECT_THAT(error.message, AllOf(HasSubstr("model rank 1 did not define collections"),
                                   HasSubstr("nothing arrived for 2.5 s (the setting 'deadline')")));
}

TEST_F(ServerDiagnosis, BlamesTheDiskWhileFilesAreBeingPrepared) {
  config_.journal.directory = "/scratch/journal";
  preparations_.complete(catalog_, {});
  EXPECT_THAT(missed().message,
              AllOf(HasSubstr("the journal in /scratch/journal"), HasSubstr("a disk hangs")));
}

TEST_F(ServerDiagnosis, NamesTheVariableThatARankDidNotPut) {
  put(0);
  const Error error = missed();
  EXPECT_EQ(error.rank, 11);
  EXPECT_EQ(error.file, "out.nc");
  EXPECT_EQ(error.variable, "t");
  EXPECT_THAT(error.message, HasSubstr("model rank 1 did not put variable 't' of record 2"));
}

TEST_F(ServerDiagnosis, NamesTheRankThatAlonePutStrings) {
  OpenTicket ticket;
  ticket.peer = 1;
  ticket.strings = 2;
  tickets_.add(ticket);
  const Error error = missed();
  EXPECT_EQ(error.rank, 11);
  EXPECT_THAT(error.message, HasSubstr("model rank 1 put 2 string variables, model rank 0 only 0"));
}

TEST_F(ServerDiagnosis, NamesRanksThatDidNotReachAnEpoch) {
  wire::EndEpoch epoch;
  epoch.number = 1;
  epoch.name = "spinup";
  EXPECT_TRUE(epochs_.reach(epoch, OpenTicket()));
  EXPECT_THAT(missed().message, AllOf(HasSubstr("model rank 1"), HasSubstr("spinup")));
}

TEST_F(ServerDiagnosis, NamesRanksThatDidNotCloseAFile) {
  EXPECT_TRUE(files_.close(1, {.file = 7}));
  const Error error = missed();
  EXPECT_EQ(error.rank, 10);
  EXPECT_EQ(error.file, "out.nc");
  EXPECT_THAT(error.message, HasSubstr("model rank 0 did not close the file, while other ranks did"));
}

TEST_F(ServerDiagnosis, NamesRanksThatDidNotEndTheStep) {
  put(0);
  put(1);
  (void)records_.end(0, 3, 6);
  const Error error = missed();
  EXPECT_EQ(error.rank, 11);
  EXPECT_THAT(error.message, HasSubstr("model rank 1 did not end the step"));
}

TEST_F(ServerDiagnosis, NamesRanksThatDidNotFinalize) {
  shutdown_.rank_ended(0);
  const Error error = missed();
  EXPECT_EQ(error.rank, 11);
  EXPECT_THAT(error.message, HasSubstr("model rank 1 did not finalize"));
}

TEST_F(ServerDiagnosis, OtherwiseTheMemoryIsFull) {
  const Error error = missed();
  EXPECT_LT(error.rank, 0);
  EXPECT_THAT(error.message, HasSubstr("(300 of 1000 bytes in use)"));
}

TEST_F(ServerDiagnosis, AnErrorOfALostRankNamesWhatOthersHadPut) {
  put(0);
  const Error error = Diagnosis(sources_).name_unfinished(Error(ErrorCode::peer_lost, "lost"), 1);
  EXPECT_EQ(error.file, "out.nc");
  EXPECT_EQ(error.variable, "t");
  EXPECT_THAT(error.text(),
              AllOf(HasSubstr("other ranks had put variable 't' of record 2, model rank 1 not yet"),
                    HasSubstr("not complete: out.nc")));
}

TEST_F(ServerDiagnosis, names_the_last_put_of_the_rank) {
  put(1);
  put(0);
  open(0, 8, "next.nc");
  const Error error = Diagnosis(sources_).name_unfinished(Error(ErrorCode::peer_lost, "lost"), 1);
  EXPECT_THAT(error.text(), AllOf(HasSubstr("the last put of model rank 1 was variable 't' of record 2"),
                                  HasSubstr("not complete: out.nc and 1 more files")));
}

TEST_F(ServerDiagnosis, ARankThatHasClosedAllFilesLeavesNothingIncomplete) {
  EXPECT_TRUE(files_.close(1, {.file = 7}));
  const Error error = Diagnosis(sources_).name_unfinished(Error(ErrorCode::peer_lost, "lost"), 1);
  EXPECT_THAT(error.text(), Not(HasSubstr("not complete")));
  EXPECT_EQ(error.file, "");
}

}  // namespace
}  // namespace afterbay::server
