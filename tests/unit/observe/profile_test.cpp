// SPDX-License-Identifier: Apache-2.0
#include "observe/profile.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "wire/archive.hpp"

namespace afterbay::observe {
namespace {

TEST(ObserveProfile, timers_form_a_tree_and_are_found_again) {
  Profile profile;
  Timer* put = profile.timer("put");
  Timer* history = profile.timer("history", put);
  EXPECT_EQ(profile.timer("put"), put);
  EXPECT_EQ(profile.timer("history", put), history);
  EXPECT_NE(profile.timer("history"), history);
  EXPECT_EQ(profile.wait("memory full", history)->name(), "wait: memory full");
  for (int i = 0; i < 1000; ++i) profile.timer("collection " + std::to_string(i), put);
  EXPECT_EQ(put->name(), "put") << "addresses hold";

  put->add(100, 350, 64);
  put->add(400, 500);
  EXPECT_EQ(put->inclusive_ns(), 350u);
  EXPECT_EQ(put->count(), 2u);
  EXPECT_EQ(put->bytes(), 64u);

  const RankProfile snapshot = profile.snapshot(3, "model");
  EXPECT_EQ(snapshot.rank, 3);
  EXPECT_EQ(snapshot.timers[0].name, "put");
  EXPECT_EQ(snapshot.timers[1].parent, 0);
  EXPECT_EQ(snapshot.timers[2].parent, -1);
  EXPECT_GT(snapshot.memory_high_water_bytes, 1u << 20);
}

TEST(ObserveProfile, timed_measures_its_scope_once) {
  Profile profile;
  Timer* timer = profile.timer("sleep");
  {
    Timed timed(timer);
    timed.bytes(10);
    timed.bytes(5);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    timed.stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(timer->count(), 1u);
  EXPECT_EQ(timer->bytes(), 15u);
  EXPECT_GE(timer->inclusive_ns(), 5'000'000u);
}

TEST(ObserveProfile, counters_sum_or_keep_the_peak) {
  Profile profile;
  Counter* bytes = profile.counter(counters::bytes);
  Counter* backlog = profile.counter(counters::backlog, CounterKind::peak);
  for (const std::uint64_t value : {5, 9, 2}) {
    add(bytes, value);
    peak(backlog, value);
  }
  const RankProfile snapshot = profile.snapshot(0, "server");
  EXPECT_EQ(snapshot.counters[0].value, 16u);
  EXPECT_EQ(snapshot.counters[1].value, 9u);
  EXPECT_EQ(snapshot.counters[1].kind, CounterKind::peak);
}

TEST(ObserveProfile, switched_off_it_holds_nothing) {
  Profile profile(false, 100);
  EXPECT_EQ(profile.timer("put"), nullptr);
  EXPECT_EQ(profile.wait("x"), nullptr);
  EXPECT_EQ(profile.counter("bytes"), nullptr);
  add(profile.counter("bytes"), 1);
  peak(profile.counter("backlog"), 1);
  { Timed timed(profile.timer("put")); }
  EXPECT_TRUE(profile.snapshot(0, "model").timers.empty());
  EXPECT_TRUE(profile.trace(0, "model").events.empty());
}

TEST(ObserveProfile, crosses_the_wire_unchanged) {
  Profile profile(true, 10);
  profile.timer("history", profile.timer("put"))->add(5, 12, 100);
  profile.counter(counters::backlog, CounterKind::peak)->peak(77);
  const auto there_and_back = [](auto& sent) {
    std::vector<std::byte> bytes;
    wire::OutputArchive output(bytes);
    output(sent);
    std::remove_reference_t<decltype(sent)> received;
    wire::InputArchive input(bytes);
    input(received);
    EXPECT_TRUE(input.ok());
    EXPECT_TRUE(input.rest().empty());
    return received;
  };
  RankProfile sent = profile.snapshot(4, "server");
  const RankProfile received = there_and_back(sent);
  EXPECT_EQ(received.role, "server");
  EXPECT_EQ(received.rank, 4);
  EXPECT_EQ(received.elapsed_ns, sent.elapsed_ns);
  EXPECT_EQ(received.timers[1].name, "history");
  EXPECT_EQ(received.timers[1].parent, 0);
  EXPECT_EQ(received.timers[1].inclusive_ns, 7u);
  EXPECT_EQ(received.counters[0].value, 77u);
  EXPECT_EQ(received.counters[0].kind, CounterKind::peak);

  RankTrace trace = profile.trace(4, "server");
  const RankTrace received_trace = there_and_back(trace);
  ASSERT_EQ(received_trace.events.size(), 1u);
  EXPECT_EQ(received_trace.events[0].duration_ns, 7u);
  EXPECT_EQ(received_trace.names, (std::vector<std::string>{"put", "put history"}));
}

TEST(ThreadObserveProfile, threads_share_timers_counters_and_the_trace) {
  Profile profile(true, 1000);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&profile] {
      Timer* timer = profile.timer("encode", profile.timer("workers"));
      for (int i = 0; i < 5000; ++i) {
        Timed timed(timer);
        timed.bytes(2);
        add(profile.counter(counters::messages), 1);
        peak(profile.counter(counters::backlog, CounterKind::peak), static_cast<std::uint64_t>(i));
      }
    });
  threads.clear();
  const RankProfile snapshot = profile.snapshot(0, "server");
  ASSERT_EQ(snapshot.timers.size(), 2u);
  EXPECT_EQ(snapshot.timers[1].count, 20000u);
  EXPECT_EQ(snapshot.timers[1].bytes, 40000u);
  EXPECT_EQ(snapshot.counters[0].value, 20000u);
  EXPECT_EQ(snapshot.counters[1].value, 4999u);
  EXPECT_EQ(profile.trace(0, "server").events.size(), 1000u);
}

TEST(ObserveTrace, the_ring_keeps_the_latest_events) {
  Trace trace(3);
  for (std::uint32_t i = 0; i < 5; ++i) trace.add(i, 1000 * i, 1000 * i + 10, i);
  RankTrace out;
  trace.copy_to(out);
  EXPECT_EQ(out.dropped, 2u);
  ASSERT_EQ(out.events.size(), 3u);
  EXPECT_EQ(out.events[0].name, 2u);
  EXPECT_EQ(out.events[2].name, 4u);
  EXPECT_EQ(out.events[2].start_ns - out.events[0].start_ns, 2000u);
}

TEST(ObserveTrace, ranks_become_processes_of_one_document) {
  const std::vector<RankTrace> traces{
      {0, "model", 0, {"put", "history \"x\""}, {{1, 0, 5'000'000, 2'500, 64}}},
      {7, "server", 4, {"write"}, {{0, 1, 5'001'000, 1'000, 0}, {0, 0, 5'009'000, 500, 1}}},
  };
  const nlohmann::json document = nlohmann::json::parse(trace_json(traces));
  const auto& events = document["traceEvents"];
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[0]["args"]["name"], "model rank 0");
  EXPECT_EQ(events[1]["name"], "history \"x\"");
  EXPECT_EQ(events[1]["ph"], "X");
  EXPECT_EQ(events[1]["ts"], 0.0);
  EXPECT_EQ(events[1]["dur"], 2.5);
  EXPECT_EQ(events[1]["args"]["bytes"], 64);
  EXPECT_EQ(events[2]["args"]["name"], "server rank 7");
  EXPECT_EQ(events[2]["args"]["dropped"], 4);
  EXPECT_EQ(events[3]["pid"], 7);
  EXPECT_EQ(events[3]["tid"], 1);
  EXPECT_EQ(events[3]["ts"], 1.0);
  EXPECT_EQ(nlohmann::json::parse(trace_json({}))["traceEvents"].size(), 0u);
}

}  // namespace
}  // namespace afterbay::observe
