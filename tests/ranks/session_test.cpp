// SPDX-License-Identifier: Apache-2.0
// Whole sessions of real ranks: files of several collections, read back with netCDF-C and compared
// value by value.
#include <filesystem>
#include <string>
#include <vector>

#include "ranks/history_run.hpp"
#include "read_back.hpp"

namespace afterbay::testing {
namespace {

using history::run_everything;
using test::read;

RANK_TEST(SessionRanks, four_and_one_over_shared_memory, 5) {
  run_everything(small_session(1).set("transport", "shm"));
}
RANK_TEST(SessionRanks, four_and_one_over_mpi, 5) {
  run_everything(small_session(1).set("transport", "mpi"));
}
RANK_TEST(SessionRanks, three_and_two_over_shared_memory, 5) {
  run_everything(small_session(2).set("transport", "shm"));
}
RANK_TEST(SessionRanks, three_and_two_over_mpi_with_files_in_turn, 5) {
  run_everything(small_session(2).set("transport", "mpi").set("placement", "file"));
}
RANK_TEST(SessionRanks, four_and_two_on_declared_nodes, 6) {
  run_everything(small_session(2).set("nodes", "0,1,0,1,0,1").set("placement", "file"));
}
RANK_TEST(SessionRanks, inline_synchronous, 3) { run_everything(small_session(0)); }
RANK_TEST(SessionRanks, inline_thread, 3) { run_everything(small_session(0).set("inline.mode", "thread")); }

// ---- one file, one variable

constexpr std::uint64_t wide = 8192;  ///< points of a rank; a record of two ranks fills a block of 64 KiB

/// A collection of the variable "x" {time, point}, `wide` points a rank.
Collection line(Session& session, const std::string& file) {
  const auto ranks = static_cast<std::uint64_t>(session.model_size()),
             rank = static_cast<std::uint64_t>(session.model_rank());
  session.decomposition("line", Block{{wide * ranks}, {wide * rank}, {wide}});
  Schema schema;
  schema.dimension("time", unlimited).dimension("point", wide * ranks);
  schema.variable("x", Type::float32, {"time", "point"}).on("line");
  return session.collection("line", schema, {.file = file, .directory = {}});
}

float point_value(std::uint64_t record, std::uint64_t point) {
  return static_cast<float>(record * 100'000 + point);
}

std::vector<float> my_points(const Session& session, std::uint64_t record) {
  std::vector<float> values(wide);
  for (std::uint64_t i = 0; i < wide; ++i)
    values[i] = point_value(record, static_cast<std::uint64_t>(session.model_rank()) * wide + i);
  return values;
}

void expect_line(const std::string& file, std::uint64_t length, std::uint64_t ranks) {
  const auto values = read<float>(file, "x");
  ASSERT_EQ(values.size(), length * ranks * wide);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], point_value(i / (ranks * wide), i % (ranks * wide))) << file << " " << i;
}

// Rank 1 delays its parts, so that no record is complete and no memory becomes free.
RANK_TEST(SessionRanks, try_put_finds_the_memory_full_and_succeeds_later, 3) {
  constexpr std::uint64_t length = 40;
  std::uint64_t put_at_once = length;
  SessionOptions options = small_session(1);
  run_session(options.set("memory.server", "1MiB"), [&](Session& session) {
    OutputFile file = line(session, "full.nc").open();
    if (session.model_rank() == 0) {
      put_at_once = 0;
      while (put_at_once < length && file.try_put("x", put_at_once, my_points(session, put_at_once).data()))
        ++put_at_once;
      EXPECT_FALSE(put_at_once < length &&
                   file.try_put("x", put_at_once, my_points(session, put_at_once).data()));
      MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, model_comm(session));
      for (std::uint64_t record = put_at_once; record < length;)
        record += file.try_put("x", record, my_points(session, record).data()) ? 1 : 0;
    } else {
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, model_comm(session), MPI_STATUS_IGNORE);
      for (std::uint64_t record = 0; record < length; ++record)
        file.put("x", record, my_points(session, record).data());
    }
    session.end_step();
  });
  if (rank() != 0) return;
  EXPECT_GT(put_at_once, 0u);
  EXPECT_LT(put_at_once, length);
  expect_line("full.nc", length, 2);
}

