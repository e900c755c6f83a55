// SPDX-License-Identifier: Apache-2.0
// Many small files at once: the model opens them all, puts one variable into each and closes them.
// Timed from the first open until all are published.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "afterbay/afterbay.hpp"
#include "common/timing.hpp"

namespace bench {
namespace {

struct ManyFiles {
  std::uint64_t files = 200;
  std::uint64_t bytes = 8192;  ///< size of the variable in each file
  int servers = 1;
  std::string format = "netcdf4";
  std::string directory = ".";
  std::vector<std::string> settings;

  [[nodiscard]] std::uint64_t points() const { return bytes / sizeof(double); }
};

struct Times {
  double end_s = 0;      ///< until the last file is published
  double blocked_s = 0;  ///< the part of it in open, put and close
};

double value_at(std::uint64_t file, std::uint64_t point) {
  return static_cast<double>(file * 100'003 + point);
}

double slowest(double seconds, MPI_Comm model) {
  double result = 0;
  MPI_Allreduce(&seconds, &result, 1, MPI_DOUBLE, MPI_MAX, model);
  return result;
}

Times write(const ManyFiles& many) {
  afterbay::SessionOptions options;
  options.name = "many_files";
  options.set("report.table", "off").set("servers", std::to_string(many.servers));
  options.arguments = many.settings;
  afterbay::Session session = afterbay::open_session(MPI_COMM_WORLD, options);
  if (session.is_server()) {
    session.serve();
    return {};
  }
  MPI_Comm model = afterbay::model_comm(session);
  const auto rank = static_cast<std::uint64_t>(session.model_rank());
  const auto ranks = static_cast<std::uint64_t>(session.model_size());
  const std::uint64_t first = many.points() * rank / ranks;
  const std::uint64_t count = many.points() * (rank + 1) / ranks - first;
  session.decomposition("points", afterbay::Block{{many.points()}, {first}, {count}});
  afterbay::Schema schema;
  schema.dimension("point", many.points());
  schema.variable("v", afterbay::Type::float64, {"point"}).on("points");
  auto collection = session.collection("many", schema, {.directory = many.directory, .store = many.format});
  session.start();
  std::vector<double> values(count);
  MPI_Barrier(model);
  const double start = now_s();
  for (std::uint64_t f = 0; f < many.files; ++f) {
    auto file = collection.open("f" + std::to_string(f) + ".nc");
    for (std::uint64_t i = 0; i < count; ++i) values[i] = value_at(f, first + i);
    file.put("v", values.data());
    file.close();
  }
  const double handed_over = now_s() - start;
  session.wait(session.flush());
  const Times times{slowest(now_s() - start, model), slowest(handed_over, model)};
  session.finalize();
  return times;
}

ManyFiles parse(int argc, char** argv) {
  ManyFiles many;
  CLI::App app("many small files written at once by Afterbay");
  app.add_option("--files", many.files, "how many")->check(CLI::PositiveNumber);
  app.add_option("--bytes", many.bytes, "of a file's variable")->check(CLI::PositiveNumber);
  app.add_option("--servers", many.servers, "I/O servers, of the processes");
  app.add_option("--format", many.format, "store");
  app.add_option("--dir", many.directory, "directory for the files");
  std::vector<std::string> own;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 takes a vector in reverse order
    const std::string argument = argv[i];
    if (argument.starts_with("--afterbay."))
      many.settings.push_back(argument);
    else
      own.push_back(argument);
  }
  try {
    app.parse(own);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return many;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const bench::ManyFiles many = bench::parse(argc, argv);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const bench::Times times = bench::write(many);
    const nlohmann::json line{{"program", "afterbay_many_files"},
                              {"bytes", many.files * many.bytes},
                              {"end_s", times.end_s},
                              {"blocked_s", {{"max", times.blocked_s}}}};
    if (rank == 0) std::printf("BENCH %s\n", line.dump().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
