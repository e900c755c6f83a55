// SPDX-License-Identifier: Apache-2.0
// Filters on the wire: one chain per variable, and no chain from a peer that could not be applied.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/data_fields.hpp"

namespace afterbay::wire {
namespace {

struct OneVariable {
  static constexpr Kind kind{150};
  Variable variable;
  template <class A>
  void fields(A& a) {
    a(variable);
  }
};

/// What a peer may send: any chain between the fields before and after it.
struct Forged {
  static constexpr Kind kind{150};
  FilterChain chain;
  template <class A>
  void fields(A& a) {
    Variable v;
    a(v.name, v.type, v.dimensions, v.attributes, v.fill, v.chunk, chain, v.decomposition, v.constant);
  }
};

TEST(WireFilters, a_variable_comes_back_with_its_filters) {
  OneVariable sent;
  for (const bool summed : {false, true})
    for (const int level : {0, 1, 9})
      for (const bool shuffle : {false, true}) {
        sent.variable = {};
        sent.variable.name = "t";
        sent.variable.with_deflate(level, shuffle);
        if (summed) sent.variable.with_filter(3);
        const auto received = decode<OneVariable>(encode(sent));
        ASSERT_TRUE(received) << received.error().text();
        EXPECT_EQ(received->variable, sent.variable);
      }
}

TEST(WireFilters, chains_that_cannot_be_are_refused) {
  ASSERT_TRUE(decode<OneVariable>(encode(Forged{{{2, {}}, {1, {4}}}})));
  const std::vector<std::pair<FilterChain, const char*>> forged{
      {{{77, {}}}, "filter 77, which is unknown"},
      {{{1, {10}}}, "deflate level 10"},
      {{{1, {1, 2}}}, "2 parameters for deflate"},
      {{{1, std::vector<std::uint32_t>(100000)}}, "100000 parameters for deflate"},
      {{{1, {}}}, "0 parameters for deflate"},
      {{{1, {4}}, {2, {}}}, "shuffle after deflate"},
      {{{3, {}}, {3, {}}}, "fletcher32 twice"},
      {FilterChain(33, Filter{2, {}}), "33 filters"},
  };
  for (const auto& [chain, why] : forged) {
    const auto refused = decode<OneVariable>(encode(Forged{chain}));
    ASSERT_FALSE(refused) << why;
    EXPECT_EQ(refused.error().code, ErrorCode::internal);
    EXPECT_THAT(refused.error().message, testing::HasSubstr(why));
  }
}

TEST(WireFilters, a_chain_longer_than_its_message_is_refused) {
  std::vector<std::byte> bytes = encode(Forged{{{1, {4}}}});
  for (std::size_t at = 0; at + 8 <= bytes.size(); ++at) {  // every 8 bytes as if they were a length
    std::vector<std::byte> changed = bytes;
    for (std::size_t i = 0; i < 7; ++i) changed[at + i] = std::byte{0xff};
    (void)decode<OneVariable>(changed);  // an error or another variable, and no access out of bounds
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode<OneVariable>(std::span(bytes).first(size)));
}

}  // namespace
}  // namespace afterbay::wire
