// SPDX-License-Identifier: Apache-2.0
// The MPI calls of a model rank while it puts fields: none on a node with a server or a frontend,
// otherwise one message per server and step, however many fields there are, and however many
// sections or endpoints hand them over.
#include <mpi.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "ranks/mpi_calls.hpp"
#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

struct Calls {
  int sends = 0;
  int others = 0;
};

constexpr std::uint64_t points = 400;  // points of a field: few, so that fields travel together
constexpr std::uint64_t steps = 20;

enum class Pace : std::uint8_t { free, waits_after_steps };

/// The callers that hand over this rank's part of a field, and the number of sections of each; 0:
/// the whole part.
struct Callers {
  int endpoints = 0;  ///< each in a thread of its own; 0: the session
  int sections = 0;
};

/// The start and the count of each section.
std::vector<std::pair<std::uint64_t, std::uint64_t>> cut(std::uint64_t count, int sections) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (int i = 0; i < sections; ++i) all.push_back(share(count, sections, i));
  return all;
}

class Putter {
 public:
  Putter(Session& session, OutputFile file, int fields, Callers callers)
      : file_(std::move(file)), fields_(fields), callers_(callers) {
    const auto [start, mine] = share(points, session.model_size(), session.model_rank());
    mine_ = mine;
    for (int i = 0; i < callers.endpoints; ++i) {
      const auto [from, count] = share(mine, callers.endpoints, i);
      parts_.push_back(count);
      endpoints_.push_back(session.endpoint());
      endpoints_.back().part("line", Block{{points}, {start + from}, {count}});
    }
  }
  void put(std::uint64_t record) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < endpoints_.size(); ++i)
      threads.emplace_back([this, i, record] {
        for (int f = 0; f < fields_; ++f)
          put_field(parts_[i], [&](const auto&... section) {
            endpoints_[i].put(file_, name(f), record, values_.data(), {}, section...);
          });
        endpoints_[i].end_step();
      });
    if (!endpoints_.empty()) return;
    for (int f = 0; f < fields_; ++f)
      if (callers_.sections == 0)
        file_.put(name(f), record, values_.data());
      else
        put_field(mine_, [&](const Section& section) {
          file_.put_section(name(f), record, section, values_.data());
        });
  }

 private:
  static std::string name(int field) { return "f" + std::to_string(field); }
  template <class Put>
  void put_field(std::uint64_t count, Put put) const {
    if constexpr (std::is_invocable_v<Put>)
      if (callers_.sections == 0) return put();
    for (const auto& [from, length] : cut(count, callers_.sections)) put(Section{{from}, {length}});
  }

  OutputFile file_;
  int fields_;
  Callers callers_;
  std::uint64_t mine_ = 0;
  std::vector<float> values_ = std::vector<float>(points, 1.5F);
  std::vector<Endpoint> endpoints_;
  std::vector<std::uint64_t> parts_;
};

