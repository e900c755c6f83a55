// SPDX-License-Identifier: Apache-2.0
// The results of handles after the end of their session.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

constexpr std::uint64_t end_points = 64;

/// All calls of a handle after finalize fail with bad_state; nothing crashes.
void use_after_finalize(const SessionOptions& options, const std::string& name) {
  std::optional<OutputFile> file;
  std::optional<InputFile> input;
  std::optional<Collection> collection;
  Ticket ticket;
  const std::vector<float> values(end_points, 1.5F);
  std::vector<float> read(end_points);
  const auto refused = [](const char* what, auto&& call) {
    try {
      call();
      ADD_FAILURE() << what << " was accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::bad_state) << what << ": " << failure.what();
    }
  };
  run_session(options, [&](Session& session) {
    const auto [start, mine] = share(end_points, session.model_size(), session.model_rank());
    session.decomposition("line", Block{{end_points}, {start}, {mine}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", end_points).dimension("length", 3);
    schema.variable("t", Type::float32, {"time", "x"}).on("line");
    schema.variable("names", Type::string, {"length"});
    collection = session.collection("c", schema, {.existing = "replace"});
    OutputFile first = collection->open(name + "_in.nc");
    first.put("t", 0, values.data());
    session.wait(first.close());
    input = session.open_input(name + "_in.nc");
    file = collection->open(name + ".nc");
    file->put("t", 0, values.data());
    ticket = session.flush();
    session.finalize();
    refused("put", [&] { file->put("t", 1, values.data()); });
    refused("try_put", [&] { (void)file->try_put("t", 1, values.data()); });
    refused("acquire", [&] { (void)file->acquire("t", 1, Type::float32); });
    refused("acquire of another type", [&] { (void)file->acquire("t", 1, Type::float64); });
    refused("put_strings", [&] { file->put_strings("names", no_record, std::vector<std::string>(3)); });
    refused("records", [&] { (void)file->records(); });
    refused("open", [&] { (void)collection->open(name + "_other.nc"); });
    refused("open_input", [&] { (void)session.open_input(name + ".nc"); });
    refused("get", [&] { input->get("t", {.record = 0, .decomposition = "line"}, read.data()); });
    refused("prefetch", [&] { input->prefetch("t", {.record = 0, .decomposition = "line"}); });
    refused("get_strings", [&] { (void)input->get_strings("names"); });
    refused("end_step", [&] { session.end_step(); });
    refused("flush", [&] { (void)session.flush(); });
    refused("epoch", [&] { (void)session.epoch("e"); });
    refused("wait", [&] { session.wait(ticket); });
    refused("is_complete", [&] { (void)session.is_complete(ticket); });
    refused("on_complete", [&] { session.on_complete(ticket, [] {}); });
    refused("decomposition", [&] { session.decomposition("other", Block{{1}, {0}, {0}}); });
    refused("collection", [&] { (void)session.collection("d", schema); });
    refused("start", [&] { session.start(); });
    EXPECT_GT(file->close().number, 0U);  // finalize closed it: the same ticket
    input->close();
    session.finalize();
  });
  if (!file) return;
  refused("put after the session", [&] { file->put("t", 1, values.data()); });
  refused("acquire after the session", [&] { (void)file->acquire("t", 1, Type::float32); });
}

RANK_TEST(SessionEnd, handles_are_refused_after_finalize, 3) {
  use_after_finalize(small_session(1), "shared_memory");
  use_after_finalize(small_session(1).set("transport", "mpi"), "mpi");
  use_after_finalize(small_session(0), "inline");
}

/// The rank marks one epoch after another until it is informed that a file was lost: some of them
/// reach the server after it has failed.
RANK_TEST(SessionEnd, epochs_that_come_after_the_failure_do_not_keep_the_session_from_ending, 2) {
  try {
    Session session = open_session(comm(), small_session(1));
    if (session.is_server()) {
      session.serve();
    } else {
      session.decomposition("line", Block{{end_points}, {0}, {end_points}});
      Schema schema;
      schema.dimension("time", unlimited).dimension("x", end_points);
      schema.variable("t", Type::float32, {"time", "x"}).on("line");
      Collection collection = session.collection("c", schema, {.existing = "replace"});
      const std::vector<float> values(end_points, 1.5F);
      OutputFile file = collection.open("lost.nc");
      file.put("t", 0, values.data());
      session.wait(session.flush());
      std::filesystem::remove("lost.nc.part");
      file.close();
      for (int e = 0; e < 1'000'000; ++e) session.epoch(std::to_string(e));
    }
    ADD_FAILURE() << "nothing was said of the file that was lost";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::conflict) << failure.what();
  }
}

}  // namespace
}  // namespace afterbay::testing
