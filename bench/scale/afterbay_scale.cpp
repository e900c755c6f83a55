// SPDX-License-Identifier: Apache-2.0
// One measurement of the cost of many ranks: memory, processor time and messages of one model rank,
// frontend or server of a session with --ranks model ranks and --servers servers. Runs as one
// process.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "common/timing.hpp"
#include "scale/emulation.hpp"

namespace {

using Measurement = std::function<nlohmann::json(const bench::Case&, const afterbay::config::Config&)>;

const std::map<std::string, Measurement> measurements{
    {"model_rank", bench::measure_model_rank},   {"frontend", bench::measure_frontend},
    {"server", bench::measure_server_memory},    {"idle", bench::measure_idle},
    {"ingest", bench::measure_ingest},           {"start", bench::measure_start},
    {"definitions", bench::measure_definitions}, {"verdicts", bench::measure_verdicts},
    {"computing", bench::measure_computing},     {"rank_calls", bench::measure_rank_calls},
    {"rank_open", bench::measure_rank_open},
};

int run(int argc, char** argv) {
  bench::Case it;
  std::string quantity;
  std::string directory = ".";
  std::vector<std::string> settings;
  CLI::App app("the cost of many ranks, on the library's own classes");
  app.add_option("--quantity", quantity)->required()->check(CLI::IsMember(measurements));
  app.add_option("--ranks", it.ranks, "model ranks")->check(CLI::Range(1, 1 << 20));
  app.add_option("--servers", it.servers, "I/O servers")->check(CLI::Range(1, 1 << 16));
  app.add_option("--clients", it.clients, "ranks that one server or frontend handles");
  app.add_option("--points", it.points, "of a map, per rank");
  app.add_option("--fields", it.fields, "of a collection");
  app.add_option("--set", settings, "a setting: name=value");
  app.add_option("--dir", directory, "not used: there are no files");
  CLI11_PARSE(app, argc, argv);
  const double begin = bench::now_s();
  nlohmann::json line = measurements.at(quantity)(it, *bench::config_with(settings));
  line["program"] = "afterbay_scale";
  line["quantity"] = quantity;
  line["ranks"] = it.ranks;
  line["servers"] = it.servers;
  line["bytes"] = 0;
  line["end_s"] = bench::now_s() - begin;
  std::printf("BENCH %s\n", line.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int code = 1;
  try {
    code = run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "afterbay_scale: %s\n", error.what());
  }
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
}
