// SPDX-License-Identifier: Apache-2.0
// A model that tests kill: crash_model DIRECTORY FILES. It writes one file after the other in two
// collections, with values derived from step, record and place, so that any file can be checked.
// Every process writes its id to pid.ROLE.RANK, and each that ended successfully to ok.ROLE.RANK.
// The first model rank writes the paths of files that were reported to it as complete to `acks`.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "afterbay/afterbay.hpp"
#include "process_mark.hpp"

namespace {

using namespace afterbay;
using test::leave_mark;

constexpr std::uint64_t rows = 96, columns = 64, levels = 6, records = 5;
constexpr std::int64_t steps_between_restarts = 4;

Schema history_schema() {
  Schema it;
  it.dimension("time", unlimited).dimension("lev", levels).dimension("lat", rows).dimension("lon", columns);
  it.variable("temperature", Type::float32, {"time", "lev", "lat", "lon"}).on("grid");
  it.variable("rain", Type::float32, {"time", "lat", "lon"}).with_deflate(1).on("grid");
  return it;
}

Schema restart_schema() {
  Schema it;
  it.dimension("lev", levels).dimension("lat", rows).dimension("lon", columns);
  it.variable("temperature", Type::float32, {"lev", "lat", "lon"}).on("grid");
  return it;
}

/// The value of a point: all values are integers that float32 represents exactly.
float value(std::int64_t step, std::uint64_t record, std::uint64_t point) {
  return static_cast<float>((static_cast<std::uint64_t>(step) * 7919 + record * 613 + point) % 100'003);
}

/// This rank's rows of `planes` planes.
std::vector<float> part(const Block& block, std::int64_t step, std::uint64_t record, std::uint64_t planes) {
  std::vector<float> values;
  for (std::uint64_t plane = 0; plane < planes; ++plane)
    for (std::uint64_t row = block.start[0]; row < block.start[0] + block.count[0]; ++row)
      for (std::uint64_t column = 0; column < columns; ++column)
        values.push_back(value(step, record, (plane * rows + row) * columns + column));
  return values;
}

/// Closed files, until the session reports that they are complete.
class Acks {
 public:
  explicit Acks(Session& session) : session_(session) {}
  void closed(const OutputFile& file, Ticket ticket) { waiting_[ticket.number] = file.path(); }
  void note() {
    std::erase_if(waiting_, [this](const auto& entry) {
      if (!session_.is_complete(Ticket{entry.first})) return false;
      if (session_.model_rank() == 0) std::ofstream("acks", std::ios::app) << entry.second << "\n";
      return true;
    });
  }

 private:
  Session& session_;
  std::map<std::uint64_t, std::string> waiting_;
};

void model(Session& session, const std::string& directory, std::int64_t files) {
  const auto ranks = static_cast<std::uint64_t>(session.model_size());
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const Block block{
      {rows, columns}, {rows * rank / ranks, 0}, {rows * (rank + 1) / ranks - rows * rank / ranks, columns}};
  session.decomposition("grid", block);
  Collection history =
      session.collection("history", history_schema(),
                         {.file = "history_{step:05}.nc", .directory = directory, .existing = "replace"});
  Collection restart = session.collection(
      "restart", restart_schema(),
      {.file = "restart_{step:05}.nc", .directory = directory, .store = "cdf5", .existing = "replace"});
  Acks acks(session);
  for (std::int64_t step = 0; step < files; ++step) {
    FileName name;
    name.step = step;
    OutputFile file = history.open(name);
    for (std::uint64_t record = 0; record < records; ++record) {
      file.put("temperature", record, part(block, step, record, levels).data());
      file.put("rain", record, part(block, step, record, 1).data());
      session.end_step();
    }
    acks.closed(file, file.close());
    acks.note();
    if (step % steps_between_restarts != 0) continue;
    OutputFile state = restart.open(name);
    state.put("temperature", part(block, step, 0, levels).data());
    acks.closed(state, state.close());
  }
  session.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("CRASH_IGNORES_SIGUSR1") != nullptr) std::signal(SIGUSR1, SIG_IGN);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    Session session = open_session(MPI_COMM_WORLD, SessionOptions().with_arguments(argc, argv));
    leave_mark("pid", session, rank);
    if (session.is_server())
      session.serve();
    else
      model(session, argv[1], std::atoll(argv[2]));
    leave_mark("ok", session, rank);
  } catch (const Failure& failure) {
    std::cerr << "rank " << rank << ": " << failure.what() << std::endl;
    _exit(1);
  }
  MPI_Finalize();
}
