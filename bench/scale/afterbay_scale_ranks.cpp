// SPDX-License-Identifier: Apache-2.0
// A session with real ranks: opened, a file written, closed and published, ended. Counts the
// messages of the opening by MPI's profiling interface. All values are verified afterwards by the
// driver.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "afterbay/afterbay.hpp"
#include "common/timing.hpp"

namespace {

unsigned long messages = 0;

}  // namespace

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++messages;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Imrecv(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  ++messages;
  return PMPI_Imrecv(data, count, type, message, request);
}

}  // extern "C"

namespace bench {
namespace {

struct Job {
  std::string directory = ".";
  std::string format = "netcdf4";
  int columns = 1024;  ///< points per row
  int rows = 16;       ///< per rank
  int records = 4;
  std::vector<std::string> settings;
};

Job parse(int argc, char** argv) {
  Job job;
  CLI::App app("a session with real ranks");
  app.add_option("--dir", job.directory, "directory of the file");
  app.add_option("--format", job.format);
  app.add_option("--columns", job.columns);
  app.add_option("--rows", job.rows);
  app.add_option("--records", job.records);
  std::vector<std::string> own;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 takes a vector in reverse order
    const std::string argument = argv[i];
    (argument.starts_with("--afterbay.") ? job.settings : own).push_back(argument);
  }
  try {
    app.parse(own);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return job;
}

double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

template <class T>
T greatest(T mine, MPI_Datatype type) {
  T result{};
  MPI_Allreduce(&mine, &result, 1, type, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

/// Field `number` at a point; see verify.py: scale.
float value_at(int number, int record, int row, int column) {
  return static_cast<float>((row * 31 + column * 7 + record * 13 + number) & 0xffff);
}

void write(afterbay::Session& session, const Job& job) {
  const int ranks = session.model_size();
  const int first = session.model_rank() * job.rows;
  const auto count = static_cast<std::size_t>(job.rows) * static_cast<std::size_t>(job.columns);
  afterbay::Schema schema;
  schema.dimension("time", afterbay::unlimited).dimension("y", ranks * job.rows).dimension("x", job.columns);
  schema.variable("blocks", afterbay::Type::float32, {"time", "y", "x"}).on("grid");
  schema.variable("points", afterbay::Type::float32, {"time", "y", "x"}).on("rows");
  session.decomposition(
      "grid", afterbay::Block({ranks * job.rows, job.columns}, {first, 0}, {job.rows, job.columns}));
  // The rows in turn.
  afterbay::Map in_turn;
  in_turn.global = {static_cast<std::uint64_t>(ranks * job.rows), static_cast<std::uint64_t>(job.columns)};
  for (int y = 0; y < job.rows; ++y)
    in_turn.runs.push_back({static_cast<std::int64_t>(y * ranks + session.model_rank()) * job.columns,
                            static_cast<std::uint64_t>(job.columns)});
  session.decomposition("rows", in_turn);
  afterbay::CollectionOptions options;
  options.directory = job.directory;
  options.store = job.format;
  auto history = session.collection("history", schema, options);
  session.start();
  auto file = history.open();
  std::vector<float> values(count);
  for (int record = 0; record < job.records; ++record) {
    for (const bool blocks : {true, false}) {
      for (int y = 0; y < job.rows; ++y) {
        const int row = blocks ? first + y : y * ranks + session.model_rank();
        for (int x = 0; x < job.columns; ++x)
          values[static_cast<std::size_t>(y * job.columns + x)] = value_at(blocks ? 0 : 1, record, row, x);
      }
      file.put(blocks ? "blocks" : "points", static_cast<std::uint64_t>(record), values.data());
    }
    session.end_step();
  }
  file.close();
}

void run(const Job& job) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_s();
  const double before_mib = resident_mib();
  messages = 0;
  afterbay::SessionOptions options;
  options.arguments = job.settings;
  nlohmann::json line{{"program", "afterbay_scale_ranks"}, {"bytes", 0}};
  {
    auto session = afterbay::open_session(MPI_COMM_WORLD, options);
    unsigned long of_root = messages;
    MPI_Bcast(&of_root, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    line["root_messages"] = of_root;
    line["open_messages"] = greatest(messages, MPI_UNSIGNED_LONG);
    line["open_s"] = greatest(now_s() - begin, MPI_DOUBLE);
    line["open_mib"] = greatest(resident_mib(), MPI_DOUBLE);
    // Only model ranks that host no server count.
    const bool is_model = !session.is_server() && session.model_rank() > 0;
    line["open_model_mib"] = greatest(is_model ? resident_mib() - before_mib : 0, MPI_DOUBLE);
    if (session.is_server()) {
      session.serve();
    } else {
      write(session, job);
      session.finalize();
    }
  }
  line["ranks"] = ranks;
  line["end_s"] = greatest(now_s() - begin, MPI_DOUBLE);
  line["end_mib"] = greatest(resident_mib(), MPI_DOUBLE);
  if (rank == 0) std::printf("BENCH %s\n", line.dump().c_str());
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const bench::Job job = bench::parse(argc, argv);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    bench::run(job);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
