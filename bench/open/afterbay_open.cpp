// SPDX-License-Identifier: Apache-2.0
// The time until a process can work: --mode mpi (MPI alone) or --mode session (also a session with
// the default settings). Times of the slowest rank, in seconds.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "afterbay/afterbay.hpp"
#include "common/timing.hpp"

namespace bench {
namespace {

struct Opening {
  std::string mode = "session";
  std::string directory = ".";
  std::vector<std::string> settings;
};

Opening parse(int argc, char** argv) {
  Opening opening;
  CLI::App app("the opening of a session by Afterbay");
  app.add_option("--mode", opening.mode)->check(CLI::IsMember({"mpi", "session"}));
  app.add_option("--dir", opening.directory, "directory for files: there are none");
  std::vector<std::string> own;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 takes a vector in reverse order
    const std::string argument = argv[i];
    (argument.starts_with("--afterbay.") ? opening.settings : own).push_back(argument);
  }
  try {
    app.parse(own);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return opening;
}

double slowest(double seconds) {
  double result = 0;
  MPI_Allreduce(&seconds, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

void end(afterbay::Session& session) {
  if (session.is_server())
    session.serve();
  else
    session.finalize();
}

void run(const Opening& opening, double begin) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double mpi_s = now_s() - begin;
  nlohmann::json line{{"program", "afterbay_open"}, {"mode", opening.mode}, {"bytes", 0}};
  std::optional<afterbay::Session> session;
  if (opening.mode == "session") {
    afterbay::SessionOptions options;
    options.arguments = opening.settings;
    session = afterbay::open_session(MPI_COMM_WORLD, options);
    line["open_s"] = slowest(now_s() - begin - mpi_s);
  }
  line["end_s"] = slowest(now_s() - begin);
  line["mpi_s"] = slowest(mpi_s);
  if (rank == 0) std::printf("BENCH %s\n", line.dump().c_str());
  if (session) end(*session);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const bench::Opening opening = bench::parse(argc, argv);
  const double begin = bench::now_s();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    bench::run(opening, begin);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