/// Calls of this rank from the first put of each step to the step's end; on server ranks 0. A rank
/// that waits for room sends the staged data of other servers, which is one more message: with
/// Pace::waits_after_steps no rank waits within a step.
Calls calls_of_steps(const SessionOptions& options, int fields, Pace pace = Pace::free,
                     Callers callers = {}) {
  Calls calls;
  run_session(options, [&](Session& session) {
    const auto [start, mine] = share(points, session.model_size(), session.model_rank());
    session.decomposition("line", Block{{points}, {start}, {mine}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", points);
    for (int f = 0; f < fields; ++f)
      schema.variable("f" + std::to_string(f), Type::float32, {"time", "x"}).on("line");
    OutputFile file = session.collection("c", schema, {.existing = "replace"}).open("c.nc");
    Putter putter(session, file, fields, callers);
    const auto step = [&](std::uint64_t record) {
      putter.put(record);
      session.end_step();
    };
    step(0);
    session.wait(session.flush());  // all servers have the file open
    for (std::uint64_t record = 1; record <= steps; ++record) {
      const Calls before{mpi_calls().sends, mpi_calls().others};
      step(record);
      calls.sends += mpi_calls().sends - before.sends;
      calls.others += mpi_calls().others - before.others;
      if (pace == Pace::waits_after_steps) session.wait(session.flush());
    }
    file.close();
  });
  return calls;
}

RANK_TEST(SessionCalls, steps_on_a_node_with_a_server_call_no_mpi, 4) {
  const Calls calls = calls_of_steps(small_session(1), 12);
  EXPECT_EQ(calls.sends, 0);
  EXPECT_EQ(calls.others, 0);
}

RANK_TEST(SessionCalls, steps_on_a_node_with_a_frontend_call_no_mpi, 5) {
  const Calls calls = calls_of_steps(small_session(1)
                                         .set("topology", "tiered")
                                         .set("nodes", "0,0,0,0,1")
                                         .set("isolate_nodes", "off")
                                         .set("memory.frontend", "8MiB")
                                         .set("memory.link", "128KiB"),
                                     12);
  EXPECT_EQ(calls.sends, 0);
  EXPECT_EQ(calls.others, 0);
}

RANK_TEST(SessionCalls, small_fields_of_a_step_are_one_message_for_each_server, 5) {
  const SessionOptions options = small_session(2).set("transport", "mpi").set("placement", "slab");
  const int many = calls_of_steps(options, 24, Pace::waits_after_steps).sends;
  EXPECT_LE(many, static_cast<int>(2 * steps + 4)) << "2 servers, and now and then a sign of life";
  int all = 0;
  MPI_Allreduce(&many, &all, 1, MPI_INT, MPI_SUM, comm());
  EXPECT_GE(all, static_cast<int>(steps)) << "the calls are counted";
}

/// Servers to which a rank puts nothing need not know how far it is.
RANK_TEST(SessionCalls, a_step_sends_nothing_to_servers_without_files, 5) {
  const SessionOptions options = small_session(3).set("transport", "mpi").set("placement", "collection");
  const int sends = calls_of_steps(options, 24, Pace::waits_after_steps).sends;
  EXPECT_LE(sends, static_cast<int>(steps + 4)) << "one server, and now and then a sign of life";
  int all = 0;
  MPI_Allreduce(&sends, &all, 1, MPI_INT, MPI_SUM, comm());
  EXPECT_GE(all, static_cast<int>(steps)) << "the calls are counted";
}

/// One probe for all of them, not one for each.
RANK_TEST(SessionCalls, a_step_asks_mpi_once_for_all_servers, 8) {
  constexpr int servers = 6;
  int fewest = std::numeric_limits<int>::max();  // in any step: a rank may be interrupted in some
  run_session(small_session(servers).set("transport", "mpi"), [&](Session& session) {
    for (int step = 0; step < 100; ++step) {
      const int before = mpi_calls().others;
      session.end_step();
      fewest = std::min(fewest, mpi_calls().others - before);
    }
  });
  if (fewest == std::numeric_limits<int>::max()) return;  // a server
  EXPECT_GE(fewest, 1);
  EXPECT_LT(fewest, servers);
}

/// Each file goes to another server; those of closed ones are told nothing.
RANK_TEST(SessionCalls, a_step_sends_nothing_to_servers_of_closed_files, 5) {
  const SessionOptions options = small_session(3).set("transport", "mpi").set("placement", "file");
  int sends = 0;
  run_session(options, [&](Session& session) {
    const auto [start, mine] = share(points, session.model_size(), session.model_rank());
    session.decomposition("line", Block{{points}, {start}, {mine}});
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", points);
    schema.variable("f", Type::float32, {"time", "x"}).on("line");
    Collection files = session.collection("c", schema, {.existing = "replace"});
    const std::vector<float> values(points, 1.5F);
    for (int f = 0; f < 3; ++f) {
      OutputFile file = files.open("c" + std::to_string(f) + ".nc");
      for (std::uint64_t record = 0; record < steps; ++record) {
        const int before = mpi_calls().sends;
        file.put("f", record, values.data());
        session.end_step();
        if (record > 0) sends += mpi_calls().sends - before;
        session.wait(session.flush());
      }
      file.close();
    }
  });
  EXPECT_LE(sends, static_cast<int>(3 * steps + 6)) << "one server at a time";
}

/// 24 fields in several parts each: still one message per step and server.
void expect_one_message(Callers callers) {
  const SessionOptions options = small_session(2).set("transport", "mpi").set("placement", "slab");
  const int sends = calls_of_steps(options, 24, Pace::waits_after_steps, callers).sends;
  EXPECT_LE(sends, static_cast<int>(2 * steps + 4)) << "2 servers, and now and then a sign of life";
  int all = 0;
  MPI_Allreduce(&sends, &all, 1, MPI_INT, MPI_SUM, comm());
  EXPECT_GE(all, static_cast<int>(steps)) << "the calls are counted";
}

RANK_TEST(SessionCalls, sections_of_small_fields_are_one_message_for_each_server, 5) {
  expect_one_message({.sections = 7});
}

RANK_TEST(SessionCalls, small_fields_of_endpoints_are_one_message_for_each_server, 5) {
  expect_one_message({.endpoints = 4});
}

RANK_TEST(SessionCalls, sections_of_endpoints_are_one_message_for_each_server, 5) {
  expect_one_message({.endpoints = 4, .sections = 5});
}

int sends_at_the_end(const SessionOptions& options) {
  int before = 0;
  run_session(options, [&](Session&) { before = mpi_calls().sends; });
  return mpi_calls().sends - before;
}

/// Figures travel to the first rank only if it makes a report of them.
RANK_TEST(SessionCalls, without_a_report_the_end_sends_nothing, 4) {
  const int with = sends_at_the_end(small_session(1).set("report.json", "r.json"));
  const int without = sends_at_the_end(small_session(1));
  if (rank() != 1) return;
  EXPECT_EQ(with - without, 1);
}

/// Messages that all model ranks send in a run on one node.
std::uint64_t messages_on_a_node(Callers callers) {
  const std::string file = "m" + std::to_string(callers.endpoints) + "_" + std::to_string(callers.sections);
  const SessionOptions options = small_session(2).set("placement", "slab").set("report.json", file);
  const Calls calls = calls_of_steps(options, 12, Pace::waits_after_steps, callers);
  EXPECT_EQ(calls.sends + calls.others, 0) << "of MPI";
  if (rank() != 0) return 0;
  std::ifstream in(file);
  return nlohmann::json::parse(in)["model"]["counters"]["messages"]["total"].get<std::uint64_t>();
}

RANK_TEST(SessionCalls, parts_of_fields_add_no_messages_on_a_node, 4) {
  const std::uint64_t whole = messages_on_a_node({});
  const std::uint64_t sections = messages_on_a_node({.sections = 50});
  const std::uint64_t by_endpoints = messages_on_a_node({.endpoints = 3});
  const std::uint64_t by_endpoints_in_sections = messages_on_a_node({.endpoints = 3, .sections = 20});
  if (rank() != 0) return;
  EXPECT_GT(whole, steps) << "the messages are counted";
  for (const std::uint64_t in_parts : {sections, by_endpoints, by_endpoints_in_sections})
    EXPECT_LE(in_parts, whole + whole / 10);
}

}  // namespace
}  // namespace afterbay::testing
