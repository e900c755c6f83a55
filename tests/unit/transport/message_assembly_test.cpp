// SPDX-License-Identifier: Apache-2.0
// How the items of a model rank's stream become messages.
#include "transport/mpi/message_assembly.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace afterbay::transport::network {
namespace {

std::span<const std::byte> as_payload(std::string_view text) { return std::as_bytes(std::span(text)); }

/// What is handed out next; "none" if nothing is.
std::string next_text(MessageAssembly& from) {
  const auto next = from.next();
  return next ? std::string(reinterpret_cast<const char*>(next->data()), next->size()) : "none";
}

TEST(TransportMessageAssembly, a_whole_message_is_not_copied) {
  MessageAssembly it;
  EXPECT_EQ(next_text(it), "none");
  const std::string_view text = "whole";
  it.add(ItemKind::message, as_payload(text));
  EXPECT_TRUE(it.has_message());
  EXPECT_EQ(reinterpret_cast<const char*>(it.next()->data()), text.data());
  EXPECT_TRUE(it.pop());
  EXPECT_TRUE(it.empty());
}

TEST(TransportMessageAssembly, parts_become_one_message_with_the_last) {
  MessageAssembly it;
  it.add(ItemKind::part, as_payload("one, "));
  EXPECT_FALSE(it.has_message());
  it.add(ItemKind::part, as_payload("two, "));
  it.add(ItemKind::message, as_payload("three"));
  EXPECT_EQ(next_text(it), "one, two, three");
  EXPECT_TRUE(it.pop());
  it.add(ItemKind::part, as_payload("another "));
  it.add(ItemKind::message, as_payload("one"));
  EXPECT_EQ(next_text(it), "another one");
}

TEST(TransportMessageAssembly, words_overtake_messages) {
  MessageAssembly it;
  it.add(ItemKind::part, as_payload("in "));
  it.add_word(as_payload("first word"));
  EXPECT_FALSE(it.empty());
  EXPECT_FALSE(it.has_message());
  EXPECT_EQ(next_text(it), "first word");
  it.add_word(as_payload("second word"));
  EXPECT_FALSE(it.pop()) << "the stream does not go on";
  it.add(ItemKind::message, as_payload("parts"));
  EXPECT_EQ(next_text(it), "second word");
  EXPECT_FALSE(it.pop());
  EXPECT_EQ(next_text(it), "in parts");
  EXPECT_TRUE(it.pop());
  EXPECT_TRUE(it.empty());
}

TEST(TransportMessageAssembly, a_word_that_comes_later_is_not_popped_for_the_message) {
  MessageAssembly it;
  it.add(ItemKind::message, as_payload("message"));
  EXPECT_EQ(next_text(it), "message");
  it.add_word(as_payload("word"));
  EXPECT_TRUE(it.pop()) << "what `next` returned";
  EXPECT_EQ(next_text(it), "word");
}

TEST(TransportMessageAssembly, own_messages_take_their_turn_in_the_stream) {
  MessageAssembly it;
  const auto ready = as_payload("frame ready");
  it.set_own({ready.begin(), ready.end()});
  EXPECT_EQ(next_text(it), "frame ready");
  EXPECT_TRUE(it.pop());
  EXPECT_TRUE(it.empty());
}

}  // namespace
}  // namespace afterbay::transport::network
