// SPDX-License-Identifier: Apache-2.0
#include "wire/handlers.hpp"

#include <gtest/gtest.h>

#include <string>

#include "wire/frame_messages.hpp"
#include "wire/model_messages.hpp"
#include "wire/server_answers.hpp"
#include "wire/server_messages.hpp"

namespace afterbay::wire {
namespace {

using Greetings = MessageList<7000, struct Hello, struct Leave>;
struct Hello {
  static constexpr Kind kind = Greetings::kind<Hello>();
  std::string name;
  template <class A>
  void fields(A& a) {
    a(name);
  }
};
struct Leave {
  static constexpr Kind kind = Greetings::kind<Leave>();
  template <class A>
  void fields(A&) {}
};

constexpr auto handle =
    handlers<Greetings>(on<Hello>([](std::string& heard, int from, auto&& message) {
                          heard = message.name + std::to_string(from);
                        }),
                        on<Leave, Counts::always>([](std::string&, int, const auto&) -> Result<> {
                          return fail(ErrorCode::bad_state, "left");
                        }));

TEST(WireHandlers, AKindIsThePlaceInTheList) {
  EXPECT_EQ(Hello::kind, Kind{7000});
  EXPECT_EQ(Leave::kind, Kind{7001});
  EXPECT_TRUE(Greetings::has(Kind{7001}));
  EXPECT_FALSE(Greetings::has(Kind{7002}));
  EXPECT_FALSE(Greetings::has(Kind{6999}));
}

TEST(WireHandlers, TheHandlerOfTheKindGetsTheMessage) {
  std::string heard;
  ASSERT_TRUE(handle(encode(Hello{"rank "}), heard, 3));
  EXPECT_EQ(heard, "rank 3");
}

TEST(WireHandlers, AnErrorOfAHandlerIsReturned) {
  std::string heard;
  const auto result = handle(encode(Leave{}), heard, 3);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "left");
}

TEST(WireHandlers, UnknownKindsAndDamagedBytesAreErrors) {
  std::string heard;
  auto bytes = encode(Hello{"a name"});
  bytes.resize(bytes.size() - 1);
  EXPECT_FALSE(handle(bytes, heard, 3));
  EXPECT_FALSE(handle(std::span<const std::byte>(), heard, 3));
  bytes[0] = std::byte{0xFF};
  const auto result = handle(bytes, heard, 3);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("unknown kind"), std::string::npos);
  EXPECT_EQ(heard, "");
}

TEST(WireHandlers, SaysWhichMessagesCountAfterRanksContradictedEachOther) {
  EXPECT_EQ(handle.counts(Leave::kind), Counts::always);
  EXPECT_EQ(handle.counts(Hello::kind), Counts::while_consistent);
  EXPECT_EQ(handle.counts(Kind{1}), Counts::while_consistent);
}

/// No direction accepts kinds of another one.
TEST(WireHandlers, DirectionsAreDisjoint) {
  static_assert(!FromModel::has(FrameReady::kind) && !ToModel::has(FrameReady::kind));
  static_assert(FromModel::has(CloseInput::kind) && !ToModel::has(CloseInput::kind));
  static_assert(ToModel::has(Bye::kind) && !BetweenServers::has(Bye::kind));
  static_assert(BetweenServers::has(Farewell::kind) && !FromModel::has(Farewell::kind));
}

}  // namespace
}  // namespace afterbay::wire