void run_acquired(const SessionOptions& options, bool direct) {
  run_session(options, [&](Session& session) {
    OutputFile file = line(session, "acquired.nc").open();
    for (std::uint64_t record = 0; record < 6; ++record) {
      Slot slot = file.acquire("x", record, Type::float32);
      EXPECT_EQ(slot.direct(), direct);
      for (const Slot::Part& part : slot.parts())
        for (std::uint64_t i = 0; i < part.count[0]; ++i)
          static_cast<float*>(part.data)[static_cast<std::int64_t>(i) * part.strides[0]] =
              point_value(record, part.start[0] + i);
      slot.commit();
      session.end_step();
    }
  });
  if (rank() == 0) expect_line("acquired.nc", 6, 4);
}

RANK_TEST(SessionRanks, slots_are_computed_in_place_over_shared_memory, 5) {
  run_acquired(small_session(1), true);
}
RANK_TEST(SessionRanks, slots_are_copied_over_mpi, 5) {
  run_acquired(small_session(1).set("transport", "mpi"), false);
}

RANK_TEST(SessionRanks, tickets_tell_when_steps_are_written_and_files_published, 5) {
  run_session(small_session(1), [](Session& session) {
    OutputFile file = line(session, "tickets.nc").open();
    std::vector<Ticket> flushed;
    for (std::uint64_t record = 0; record < 8; ++record) {
      file.put("x", record, my_points(session, record).data());
      session.end_step();
      flushed.push_back(session.flush());
    }
    session.wait(flushed.back());
    for (const Ticket ticket : flushed) EXPECT_TRUE(session.is_complete(ticket));
    EXPECT_FALSE(std::filesystem::exists("tickets.nc"));
    EXPECT_TRUE(std::filesystem::exists("tickets.nc.part"));
    session.wait(file.close());
    EXPECT_TRUE(std::filesystem::exists("tickets.nc"));
    EXPECT_FALSE(std::filesystem::exists("tickets.nc.part"));
  });
  if (rank() == 0) expect_line("tickets.nc", 8, 4);
}

void run_two_sessions(const char* mode) {
  const SessionOptions options = small_session(0).set("inline.mode", mode);
  try {
    Session first = open_session(comm(), options), second = open_session(comm(), options);
    OutputFile a = line(first, "first.nc").open(), b = line(second, "second.nc").open();
    for (std::uint64_t record = 0; record < 5; ++record) {
      a.put("x", record, my_points(first, record).data());
      b.put("x", record, my_points(second, record).data());
      second.end_step();
      first.end_step();
    }
    first.finalize();
    b.put("x", 5, my_points(second, 5).data());
    second.finalize();
  } catch (const Failure& failure) {
    FAIL() << failure.what();
  }
  barrier();
  if (rank() != 0) return;
  expect_line("first.nc", 5, 3);
  expect_line("second.nc", 6, 3);
}

// Ranks that host servers must answer all others before they leave a call and the model exchanges
// messages.
RANK_TEST(SessionRanks, ranks_of_a_synchronous_session_may_talk_between_its_calls, 4) {
  run_session(small_session(0).set("nodes", "0,1,0,1").set("transport", "mpi"), [](Session& session) {
    OutputFile file = line(session, "talking.nc").open();
    for (std::uint64_t record = 0; record < 30; ++record) {
      MPI_Barrier(model_comm(session));
      file.put("x", record, my_points(session, record).data());
      session.end_step();
    }
    MPI_Barrier(model_comm(session));
  });
  if (rank() == 0) expect_line("talking.nc", 30, 4);
}

RANK_TEST(SessionRanks, two_synchronous_sessions_are_used_alternately, 3) { run_two_sessions("synchronous"); }
RANK_TEST(SessionRanks, two_sessions_with_threads_are_used_alternately, 3) { run_two_sessions("thread"); }

}  // namespace
}  // namespace afterbay::testing
