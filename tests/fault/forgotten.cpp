// SPDX-License-Identifier: Apache-2.0
// A model that forgets a call: forgotten SCENARIO [RANK]. Without RANK all ranks forget it. Also in C and in
// Fortran. Each model rank that gets an error writes it to outcome.RANK.
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "afterbay/afterbay.hpp"

namespace {

using namespace afterbay;

constexpr std::uint64_t columns = 16;

Schema schema() {
  Schema it;
  it.dimension("time", unlimited).dimension("x", columns);
  it.variable("height", Type::float32, {"time", "x"}).on("grid");
  return it;
}

void run(Session& session, const std::string& scenario, bool forgets) {
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
  } else if (scenario == "late") {  // computes on, and longer than the others wait
    std::this_thread::sleep_for(std::chrono::seconds(5));
  }
  if (!forgets) session.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string scenario = argv[1];
  int world = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  const bool forgets = argc < 3 || argv[2][0] == '-' || std::atoi(argv[2]) == world;
  try {
    SessionOptions options;
    options.name = "forgetful";
    static Session session = open_session(MPI_COMM_WORLD, options.with_arguments(argc, argv));
    if (!session.is_server())
      run(session, scenario, forgets && scenario != "serve");
    else if (scenario != "serve")
      session.serve();
  } catch (const Failure& failure) {
    std::ofstream("outcome." + std::to_string(world)) << name_of(failure.code()) << "\n"
                                                      << failure.what() << "\n";
  }
  if (scenario == "exit" && forgets) std::exit(3);
  MPI_Finalize();
  return 0;
}
