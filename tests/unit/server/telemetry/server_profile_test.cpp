// SPDX-License-Identifier: Apache-2.0
// ServerProfile without a server: timers of collections and what a write adds to them.
#include "server/telemetry/server_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace afterbay::server {
namespace {

/// Takes a scratch buffer, or not.
class FakeSink : public Sink {
 public:
  explicit FakeSink(bool takes_scratch) : Sink(nullptr), takes_scratch_(takes_scratch) {}
  [[nodiscard]] bool takes_scratch() const noexcept override { return takes_scratch_; }
  Result<storage::WriteCost> write(const CompleteFrame&, storage::File&, ScratchBuffers&,
                                   observe::Timer*) const override {
    return {};
  }

 private:
  bool takes_scratch_;
};

ServedCollection collection(std::uint32_t id, const std::string& name, bool takes_scratch = false) {
  ServedCollection it;
  it.id = id;
  it.name = name;
  it.sink = std::make_shared<FakeSink>(takes_scratch);
  return it;
}

TEST(ServerServerProfile, GivesEachCollectionItsTimersOnce) {
  observe::Profile observed;
  ServerProfile profile(observed, 2);
  const auto& first = profile.of(collection(1, "history"));
  const auto& second = profile.of(collection(2, "restart", true));
  EXPECT_EQ(&profile.of(collection(1, "history")), &first);
  EXPECT_NE(first.write, second.write);
  EXPECT_EQ(first.write->name(), "history");
  EXPECT_EQ(first.stages, nullptr);
  EXPECT_NE(second.stages, nullptr);
  EXPECT_NE(first.publish, first.write);
}

TEST(ServerServerProfile, AddsTheStepsOfAWrite) {
  observe::Profile observed;
  ServerProfile profile(observed, 2);
  const auto& timers = profile.of(collection(1, "history"));
  profile.add({.encode_ns = 30, .write_ns = 50, .bytes_in = 400, .bytes_out = 100, .direct_bytes = 60},
              timers);
  profile.add({.write_ns = 50, .bytes_in = 400, .bytes_out = 100}, timers);
  EXPECT_EQ(timers.encode->inclusive_ns(), 30u);
  EXPECT_EQ(timers.encode->count(), 1u);
  EXPECT_EQ(timers.library->count(), 0u);
  EXPECT_EQ(timers.disk->inclusive_ns(), 100u);
  EXPECT_EQ(timers.disk->bytes(), 200u);
  EXPECT_EQ(profile.timers().bytes->value(), 800u);
  EXPECT_EQ(profile.timers().written->value(), 200u);
  EXPECT_EQ(profile.timers().direct->value(), 60u);
}

TEST(ServerServerProfile, CountsFilesThatWereGivenUp) {
  observe::Profile observed;
  ServerProfile profile(observed, 2);
  profile.count_given_up(collection(1, "extra"));
  profile.count_given_up(collection(1, "extra"));
  EXPECT_EQ(observed.counter("extra: files given up, no space")->value(), 2u);
}

TEST(ServerServerProfile, ReadsTheBytesThatInputsCount) {
  observe::Profile observed;
  ServerProfile profile(observed, 2);
  EXPECT_EQ(profile.bytes_read(), 0u);
  observed.counter("read bytes")->add(90);
  EXPECT_EQ(profile.bytes_read(), 90u);
}

TEST(ServerServerProfile, DoesNothingIfTheProfileIsOff) {
  observe::Profile observed(false);
  ServerProfile profile(observed, 2);
  const auto& timers = profile.of(collection(1, "history", true));
  EXPECT_EQ(timers.write, nullptr);
  profile.add({.encode_ns = 30, .bytes_in = 400}, timers);
  profile.count_given_up(collection(1, "history"));
  EXPECT_EQ(profile.bytes_read(), 0u);
  EXPECT_EQ(profile.timers().bytes, nullptr);
}

}  // namespace
}  // namespace afterbay::server
