// SPDX-License-Identifier: Apache-2.0
// A program that omits a call: forgotten SCENARIO[:kept] [RANK]. Without RANK all ranks omit it.
// Also in C and in Fortran. The session is destroyed before MPI_Finalize, as in the tutorial;
// `kept`: after it. Each rank that gets an error writes it to outcome.RANK, and the duration of the
// session to ended.RANK.
//
// finalize, close, serve: the call; close: and finalize. unused: nothing is called after
// open_session. exit: the process leaves without MPI_Finalize, a server without serve. late: no
// close, and the rank computes on until rank 0 has an error. blocked: the rank waits in a barrier
// of the program's own instead of serve.
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "afterbay/afterbay.hpp"

namespace {

using namespace afterbay;

constexpr std::uint64_t columns = 16;

struct Play {
  std::string scenario;
  bool kept = false;
  bool forgets = false;
  int world = 0;
  std::chrono::steady_clock::time_point opened;

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - opened).count();
  }
};

Schema schema() {
  Schema it;
  it.dimension("time", unlimited).dimension("x", columns);
  it.variable("height", Type::float32, {"time", "x"}).on("grid");
  return it;
}

void run_model(Session& session, const std::string& scenario, bool forgets) {
  if (scenario == "unused" && forgets) return;
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const std::uint64_t mine = columns / static_cast<std::uint64_t>(session.model_size());
  session.decomposition("grid", Block{{columns}, {rank * mine}, {mine}});
  Collection collection = session.collection("history", schema(), {.file = "out.nc"});
  OutputFile file = collection.open();
  const std::vector<float> values(mine, 1.0F);
  file.put("height", 0, values.data());
  session.end_step();
  if (!forgets || scenario == "finalize") {
    const Ticket closed = file.close();
    if (scenario == "close" || scenario == "late") session.wait(closed);
  } else if (scenario == "late") {
    for (int i = 0; i < 1200 && !std::filesystem::exists("outcome.0"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  if (!forgets) session.finalize();
}

void take_part(Session& session, const Play& play) {
  const bool of_servers = play.scenario == "serve" || play.scenario == "blocked";
  if (!session.is_server())
    run_model(session, play.scenario, play.forgets && !of_servers);
  else if (!play.forgets || !(of_servers || play.scenario == "exit"))
    session.serve();
  else if (play.scenario == "blocked")
    MPI_Barrier(MPI_COMM_WORLD);
}

void run(Play& play, int argc, char** argv) {
  static std::optional<Session> kept;
  try {
    SessionOptions options;
    options.name = "forgetful";
    Session session = open_session(MPI_COMM_WORLD, options.with_arguments(argc, argv));
    play.opened = std::chrono::steady_clock::now();
    if (play.kept) kept = std::move(session);
    take_part(play.kept ? *kept : session, play);
  } catch (const Failure& failure) {
    std::ofstream("outcome." + std::to_string(play.world)) << name_of(failure.code()) << "\n"
                                                           << play.seconds() << "\n"
                                                           << failure.what() << "\n";
  }
  if (play.scenario == "blocked" && !play.forgets) MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Play play;
  play.scenario = argv[1];
  if (const std::size_t colon = play.scenario.find(':'); colon != std::string::npos) {
    play.kept = true;
    play.scenario.resize(colon);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &play.world);
  play.forgets = argc < 3 || argv[2][0] == '-' || std::atoi(argv[2]) == play.world;
  run(play, argc, argv);
  if (play.scenario == "exit" && play.forgets) std::exit(3);
  MPI_Finalize();
  std::ofstream("ended." + std::to_string(play.world)) << play.seconds() << "\n";
  return 0;
}
