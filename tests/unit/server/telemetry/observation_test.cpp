// SPDX-License-Identifier: Apache-2.0
// Observation without a server: what each event adds to log, profile and telemetry.
#include "server/telemetry/observation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "unit/server/fake_transport.hpp"

namespace afterbay::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlainSink : public Sink {
 public:
  PlainSink() : Sink(nullptr) {}
  [[nodiscard]] bool takes_scratch() const noexcept override { return false; }
  Result<storage::WriteCost> write(const CompleteFrame&, storage::File&, ScratchBuffers&,
                                   observe::Timer*) const override {
    return {};
  }
};

/// A file of a collection with one fixed variable, which no rank has put.
class ServerObservation : public ::testing::Test {
 protected:
  ServerObservation() {
    identity_.number = 2;
    identity_.session_ranks = {0, 1};
    config_.statistics.directory.clear();
    collection_.id = 3;
    collection_.name = "history";
    collection_.format = Format::memory;
    collection_.sink = std::make_shared<PlainSink>();
    collection_.schema.dimension("x", 4).variable("area", Type::float64, {"x"});
    auto layout = std::make_shared<model::HandoverLayout>();
    layout->variables.resize(1);
    collection_.layout = layout;
    file_.collection = &collection_;
    file_.path = "a.nc";
    file_.as_published.bytes = 500;
    file_.variables_put = {false};
    Observation::Host host;
    host.fill = [](observe::ServerState&) {};
    host.other_backlog_bytes = [] { return std::uint64_t{0}; };
    host.fill_collection = [this](std::uint32_t, observe::CollectionState& state) { last_ = state; };
    host.said_goodbye = [] { return false; };
    host.report_epoch = [](std::uint64_t, const std::string&) {};
    host.wake = [] {};
    observation_.emplace(config_, identity_, frames_, Logger({"test"}, LogLevel::info, log_), nullptr,
                         profile_, 1, std::move(host));
  }

  config::Config config_;
  ServerIdentity identity_;
  ServedCollection collection_;
  OutputFile file_;
  test::FakeFrames frames_;
  observe::Profile profile_;
  std::ostringstream log_;
  observe::CollectionState last_;  ///< state that was sampled last
  std::optional<Observation> observation_;
};

TEST_F(ServerObservation, APublishedFileIsCountedLoggedAndCheckedForVariables) {
  observation_->published(file_);
  EXPECT_EQ(observation_->profile().timers().files->value(), 1u);
  EXPECT_THAT(log_.str(), HasSubstr("published a.nc"));
  EXPECT_THAT(log_.str(), HasSubstr("'area' was never put"));
  observation_->telemetry().sample();
  EXPECT_EQ(last_.files_published, 1u);
  EXPECT_EQ(last_.bytes_published, 500u);
  log_.str("");
  observation_->published(file_);
  EXPECT_THAT(log_.str(), Not(HasSubstr("never put")));
}

TEST_F(ServerObservation, FixedVariablesAreNoRecords) {
  Record record;
  observation_->taken(file_, record);
  observation_->written(3, record);
  record.fixed = true;
  observation_->taken(file_, record);
  observation_->written(3, record);
  EXPECT_EQ(file_.records_taken, 1u);
  observation_->telemetry().sample();
  EXPECT_EQ(last_.records_taken, 1u);
  EXPECT_EQ(last_.records_written, 1u);
}

TEST_F(ServerObservation, BytesAreCountedWhenTheyAreWrittenAndWhenAFileIsCompleted) {
  const auto& timers = observation_->profile().of(collection_);
  observation_->wrote({.write_ns = 5, .bytes_in = 40, .bytes_out = 30}, timers);
  observation_->wrote_at_end(7);
  EXPECT_EQ(observation_->profile().timers().written->value(), 37u);
  EXPECT_EQ(timers.disk->bytes(), 30u);
}

TEST_F(ServerObservation, WarningsAreLogged) {
  EXPECT_THAT(log_.str(), IsEmpty());
  observation_->warn("the disk is nearly full");
  EXPECT_THAT(log_.str(), HasSubstr("the disk is nearly full"));
}

}  // namespace
}  // namespace afterbay::server
