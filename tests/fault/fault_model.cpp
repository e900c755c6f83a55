// SPDX-License-Identifier: Apache-2.0
// A model that goes wrong on purpose: fault_model SCENARIO DIRECTORY STORE. Every process writes what it saw
// to outcome.RANK ("ok", or the error's code, seconds since the fault and text) and waits until all that
// are still alive have done so: a process that leaves early would make mpirun end the others.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "afterbay/afterbay.hpp"

namespace {

using namespace afterbay;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t rows = 64, columns = 64, levels = 8;
constexpr int steps = 40;

struct Run {
  std::string scenario, directory, store;
  int rank = 0;  ///< in the world
  int size = 0;
  int victims = 0;  ///< processes that are killed and will not report
  Clock::time_point fault = Clock::now();
};

[[noreturn]] void leave(const Run& run, const std::string& outcome) {
  {
    std::ofstream file("outcome." + std::to_string(run.rank) + ".tmp");
    file << outcome << "\n";
  }
  std::filesystem::rename("outcome." + std::to_string(run.rank) + ".tmp",
                          "outcome." + std::to_string(run.rank));
  for (int i = 0; i < 600; ++i) {
    int there = 0;
    for (int r = 0; r < run.size; ++r)
      there += std::filesystem::exists("outcome." + std::to_string(r)) ? 1 : 0;
    if (there >= run.size - run.victims) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  _exit(0);
}

std::string text_of(const Run& run, const Failure& failure) {
  const double seconds = std::chrono::duration<double>(Clock::now() - run.fault).count();
  return std::string(name_of(failure.code())) + "\n" + std::to_string(seconds) + "\n" + failure.what();
}

Schema schema() {
  Schema it;
  it.dimension("time", unlimited).dimension("lev", levels).dimension("lat", rows).dimension("lon", columns);
  it.variable("temperature", Type::float32, {"time", "lev", "lat", "lon"}).attribute("units", "K").on("grid");
  it.variable("pressure", Type::float32, {"time", "lat", "lon"}).attribute("units", "Pa").on("grid");
  return it;
}

Block block_of(const Run& run, int rank, int ranks) {
  const std::uint64_t mine = rows / static_cast<std::uint64_t>(ranks);
  Block block{{rows, columns}, {mine * static_cast<std::uint64_t>(rank), 0}, {mine, columns}};
  if (run.scenario == "outside" && rank == 2) block.count[0] += rows;
  if (run.scenario == "overlap" && rank == 2) block.start[0] -= 1;
  if (run.scenario == "gap" && rank == 2) block.count[0] -= 1;
  return block;
}

bool fault_at(const Run& run, const char* scenario, int rank, int at_rank, int step) {
  return run.scenario == scenario && rank == at_rank && step == 3;
}

/// kill_last_server: of several, only the one of the highest rank.
bool fault_of_server(const Run& run) {
  return run.scenario == "kill_server" || run.scenario == "kill_last_server" || run.scenario == "cut_server";
}

/// In the middle of the run: the server's end, or (on emulated nodes) that of its node's network.
void strike_server(const Run& run) {
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (run.scenario == "kill_last_server" && rank != size - 1) return;
  if (run.scenario != "cut_server") kill(getpid(), SIGKILL);
  std::ofstream("cut") << std::system("ip link set eth0 down") << "\n";
}

void model(Run& run, Session& session) {
  const int rank = session.model_rank();
  const Block block = block_of(run, rank, session.model_size());
  session.decomposition("grid", block);
  const CollectionOptions options{
      .file = "out.nc", .directory = run.directory, .store = run.store, .existing = "refuse"};
  Collection history = session.collection("history", schema(), options);
  Collection other = session.collection("other", schema(), options);
  OutputFile file = history.open();
  if (run.scenario == "name_clash") other.open();
  const std::vector<float> values(levels * block.count[0] * block.count[1], 280.0F);
  const std::string letters(values.size(), 'x');
  for (int step = 0; step < steps; ++step) {
    run.fault = Clock::now();
    const auto record = static_cast<std::uint64_t>(step);
    if (fault_at(run, "kill_model", rank, 1, step)) kill(getpid(), SIGKILL);
    if (fault_at(run, "absent_rank", rank, 2, step)) std::this_thread::sleep_for(std::chrono::seconds(30));
    if (fault_at(run, "wrong_variable", rank, 0, step)) file.put("temperatur", record, values.data());
    if (fault_at(run, "wrong_type", rank, 0, step)) file.put("temperature", record, letters.data());
    if (!fault_at(run, "missing_rank", rank, 2, step)) file.put("temperature", record, values.data());
    file.put("pressure", record, values.data());
    session.end_step();
    if (fault_of_server(run)) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (run.scenario != "nofinalize") session.wait(session.flush());
  }
  file.close();
  if (run.scenario == "nofinalize") MPI_Barrier(model_comm(session));  // every rank has closed the file
  run.fault = Clock::now();
  if (run.scenario == "nofinalize" && rank == 0) kill(getpid(), SIGKILL);
  session.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  Run run{argv[1], argv[2], argv[3]};
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.size);
  run.victims = run.scenario.starts_with("kill_") || run.scenario == "nofinalize" ? 1 : 0;
  try {
    Session session = open_session(MPI_COMM_WORLD, SessionOptions().with_arguments(argc, argv));
    if (session.is_server()) {
      std::jthread killer;
      if (fault_of_server(run)) killer = std::jthread([&run] { strike_server(run); });
      session.serve();
    } else {
      model(run, session);
    }
    leave(run, "ok");
  } catch (const Failure& failure) {
    leave(run, text_of(run, failure));
  }
}
