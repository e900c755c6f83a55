// SPDX-License-Identifier: Apache-2.0
// A restart written and read again by Afterbay: variables (level, cell) in double, cut in cells
// over the model ranks. The second session reads with another division of the cells, so that no
// rank reads the data that it wrote.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "afterbay/afterbay.hpp"
#include "common/timing.hpp"

namespace bench {
namespace {

struct Restart {
  std::uint64_t variables = 16;
  std::uint64_t levels = 64;
  std::uint64_t mib = 4096;
  int servers = 1;
  std::string format = "netcdf4";
  std::string directory = ".";
  std::vector<std::string> settings;

  [[nodiscard]] std::uint64_t cells() const { return (mib << 20) / 8 / variables / levels; }
  [[nodiscard]] std::uint64_t bytes() const { return variables * levels * cells() * 8; }
};

struct Part {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

Part part_of(std::uint64_t cells, std::uint64_t number, std::uint64_t parts) {
  const std::uint64_t first = cells * number / parts;
  return {first, cells * (number + 1) / parts - first};
}

double value_at(std::uint64_t variable, std::uint64_t level, std::uint64_t cell) {
  return static_cast<double>(variable * 1'000'003 + level * 10'007 + cell);
}

/// All arrays of a rank, allocated in advance, so that only the timed calls run between the
/// measurements.
using Fields = std::vector<std::vector<double>>;

Fields fields_of(const Restart& restart, const Part& mine) {
  Fields fields(restart.variables, std::vector<double>(restart.levels * mine.count));
  for (std::uint64_t v = 0; v < restart.variables; ++v)
    for (std::uint64_t i = 0; i < fields[v].size(); ++i)
      fields[v][i] = value_at(v, i / mine.count, mine.first + i % mine.count);
  return fields;
}

afterbay::SessionOptions session_options(const Restart& restart) {
  afterbay::SessionOptions options;
  options.name = "restart";
  options.set("report.table", "off").set("servers", std::to_string(restart.servers));
  options.arguments = restart.settings;
  return options;
}

std::string name_of_variable(std::uint64_t v) { return "v" + std::to_string(v); }

double slowest(double seconds, MPI_Comm model) {
  double result = 0;
  MPI_Allreduce(&seconds, &result, 1, MPI_DOUBLE, MPI_MAX, model);
  return result;
}

/// Seconds, on the slowest model rank.
struct Spent {
  double opening = 0;  ///< from opening the session until it has started
  double inside = 0;   ///< time of the transfer itself
};

/// `inside`: from open until it is published.
Spent write(const Restart& restart) {
  const double before = now_s();
  afterbay::Session session = afterbay::open_session(MPI_COMM_WORLD, session_options(restart));
  if (session.is_server()) {
    session.serve();
    return {};
  }
  MPI_Comm model = afterbay::model_comm(session);
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const Part mine = part_of(restart.cells(), rank, static_cast<std::uint64_t>(session.model_size()));
  session.decomposition("cells", afterbay::Block{{restart.cells()}, {mine.first}, {mine.count}});
  afterbay::Schema schema;
  schema.dimension("level", restart.levels).dimension("cell", restart.cells());
  for (std::uint64_t v = 0; v < restart.variables; ++v)
    schema.variable(name_of_variable(v), afterbay::Type::float64, {"level", "cell"}).on("cells");
  auto collection =
      session.collection("restart", schema, {.directory = restart.directory, .store = restart.format});
  session.start();
  const double opening = now_s() - before;
  const Fields fields = fields_of(restart, mine);
  MPI_Barrier(model);
  const double start = now_s();
  auto file = collection.open("restart.nc");
  for (std::uint64_t v = 0; v < restart.variables; ++v) file.put(name_of_variable(v), fields[v].data());
  session.wait(file.close());
  const double inside = now_s() - start;
  const Spent spent{slowest(opening, model), slowest(inside, model)};
  session.finalize();
  return spent;
}

/// `inside`: from open until the last value is in the ranks' arrays.
Spent read(const Restart& restart) {
  const double before = now_s();
  afterbay::Session session = afterbay::open_session(MPI_COMM_WORLD, session_options(restart));
  if (session.is_server()) {
    session.serve();
    return {};
  }
  MPI_Comm model = afterbay::model_comm(session);
  const auto ranks = static_cast<std::uint64_t>(session.model_size());
  const Part mine =
      part_of(restart.cells(), ranks - 1 - static_cast<std::uint64_t>(session.model_rank()), ranks);
  session.decomposition("cells", afterbay::Block{{restart.cells()}, {mine.first}, {mine.count}});
  session.start();
  const double opening = now_s() - before;
  Fields fields(restart.variables, std::vector<double>(restart.levels * mine.count));
  MPI_Barrier(model);
  const double start = now_s();
  auto input = session.open_input(restart.directory + "/restart.nc");
  input.prefetch(name_of_variable(0), {.decomposition = "cells"});
  for (std::uint64_t v = 0; v < restart.variables; ++v) {
    if (v + 1 < restart.variables) input.prefetch(name_of_variable(v + 1), {.decomposition = "cells"});
    input.get(name_of_variable(v), {.decomposition = "cells"}, fields[v].data());
  }
  input.close();
  const double inside = now_s() - start;
  if (fields != fields_of(restart, mine)) throw std::runtime_error("the restart came back with other values");
  const Spent spent{slowest(opening, model), slowest(inside, model)};
  session.finalize();
  return spent;
}

Restart parse(int argc, char** argv) {
  Restart restart;
  CLI::App app("a restart written and read again by Afterbay");
  app.add_option("--mib", restart.mib, "size of the restart");
  app.add_option("--variables", restart.variables, "variables")->check(CLI::PositiveNumber);
  app.add_option("--servers", restart.servers, "I/O servers, of the processes");
  app.add_option("--format", restart.format, "store");
  app.add_option("--dir", restart.directory, "directory for the file");
  std::vector<std::string> own;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 takes a vector in reverse order
    const std::string argument = argv[i];
    if (argument.starts_with("--afterbay."))
      restart.settings.push_back(argument);
    else
      own.push_back(argument);
  }
  try {
    app.parse(own);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return restart;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const bench::Restart restart = bench::parse(argc, argv);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const bench::Spent written = bench::write(restart);
    MPI_Barrier(MPI_COMM_WORLD);
    const bench::Spent read = bench::read(restart);
    const double inside = written.inside + read.inside;
    const nlohmann::json line{{"program", "afterbay_restart"},
                              {"bytes", restart.bytes()},
                              {"write_s", written.inside},
                              {"read_s", read.inside},
                              {"open_s", written.opening + read.opening},
                              {"end_s", inside + written.opening + read.opening},
                              {"blocked_s", {{"max", inside}}}};
    if (rank == 0) std::printf("BENCH %s\n", line.dump().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
